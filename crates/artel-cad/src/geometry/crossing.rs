//! Where the curves of a flat drawing meet other than end to end.

use std::f64::consts::TAU;

use super::curve::Curve;
use super::region::Plane;

/// Meeting closer than this is the same point, in millimetres.
const SAME: f64 = 1e-7;

type Point = [f64; 2];

/// A curve in the coordinates of a plane.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlatCurve {
    Line {
        from: Point,
        to: Point,
    },
    /// `sweep` is positive counter-clockwise; a full turn is a circle.
    Arc {
        center: Point,
        radius: f64,
        start: f64,
        sweep: f64,
    },
}

impl FlatCurve {
    /// Looks at a curve from the plane's normal.
    pub(crate) fn new(plane: &Plane, curve: &Curve) -> Self {
        let side = |normal: super::Vec3| if normal.dot(plane.normal) < 0.0 { -1.0 } else { 1.0 };
        match curve {
            Curve::Line { start, end } => Self::Line { from: plane.flatten(*start), to: plane.flatten(*end) },
            Curve::Arc(arc) => {
                let (center, from) = (plane.flatten(arc.center), plane.flatten(arc.start));
                let start = (from[1] - center[1]).atan2(from[0] - center[0]);
                Self::Arc { center, radius: arc.radius(), start, sweep: side(arc.normal) * arc.sweep }
            }
            Curve::Circle { center, normal, radius } => Self::Arc {
                center: plane.flatten(*center),
                radius: *radius,
                start: 0.0,
                sweep: side(*normal) * TAU,
            },
        }
    }

    /// Returns points along the curve without its end.
    pub(crate) fn points(&self, per_turn: usize) -> Vec<Point> {
        match self {
            Self::Line { from, to } => vec![*from, [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0]],
            Self::Arc { sweep, .. } => {
                let count = ((per_turn as f64 * sweep.abs() / TAU).ceil() as usize).max(2);
                (0..count).map(|index| self.at(index as f64 / count as f64)).collect()
            }
        }
    }

    /// Returns what the curve adds to the area of its loop.
    pub(crate) fn area_share(&self) -> f64 {
        let ([ax, ay], [bx, by]) = (self.at(0.0), self.at(1.0));
        let straight = (ax * by - bx * ay) / 2.0;
        match self {
            Self::Line { .. } => straight,
            Self::Arc { radius, sweep, .. } => straight + radius * radius * (sweep - sweep.sin()) / 2.0,
        }
    }

    fn at(&self, part: f64) -> Point {
        match self {
            Self::Line { from, to } => {
                [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part]
            }
            Self::Arc { center, radius, start, sweep } => {
                let (sin, cos) = (start + sweep * part).sin_cos();
                [center[0] + radius * cos, center[1] + radius * sin]
            }
        }
    }

    fn is_closed(&self) -> bool {
        matches!(self, Self::Arc { sweep, .. } if sweep.abs() >= TAU - 1e-12)
    }

    /// Returns whether a point of the curve's line or circle is on the curve.
    fn covers(&self, point: Point) -> bool {
        match self {
            Self::Line { from, to } => {
                let along = [to[0] - from[0], to[1] - from[1]];
                let length = along[0].hypot(along[1]);
                let part = ((point[0] - from[0]) * along[0] + (point[1] - from[1]) * along[1]) / length;
                (-SAME..=length + SAME).contains(&part)
            }
            Self::Arc { center, radius, start, sweep } => {
                let angle = (point[1] - center[1]).atan2(point[0] - center[0]);
                let turned = ((angle - start) * sweep.signum()).rem_euclid(TAU);
                let slack = SAME / radius;
                turned <= sweep.abs() + slack || turned >= TAU - slack
            }
        }
    }

    fn bounds(&self) -> [f64; 4] {
        match self {
            Self::Line { from, to } => {
                [from[0].min(to[0]), from[1].min(to[1]), from[0].max(to[0]), from[1].max(to[1])]
            }
            Self::Arc { center, radius, .. } => {
                [center[0] - radius, center[1] - radius, center[0] + radius, center[1] + radius]
            }
        }
    }
}

/// Returns the first two curves that meet anywhere but at an end that they share, and where.
pub(crate) fn first_crossing(curves: &[FlatCurve]) -> Option<(usize, usize, Point)> {
    let bounds: Vec<[f64; 4]> = curves.iter().map(FlatCurve::bounds).collect();
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by(|a, b| bounds[*a][0].total_cmp(&bounds[*b][0]));
    for (position, &a) in order.iter().enumerate() {
        for &b in &order[position + 1..] {
            if bounds[b][0] > bounds[a][2] + SAME {
                break;
            }
            if bounds[a][1] > bounds[b][3] + SAME || bounds[b][1] > bounds[a][3] + SAME {
                continue;
            }
            if let Some(place) = crossing(&curves[a], &curves[b]) {
                return Some((a.min(b), a.max(b), place));
            }
        }
    }
    None
}

fn crossing(a: &FlatCurve, b: &FlatCurve) -> Option<Point> {
    let shared: Vec<Point> = if a.is_closed() || b.is_closed() {
        Vec::new()
    } else {
        let ends = |curve: &FlatCurve| [curve.at(0.0), curve.at(1.0)];
        ends(a)
            .into_iter()
            .filter(|end| ends(b).iter().any(|other| distance(*end, *other) <= 10.0 * SAME))
            .collect()
    };
    let meetings = meetings(a, b).into_iter().filter(|point| a.covers(*point) && b.covers(*point));
    // Two curves that touch at their common end meet in a small stretch around it.
    meetings.into_iter().find(|point| shared.iter().all(|end| distance(*end, *point) > 1e-4))
}

fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Returns the points that the whole lines or circles have in common; for the same line or circle, the curves' own points.
fn meetings(a: &FlatCurve, b: &FlatCurve) -> Vec<Point> {
    use FlatCurve::{Arc, Line};
    match (a, b) {
        (Line { from: p, to: q }, Line { from: r, to: s }) => {
            let (u, v) = ([q[0] - p[0], q[1] - p[1]], [s[0] - r[0], s[1] - r[1]]);
            let cross = u[0] * v[1] - u[1] * v[0];
            let (w, length) = ([r[0] - p[0], r[1] - p[1]], u[0].hypot(u[1]));
            if cross.abs() > 1e-12 * length * v[0].hypot(v[1]) {
                let part = (w[0] * v[1] - w[1] * v[0]) / cross;
                return vec![[p[0] + u[0] * part, p[1] + u[1] * part]];
            }
            let apart = (u[0] * w[1] - u[1] * w[0]).abs() / length;
            if apart > SAME { Vec::new() } else { own_points(a, b) }
        }
        (Line { from, to }, Arc { center, radius, .. }) | (Arc { center, radius, .. }, Line { from, to }) => {
            line_and_circle(*from, *to, *center, *radius)
        }
        (Arc { center: c, radius: r, .. }, Arc { center: d, radius: s, .. }) => {
            if distance(*c, *d) <= SAME && (r - s).abs() <= SAME {
                return own_points(a, b);
            }
            two_circles(*c, *r, *d, *s)
        }
    }
}

fn own_points(a: &FlatCurve, b: &FlatCurve) -> Vec<Point> {
    [a, b].iter().flat_map(|curve| [curve.at(0.0), curve.at(0.5), curve.at(1.0)]).collect()
}

fn line_and_circle(from: Point, to: Point, center: Point, radius: f64) -> Vec<Point> {
    let length = distance(from, to);
    let along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    let part = (center[0] - from[0]) * along[0] + (center[1] - from[1]) * along[1];
    let foot = [from[0] + along[0] * part, from[1] + along[1] * part];
    let apart = distance(foot, center);
    if apart > radius + SAME {
        return Vec::new();
    }
    let half = (radius * radius - apart * apart).max(0.0).sqrt();
    [half, -half].iter().map(|h| [foot[0] + along[0] * h, foot[1] + along[1] * h]).collect()
}

fn two_circles(c: Point, r: f64, d: Point, s: f64) -> Vec<Point> {
    let apart = distance(c, d);
    if apart > r + s + SAME || apart < (r - s).abs() - SAME || apart <= SAME {
        return Vec::new();
    }
    let along = [(d[0] - c[0]) / apart, (d[1] - c[1]) / apart];
    let part = (r * r - s * s + apart * apart) / (2.0 * apart);
    let half = (r * r - part * part).max(0.0).sqrt();
    let foot = [c[0] + along[0] * part, c[1] + along[1] * part];
    [half, -half].iter().map(|h| [foot[0] - along[1] * h, foot[1] + along[0] * h]).collect()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn line(from: Point, to: Point) -> FlatCurve {
        FlatCurve::Line { from, to }
    }

    fn arc(center: Point, radius: f64, start: f64, sweep: f64) -> FlatCurve {
        FlatCurve::Arc { center, radius, start, sweep }
    }

    #[track_caller]
    fn check(a: FlatCurve, b: FlatCurve, expected: Option<Point>) {
        let found = first_crossing(&[a, b]).map(|(_, _, place)| place);
        let same = match (found, expected) {
            (Some(found), Some(expected)) => distance(found, expected) < 1e-6,
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(same, "{found:?}, not {expected:?}");
    }

    #[test]
    fn lines_cross_touch_overlap_or_share_an_end() {
        check(line([0.0, 0.0], [2.0, 2.0]), line([0.0, 2.0], [2.0, 0.0]), Some([1.0, 1.0]));
        check(line([0.0, 0.0], [2.0, 0.0]), line([1.0, 0.0], [1.0, 5.0]), Some([1.0, 0.0]));
        check(line([0.0, 0.0], [2.0, 0.0]), line([2.0, 0.0], [2.0, 5.0]), None);
        check(line([0.0, 0.0], [2.0, 0.0]), line([0.0, 1.0], [2.0, 1.0]), None);
        check(line([0.0, 0.0], [4.0, 0.0]), line([4.0, 0.0], [3.0, 0.0]), Some([3.5, 0.0]));
    }

    #[test]
    fn arcs_cross_lines_and_each_other() {
        check(arc([0.0, 0.0], 1.0, 0.0, PI), line([0.0, 0.5], [0.0, 2.0]), Some([0.0, 1.0]));
        check(arc([0.0, 0.0], 1.0, 0.0, -PI), line([0.0, 0.5], [0.0, 2.0]), None);
        check(arc([0.0, 0.0], 1.0, 0.0, PI), arc([1.0, 0.0], 1.0, 0.0, PI), Some([0.5, 0.75_f64.sqrt()]));
        check(arc([0.0, 0.0], 1.0, 0.0, TAU), arc([0.0, 0.0], 2.0, 0.0, TAU), None);
    }

    #[test]
    fn a_tangent_arc_shares_only_its_end() {
        check(arc([0.0, 0.0], 1.0, -PI / 2.0, PI), line([0.0, 1.0], [-3.0, 1.0]), None);
        check(arc([0.0, 0.0], 1.0, 0.0, TAU), line([-3.0, 1.0], [3.0, 1.0]), Some([0.0, 1.0]));
    }
}
