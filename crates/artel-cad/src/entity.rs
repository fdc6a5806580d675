//! What a workspace holds: points and curves, profiles made of them, constraints between them, and solids.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{CadError, bad_params};
use crate::geometry::{BoundingBox, Curve, Region, Vec3};
use crate::kernel::Measure;
use crate::limit::NAME_CHARS_MAX;
use crate::sketch::Constraint;

/// The name of an entity, unique within a workspace: letters, digits, `_`, `-` and `.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct EntityId(String);

/// The name of a workspace, of the same form as that of an entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct WorkspaceId(String);

macro_rules! identifier {
    ($name:ident, $what:literal) => {
        impl FromStr for $name {
            type Err = CadError;
            fn from_str(text: &str) -> Result<Self, CadError> {
                check_identifier(text, $what).map(|()| Self(text.to_owned()))
            }
        }
        impl TryFrom<String> for $name {
            type Error = CadError;
            fn try_from(text: String) -> Result<Self, CadError> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

identifier!(EntityId, "an entity id");
identifier!(WorkspaceId, "a workspace id");

fn check_identifier(text: &str, what: &str) -> Result<(), CadError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if text.is_empty() || text.chars().count() > NAME_CHARS_MAX || !text.chars().all(fits) {
        return Err(bad_params(format!(
            "`{}` is not {what}: 1 to {NAME_CHARS_MAX} letters, digits, `_`, `-` and `.`",
            text.chars().take(NAME_CHARS_MAX).collect::<String>()
        )));
    }
    Ok(())
}

/// The kinds of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// A place.
    Point,
    /// A straight line between two places.
    Line,
    /// A full circle.
    Circle,
    /// A part of a circle.
    Arc,
    /// Straight lines through many places.
    Polyline,
    /// A closed outline made of curves.
    Profile,
    /// A condition that a sketch is solved for.
    Constraint,
    /// An exact solid.
    Solid,
    /// Triangles from a file, to look at and measure against.
    Mesh,
}

impl EntityKind {
    /// Returns the word for it, which ids start with.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Line => "line",
            Self::Circle => "circle",
            Self::Arc => "arc",
            Self::Polyline => "polyline",
            Self::Profile => "profile",
            Self::Constraint => "constraint",
            Self::Solid => "solid",
            Self::Mesh => "mesh",
        }
    }
}

/// An entity as it is stored: everything but the bytes of a solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// What people call it; a part's name in files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    pub shape: Shape,
}

/// What an entity is.
#[expect(missing_docs, reason = "the sentence of each variant says what its fields are")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A place.
    Point(Vec3),
    /// A line, an arc or a circle.
    Curve(Curve),
    /// Straight lines through many places.
    Polyline { points: Vec<Vec3>, closed: bool },
    /// The curves of a closed outline, by their ids.
    Profile { curves: Vec<EntityId> },
    /// A condition between entities.
    Constraint(Constraint),
    /// What is known about a solid; its bytes are kept apart.
    Solid(Solid),
    /// What is known about a mesh; its bytes are kept apart.
    Mesh { triangles: usize, bounding_box: BoundingBox, is_watertight: bool },
}

/// What is known about a solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solid {
    /// Volume, area and so on.
    pub measure: Measure,
    /// The method that made it.
    pub made_by: String,
    /// What it was made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_of: Vec<EntityId>,
    /// Red, green and blue, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<[f64; 3]>,
}

impl Entity {
    /// Returns what kind of entity it is.
    pub fn kind(&self) -> EntityKind {
        match &self.shape {
            Shape::Point(_) => EntityKind::Point,
            Shape::Curve(Curve::Line { .. }) => EntityKind::Line,
            Shape::Curve(Curve::Arc(_)) => EntityKind::Arc,
            Shape::Curve(Curve::Circle { .. }) => EntityKind::Circle,
            Shape::Polyline { .. } => EntityKind::Polyline,
            Shape::Profile { .. } => EntityKind::Profile,
            Shape::Constraint(_) => EntityKind::Constraint,
            Shape::Solid(_) => EntityKind::Solid,
            Shape::Mesh { .. } => EntityKind::Mesh,
        }
    }

    /// Returns the entities that this one cannot be without.
    pub fn references(&self) -> Vec<EntityId> {
        match &self.shape {
            Shape::Profile { curves } => curves.clone(),
            Shape::Constraint(constraint) => constraint.entities(),
            Shape::Point(_)
            | Shape::Curve(_)
            | Shape::Polyline { .. }
            | Shape::Solid(_)
            | Shape::Mesh { .. } => Vec::new(),
        }
    }

    /// Returns the box around it, for what has a place of its own.
    pub fn bounding_box(&self) -> Option<BoundingBox> {
        match &self.shape {
            Shape::Point(at) => BoundingBox::around([*at]),
            Shape::Curve(curve) => Some(curve.bounding_box()),
            Shape::Polyline { points, .. } => BoundingBox::around(points.iter().copied()),
            Shape::Solid(solid) => Some(solid.measure.bounding_box),
            Shape::Mesh { bounding_box, .. } => Some(*bounding_box),
            Shape::Profile { .. } | Shape::Constraint(_) => None,
        }
    }

    /// Returns what can be said about it, as methods answer it.
    pub fn properties(&self) -> Map<String, Value> {
        let value = match &self.shape {
            Shape::Point(at) => json!({"coordinates": at}),
            Shape::Curve(curve) => curve_properties(curve),
            Shape::Polyline { points, closed } => {
                let sides = points.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f64>();
                let last = if *closed { points[points.len() - 1].distance(points[0]) } else { 0.0 };
                json!({"points": points, "closed": closed, "length": sides + last})
            }
            Shape::Profile { curves } => json!({"curves": curves}),
            Shape::Constraint(constraint) => json!(constraint),
            Shape::Solid(solid) => {
                let mut value = json!(solid.measure);
                value["made_by"] = json!(solid.made_by);
                value["made_of"] = json!(solid.made_of);
                if let Some(color) = solid.color {
                    value["color"] = json!(color);
                }
                value
            }
            Shape::Mesh { triangles, bounding_box, is_watertight } => {
                json!({"triangles": triangles, "bounding_box": bounding_box, "is_watertight": is_watertight})
            }
        };
        let Value::Object(properties) = value else { return Map::new() };
        properties
    }
}

fn curve_properties(curve: &Curve) -> Value {
    let length = curve.length();
    match curve {
        Curve::Line { start, end } => json!({"start": start, "end": end, "length": length}),
        Curve::Arc(arc) => json!({
            "center": arc.center, "radius": arc.radius(), "normal": arc.normal, "start": arc.start, "end": arc.at(1.0),
            "sweep_degrees": arc.sweep.to_degrees(), "length": length
        }),
        Curve::Circle { center, normal, radius } => json!({
            "center": center, "radius": radius, "normal": normal, "length": length,
            "area": std::f64::consts::PI * radius * radius
        }),
    }
}

/// Returns what can be said about the region that a profile or closed curve encloses.
pub fn region_properties(region: &Region) -> Value {
    json!({
        "area": region.area(), "perimeter": region.perimeter(), "normal": region.plane.normal,
        "hole_count": region.holes.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_form() {
        assert!("housing_1.top-left".parse::<EntityId>().is_ok());
        for bad in ["", "a b", "../x", "ü", &"x".repeat(101)] {
            assert!(bad.parse::<EntityId>().is_err(), "{bad}");
        }
        let error = serde_json::from_str::<WorkspaceId>("\"a/b\"").unwrap_err().to_string();
        assert!(error.starts_with("`a/b` is not a workspace id: 1 to 100 letters"), "{error}");
    }

    #[test]
    fn an_entity_is_stored_and_read_back() {
        let arc = crate::geometry::Arc::from_angles(Vec3::ZERO, Vec3::Z, 2.0, [0.0, 1.0]).unwrap();
        let entity = Entity { name: Some("edge".to_owned()), shape: Shape::Curve(Curve::Arc(arc)) };
        let text = serde_json::to_string(&entity).unwrap();
        assert_eq!(serde_json::from_str::<Entity>(&text).unwrap(), entity);
        assert_eq!(entity.properties()["sweep_degrees"], json!(1.0_f64.to_degrees()));
    }
}
