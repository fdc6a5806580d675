//! Geometry without a kernel: vectors and curves.

mod curve;
mod vector;

pub use curve::{Arc, Curve, angle_between, reference_direction};
pub use vector::{BoundingBox, Motion, Vec3};
