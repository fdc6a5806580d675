//! Geometry without a kernel: vectors, curves, and regions of a plane.

mod crossing;
mod curve;
mod region;
mod vector;

pub use curve::{Arc, Curve, angle_between, reference_direction};
pub use region::{NamedCurve, Plane, Region};
pub use vector::{BoundingBox, Motion, Vec3};
