//! What is asked of a geometry kernel, and what it answers. One trait, so that a second kernel can check the first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::{BoundingBox, Motion, Region, Vec3};

/// A solid with a formula, standing on the xy plane around the z axis (a box with one corner at the origin, a sphere around
/// it).
#[expect(missing_docs, reason = "the sentence of each variant says what its fields are")]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Primitive {
    /// Lengths along the axes.
    Box(Vec3),
    /// A cylinder.
    Cylinder { radius: f64, height: f64 },
    /// A ball.
    Sphere { radius: f64 },
    /// A cone that ends in a point (`top` 0) or is cut off.
    Cone { bottom: f64, top: f64, height: f64 },
    /// A ring.
    Torus { major: f64, minor: f64 },
}

/// How solids are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BooleanKind {
    /// Everything that is in any of them.
    Union,
    /// The first without the others.
    Subtract,
    /// What is in all of them.
    Intersect,
}

/// A line to turn around; the direction has length one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// A point on it.
    pub origin: Vec3,
    /// Where it points.
    pub direction: Vec3,
}

/// What is known about a shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// Cubic millimetres.
    pub volume: f64,
    /// Square millimetres.
    pub surface_area: f64,
    /// The center of mass, for the same density everywhere.
    pub center_of_mass: Vec3,
    /// The smallest box along the axes.
    pub bounding_box: BoundingBox,
    /// What it is made of.
    pub topology: Topology,
    /// Whether the kernel's own check finds no fault.
    pub is_valid: bool,
}

/// What a shape is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Separate bodies.
    pub solid_count: usize,
    /// Faces.
    pub face_count: usize,
    /// Edges.
    pub edge_count: usize,
    /// Corners.
    pub vertex_count: usize,
    /// Whether every boundary is closed.
    pub is_closed: bool,
    /// Whether no edge belongs to more than two faces.
    pub is_manifold: bool,
}

/// Why a kernel gave no shape.
#[expect(missing_docs, reason = "the sentence of each variant says what its fields are")]
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum KernelError {
    /// It tried and failed; the text is its own.
    #[error("{0}")]
    Failed(String),
    /// It gave something that contradicts what is known about it.
    #[error("{0}")]
    Unverified(String),
    /// The result would be nothing.
    #[error("the result is empty")]
    Empty,
    /// It asked for more memory than allowed.
    #[error("the kernel needs more than {limit_bytes} bytes of memory")]
    Memory { limit_bytes: usize },
    /// It stopped in a state that nothing can be said about.
    #[error("the kernel broke off: {0}")]
    Broken(String),
    /// It took longer than allowed.
    #[error("the kernel worked for more than {limit_ms} ms")]
    Timeout { limit_ms: u64 },
    /// It cannot do this.
    #[error("this kernel cannot {0}")]
    Unsupported(String),
}

/// A geometry kernel: exact solids from descriptions, combined and measured.
pub trait Kernel {
    /// A solid that the kernel keeps.
    type Shape: Clone;

    /// Makes a solid with a formula.
    fn primitive(&mut self, primitive: &Primitive) -> Result<Self::Shape, KernelError>;
    /// Moves a region straight through space and keeps what it passes.
    fn extrude(&mut self, region: &Region, by: Vec3) -> Result<Self::Shape, KernelError>;
    /// Turns a region around an axis and keeps what it passes.
    fn revolve(&mut self, region: &Region, axis: &Axis, radians: f64) -> Result<Self::Shape, KernelError>;
    /// Combines a solid with others, unverified.
    fn boolean(
        &mut self,
        kind: BooleanKind,
        target: &Self::Shape,
        tools: &[Self::Shape],
    ) -> Result<Self::Shape, KernelError>;
    /// Puts shapes side by side as one, without looking at what they have in common.
    fn compound(&mut self, shapes: &[Self::Shape]) -> Result<Self::Shape, KernelError>;
    /// Moves, turns or reflects.
    fn place(&mut self, shape: &Self::Shape, motion: &Motion) -> Result<Self::Shape, KernelError>;
    /// Returns the volume only, which is quicker than everything.
    fn volume(&mut self, shape: &Self::Shape) -> Result<f64, KernelError>;
    /// Returns whether the kernel's own check finds no fault.
    fn is_valid(&mut self, shape: &Self::Shape) -> Result<bool, KernelError>;
    /// Returns the box around a shape.
    fn bounding_box(&mut self, shape: &Self::Shape) -> Result<BoundingBox, KernelError>;
    /// Returns whether a point is inside.
    fn contains(&mut self, shape: &Self::Shape, point: Vec3) -> Result<bool, KernelError>;
    /// Returns everything that is known about a shape.
    fn measure(&mut self, shape: &Self::Shape) -> Result<Measure, KernelError>;
}
