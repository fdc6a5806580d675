//! Work on the edges and faces of a solid: finding the ones that are meant, rounding, cutting off, hollowing out.

use occt_wasm::ShapeHandle;

use super::job::{EdgeChoice, FaceChoice};
use super::model::{Kernel as _, KernelError};
use super::occt::Occt;
use crate::geometry::Vec3;

/// How far a point may be from the edge or face that it names, in millimetres.
const NEAR: f64 = 0.01;

/// Takes a single solid out of the compounds that booleans wrap it in.
pub(super) fn unwrapped(kernel: &mut Occt, shape: ShapeHandle) -> Result<ShapeHandle, KernelError> {
    let kind = kernel.kernel.get_shape_type(shape);
    if kernel.check(kind)? == "solid" {
        return Ok(shape);
    }
    Ok(match kernel.sub_shapes(shape, "solid")?[..] {
        [solid] => solid,
        _ => shape,
    })
}

fn single(kernel: &mut Occt, shape: ShapeHandle) -> Result<ShapeHandle, KernelError> {
    match kernel.sub_shapes(shape, "solid")?[..] {
        [solid] => Ok(solid),
        ref solids => Err(KernelError::Failed(format!("it has {} separate bodies, not one", solids.len()))),
    }
}

/// Rounds edges.
pub(super) fn fillet(
    kernel: &mut Occt,
    shape: ShapeHandle,
    choice: &EdgeChoice,
    radius: f64,
) -> Result<ShapeHandle, KernelError> {
    let solid = single(kernel, shape)?;
    let edges = edges(kernel, solid, choice)?;
    let rounded = kernel.kernel.fillet(solid, &edges, radius);
    let rounded = kernel.check(rounded).map_err(|error| too_large(error, "radius", radius))?;
    changed(kernel, solid, rounded)
}

/// Cuts edges off.
pub(super) fn chamfer(
    kernel: &mut Occt,
    shape: ShapeHandle,
    choice: &EdgeChoice,
    distance: f64,
) -> Result<ShapeHandle, KernelError> {
    let solid = single(kernel, shape)?;
    let edges = edges(kernel, solid, choice)?;
    let cut = kernel.kernel.chamfer(solid, &edges, distance);
    let cut = kernel.check(cut).map_err(|error| too_large(error, "distance", distance))?;
    changed(kernel, solid, cut)
}

/// Hollows a solid out to the inside.
pub(super) fn shell(
    kernel: &mut Occt,
    shape: ShapeHandle,
    open: &FaceChoice,
    thickness: f64,
) -> Result<ShapeHandle, KernelError> {
    let solid = single(kernel, shape)?;
    let faces = faces(kernel, solid, open)?;
    let hollow = kernel.kernel.shell(solid, &faces, thickness, 1e-3);
    let hollow = kernel.check(hollow).map_err(|error| too_large(error, "thickness", thickness))?;
    let (before, after) = (kernel.volume(&solid)?, kernel.volume(&hollow)?.abs());
    if after >= before {
        return Err(KernelError::Unverified(format!("hollowed out, {before:.6} mm³ became {after:.6} mm³")));
    }
    changed(kernel, solid, hollow)
}

fn too_large(error: KernelError, what: &str, value: f64) -> KernelError {
    if let KernelError::Failed(text) = error {
        return KernelError::Failed(format!(
            "{text}: most often the {what} of {value} mm is too large for the edges nearby"
        ));
    }
    error
}

/// A feature stays inside of the solid's box and leaves something.
fn changed(kernel: &mut Occt, before: ShapeHandle, after: ShapeHandle) -> Result<ShapeHandle, KernelError> {
    let (outer, inner) = (kernel.bounding_box(&before)?, kernel.bounding_box(&after)?);
    let joined = outer.union(inner);
    if joined.min.distance(outer.min) > 1e-4 || joined.max.distance(outer.max) > 1e-4 {
        return Err(KernelError::Unverified(
            "the result reaches out of the solid it was made from".to_owned(),
        ));
    }
    Ok(after)
}

fn edges(
    kernel: &mut Occt,
    solid: ShapeHandle,
    choice: &EdgeChoice,
) -> Result<Vec<ShapeHandle>, KernelError> {
    let all = kernel.sub_shapes(solid, "edge")?;
    match choice {
        EdgeChoice::All => Ok(all),
        EdgeChoice::Along(direction) => {
            let mut found = Vec::new();
            for edge in all {
                if is_along(kernel, edge, *direction)? {
                    found.push(edge);
                }
            }
            if found.is_empty() {
                return Err(KernelError::Failed(format!("no straight edge runs along {direction}")));
            }
            Ok(found)
        }
        EdgeChoice::Near(points) => nearest(kernel, &all, points, "edge"),
    }
}

fn is_along(kernel: &mut Occt, edge: ShapeHandle, direction: Vec3) -> Result<bool, KernelError> {
    let kind = kernel.kernel.curve_type(edge);
    if kernel.check(kind)? != "line" {
        return Ok(false);
    }
    let range = kernel.kernel.curve_parameters(edge);
    let [first, last] = kernel.check(range)?[..] else { return Ok(false) };
    let mut ends = [Vec3::ZERO; 2];
    for (end, parameter) in ends.iter_mut().zip([first, last]) {
        let point = kernel.kernel.curve_point_at_param(edge, parameter);
        if let [x, y, z, ..] = kernel.check(point)?[..] {
            *end = Vec3::new(x, y, z);
        }
    }
    let Some(along) = (ends[1] - ends[0]).unit() else { return Ok(false) };
    Ok(along.cross(direction).length() < 1e-6)
}

fn faces(
    kernel: &mut Occt,
    solid: ShapeHandle,
    choice: &FaceChoice,
) -> Result<Vec<ShapeHandle>, KernelError> {
    let all = kernel.sub_shapes(solid, "face")?;
    let direction = match choice {
        FaceChoice::Near(points) => return nearest(kernel, &all, points, "face"),
        FaceChoice::Facing(direction) => *direction,
    };
    let mut facing: Vec<(f64, ShapeHandle)> = Vec::new();
    for face in all {
        let kind = kernel.kernel.surface_type(face);
        let normal = kernel.kernel.surface_normal(face, 0.0, 0.0);
        if kernel.check(kind)? != "plane" {
            continue;
        }
        let [x, y, z, ..] = kernel.check(normal)?[..] else { continue };
        if Vec3::new(x, y, z).dot(direction) > 1.0 - 1e-9 {
            facing.push((kernel.bounding_box(&face)?.center().dot(direction), face));
        }
    }
    let furthest = facing.iter().map(|(height, _)| *height).fold(f64::NEG_INFINITY, f64::max);
    let found: Vec<ShapeHandle> =
        facing.into_iter().filter(|(height, _)| *height > furthest - 1e-6).map(|(_, face)| face).collect();
    if found.is_empty() {
        return Err(KernelError::Failed(format!("no flat face looks along {direction}")));
    }
    Ok(found)
}

fn nearest(
    kernel: &mut Occt,
    parts: &[ShapeHandle],
    points: &[Vec3],
    kind: &str,
) -> Result<Vec<ShapeHandle>, KernelError> {
    let mut found = Vec::new();
    for point in points {
        let vertex = kernel.kernel.make_vertex(point.x, point.y, point.z);
        let vertex = kernel.check(vertex)?;
        let mut best: Option<(f64, ShapeHandle)> = None;
        for part in parts {
            let distance = kernel.kernel.distance_between(vertex, *part);
            let distance = kernel.check(distance)?;
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, *part));
            }
        }
        match best {
            Some((distance, part)) if distance <= NEAR => {
                if !found.contains(&part) {
                    found.push(part);
                }
            }
            Some((distance, _)) => {
                let message = format!("no {kind} passes {point}; the nearest is {distance:.3} mm away");
                return Err(KernelError::Failed(message));
            }
            None => return Err(KernelError::Failed(format!("the solid has no {kind}"))),
        }
    }
    Ok(found)
}
