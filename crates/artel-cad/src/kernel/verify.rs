//! Booleans that are checked before they are believed. No kernel is free of wrong results that look valid, so each result
//! is compared with what must hold for volumes and for single points, and refused when it does not.

use super::model::{BooleanKind, Kernel, KernelError};
use crate::geometry::{BoundingBox, Vec3};

/// How far volumes may be from what they must be, relative to the larger of the solids.
const VOLUME_TOLERANCE: f64 = 1e-4;
/// Points that are asked about for each boolean.
const PROBES: usize = 24;

/// Combines a solid with others and verifies the result.
pub fn verified_boolean<K: Kernel>(
    kernel: &mut K,
    kind: BooleanKind,
    target: &K::Shape,
    tools: &[K::Shape],
) -> Result<K::Shape, KernelError> {
    match kind {
        BooleanKind::Subtract if tools.len() > 1 && are_apart(kernel, tools)? => {
            let together = kernel.compound(tools)?;
            step(kernel, kind, target, tools, &together)
        }
        BooleanKind::Union | BooleanKind::Subtract | BooleanKind::Intersect => {
            let mut result = target.clone();
            for tool in tools {
                result = step(kernel, kind, &result, std::slice::from_ref(tool), tool)?;
            }
            Ok(result)
        }
    }
}

/// Returns the volume that two solids have in common; touching is nothing. Where the kernel finds nothing, points are asked.
pub fn common_volume<K: Kernel>(kernel: &mut K, a: &K::Shape, b: &K::Shape) -> Result<f64, KernelError> {
    let common = kernel.boolean(BooleanKind::Intersect, a, std::slice::from_ref(b))?;
    let volume = kernel.volume(&common)?;
    if volume > 0.0 {
        return Ok(volume);
    }
    let Some(both) = kernel.bounding_box(a)?.common(&kernel.bounding_box(b)?) else { return Ok(0.0) };
    let mut hits = 0;
    for index in 0..PROBES {
        let point = scattered(&both, index);
        hits += usize::from(kernel.contains(a, point)? && kernel.contains(b, point)?);
    }
    let size = both.size();
    Ok(size.x * size.y * size.z * hits as f64 / PROBES as f64)
}

fn are_apart<K: Kernel>(kernel: &mut K, shapes: &[K::Shape]) -> Result<bool, KernelError> {
    let mut boxes = shapes.iter().map(|shape| kernel.bounding_box(shape)).collect::<Result<Vec<_>, _>>()?;
    boxes.sort_by(|a, b| a.min.x.total_cmp(&b.min.x));
    Ok(boxes.iter().enumerate().all(|(index, one)| {
        let near = boxes[index + 1..].iter().take_while(|other| other.min.x < one.max.x);
        near.into_iter().all(|other| !one.meets(other, 1e-6))
    }))
}

/// One verified operation. `tool` is all of `tools` together, which are either one solid or solids that are apart.
fn step<K: Kernel>(
    kernel: &mut K,
    kind: BooleanKind,
    target: &K::Shape,
    tools: &[K::Shape],
    tool: &K::Shape,
) -> Result<K::Shape, KernelError> {
    let result = kernel.boolean(kind, target, tools)?;
    let common = match kind {
        BooleanKind::Intersect => result.clone(),
        BooleanKind::Union | BooleanKind::Subtract => {
            kernel.boolean(BooleanKind::Intersect, target, tools)?
        }
    };
    let volumes = Volumes {
        target: kernel.volume(target)?,
        tool: kernel.volume(tool)?,
        common: kernel.volume(&common)?,
        result: kernel.volume(&result)?,
    };
    let volumes = match kind {
        // The other difference is what an intersection can be compared with.
        BooleanKind::Intersect => {
            let rest = kernel.boolean(BooleanKind::Subtract, target, tools)?;
            volumes.check(kind, kernel.volume(&rest)?)?
        }
        BooleanKind::Union | BooleanKind::Subtract => volumes.check(kind, volumes.result)?,
    };
    if volumes.result <= VOLUME_TOLERANCE * 1e-3 * volumes.target.min(volumes.tool) {
        // A kernel that overlooks what two solids have in common says the same, and all volumes fit.
        probe(kernel, kind, [target, tool], None)?;
        return Err(KernelError::Empty);
    }
    if !kernel.is_valid(&result)? {
        return Err(KernelError::Unverified("the kernel's own check finds faults in the result".to_owned()));
    }
    probe(kernel, kind, [target, tool], Some(&result))?;
    Ok(result)
}

#[derive(Clone, Copy)]
struct Volumes {
    target: f64,
    tool: f64,
    common: f64,
    result: f64,
}

impl Volumes {
    /// Checks what must hold; `other` is the result, or target without tool for an intersection.
    fn check(self, kind: BooleanKind, other: f64) -> Result<Self, KernelError> {
        let scale = self.target.max(self.tool);
        let expected = match kind {
            BooleanKind::Union => self.target + self.tool - self.common,
            BooleanKind::Subtract | BooleanKind::Intersect => self.target - self.common,
        };
        let slack = VOLUME_TOLERANCE * scale;
        let in_bounds = self.common >= -slack && self.common <= self.target.min(self.tool) + slack;
        if !in_bounds || (other - expected).abs().total_cmp(&slack).is_gt() {
            return Err(KernelError::Unverified(format!(
                "volumes contradict each other: {:.6} and {:.6} have {:.6} in common, and give {other:.6} instead of \
                 {expected:.6} mm³",
                self.target, self.tool, self.common
            )));
        }
        Ok(self)
    }
}

/// Asks at points whether each is inside of the result exactly when it should be: half of them all over the box of both
/// solids, half where their boxes meet, which is where something can go wrong. No result is inside of nothing.
fn probe<K: Kernel>(
    kernel: &mut K,
    kind: BooleanKind,
    [target, tool]: [&K::Shape; 2],
    result: Option<&K::Shape>,
) -> Result<(), KernelError> {
    let boxes = [kernel.bounding_box(target)?, kernel.bounding_box(tool)?];
    let around = boxes[0].union(boxes[1]);
    let meeting = boxes[0].common(&boxes[1]).unwrap_or(around);
    for index in 0..PROBES {
        let is_near = result.is_none() || index % 2 == 0;
        let point = scattered(if is_near { &meeting } else { &around }, index);
        let (in_target, in_tool) = (kernel.contains(target, point)?, kernel.contains(tool, point)?);
        let expected = match kind {
            BooleanKind::Union => in_target || in_tool,
            BooleanKind::Subtract => in_target && !in_tool,
            BooleanKind::Intersect => in_target && in_tool,
        };
        let found = match result {
            Some(result) => kernel.contains(result, point)?,
            None => false,
        };
        if found != expected {
            let (is, not) = if expected { ("outside", "inside") } else { ("inside", "outside") };
            let message = format!("the point {point} is {is} of the result, and should be {not}");
            return Err(KernelError::Unverified(message));
        }
    }
    Ok(())
}

/// The points of a sequence that fills a box evenly and hits no round coordinates.
fn scattered(around: &BoundingBox, index: usize) -> Vec3 {
    // The inverse of the real root of x⁴ = x + 1, and its powers.
    const STEPS: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];
    let part = |step: f64| (0.5 + step * (index as f64 + 1.0)).fract();
    let size = around.size();
    around.min + Vec3::new(size.x * part(STEPS[0]), size.y * part(STEPS[1]), size.z * part(STEPS[2]))
}
