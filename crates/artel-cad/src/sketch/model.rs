//! A sketch as equations between points of a plane, made from entities and constraints. Solver and diagnosis both read this.

use std::collections::BTreeMap;

use super::constraint::{Constraint, ConstraintKind, Part, Target};
use super::solve::Solved;
use crate::entity::{Entity, EntityId, Shape};
use crate::error::{CadError, CadResult, Code};
use crate::geometry::{Arc, Curve, Vec3, angle_between};
use crate::limit::JOIN_DISTANCE_MAX;

/// A point of the sketch, by its place in the list.
pub(crate) type PointIndex = usize;
/// A curve of the sketch, by its place in the list.
pub(crate) type CurveIndex = usize;

/// A curve between points of the sketch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SketchCurve {
    Line { start: PointIndex, end: PointIndex },
    Circle { center: PointIndex, radius: f64 },
    Arc { center: PointIndex, start: PointIndex, end: PointIndex },
}

/// What must hold, in terms that every solver knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    Same(PointIndex, PointIndex),
    On(PointIndex, CurveIndex),
    Parallel(CurveIndex, CurveIndex),
    Perpendicular(CurveIndex, CurveIndex),
    Tangent(CurveIndex, CurveIndex),
    Apart(PointIndex, PointIndex, f64),
    /// From a line; the side is the drawn one.
    Beside(PointIndex, CurveIndex, f64),
    /// In degrees, counter-clockwise from the first line to the second.
    Angle(CurveIndex, CurveIndex, f64),
    Radius(CurveIndex, f64),
    Level(PointIndex, PointIndex),
    Upright(PointIndex, PointIndex),
    Fixed(PointIndex),
}

/// The two coordinate axes that a sketch lies along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SketchPlane {
    Xy,
    Xz,
    Yz,
}

impl SketchPlane {
    fn flatten(self, at: Vec3) -> [f64; 2] {
        match self {
            Self::Xy => [at.x, at.y],
            Self::Xz => [at.x, at.z],
            Self::Yz => [at.y, at.z],
        }
    }

    fn lift(self, [u, v]: [f64; 2], original: Vec3) -> Vec3 {
        match self {
            Self::Xy => Vec3::new(u, v, original.z),
            Self::Xz => Vec3::new(u, original.y, v),
            Self::Yz => Vec3::new(original.x, u, v),
        }
    }

    /// The directions that are seen as level and upright, and the one they are seen from.
    fn normal(self) -> Vec3 {
        match self {
            Self::Xy => Vec3::Z,
            Self::Xz => -Vec3::Y,
            Self::Yz => Vec3::X,
        }
    }
}

/// Where the points of an entity are in the lists.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Placed {
    Point(PointIndex),
    Curve(CurveIndex),
}

/// Points, curves and rules.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub(crate) points: Vec<[f64; 2]>,
    pub(crate) curves: Vec<SketchCurve>,
    /// Each rule with the constraint it comes from.
    pub(crate) rules: Vec<(EntityId, Rule)>,
    plane: SketchPlane,
    placed: BTreeMap<EntityId, Placed>,
    entities: BTreeMap<EntityId, Entity>,
}

impl Sketch {
    /// Makes a sketch of entities and the constraints between them. Ends that meet are one point and stay together.
    pub(crate) fn new(
        entities: BTreeMap<EntityId, Entity>,
        constraints: &[(EntityId, Constraint)],
    ) -> CadResult<Self> {
        let plane = plane_of(&entities)?;
        let mut sketch = Self {
            points: Vec::new(),
            curves: Vec::new(),
            rules: Vec::new(),
            plane,
            placed: BTreeMap::new(),
            entities,
        };
        let entities = sketch.entities.clone();
        let mut ends: Vec<(Vec3, PointIndex)> = Vec::new();
        for (id, entity) in &entities {
            let placed = sketch.place(entity, &mut ends);
            if let Some(placed) = placed {
                sketch.placed.insert(id.clone(), placed);
            }
        }
        for (id, constraint) in constraints {
            for rule in sketch.rules_of(id, constraint)? {
                sketch.rules.push((id.clone(), rule));
            }
        }
        Ok(sketch)
    }

    fn place(&mut self, entity: &Entity, ends: &mut Vec<(Vec3, PointIndex)>) -> Option<Placed> {
        match &entity.shape {
            Shape::Point(at) => Some(Placed::Point(self.end(*at, ends))),
            Shape::Curve(curve) => {
                let curve = match curve {
                    Curve::Line { start, end } => {
                        SketchCurve::Line { start: self.end(*start, ends), end: self.end(*end, ends) }
                    }
                    Curve::Circle { center, radius, .. } => {
                        SketchCurve::Circle { center: self.own_point(*center), radius: *radius }
                    }
                    Curve::Arc(arc) => SketchCurve::Arc {
                        center: self.own_point(arc.center),
                        start: self.end(arc.start, ends),
                        end: self.end(arc.at(1.0), ends),
                    },
                };
                self.curves.push(curve);
                Some(Placed::Curve(self.curves.len() - 1))
            }
            Shape::Polyline { .. }
            | Shape::Profile { .. }
            | Shape::Constraint(_)
            | Shape::Solid(_)
            | Shape::Mesh { .. } => None,
        }
    }

    fn own_point(&mut self, at: Vec3) -> PointIndex {
        self.points.push(self.plane.flatten(at));
        self.points.len() - 1
    }

    fn end(&mut self, at: Vec3, ends: &mut Vec<(Vec3, PointIndex)>) -> PointIndex {
        if let Some((_, index)) = ends.iter().find(|(other, _)| other.distance(at) <= JOIN_DISTANCE_MAX) {
            return *index;
        }
        let index = self.own_point(at);
        ends.push((at, index));
        index
    }

    fn placed(&self, id: &EntityId, target: &Target) -> CadResult<Placed> {
        let wrong = |what: String| {
            CadError::new(Code::InvalidConstraint, format!("`{id}`: {what}")).hint(
                "constraints are between points, lines, circles and arcs, and their start, end or center",
            )
        };
        let placed = *self
            .placed
            .get(&target.entity)
            .ok_or_else(|| wrong(format!("`{}` cannot be constrained", target.entity)))?;
        let missing = || wrong(format!("`{}` has no {:?}", target.entity, target.part).to_lowercase());
        match (placed, target.part) {
            (placed, Part::Whole) => Ok(placed),
            (Placed::Point(_), Part::Start | Part::End | Part::Center) => Err(missing()),
            (Placed::Curve(index), part) => {
                let point = match (self.curves[index], part) {
                    (SketchCurve::Line { start, .. } | SketchCurve::Arc { start, .. }, Part::Start) => start,
                    (SketchCurve::Line { end, .. } | SketchCurve::Arc { end, .. }, Part::End) => end,
                    (SketchCurve::Circle { center, .. } | SketchCurve::Arc { center, .. }, Part::Center) => {
                        center
                    }
                    (SketchCurve::Line { .. } | SketchCurve::Circle { .. } | SketchCurve::Arc { .. }, _) => {
                        return Err(missing());
                    }
                };
                Ok(Placed::Point(point))
            }
        }
    }

    /// Writes a constraint as rules, or says why its entities do not fit it.
    fn rules_of(&self, id: &EntityId, constraint: &Constraint) -> CadResult<Vec<Rule>> {
        let targets =
            constraint.targets.iter().map(|target| self.placed(id, target)).collect::<CadResult<Vec<_>>>()?;
        let value = constraint.value.unwrap_or(0.0);
        let rules = match constraint.kind {
            ConstraintKind::Coincident => self.coincident(&targets),
            ConstraintKind::Parallel => self.lines(&targets).map(|[a, b]| vec![Rule::Parallel(a, b)]),
            ConstraintKind::Perpendicular => {
                self.lines(&targets).map(|[a, b]| vec![Rule::Perpendicular(a, b)])
            }
            ConstraintKind::Angle => self.lines(&targets).map(|[a, b]| vec![Rule::Angle(a, b, value)]),
            ConstraintKind::Tangent => self.tangent(&targets),
            ConstraintKind::Distance => self.distance(&targets, value),
            ConstraintKind::Radius => match targets[..] {
                [Placed::Curve(curve)] if !self.is_line(curve) => Some(vec![Rule::Radius(curve, value)]),
                _ => None,
            },
            ConstraintKind::Horizontal => self.two_points(&targets).map(|[a, b]| vec![Rule::Level(a, b)]),
            ConstraintKind::Vertical => self.two_points(&targets).map(|[a, b]| vec![Rule::Upright(a, b)]),
            ConstraintKind::Fixed => self.fixed(&targets),
        };
        rules.ok_or_else(|| {
            let message = format!("`{id}`: {:?} does not fit these entities", constraint.kind).to_lowercase();
            CadError::new(Code::InvalidConstraint, message).hint(needs(constraint.kind))
        })
    }

    fn is_line(&self, curve: CurveIndex) -> bool {
        matches!(self.curves[curve], SketchCurve::Line { .. })
    }

    fn lines(&self, targets: &[Placed]) -> Option<[CurveIndex; 2]> {
        match targets {
            [Placed::Curve(a), Placed::Curve(b)] if self.is_line(*a) && self.is_line(*b) && a != b => {
                Some([*a, *b])
            }
            _ => None,
        }
    }

    fn two_points(&self, targets: &[Placed]) -> Option<[PointIndex; 2]> {
        match targets {
            [Placed::Point(a), Placed::Point(b)] if a != b => Some([*a, *b]),
            [Placed::Curve(line)] => match self.curves[*line] {
                SketchCurve::Line { start, end } => Some([start, end]),
                SketchCurve::Circle { .. } | SketchCurve::Arc { .. } => None,
            },
            _ => None,
        }
    }

    fn center(&self, curve: CurveIndex) -> Option<PointIndex> {
        match self.curves[curve] {
            SketchCurve::Circle { center, .. } | SketchCurve::Arc { center, .. } => Some(center),
            SketchCurve::Line { .. } => None,
        }
    }

    fn coincident(&self, targets: &[Placed]) -> Option<Vec<Rule>> {
        match targets {
            // Two names for one point hold whatever happens.
            [Placed::Point(a), Placed::Point(b)] if a == b => Some(Vec::new()),
            [Placed::Point(a), Placed::Point(b)] => Some(vec![Rule::Same(*a, *b)]),
            [Placed::Point(point), Placed::Curve(curve)] | [Placed::Curve(curve), Placed::Point(point)] => {
                Some(vec![Rule::On(*point, *curve)])
            }
            [Placed::Curve(a), Placed::Curve(b)] => match (self.curves[*a], self.curves[*b]) {
                (SketchCurve::Line { start, end }, SketchCurve::Line { .. }) => {
                    Some(vec![Rule::On(start, *b), Rule::On(end, *b)])
                }
                _ => Some(vec![Rule::Same(self.center(*a)?, self.center(*b)?)]),
            },
            _ => None,
        }
    }

    fn tangent(&self, targets: &[Placed]) -> Option<Vec<Rule>> {
        match targets {
            [Placed::Curve(a), Placed::Curve(b)] if a != b => match (self.is_line(*a), self.is_line(*b)) {
                (true, true) => None,
                (false, true) => Some(vec![Rule::Tangent(*b, *a)]),
                (true | false, false) => Some(vec![Rule::Tangent(*a, *b)]),
            },
            _ => None,
        }
    }

    fn distance(&self, targets: &[Placed], value: f64) -> Option<Vec<Rule>> {
        match targets {
            [Placed::Point(point), Placed::Curve(line)] | [Placed::Curve(line), Placed::Point(point)]
                if self.is_line(*line) =>
            {
                Some(vec![Rule::Beside(*point, *line, value)])
            }
            [Placed::Curve(a), Placed::Curve(b)] if self.is_line(*a) && a != b => match self.curves[*b] {
                SketchCurve::Line { start, end } => {
                    Some(vec![Rule::Beside(start, *a, value), Rule::Beside(end, *a, value)])
                }
                SketchCurve::Circle { center, .. } | SketchCurve::Arc { center, .. } => {
                    Some(vec![Rule::Beside(center, *a, value)])
                }
            },
            [Placed::Curve(a), Placed::Curve(b)] => {
                Some(vec![Rule::Apart(self.center(*a)?, self.center(*b)?, value)])
            }
            _ => self.two_points(targets).map(|[a, b]| vec![Rule::Apart(a, b, value)]),
        }
    }

    fn fixed(&self, targets: &[Placed]) -> Option<Vec<Rule>> {
        match targets {
            [Placed::Point(point)] => Some(vec![Rule::Fixed(*point)]),
            [Placed::Curve(curve)] => Some(match self.curves[*curve] {
                SketchCurve::Line { start, end } => vec![Rule::Fixed(start), Rule::Fixed(end)],
                SketchCurve::Circle { center, radius } => {
                    vec![Rule::Fixed(center), Rule::Radius(*curve, radius)]
                }
                SketchCurve::Arc { center, start, end } => {
                    vec![Rule::Fixed(center), Rule::Fixed(start), Rule::Fixed(end)]
                }
            }),
            _ => None,
        }
    }

    /// Returns where everything is drawn.
    pub(crate) fn drawn(&self) -> Solved {
        let radius = |curve: &SketchCurve| match curve {
            SketchCurve::Circle { radius, .. } => *radius,
            SketchCurve::Line { .. } | SketchCurve::Arc { .. } => 1.0,
        };
        Solved { points: self.points.clone(), radii: self.curves.iter().map(radius).collect() }
    }

    /// Returns the entities that are different when the points are elsewhere, in their new places.
    pub(crate) fn moved(&self, points: &[[f64; 2]], radii: &[f64]) -> BTreeMap<EntityId, Entity> {
        let mut moved = BTreeMap::new();
        for (id, placed) in &self.placed {
            let Some(entity) = self.entities.get(id) else { continue };
            let shape = match (placed, &entity.shape) {
                (Placed::Point(index), Shape::Point(at)) => {
                    Shape::Point(self.plane.lift(points[*index], *at))
                }
                (Placed::Curve(index), Shape::Curve(curve)) => {
                    Shape::Curve(self.moved_curve(*index, curve, points, radii[*index]))
                }
                _ => continue,
            };
            if shape != entity.shape {
                moved.insert(id.clone(), Entity { name: entity.name.clone(), shape });
            }
        }
        moved
    }

    fn moved_curve(&self, index: CurveIndex, curve: &Curve, points: &[[f64; 2]], radius: f64) -> Curve {
        let lift = |point: PointIndex, original: Vec3| self.plane.lift(points[point], original);
        match (self.curves[index], curve) {
            (SketchCurve::Line { start, end }, Curve::Line { start: a, end: b }) => {
                Curve::Line { start: lift(start, *a), end: lift(end, *b) }
            }
            (SketchCurve::Circle { center, .. }, Curve::Circle { center: c, normal, .. }) => {
                Curve::Circle { center: lift(center, *c), normal: *normal, radius }
            }
            (SketchCurve::Arc { center, start, end }, Curve::Arc(arc)) => {
                let (c, s, e) = (lift(center, arc.center), lift(start, arc.start), lift(end, arc.at(1.0)));
                Curve::Arc(Arc {
                    center: c,
                    normal: arc.normal,
                    start: s,
                    sweep: angle_between(s - c, e - c, arc.normal),
                })
            }
            (SketchCurve::Line { .. } | SketchCurve::Circle { .. } | SketchCurve::Arc { .. }, other) => {
                *other
            }
        }
    }
}

/// Finds the coordinate plane that all entities are parallel to.
fn plane_of(entities: &BTreeMap<EntityId, Entity>) -> CadResult<SketchPlane> {
    let mut points = Vec::new();
    let mut normals = Vec::new();
    for entity in entities.values() {
        match &entity.shape {
            Shape::Point(at) => points.push(*at),
            Shape::Curve(curve) => {
                points.extend(curve.ends().into_iter().flatten());
                match curve {
                    Curve::Circle { center, normal, .. } => {
                        points.push(*center);
                        normals.push(*normal);
                    }
                    Curve::Arc(arc) => normals.push(arc.normal),
                    Curve::Line { .. } => {}
                }
            }
            Shape::Polyline { .. }
            | Shape::Profile { .. }
            | Shape::Constraint(_)
            | Shape::Solid(_)
            | Shape::Mesh { .. } => {}
        }
    }
    let fits = |plane: &SketchPlane| {
        let normal = plane.normal();
        let height = points.first().map_or(0.0, |point| point.dot(normal));
        points.iter().all(|point| (point.dot(normal) - height).abs() <= JOIN_DISTANCE_MAX)
            && normals.iter().all(|other| other.cross(normal).length() < 1e-9)
    };
    [SketchPlane::Xy, SketchPlane::Xz, SketchPlane::Yz].into_iter().find(fits).ok_or_else(|| {
        CadError::new(
            Code::InvalidConstraint,
            "the constrained entities do not lie in one plane along two axes",
        )
        .hint("draw the sketch with the same z (or y, or x) everywhere and turn the solid afterwards")
    })
}

fn needs(kind: ConstraintKind) -> &'static str {
    match kind {
        ConstraintKind::Coincident => {
            "it needs two points, a point and a curve, two lines, or two circles or arcs"
        }
        ConstraintKind::Parallel | ConstraintKind::Perpendicular | ConstraintKind::Angle => {
            "it needs two lines"
        }
        ConstraintKind::Tangent => "it needs a circle or arc, and a line or another circle or arc",
        ConstraintKind::Distance => {
            "it needs two points, a line, a point and a line, two lines, or two circles or arcs"
        }
        ConstraintKind::Radius => "it needs a circle or an arc",
        ConstraintKind::Horizontal | ConstraintKind::Vertical => "it needs a line or two points",
        ConstraintKind::Fixed => "it needs a point, line, circle or arc",
    }
}
