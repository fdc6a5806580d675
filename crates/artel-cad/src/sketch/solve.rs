//! Solving: moves the points of a sketch as little as needed for all rules to hold.

use ezpz::datatypes::inputs::{DatumCircle, DatumCircularArc, DatumDistance, DatumLineSegment, DatumPoint};
use ezpz::datatypes::{Angle, AngleKind};
use ezpz::{CircleSide, Config, Constraint, ConstraintRequest, IdGenerator, LineSide};

use super::model::{CurveIndex, PointIndex, Rule, Sketch, SketchCurve};
use crate::error::{CadError, CadResult, Code, invalid};
use crate::limit::SKETCH_UNKNOWNS_MAX;

/// Where the points are and how large the circles, after solving as well as possible.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solved {
    pub(crate) points: Vec<[f64; 2]>,
    /// The radius of each circle; nothing useful for other curves.
    pub(crate) radii: Vec<f64>,
}

/// Solves a sketch from where it is drawn.
pub(crate) fn solve(sketch: &Sketch) -> CadResult<Solved> {
    let unknowns = sketch.points.len() * 2 + sketch.curves.len();
    if unknowns > SKETCH_UNKNOWNS_MAX {
        return Err(invalid(format!(
            "the sketch has {unknowns} unknowns, {SKETCH_UNKNOWNS_MAX} is the limit"
        ))
        .hint("constrain and solve it in parts"));
    }
    let mut system = System::new(sketch);
    let mut requests = system.own_equations();
    for (_, rule) in &sketch.rules {
        requests.extend(system.translate(rule));
    }
    let requests: Vec<ConstraintRequest> =
        requests.into_iter().map(ConstraintRequest::highest_priority).collect();
    let config = Config::default().with_convergence_tolerance(1e-10).with_max_iterations(200);
    let outcome = ezpz::solve(&requests, system.guesses.clone(), config).map_err(|error| {
        CadError::new(Code::ConstraintConflict, format!("the sketch cannot be solved: {error:?}"))
            .hint("remove constraints with entity.delete, or move the entities nearer to what they should be")
    })?;
    let value = |id: u32| outcome.final_values()[id as usize];
    Ok(Solved {
        points: system.points.iter().map(|point| [value(point.x_id), value(point.y_id)]).collect(),
        radii: system.radii.iter().map(|radius| value(radius.id)).collect(),
    })
}

struct System<'a> {
    sketch: &'a Sketch,
    points: Vec<DatumPoint>,
    /// A radius for each curve: a circle's own, an arc's as a help for tangents.
    radii: Vec<DatumDistance>,
    guesses: Vec<(u32, f64)>,
}

impl<'a> System<'a> {
    fn new(sketch: &'a Sketch) -> Self {
        let mut ids = IdGenerator::default();
        let mut guesses = Vec::new();
        let mut points = Vec::new();
        for [u, v] in &sketch.points {
            let point = DatumPoint::new(&mut ids);
            guesses.extend([(point.x_id, *u), (point.y_id, *v)]);
            points.push(point);
        }
        let mut radii = Vec::new();
        for curve in &sketch.curves {
            let radius = DatumDistance::new(ids.next_id());
            guesses.push((radius.id, drawn_radius(sketch, curve)));
            radii.push(radius);
        }
        Self { sketch, points, radii, guesses }
    }

    /// An arc's ends are as far from its center as its radius; a line's unused radius stays what it is.
    fn own_equations(&self) -> Vec<Constraint> {
        let mut equations = Vec::new();
        for (curve, radius) in self.sketch.curves.iter().zip(&self.radii) {
            match curve {
                SketchCurve::Line { .. } => equations.push(Constraint::Fixed(radius.id, 1.0)),
                SketchCurve::Circle { .. } => {}
                SketchCurve::Arc { center, start, end } => {
                    let center = self.points[*center];
                    equations.push(Constraint::DistanceVar(self.points[*start], center, *radius));
                    equations.push(Constraint::DistanceVar(self.points[*end], center, *radius));
                }
            }
        }
        equations
    }

    fn line(&self, curve: CurveIndex) -> DatumLineSegment {
        match self.sketch.curves[curve] {
            SketchCurve::Line { start, end } => DatumLineSegment::new(self.points[start], self.points[end]),
            // Never asked for: rules of lines are made for lines only.
            SketchCurve::Circle { center, .. } | SketchCurve::Arc { center, .. } => {
                DatumLineSegment::new(self.points[center], self.points[center])
            }
        }
    }

    fn circle(&self, curve: CurveIndex) -> Option<DatumCircle> {
        match self.sketch.curves[curve] {
            SketchCurve::Circle { center, .. } | SketchCurve::Arc { center, .. } => {
                Some(DatumCircle { center: self.points[center], radius: self.radii[curve] })
            }
            SketchCurve::Line { .. } => None,
        }
    }

    fn translate(&mut self, rule: &Rule) -> Vec<Constraint> {
        let point = |index: PointIndex| self.points[index];
        match *rule {
            Rule::Same(a, b) => vec![Constraint::PointsCoincident(point(a), point(b))],
            Rule::On(p, curve) => match self.sketch.curves[curve] {
                SketchCurve::Line { .. } => {
                    vec![Constraint::PointLineDistance(point(p), self.line(curve), 0.0)]
                }
                SketchCurve::Circle { center, .. } | SketchCurve::Arc { center, .. } => {
                    vec![Constraint::DistanceVar(point(p), point(center), self.radii[curve])]
                }
            },
            Rule::Parallel(a, b) => {
                vec![Constraint::LinesAtAngle(self.line(a), self.line(b), AngleKind::Parallel)]
            }
            Rule::Perpendicular(a, b) => {
                vec![Constraint::LinesAtAngle(self.line(a), self.line(b), AngleKind::Perpendicular)]
            }
            Rule::Angle(a, b, degrees) => {
                let angle = AngleKind::Other(Angle::from_degrees(degrees));
                vec![Constraint::LinesAtAngle(self.line(a), self.line(b), angle)]
            }
            Rule::Tangent(a, b) => self.tangent(a, b),
            Rule::Apart(a, b, distance) => vec![Constraint::Distance(point(a), point(b), distance)],
            Rule::Beside(p, line, distance) => {
                let signed = if self.is_left(p, line) { distance } else { -distance };
                vec![Constraint::PointLineDistance(point(p), self.line(line), signed)]
            }
            Rule::Radius(curve, radius) => match self.sketch.curves[curve] {
                SketchCurve::Circle { .. } => self
                    .circle(curve)
                    .map(|circle| Constraint::CircleRadius(circle, radius))
                    .into_iter()
                    .collect(),
                SketchCurve::Arc { center, start, end } => {
                    let arc =
                        DatumCircularArc { center: point(center), start: point(start), end: point(end) };
                    vec![Constraint::ArcRadius(arc, radius)]
                }
                SketchCurve::Line { .. } => Vec::new(),
            },
            Rule::Level(a, b) => vec![Constraint::ScalarEqual(point(a).y_id, point(b).y_id)],
            Rule::Upright(a, b) => vec![Constraint::ScalarEqual(point(a).x_id, point(b).x_id)],
            Rule::Fixed(p) => {
                let [u, v] = self.sketch.points[p];
                vec![Constraint::Fixed(point(p).x_id, u), Constraint::Fixed(point(p).y_id, v)]
            }
        }
    }

    /// A line that touches an arc where both end is perpendicular to the radius there; elsewhere the distance counts.
    fn tangent(&self, a: CurveIndex, b: CurveIndex) -> Vec<Constraint> {
        let shared = match (self.sketch.curves[a], self.sketch.curves[b]) {
            (SketchCurve::Line { start, end }, SketchCurve::Arc { start: s, end: e, .. }) => {
                [start, end].into_iter().find(|point| *point == s || *point == e)
            }
            _ => None,
        };
        let Some(circle) = self.circle(b) else { return Vec::new() };
        match (shared, self.circle(a)) {
            (Some(point), _) => {
                let radius = DatumLineSegment::new(circle.center, self.points[point]);
                vec![Constraint::LinesAtAngle(self.line(a), radius, AngleKind::Perpendicular)]
            }
            (None, None) => vec![Constraint::LineTangentToCircle(self.line(a), circle, LineSide::Undefined)],
            (None, Some(other)) => {
                vec![Constraint::CircleTangentToCircle(other, circle, CircleSide::Undefined)]
            }
        }
    }

    fn is_left(&self, point: PointIndex, line: CurveIndex) -> bool {
        let SketchCurve::Line { start, end } = self.sketch.curves[line] else { return true };
        let [p, a, b] = [point, start, end].map(|index| self.sketch.points[index]);
        (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) >= 0.0
    }
}

fn drawn_radius(sketch: &Sketch, curve: &SketchCurve) -> f64 {
    match curve {
        SketchCurve::Line { .. } => 1.0,
        SketchCurve::Circle { radius, .. } => *radius,
        SketchCurve::Arc { center, start, .. } => {
            let ([cx, cy], [sx, sy]) = (sketch.points[*center], sketch.points[*start]);
            (sx - cx).hypot(sy - cy)
        }
    }
}
