//! Sketches: constraints between points and curves of a plane, and solving them.

mod constraint;

pub use constraint::{Constraint, ConstraintKind, Part, Target};
