//! Closed regions of a plane, put together from loose curves: the only input of extrusions and revolutions. Everything a
//! kernel would accept and get wrong is refused here: gaps, crossings, bent planes, loops inside of holes.

use serde::{Deserialize, Serialize};

use super::crossing::{FlatCurve, first_crossing};
use super::curve::Curve;
use super::vector::Vec3;
use crate::error::{CadError, CadResult, Code, invalid};
use crate::limit::{JOIN_DISTANCE_MAX, LENGTH_MIN, PROFILE_CURVES_MAX};

/// A plane by a point, its normal and a direction in it; the directions have length one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// A point of the plane.
    pub origin: Vec3,
    /// The direction that the plane is seen from.
    pub normal: Vec3,
    /// The direction of its own x axis.
    pub x: Vec3,
}

impl Plane {
    /// Returns a point of the plane in the plane's own coordinates.
    pub fn flatten(&self, point: Vec3) -> [f64; 2] {
        let from = point - self.origin;
        [from.dot(self.x), from.dot(self.normal.cross(self.x))]
    }
}

/// A closed part of a plane: an outer loop and holes in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Where it lies.
    pub plane: Plane,
    /// The boundary, each curve going on where the one before ends, counter-clockwise.
    pub outer: Vec<Curve>,
    /// The boundaries of the holes, in the same form, clockwise.
    pub holes: Vec<Vec<Curve>>,
}

/// A curve and what to call it in messages.
pub type NamedCurve = (String, Curve);

impl Region {
    /// Puts curves together to a region.
    pub fn from_curves(curves: &[NamedCurve]) -> CadResult<Self> {
        if curves.is_empty() {
            return Err(open("the profile has no curves").hint("name the lines and arcs of a closed outline"));
        }
        if curves.len() > PROFILE_CURVES_MAX {
            return Err(invalid(format!("{} curves, {PROFILE_CURVES_MAX} is the limit", curves.len())));
        }
        if let Some((name, curve)) = curves.iter().find(|(_, curve)| curve.length() < LENGTH_MIN) {
            let message =
                format!("`{name}` is only {} mm long; {LENGTH_MIN} mm is the shortest", curve.length());
            return Err(invalid(message).hint("remove it and join its neighbours"));
        }
        let loops = join(curves)?;
        let plane = common_plane(&loops)?;
        let flat: Vec<Vec<FlatCurve>> = loops
            .iter()
            .map(|one| one.iter().map(|(_, curve)| FlatCurve::new(&plane, curve)).collect())
            .collect();
        refuse_crossings(&plane, &loops, &flat)?;
        nest(plane, loops, &flat)
    }

    /// Returns the area, exactly.
    pub fn area(&self) -> f64 {
        let area = |one: &Vec<Curve>| {
            loop_area(&one.iter().map(|c| FlatCurve::new(&self.plane, c)).collect::<Vec<_>>())
        };
        area(&self.outer).abs() - self.holes.iter().map(|hole| area(hole).abs()).sum::<f64>()
    }

    /// Returns the length of all boundaries.
    pub fn perimeter(&self) -> f64 {
        self.outer.iter().chain(self.holes.iter().flatten()).map(Curve::length).sum()
    }
}

fn open(message: impl Into<String>) -> CadError {
    CadError::new(Code::OperationInvalid, message)
}

/// Joins curves end to end into loops.
fn join(curves: &[NamedCurve]) -> CadResult<Vec<Vec<NamedCurve>>> {
    let mut loops = Vec::new();
    let mut rest: Vec<NamedCurve> = Vec::new();
    for (name, curve) in curves {
        match curve.ends() {
            Some(_) => rest.push((name.clone(), *curve)),
            None => loops.push(vec![(name.clone(), *curve)]),
        }
    }
    while !rest.is_empty() {
        let mut chain = vec![rest.remove(0)];
        loop {
            let (start, end) = (ends(&chain[0])[0], ends(&chain[chain.len() - 1])[1]);
            let candidates = rest.iter().flat_map(ends).filter(|point| near(*point, end)).count();
            if near(start, end) && chain.len() > 1 && candidates == 0 {
                break;
            }
            if candidates > 1 || (candidates == 1 && near(start, end)) {
                return Err(open(format!("more than two curves meet at {end}")).hint(
                    "a profile passes every point once; put separate outlines into separate profiles",
                ));
            }
            let next = rest.iter().position(|named| ends(named).iter().any(|point| near(*point, end)));
            let Some(index) = next else { return Err(gap(&chain, &rest)) };
            let (name, curve) = rest.remove(index);
            let forward = near(ends(&(name.clone(), curve))[0], end);
            chain.push((name, if forward { curve } else { curve.reversed() }));
        }
        loops.push(chain);
    }
    Ok(loops)
}

fn ends(named: &NamedCurve) -> [Vec3; 2] {
    named.1.ends().expect("closed curves are loops of their own")
}

fn near(a: Vec3, b: Vec3) -> bool {
    a.distance(b) <= JOIN_DISTANCE_MAX
}

/// Says where a chain ends, and which free end is nearest.
fn gap(chain: &[NamedCurve], rest: &[NamedCurve]) -> CadError {
    let (name, end) = (&chain[chain.len() - 1].0, ends(&chain[chain.len() - 1])[1]);
    let start = (chain[0].0.as_str(), ends(&chain[0])[0]);
    let others = rest.iter().flat_map(|named| ends(named).map(|point| (named.0.as_str(), point)));
    let nearest = others.chain([start]).min_by(|a, b| a.1.distance(end).total_cmp(&b.1.distance(end)));
    let (other, point) = nearest.unwrap_or(start);
    open(format!("the profile is open: `{name}` ends at {end} where no other curve starts"))
        .hint(format!("the nearest end is that of `{other}` at {point}, {:.6} mm away", point.distance(end)))
        .fact("gap_mm", point.distance(end))
}

/// Finds the plane that all curves lie in, or says which one does not.
fn common_plane(loops: &[Vec<NamedCurve>]) -> CadResult<Plane> {
    let points: Vec<(&str, Vec3)> = loops
        .iter()
        .flatten()
        .flat_map(|(name, curve)| curve.points(12).into_iter().map(move |point| (name.as_str(), point)))
        .collect();
    let origin = points[0].1;
    let mut best = Vec3::ZERO;
    let far = points.iter().map(|(_, p)| *p - origin).max_by(|a, b| a.length().total_cmp(&b.length()));
    let far = far.unwrap_or(Vec3::ZERO);
    for (_, point) in &points {
        let normal = far.cross(*point - origin);
        if normal.length() > best.length() {
            best = normal;
        }
    }
    let Some(mut normal) = best.unit() else {
        return Err(invalid("all curves lie on one line; they enclose nothing"));
    };
    // The side that a drawing on a coordinate plane is usually seen from.
    if normal.x + normal.y + normal.z < 0.0 {
        normal = -normal;
    }
    let size = far.length().max(1.0);
    if let Some((name, point)) = points.iter().find(|(_, p)| (*p - origin).dot(normal).abs() > 1e-7 * size) {
        let message = format!("the profile is not flat: `{name}` leaves its plane at {point}");
        return Err(invalid(message).hint("give all curves the same z, or project them onto one plane"));
    }
    let x = if normal.cross(Vec3::Z).length() < 1e-9 {
        Vec3::X
    } else {
        Vec3::Z.cross(normal).unit().unwrap_or(Vec3::X)
    };
    Ok(Plane { origin, normal, x })
}

fn refuse_crossings(plane: &Plane, loops: &[Vec<NamedCurve>], flat: &[Vec<FlatCurve>]) -> CadResult<()> {
    let names: Vec<&str> = loops.iter().flatten().map(|(name, _)| name.as_str()).collect();
    let flat: Vec<FlatCurve> = flat.iter().flatten().copied().collect();
    let Some((a, b, [x, y])) = first_crossing(&flat) else { return Ok(()) };
    let place = plane.origin + plane.x * x + plane.normal.cross(plane.x) * y;
    Err(invalid(format!(
        "the outline crosses or touches itself: `{}` and `{}` at {place}",
        names[a], names[b]
    ))
    .hint("move one of them, or split the outline into several profiles"))
}

/// Decides which loop is the outer one and turns all the right way round.
fn nest(plane: Plane, loops: Vec<Vec<NamedCurve>>, flat: &[Vec<FlatCurve>]) -> CadResult<Region> {
    let areas: Vec<f64> = flat.iter().map(|one| loop_area(one)).collect();
    let outer = (0..loops.len()).max_by(|a, b| areas[*a].abs().total_cmp(&areas[*b].abs())).unwrap_or(0);
    let outline =
        |index: usize| -> Vec<[f64; 2]> { flat[index].iter().flat_map(|curve| curve.points(96)).collect() };
    for hole in (0..loops.len()).filter(|index| *index != outer) {
        let inside_of = |other: usize| contains(&outline(other), flat[hole][0].points(96)[1]);
        let name = &loops[hole][0].0;
        if !inside_of(outer) {
            return Err(invalid(format!("the loop at `{name}` lies outside of the outer loop"))
                .hint("extrude separate outlines one by one and unite the solids"));
        }
        if (0..loops.len()).any(|other| other != outer && other != hole && inside_of(other)) {
            return Err(invalid(format!("the loop at `{name}` lies inside of a hole"))
                .hint("extrude the island by itself"));
        }
    }
    let turned = |index: usize, positive: bool| -> Vec<Curve> {
        let curves = loops[index].iter().map(|(_, curve)| *curve);
        if (areas[index] > 0.0) == positive {
            curves.collect()
        } else {
            curves.rev().map(|curve| curve.reversed()).collect()
        }
    };
    let holes = (0..loops.len()).filter(|index| *index != outer).map(|index| turned(index, false)).collect();
    Ok(Region { plane, outer: turned(outer, true), holes })
}

/// Returns the area inside of a loop, positive when it goes counter-clockwise.
fn loop_area(curves: &[FlatCurve]) -> f64 {
    curves.iter().map(FlatCurve::area_share).sum()
}

fn contains(outline: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let mut inside = false;
    for index in 0..outline.len() {
        let ([ax, ay], [bx, by]) = (outline[index], outline[(index + 1) % outline.len()]);
        if (ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax {
            inside = !inside;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::geometry::Arc;

    fn line(name: &str, from: [f64; 2], to: [f64; 2]) -> NamedCurve {
        let at = |[x, y]: [f64; 2]| Vec3::new(x, y, 0.0);
        (name.to_owned(), Curve::Line { start: at(from), end: at(to) })
    }

    fn outline(points: &[[f64; 2]]) -> Vec<NamedCurve> {
        (0..points.len()).map(|i| line(&format!("l{i}"), points[i], points[(i + 1) % points.len()])).collect()
    }

    fn circle(x: f64, y: f64, radius: f64) -> NamedCurve {
        ("hole".to_owned(), Curve::Circle { center: Vec3::new(x, y, 0.0), normal: Vec3::Z, radius })
    }

    #[track_caller]
    fn refused(curves: &[NamedCurve], expected: &str) {
        let error = Region::from_curves(curves).unwrap_err();
        let text = format!("{}; {}", error.message, error.hint.unwrap_or_default());
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn loose_lines_in_any_order_and_direction_make_a_region() {
        let mut curves = outline(&[[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 5.0]]);
        curves.swap(1, 3);
        curves[2].1 = curves[2].1.reversed();
        let region = Region::from_curves(&curves).unwrap();
        assert!((region.area() - 50.0).abs() < 1e-12 && (region.perimeter() - 30.0).abs() < 1e-12);
        assert_eq!(region.plane.normal, Vec3::Z);
    }

    #[test]
    fn arcs_and_holes_count_exactly() {
        let top = Arc::from_angles(Vec3::new(5.0, 5.0, 0.0), Vec3::Z, 5.0, [0.0, PI]).unwrap();
        let mut curves = outline(&[[0.0, 5.0], [0.0, 0.0], [10.0, 0.0], [10.0, 5.0]]);
        curves[3] = ("top".to_owned(), Curve::Arc(top));
        curves.push(circle(5.0, 5.0, 2.0));
        let region = Region::from_curves(&curves).unwrap();
        assert!((region.area() - (50.0 + 12.5 * PI - 4.0 * PI)).abs() < 1e-9, "{}", region.area());
        assert_eq!(region.holes.len(), 1);
    }

    #[test]
    fn what_encloses_nothing_is_refused_with_the_place() {
        refused(
            &outline(&[[0.0, 0.0], [10.0, 0.0], [10.0, 5.0]])[..2],
            "the profile is open: `l1` ends at (10, 5, 0)",
        );
        refused(
            &outline(&[[0.0, 0.0], [10.0, 10.0], [10.0, 0.0], [0.0, 10.0]]),
            "`l0` and `l2` at (5, 5, 0)",
        );
        refused(&outline(&[[0.0, 0.0], [10.0, 0.0], [5.0, 0.0]]), "one line");
        let mut gapped = outline(&[[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 5.0]]);
        gapped[2] = line("short", [10.0, 5.0], [0.1, 5.0]);
        refused(&gapped, "0.100000 mm away");
    }

    #[test]
    fn loops_lie_in_the_outer_one_and_not_in_each_other() {
        let square = outline(&[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]]);
        let with = |more: &[NamedCurve]| square.iter().chain(more).cloned().collect::<Vec<_>>();
        refused(&with(&[circle(20.0, 5.0, 2.0)]), "outside of the outer loop");
        refused(&with(&[circle(5.0, 5.0, 3.0), circle(5.0, 5.0, 1.0)]), "inside of a hole");
        refused(&with(&[circle(9.0, 5.0, 2.0)]), "crosses or touches itself");
        assert_eq!(
            Region::from_curves(&with(&[circle(3.0, 5.0, 1.0), circle(7.0, 5.0, 1.0)])).unwrap().holes.len(),
            2
        );
    }

    #[test]
    fn a_bent_profile_is_refused() {
        let mut curves = outline(&[[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 5.0]]);
        let lifted = Vec3::new(10.0, 5.0, 1.0);
        curves[1].1 = Curve::Line { start: Vec3::new(10.0, 0.0, 0.0), end: lifted };
        curves[2].1 = Curve::Line { start: lifted, end: Vec3::new(0.0, 5.0, 0.0) };
        refused(&curves, "not flat");
    }
}
