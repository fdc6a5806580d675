//! Constraints as data: what each kind needs, and which parts of entities it is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::EntityId;

/// The part of an entity that a constraint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The whole of it.
    Whole,
    /// Where it starts.
    Start,
    /// Where it ends.
    End,
    /// The center of a circle or an arc.
    Center,
}

/// An entity, or a point of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// The entity.
    pub entity: EntityId,
    /// The point of it that is meant, or the whole.
    pub part: Part,
}

/// The kinds of constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstraintKind {
    /// Two points are one, a point lies on a curve, or two circles have one center.
    Coincident,
    /// Two lines have the same direction.
    Parallel,
    /// Two lines meet at a right angle.
    Perpendicular,
    /// A line and a circle or arc, or two of these, touch.
    Tangent,
    /// Two points, a point and a line, or the ends of a line are so far apart.
    Distance,
    /// The second line is turned by so much from the first, counter-clockwise.
    Angle,
    /// A circle or arc has this radius.
    Radius,
    /// A line, or two points, run along the sketch's x axis.
    Horizontal,
    /// A line, or two points, run along the sketch's y axis.
    Vertical,
    /// A point stays where it is.
    Fixed,
}

/// A condition between entities of a sketch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// What must hold.
    pub kind: ConstraintKind,
    /// Between what.
    pub targets: Vec<Target>,
    /// The distance or radius in millimetres, or the angle in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

impl Constraint {
    /// Returns the entities it is about, each once.
    pub fn entities(&self) -> Vec<EntityId> {
        let mut ids: Vec<EntityId> = self.targets.iter().map(|target| target.entity.clone()).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}
