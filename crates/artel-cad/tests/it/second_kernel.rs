//! A second kernel, written independently of the first, behind the same trait.

use artel_cad::geometry::{BoundingBox, Curve, Motion, Region, Vec3, reference_direction};
use artel_cad::kernel::{Axis, BooleanKind, Kernel, KernelError, Measure, Primitive, Topology};
use cad_kernel::affine::Affine;
use cad_kernel::boolean::{Op, combined};
use cad_kernel::build::{Profile, ProfileEdge, cone, prism, revolve, sphere, torus};
use cad_kernel::geom::Frame;
use cad_kernel::query::{Located, Place};
use cad_kernel::topo::Brep;

pub(crate) struct SecondKernel;

fn failed(text: impl Into<String>) -> KernelError {
    KernelError::Failed(text.into())
}

/// A circle is a boundary whichever way it turns; this kernel wants its frame along the profile's normal.
fn edge(curve: &Curve, normal: Vec3) -> ProfileEdge {
    match curve {
        Curve::Line { start, end } => ProfileEdge::Line { a: start.to_array(), b: end.to_array() },
        Curve::Arc(arc) => {
            let frame =
                Frame::new(arc.center.to_array(), arc.normal.to_array(), (arc.start - arc.center).to_array());
            ProfileEdge::Arc { frame, r: arc.radius(), span: Some([0.0, arc.sweep]) }
        }
        Curve::Circle { center, radius, .. } => {
            let frame =
                Frame::new(center.to_array(), normal.to_array(), reference_direction(normal).to_array());
            ProfileEdge::Arc { frame, r: *radius, span: None }
        }
    }
}

fn profile(region: &Region) -> Profile {
    let loops: Vec<Vec<ProfileEdge>> = std::iter::once(&region.outer)
        .chain(&region.holes)
        .map(|one| one.iter().map(|curve| edge(curve, region.plane.normal)).collect())
        .collect();
    Profile {
        origin: region.plane.origin.to_array(),
        normal: region.plane.normal.to_array(),
        loops,
        names: Vec::new(),
    }
}

fn rectangle(size: Vec3) -> Profile {
    let corners = [[0.0, 0.0, 0.0], [size.x, 0.0, 0.0], [size.x, size.y, 0.0], [0.0, size.y, 0.0]];
    let lines = (0..4).map(|i| ProfileEdge::Line { a: corners[i], b: corners[(i + 1) % 4] }).collect();
    Profile { origin: [0.0; 3], normal: [0.0, 0.0, 1.0], loops: vec![lines], names: Vec::new() }
}

fn disc(radius: f64) -> Profile {
    let frame = Frame::new([0.0; 3], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]);
    let circle = vec![ProfileEdge::Arc { frame, r: radius, span: None }];
    Profile { origin: [0.0; 3], normal: [0.0, 0.0, 1.0], loops: vec![circle], names: Vec::new() }
}

impl Kernel for SecondKernel {
    type Shape = Brep;

    fn primitive(&mut self, primitive: &Primitive) -> Result<Brep, KernelError> {
        let (origin, up) = ([0.0; 3], [0.0, 0.0, 1.0]);
        match *primitive {
            Primitive::Box(size) => prism(&rectangle(size), 0.0, size.z),
            Primitive::Cylinder { radius, height } => prism(&disc(radius), 0.0, height),
            // The seam and poles of a tilted axis meet round coordinates less often.
            Primitive::Sphere { radius } => sphere(origin, [0.31, 0.22, 1.0], radius),
            Primitive::Cone { bottom, top, height } => cone(origin, up, bottom, top, height),
            Primitive::Torus { major, minor } => torus(origin, up, major, minor),
        }
        .map_err(failed)
    }

    fn extrude(&mut self, region: &Region, by: Vec3) -> Result<Brep, KernelError> {
        let height = by.dot(region.plane.normal);
        if (by - region.plane.normal * height).length() > 1e-9 {
            return Err(KernelError::Unsupported("extrude at an angle".to_owned()));
        }
        prism(&profile(region), height.min(0.0), height.max(0.0)).map_err(failed)
    }

    fn revolve(&mut self, region: &Region, axis: &Axis, radians: f64) -> Result<Brep, KernelError> {
        revolve(&profile(region), axis.origin.to_array(), axis.direction.to_array(), radians).map_err(failed)
    }

    fn boolean(&mut self, kind: BooleanKind, target: &Brep, tools: &[Brep]) -> Result<Brep, KernelError> {
        let op = match kind {
            BooleanKind::Union => Op::Union,
            BooleanKind::Subtract => Op::Cut,
            BooleanKind::Intersect => Op::Common,
        };
        if let (BooleanKind::Intersect, [first, rest @ ..]) = (kind, tools) {
            let together = rest.iter().fold(first.clone(), |all, tool| all.joined(tool));
            return combined(target, &together, op, 0.0).map_err(|error| failed(error.msg));
        }
        tools.iter().try_fold(target.clone(), |solid, tool| {
            combined(&solid, tool, op, 0.0).map_err(|error| failed(error.msg))
        })
    }

    fn compound(&mut self, shapes: &[Brep]) -> Result<Brep, KernelError> {
        let joined = shapes.iter().cloned().reduce(|all, shape| all.joined(&shape));
        joined.ok_or_else(|| failed("nothing to join"))
    }

    fn place(&mut self, shape: &Brep, motion: &Motion) -> Result<Brep, KernelError> {
        let m = motion.to_array();
        let rows = [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]];
        let affine = Affine::new(rows, [m[3], m[7], m[11]]).map_err(failed)?;
        Ok(shape.mapped(&affine))
    }

    fn volume(&mut self, shape: &Brep) -> Result<f64, KernelError> {
        Ok(cad_kernel::props::volume(shape))
    }

    fn is_valid(&mut self, shape: &Brep) -> Result<bool, KernelError> {
        Ok(shape.faces.is_empty() || cad_kernel::props::volume(shape).is_finite())
    }

    fn bounding_box(&mut self, shape: &Brep) -> Result<BoundingBox, KernelError> {
        let located = Located::new(shape, 1e-7);
        let corner = |p: [f64; 3]| Vec3::new(p[0], p[1], p[2]);
        let boxes = (0..shape.faces.len()).map(|face| located.face_box(face));
        let boxes = boxes.map(|(min, max)| BoundingBox { min: corner(min), max: corner(max) });
        boxes.reduce(BoundingBox::union).ok_or(KernelError::Empty)
    }

    fn contains(&mut self, shape: &Brep, point: Vec3) -> Result<bool, KernelError> {
        Ok(!matches!(Located::new(shape, 1e-7).solid_place(point.to_array()), Place::Out))
    }

    fn measure(&mut self, shape: &Brep) -> Result<Measure, KernelError> {
        let topology = Topology {
            solid_count: 1,
            face_count: shape.faces.len(),
            edge_count: shape.edges.len(),
            vertex_count: shape.vertices.len(),
            is_closed: true,
            is_manifold: true,
        };
        Ok(Measure {
            volume: self.volume(shape)?,
            surface_area: shape.faces.iter().map(|face| cad_kernel::props::area(shape, face)).sum(),
            center_of_mass: Vec3::ZERO,
            bounding_box: self.bounding_box(shape)?,
            topology,
            is_valid: true,
        })
    }
}
