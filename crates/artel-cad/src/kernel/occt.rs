//! The kernel in use: OpenCascade, compiled to WebAssembly, in a sandbox without files or network.

use occt_wasm::wasmtime::{Module, StoreLimitsBuilder};
use occt_wasm::{OcctError, OcctKernel, ShapeHandle};

use super::model::{Axis, BooleanKind, Kernel, KernelError, Measure, Primitive, Topology};
use crate::geometry::{BoundingBox, Curve, Motion, Region, Vec3};

/// Above this many edges, how faces share them is not looked at: the kernel's answer takes time quadratic in them.
const MANIFOLD_EDGES_MAX: usize = 1_500;

/// OpenCascade with the shapes it holds.
pub struct Occt {
    pub(super) kernel: OcctKernel,
    memory_bytes_max: usize,
}

impl Occt {
    /// Makes a kernel from the compiled module.
    pub fn new(module: &Module, memory_bytes_max: usize) -> Result<Self, KernelError> {
        let limits = StoreLimitsBuilder::new().memory_size(memory_bytes_max).build();
        let kernel = OcctKernel::from_module_with_limiter(module, limits)
            .map_err(|error| KernelError::Broken(error.to_string()))?;
        Ok(Self { kernel, memory_bytes_max })
    }

    /// Runs some work and forgets every shape that it made.
    pub fn scoped<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, KernelError>,
    ) -> Result<T, KernelError> {
        let mark = self.kernel.checkpoint();
        let mark = self.check(mark)?;
        let result = work(self);
        let released = self.kernel.release_since(mark);
        self.check(released)?;
        result
    }

    /// Reads a shape from the bytes that [`Occt::save`] gave.
    pub fn load(&mut self, bytes: &[u8]) -> Result<ShapeHandle, KernelError> {
        let shape = self.kernel.from_brep_binary(bytes);
        self.check(shape)
    }

    /// Writes a shape exactly.
    pub fn save(&mut self, shape: ShapeHandle) -> Result<Vec<u8>, KernelError> {
        let bytes = self.kernel.to_brep_binary(shape);
        self.check(bytes)
    }

    /// Returns the moments of inertia around the center of mass, for a density of one.
    pub fn inertia(&mut self, shape: ShapeHandle) -> Result<[[f64; 3]; 3], KernelError> {
        let numbers = self.kernel.get_inertia(shape);
        let numbers = self.check(numbers)?;
        let part = |index: usize| numbers.get(index).copied().map_or(0.0, rounded);
        Ok([0, 1, 2].map(|row| [0, 1, 2].map(|column| part(3 * row + column))))
    }

    /// Turns the library's errors into ours.
    pub(super) fn check<T>(&self, result: Result<T, OcctError>) -> Result<T, KernelError> {
        result.map_err(|error| match &error {
            OcctError::Operation { operation, message } => {
                KernelError::Failed(format!("{operation}: {message}"))
            }
            OcctError::MemoryLimit { .. } => KernelError::Memory { limit_bytes: self.memory_bytes_max },
            OcctError::Runtime(_) | OcctError::Memory(_) | _ => KernelError::Broken(error.to_string()),
        })
    }

    pub(super) fn sub_shapes(
        &mut self,
        shape: ShapeHandle,
        kind: &str,
    ) -> Result<Vec<ShapeHandle>, KernelError> {
        let found = self.kernel.get_sub_shapes(shape, kind);
        self.check(found)
    }

    fn count(&mut self, shape: ShapeHandle, kind: &str) -> Result<usize, KernelError> {
        let count = self.kernel.sub_shape_count(shape, kind);
        self.check(count).map(|count| usize::try_from(count).unwrap_or(0))
    }

    fn edge(&mut self, curve: &Curve) -> Result<ShapeHandle, KernelError> {
        let edge = match curve {
            Curve::Line { start: a, end: b } => self.kernel.make_line_edge(a.x, a.y, a.z, b.x, b.y, b.z),
            Curve::Arc(arc) => {
                let (a, m, b) = (arc.start, arc.at(0.5), arc.at(1.0));
                self.kernel.make_arc_edge(a.x, a.y, a.z, m.x, m.y, m.z, b.x, b.y, b.z)
            }
            Curve::Circle { center: c, normal: n, radius } => {
                self.kernel.make_circle_edge(c.x, c.y, c.z, n.x, n.y, n.z, *radius)
            }
        };
        self.check(edge)
    }

    fn wire(&mut self, curves: &[Curve]) -> Result<ShapeHandle, KernelError> {
        let edges = curves.iter().map(|curve| self.edge(curve)).collect::<Result<Vec<_>, _>>()?;
        let wire = self.kernel.make_wire(&edges);
        self.check(wire)
    }

    fn face(&mut self, region: &Region) -> Result<ShapeHandle, KernelError> {
        let outer = self.wire(&region.outer)?;
        let face = self.kernel.make_face(outer);
        let face = self.check(face)?;
        if region.holes.is_empty() {
            return Ok(face);
        }
        let holes = region.holes.iter().map(|hole| self.wire(hole)).collect::<Result<Vec<_>, _>>()?;
        let face = self.kernel.add_holes_in_face(face, &holes);
        self.check(face)
    }

    fn is_manifold(&mut self, shape: ShapeHandle, edges: usize) -> Result<bool, KernelError> {
        if edges > MANIFOLD_EDGES_MAX {
            return self.is_valid(&shape);
        }
        let map = self.kernel.edge_to_face_map(shape, i32::MAX);
        let map = self.check(map)?;
        // Groups of: the edge's hash, the number of its faces, their hashes.
        let mut rest = map.as_slice();
        while let [_, count, after @ ..] = rest {
            if *count > 2 {
                return Ok(false);
            }
            rest = &after[usize::try_from(*count).unwrap_or(0).min(after.len())..];
        }
        Ok(true)
    }
}

/// Keeps twelve digits: the rest is noise of the summation.
fn rounded(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

/// Keeps a place to a millionth of a micrometre.
fn place(at: Vec3) -> Vec3 {
    let round = |number: f64| (number * 1e9).round() / 1e9 + 0.0;
    Vec3::new(round(at.x), round(at.y), round(at.z))
}

fn vector(numbers: &[f64]) -> Vec3 {
    match numbers {
        [x, y, z, ..] => Vec3::new(*x, *y, *z),
        _ => Vec3::ZERO,
    }
}

impl Kernel for Occt {
    type Shape = ShapeHandle;

    fn primitive(&mut self, primitive: &Primitive) -> Result<ShapeHandle, KernelError> {
        let shape = match *primitive {
            Primitive::Box(size) => self.kernel.make_box(size.x, size.y, size.z),
            Primitive::Cylinder { radius, height } => self.kernel.make_cylinder(radius, height),
            Primitive::Sphere { radius } => self.kernel.make_sphere(radius),
            Primitive::Cone { bottom, top, height } => self.kernel.make_cone(bottom, top, height),
            Primitive::Torus { major, minor } => self.kernel.make_torus(major, minor),
        };
        self.check(shape)
    }

    fn extrude(&mut self, region: &Region, by: Vec3) -> Result<ShapeHandle, KernelError> {
        let face = self.face(region)?;
        let solid = self.kernel.extrude(face, by.x, by.y, by.z);
        self.check(solid)
    }

    fn revolve(&mut self, region: &Region, axis: &Axis, radians: f64) -> Result<ShapeHandle, KernelError> {
        let face = self.face(region)?;
        let (o, d) = (axis.origin, axis.direction);
        let solid = self.kernel.revolve(face, o.x, o.y, o.z, d.x, d.y, d.z, radians);
        self.check(solid)
    }

    fn boolean(
        &mut self,
        kind: BooleanKind,
        target: &ShapeHandle,
        tools: &[ShapeHandle],
    ) -> Result<ShapeHandle, KernelError> {
        let result = match (kind, tools) {
            (BooleanKind::Union, [tool]) => self.kernel.fuse(*target, *tool),
            (BooleanKind::Union, _) => {
                let all: Vec<ShapeHandle> = std::iter::once(target).chain(tools).copied().collect();
                self.kernel.fuse_all(&all)
            }
            (BooleanKind::Subtract, _) => self.kernel.cut_all(*target, tools),
            (BooleanKind::Intersect, [tool]) => self.kernel.common(*target, *tool),
            (BooleanKind::Intersect, _) => {
                let tools = self.compound(tools)?;
                self.kernel.common(*target, tools)
            }
        };
        self.check(result)
    }

    fn compound(&mut self, shapes: &[ShapeHandle]) -> Result<ShapeHandle, KernelError> {
        let compound = self.kernel.make_compound(shapes);
        self.check(compound)
    }

    fn place(&mut self, shape: &ShapeHandle, motion: &Motion) -> Result<ShapeHandle, KernelError> {
        let moved = self.kernel.transform(*shape, &motion.to_array());
        self.check(moved)
    }

    fn volume(&mut self, shape: &ShapeHandle) -> Result<f64, KernelError> {
        let volume = self.kernel.get_volume(*shape);
        self.check(volume)
    }

    fn is_valid(&mut self, shape: &ShapeHandle) -> Result<bool, KernelError> {
        let valid = self.kernel.is_valid(*shape);
        self.check(valid)
    }

    fn bounding_box(&mut self, shape: &ShapeHandle) -> Result<BoundingBox, KernelError> {
        let found = self.kernel.get_bounding_box(*shape, false);
        let found = self.check(found)?;
        let corner = |v: occt_wasm::Vec3| Vec3::new(v.x, v.y, v.z);
        Ok(BoundingBox { min: corner(found.min), max: corner(found.max) })
    }

    fn contains(&mut self, shape: &ShapeHandle, point: Vec3) -> Result<bool, KernelError> {
        let inside = self.kernel.contains_point(*shape, point.x, point.y, point.z, 1e-7);
        self.check(inside)
    }

    fn measure(&mut self, shape: &ShapeHandle) -> Result<Measure, KernelError> {
        let volume = self.volume(shape)?;
        let area = self.kernel.get_surface_area(*shape);
        let center = self.kernel.get_center_of_mass(*shape);
        let is_valid = self.is_valid(shape)?;
        let edge_count = self.count(*shape, "edge")?;
        let solid_count = self.count(*shape, "solid")?;
        let topology = Topology {
            solid_count,
            face_count: self.count(*shape, "face")?,
            edge_count,
            vertex_count: self.count(*shape, "vertex")?,
            is_closed: is_valid && solid_count > 0,
            is_manifold: self.is_manifold(*shape, edge_count)?,
        };
        let around = self.bounding_box(shape)?;
        Ok(Measure {
            volume: rounded(volume),
            surface_area: rounded(self.check(area)?),
            center_of_mass: place(vector(&self.check(center)?)),
            bounding_box: BoundingBox { min: place(around.min), max: place(around.max) },
            topology,
            is_valid,
        })
    }
}
