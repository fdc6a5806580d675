//! Sketches: constraints between points and curves of a plane, and solving them.

mod constraint;
mod diagnose;
mod model;
mod solve;

pub use constraint::{Constraint, ConstraintKind, Part, Target};
pub(crate) use diagnose::{Diagnosis, diagnose};
pub(crate) use model::Sketch;
pub(crate) use solve::{Solved, solve};
