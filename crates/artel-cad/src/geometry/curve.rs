//! Curves: straight lines, arcs and circles in space.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vector::{BoundingBox, Motion, Vec3};
use crate::error::{CadResult, invalid};
use crate::limit::LENGTH_MIN;

/// A part of a circle, counter-clockwise around its normal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arc {
    /// The center of the circle.
    pub center: Vec3,
    /// The direction that the circle is seen from; length one.
    pub normal: Vec3,
    /// Where the arc starts.
    pub start: Vec3,
    /// How far it goes, in radians: more than 0, less than a full turn.
    pub sweep: f64,
}

/// One curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// A straight line.
    Line {
        /// One end.
        start: Vec3,
        /// The other end.
        end: Vec3,
    },
    /// A part of a circle.
    Arc(Arc),
    /// A full circle.
    Circle {
        /// Its center.
        center: Vec3,
        /// The direction that it is seen from; length one.
        normal: Vec3,
        /// Its radius.
        radius: f64,
    },
}

/// The direction in which a circle starts: x where the normal is z.
pub fn reference_direction(normal: Vec3) -> Vec3 {
    if normal.cross(Vec3::Z).length() < 1e-9 { Vec3::X } else { normal.any_perpendicular() }
}

impl Arc {
    /// Makes an arc from angles, which count from the x axis (for a normal along z); `end` is reached counter-clockwise.
    pub fn from_angles(center: Vec3, normal: Vec3, radius: f64, angles: [f64; 2]) -> CadResult<Self> {
        let sweep = (angles[1] - angles[0]).rem_euclid(TAU);
        let start = center
            + Motion::rotation(Vec3::ZERO, normal, angles[0]).point(reference_direction(normal) * radius);
        Self { center, normal, start, sweep }.checked()
    }

    /// Makes the arc from `start` to `end` that passes through a third point.
    pub fn through(start: Vec3, through: Vec3, end: Vec3) -> CadResult<Self> {
        let (a, b) = (through - start, end - start);
        let normal = a.cross(b);
        let Some(unit) = normal.unit().filter(|_| normal.length() > 1e-9 * a.length() * b.length()) else {
            return Err(invalid(format!("{start}, {through} and {end} lie on one line"))
                .hint("give three points of an arc, or create a line"));
        };
        let square = normal.dot(normal);
        let center = start + (normal.cross(a) * b.dot(b) + b.cross(normal) * a.dot(a)) * (0.5 / square);
        let sweep = angle_between(start - center, end - center, unit);
        Self { center, normal: unit, start, sweep }.checked()
    }

    /// Makes the arc from `start` to `end` with a radius: counter-clockwise around the normal, the shorter one unless `long`.
    pub fn from_ends(start: Vec3, end: Vec3, normal: Vec3, radius: f64, long: bool) -> CadResult<Self> {
        let chord = end - start;
        let half = chord.length() / 2.0;
        if chord.dot(normal).abs() > 1e-9 * chord.length().max(1.0) {
            return Err(invalid("the ends of the arc do not lie in the plane of its normal")
                .hint("give a `normal` perpendicular to the line between the ends"));
        }
        if half > radius + 1e-9 {
            return Err(invalid(format!(
                "a radius of {radius} mm is too small for ends {} mm apart",
                half * 2.0
            ))
            .hint(format!("the smallest radius is {half} mm")));
        }
        let across =
            normal.cross(chord).unit().ok_or_else(|| invalid("the ends of the arc are the same point"))?;
        let height = (radius * radius - half * half).max(0.0).sqrt();
        let center = (start + end) * 0.5 + across * if long { -height } else { height };
        let sweep = angle_between(start - center, end - center, normal);
        Self { center, normal, start, sweep }.checked()
    }

    fn checked(self) -> CadResult<Self> {
        let radius = self.radius();
        if radius < LENGTH_MIN {
            return Err(invalid(format!("a radius of {radius} mm is below {LENGTH_MIN} mm")));
        }
        if self.sweep * radius < LENGTH_MIN || (TAU - self.sweep) * radius < LENGTH_MIN {
            return Err(invalid("the arc starts where it ends").hint("create a circle for a full turn"));
        }
        Ok(self)
    }

    /// Returns the radius.
    pub fn radius(&self) -> f64 {
        self.start.distance(self.center)
    }

    /// Returns the point at a part of the way from 0 to 1.
    pub fn at(&self, part: f64) -> Vec3 {
        Motion::rotation(self.center, self.normal, self.sweep * part).point(self.start)
    }
}

/// Returns the angle from one direction to another, counter-clockwise around a normal, from 0 to a full turn.
pub fn angle_between(from: Vec3, to: Vec3, normal: Vec3) -> f64 {
    from.cross(to).dot(normal).atan2(from.dot(to)).rem_euclid(TAU)
}

impl Curve {
    /// Returns the ends, or nothing for a closed curve.
    pub fn ends(&self) -> Option<[Vec3; 2]> {
        match self {
            Self::Line { start, end } => Some([*start, *end]),
            Self::Arc(arc) => Some([arc.start, arc.at(1.0)]),
            Self::Circle { .. } => None,
        }
    }

    /// Returns the length.
    pub fn length(&self) -> f64 {
        match self {
            Self::Line { start, end } => start.distance(*end),
            Self::Arc(arc) => arc.radius() * arc.sweep,
            Self::Circle { radius, .. } => radius * TAU,
        }
    }

    /// Returns the same curve from its other end.
    #[must_use]
    pub fn reversed(&self) -> Self {
        match *self {
            Self::Line { start, end } => Self::Line { start: end, end: start },
            Self::Arc(arc) => Self::Arc(Arc { normal: -arc.normal, start: arc.at(1.0), ..arc }),
            Self::Circle { center, normal, radius } => Self::Circle { center, normal: -normal, radius },
        }
    }

    /// Returns points along the curve, both ends included: `per_turn` for a full circle, two for a line.
    pub fn points(&self, per_turn: usize) -> Vec<Vec3> {
        match self {
            Self::Line { start, end } => vec![*start, *end],
            Self::Arc(arc) => {
                let count = ((per_turn as f64 * arc.sweep / TAU).ceil() as usize).max(2);
                (0..=count).map(|index| arc.at(index as f64 / count as f64)).collect()
            }
            Self::Circle { center, normal, radius } => {
                let start = reference_direction(*normal) * *radius;
                let turn = |index: usize| {
                    Motion::rotation(Vec3::ZERO, *normal, TAU * index as f64 / per_turn as f64)
                };
                (0..=per_turn).map(|index| *center + turn(index).point(start)).collect()
            }
        }
    }

    /// Returns the box around the curve, exact for lines, and within a thousandth of the radius for the others.
    pub fn bounding_box(&self) -> BoundingBox {
        BoundingBox::around(self.points(144)).expect("a curve has points")
    }

    /// Returns the curve after a motion.
    #[must_use]
    pub fn moved(&self, motion: &Motion) -> Self {
        let turned = |normal: Vec3| {
            if motion.is_reflection() { -motion.direction(normal) } else { motion.direction(normal) }
        };
        match *self {
            Self::Line { start, end } => Self::Line { start: motion.point(start), end: motion.point(end) },
            Self::Arc(arc) => Self::Arc(Arc {
                center: motion.point(arc.center),
                normal: turned(arc.normal),
                start: motion.point(arc.start),
                sweep: arc.sweep,
            }),
            Self::Circle { center, normal, radius } => {
                Self::Circle { center: motion.point(center), normal: turned(normal), radius }
            }
        }
    }

    /// Returns whether the two are the same place within a distance, whatever their direction.
    pub fn coincides(&self, other: &Self, distance: f64) -> bool {
        let near = |a: Vec3, b: Vec3| a.distance(b) <= distance;
        match (self, other) {
            (
                Self::Circle { center: a, normal: n, radius: r },
                Self::Circle { center: b, normal: m, radius: s },
            ) => near(*a, *b) && (r - s).abs() <= distance && n.cross(*m).length() * r <= distance,
            (Self::Line { .. }, Self::Line { .. }) | (Self::Arc(_), Self::Arc(_)) => {
                let mids = |curve: &Self| curve.ends().map(|[a, b]| [a, middle(curve), b]);
                match (mids(self), mids(other)) {
                    (Some([a, m, b]), Some([c, n, d])) => {
                        near(m, n) && ((near(a, c) && near(b, d)) || (near(a, d) && near(b, c)))
                    }
                    _ => false,
                }
            }
            (Self::Line { .. } | Self::Arc(_) | Self::Circle { .. }, _) => false,
        }
    }
}

fn middle(curve: &Curve) -> Vec3 {
    match curve {
        Curve::Line { start, end } => (*start + *end) * 0.5,
        Curve::Arc(arc) => arc.at(0.5),
        Curve::Circle { center, .. } => *center,
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn three_forms_give_the_same_arc() {
        let (left, top, right) =
            (Vec3::new(-5.0, 0.0, 0.0), Vec3::new(0.0, 5.0, 0.0), Vec3::new(5.0, 0.0, 0.0));
        let by_angles = Arc::from_angles(Vec3::ZERO, Vec3::Z, 5.0, [0.0, PI]).unwrap();
        let by_points = Arc::through(right, top, left).unwrap();
        let by_ends = Arc::from_ends(right, left, Vec3::Z, 5.0, false).unwrap();
        for arc in [by_angles, by_points, by_ends] {
            assert!(arc.center.length() < 1e-12 && (arc.sweep - PI).abs() < 1e-12, "{arc:?}");
            assert!(arc.at(0.5).distance(top) < 1e-12);
        }
    }

    #[test]
    fn the_long_way_round_is_a_choice() {
        let ends = [Vec3::X, Vec3::Y];
        let short = Arc::from_ends(ends[0], ends[1], Vec3::Z, 1.0, false).unwrap();
        let long = Arc::from_ends(ends[0], ends[1], Vec3::Z, 1.0, true).unwrap();
        assert!((short.sweep - FRAC_PI_2).abs() < 1e-12 && (long.sweep - 3.0 * FRAC_PI_2).abs() < 1e-12);
    }

    #[test]
    fn impossible_arcs_say_why() {
        let message = |result: CadResult<Arc>| result.unwrap_err().message;
        assert!(message(Arc::through(Vec3::ZERO, Vec3::X, Vec3::X * 2.0)).contains("lie on one line"));
        assert!(
            message(Arc::from_ends(Vec3::ZERO, Vec3::X * 4.0, Vec3::Z, 1.0, false)).contains("too small")
        );
        assert!(
            message(Arc::from_angles(Vec3::ZERO, Vec3::Z, 1.0, [0.0, TAU])).contains("starts where it ends")
        );
    }

    #[test]
    fn a_mirrored_arc_keeps_its_points() {
        let arc = Curve::Arc(Arc::from_angles(Vec3::ZERO, Vec3::Z, 2.0, [0.0, FRAC_PI_2]).unwrap());
        let mirrored = arc.moved(&Motion::reflection(Vec3::ZERO, Vec3::X));
        let [start, end] = mirrored.ends().unwrap();
        assert!(
            start.distance(Vec3::new(-2.0, 0.0, 0.0)) < 1e-12
                && end.distance(Vec3::new(0.0, 2.0, 0.0)) < 1e-12
        );
        assert!(mirrored.coincides(&mirrored.reversed(), 1e-9) && !mirrored.coincides(&arc, 1e-9));
    }
}
