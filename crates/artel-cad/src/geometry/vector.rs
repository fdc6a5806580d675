//! Points and directions in space, boxes around things, and rigid motions. Lengths are millimetres.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limit::COORDINATE_MAX;

/// A point or a direction; every number is finite and within [`COORDINATE_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3 {
    /// Along the x axis.
    pub x: f64,
    /// Along the y axis.
    pub y: f64,
    /// Along the z axis.
    pub z: f64,
}

impl Vec3 {
    /// The origin.
    pub const ZERO: Self = Self::new(0.0, 0.0, 0.0);
    /// The direction of the x axis.
    pub const X: Self = Self::new(1.0, 0.0, 0.0);
    /// The direction of the y axis.
    pub const Y: Self = Self::new(0.0, 1.0, 0.0);
    /// The direction of the z axis.
    pub const Z: Self = Self::new(0.0, 0.0, 1.0);

    /// Makes a vector from its coordinates.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// Returns the scalar product.
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Returns the vector product.
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// Returns the length.
    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// Returns how far another point is.
    pub fn distance(self, other: Self) -> f64 {
        (self - other).length()
    }

    /// Returns the same direction with length one, or nothing for a vector without direction.
    pub fn unit(self) -> Option<Self> {
        let length = self.length();
        (length > 1e-12).then(|| self * (1.0 / length))
    }

    /// Returns a direction perpendicular to this one.
    pub fn any_perpendicular(self) -> Self {
        let helper = if self.z.abs() < 0.9 * self.length() { Self::Z } else { Self::X };
        helper.cross(self).unit().unwrap_or(Self::X)
    }

    /// Returns the coordinates in their order.
    pub const fn to_array(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }

    fn checked<E: serde::de::Error>(numbers: [f64; 3]) -> Result<Self, E> {
        for (axis, number) in ["x", "y", "z"].into_iter().zip(numbers) {
            if !number.is_finite() || number.abs() > COORDINATE_MAX {
                return Err(E::custom(format!("{axis} = {number} is not within ±{COORDINATE_MAX} mm")));
            }
        }
        Ok(Self::new(numbers[0], numbers[1], numbers[2]))
    }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<f64> for Vec3 {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl fmt::Display for Vec3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

impl Serialize for Vec3 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(3)?;
        for number in self.to_array() {
            // Negative zero is a different text for the same place.
            tuple.serialize_element(&(number + 0.0))?;
        }
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for Vec3 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VectorVisitor)
    }
}

/// Reads `[x, y]`, `[x, y, z]` and `{"x": …, "y": …, "z": …}`; z is 0 when left out.
struct VectorVisitor;

impl<'de> Visitor<'de> for VectorVisitor {
    type Value = Vec3;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("coordinates in millimetres, as [x, y], [x, y, z] or {\"x\": …, \"y\": …, \"z\": …}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec3, A::Error> {
        let mut numbers = [0.0; 3];
        let mut count = 0;
        while let Some(number) = items.next_element::<f64>()? {
            if count == 3 {
                return Err(A::Error::invalid_length(4, &self));
            }
            numbers[count] = number;
            count += 1;
        }
        if count < 2 {
            return Err(A::Error::invalid_length(count, &self));
        }
        Vec3::checked(numbers)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec3, A::Error> {
        let mut numbers = [None, None, Some(0.0)];
        while let Some((key, number)) = map.next_entry::<Cow<'_, str>, f64>()? {
            let index = ["x", "y", "z"].iter().position(|axis| *axis == key);
            let index = index.ok_or_else(|| A::Error::unknown_field(&key, &["x", "y", "z"]))?;
            numbers[index] = Some(number);
        }
        match numbers {
            [Some(x), Some(y), Some(z)] => Vec3::checked([x, y, z]),
            [None, ..] => Err(A::Error::missing_field("x")),
            _ => Err(A::Error::missing_field("y")),
        }
    }
}

impl JsonSchema for Vec3 {
    fn schema_name() -> Cow<'static, str> {
        "Vec3".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number =
            |_| serde_json::json!({"type": "number", "minimum": -COORDINATE_MAX, "maximum": COORDINATE_MAX});
        json_schema!({
            "description": "Coordinates in millimetres; z is 0 when left out.",
            "oneOf": [
                {"type": "array", "items": number(()), "minItems": 2, "maxItems": 3},
                {"type": "object", "properties": {"x": number(()), "y": number(()), "z": number(())},
                 "required": ["x", "y"], "additionalProperties": false}
            ]
        })
    }
}

/// The smallest box along the axes that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundingBox {
    /// The corner with the smallest coordinates.
    pub min: Vec3,
    /// The corner with the largest coordinates.
    pub max: Vec3,
}

impl BoundingBox {
    /// Returns the box around some points, or nothing around none.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Option<Self> {
        points.into_iter().map(|point| Self { min: point, max: point }).reduce(Self::union)
    }

    /// Returns the box around both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let pick =
            |f: fn(f64, f64) -> f64, a: Vec3, b: Vec3| Vec3::new(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z));
        Self { min: pick(f64::min, self.min, other.min), max: pick(f64::max, self.max, other.max) }
    }

    /// Returns whether the two have more than a surface in common, or come closer than `gap` where it is positive.
    pub fn meets(&self, other: &Self, gap: f64) -> bool {
        let (a, b) = (self, other);
        let axes = [
            (a.min.x, a.max.x, b.min.x, b.max.x),
            (a.min.y, a.max.y, b.min.y, b.max.y),
            (a.min.z, a.max.z, b.min.z, b.max.z),
        ];
        axes.iter().all(|(a_min, a_max, b_min, b_max)| a_min < &(b_max + gap) && b_min < &(a_max + gap))
    }

    /// Returns the box that both have in common, or nothing when they only touch.
    pub fn common(&self, other: &Self) -> Option<Self> {
        let pick =
            |f: fn(f64, f64) -> f64, a: Vec3, b: Vec3| Vec3::new(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z));
        self.meets(other, 0.0).then(|| Self {
            min: pick(f64::max, self.min, other.min),
            max: pick(f64::min, self.max, other.max),
        })
    }

    /// Returns the lengths of the sides.
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// Returns the middle.
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }
}

/// A motion that keeps lengths, possibly with a reflection: the rows of a 3×4 matrix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    rows: [[f64; 4]; 3],
}

impl Motion {
    /// Moves by a vector.
    pub fn translation(by: Vec3) -> Self {
        Self { rows: [[1.0, 0.0, 0.0, by.x], [0.0, 1.0, 0.0, by.y], [0.0, 0.0, 1.0, by.z]] }
    }

    /// Turns around an axis; `axis` has length one.
    pub fn rotation(origin: Vec3, axis: Vec3, radians: f64) -> Self {
        let (sin, cos) = radians.sin_cos();
        let turn = |v: Vec3| v * cos + axis.cross(v) * sin + axis * (axis.dot(v) * (1.0 - cos));
        Self::from_columns(turn(Vec3::X), turn(Vec3::Y), turn(Vec3::Z), origin - turn(origin))
    }

    /// Reflects at a plane; `normal` has length one.
    pub fn reflection(origin: Vec3, normal: Vec3) -> Self {
        let flip = |v: Vec3| v - normal * (2.0 * normal.dot(v));
        Self::from_columns(flip(Vec3::X), flip(Vec3::Y), flip(Vec3::Z), origin - flip(origin))
    }

    /// Carries the axes to a frame: z to `z`, the origin to `origin`; the three directions have length one.
    pub fn to_frame(origin: Vec3, x: Vec3, z: Vec3) -> Self {
        Self::from_columns(x, z.cross(x), z, origin)
    }

    /// Returns the motion that does this one first and `next` after it.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let column = |v: Vec3| next.direction(self.direction(v));
        Self::from_columns(
            column(Vec3::X),
            column(Vec3::Y),
            column(Vec3::Z),
            next.point(self.point(Vec3::ZERO)),
        )
    }

    /// Returns where a point goes.
    pub fn point(&self, p: Vec3) -> Vec3 {
        let row = |r: &[f64; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
        Vec3::new(row(&self.rows[0]), row(&self.rows[1]), row(&self.rows[2]))
    }

    /// Returns where a direction goes.
    pub fn direction(&self, d: Vec3) -> Vec3 {
        self.point(d) - self.point(Vec3::ZERO)
    }

    /// Returns the twelve numbers, row by row.
    pub fn to_array(&self) -> [f64; 12] {
        std::array::from_fn(|index| self.rows[index / 4][index % 4])
    }

    /// Returns whether left and right are exchanged.
    pub fn is_reflection(&self) -> bool {
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| self.direction(axis));
        x.cross(y).dot(z) < 0.0
    }

    fn from_columns(x: Vec3, y: Vec3, z: Vec3, origin: Vec3) -> Self {
        let row = |f: fn(Vec3) -> f64| [f(x), f(y), f(z), f(origin)];
        Self { rows: [row(|v| v.x), row(|v| v.y), row(|v| v.z)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec3, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn coordinates_are_read_in_three_forms() {
        assert_eq!(read("[1, 2]"), Ok(Vec3::new(1.0, 2.0, 0.0)));
        assert_eq!(read("[1, 2, 3]"), Ok(Vec3::new(1.0, 2.0, 3.0)));
        assert_eq!(read(r#"{"x": 1, "y": 2}"#), Ok(Vec3::new(1.0, 2.0, 0.0)));
        assert!(read("[1]").unwrap_err().starts_with("invalid length 1, expected coordinates"));
        assert!(read(r#"{"x": 1, "w": 2}"#).unwrap_err().starts_with("unknown field `w`"));
        assert!(read("[1, 2e30]").unwrap_err().starts_with("y = 2000000"));
    }

    #[test]
    fn motions_turn_reflect_and_compose() {
        let quarter = Motion::rotation(Vec3::X, Vec3::Z, std::f64::consts::FRAC_PI_2);
        assert!(quarter.point(Vec3::ZERO).distance(Vec3::new(1.0, -1.0, 0.0)) < 1e-12);
        let mirror = Motion::reflection(Vec3::new(2.0, 0.0, 0.0), Vec3::X);
        assert_eq!(mirror.point(Vec3::ZERO), Vec3::new(4.0, 0.0, 0.0));
        assert!(mirror.is_reflection() && !quarter.is_reflection());
        let both = quarter.then(&mirror);
        assert!(both.point(Vec3::ZERO).distance(Vec3::new(3.0, -1.0, 0.0)) < 1e-12);
    }

    #[test]
    fn touching_boxes_do_not_meet() {
        let unit = |x: f64| BoundingBox { min: Vec3::new(x, 0.0, 0.0), max: Vec3::new(x + 1.0, 1.0, 1.0) };
        assert!(unit(0.0).meets(&unit(0.5), 0.0));
        assert!(!unit(0.0).meets(&unit(1.0), 0.0));
        assert!(unit(0.0).meets(&unit(1.0), 0.1));
        assert_eq!(unit(0.0).common(&unit(1.0)), None);
        assert_eq!(unit(0.0).common(&unit(0.25)).map(|both| both.size().x), Some(0.75));
    }
}
