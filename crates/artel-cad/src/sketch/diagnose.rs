//! Diagnosis: how free a sketch is, and which constraints say nothing or contradict others.

use std::collections::BTreeSet;

use sketch_solver::{
    Along, Constraint, EntityId as Known, ModelError, Pair, Sketch as System, SolveOptions, Source,
};

use super::model::{Rule, Sketch, SketchCurve};
use super::solve::Solved;
use crate::entity::EntityId;
use crate::error::{CadError, CadResult, Code};
use crate::limit::SKETCH_UNKNOWNS_MAX;

/// How far a rule may be from holding, in millimetres.
const HOLDS: f64 = 1e-6;

/// What is known about a sketch in a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Diagnosis {
    pub(crate) degrees_of_freedom: usize,
    /// Constraints that others imply.
    pub(crate) redundant: BTreeSet<EntityId>,
    /// Constraints that contradict others, each with those.
    pub(crate) conflicting: Vec<(EntityId, BTreeSet<EntityId>)>,
    /// Constraints that do not hold in this state.
    pub(crate) violated: BTreeSet<EntityId>,
}

/// Looks at a sketch with its points in given places.
pub(crate) fn diagnose(sketch: &Sketch, state: &Solved) -> CadResult<Diagnosis> {
    let mut builder = Builder::new(sketch, state).map_err(rejected)?;
    for (id, rule) in &sketch.rules {
        builder.add(id, rule).map_err(rejected)?;
    }
    // No iterations: the state is looked at, not changed.
    let options = SolveOptions { max_iterations: 0, max_unknowns: SKETCH_UNKNOWNS_MAX * 2, interrupt: None };
    let solution = builder
        .system
        .solve_with(&options)
        .map_err(|error| CadError::new(Code::OperationInvalid, error.to_string()))?;
    let name = |source: &Source| match source {
        Source::Constraint(id) => builder.names.get(id.index()).cloned().flatten(),
        Source::Arc(_) => None,
    };
    let conflicting: Vec<(EntityId, BTreeSet<EntityId>)> = solution
        .conflicts
        .iter()
        .filter_map(|dependency| {
            Some((name(&dependency.source)?, dependency.with.iter().filter_map(name).collect()))
        })
        .collect();
    let unmet = solution.unmet.iter().filter(|(_, residual)| residual.abs() > HOLDS);
    let violated: BTreeSet<EntityId> = unmet.filter_map(|(source, _)| name(source)).collect();
    Ok(Diagnosis {
        degrees_of_freedom: solution.dof,
        redundant: solution.redundant.iter().filter_map(|dependency| name(&dependency.source)).collect(),
        conflicting,
        violated,
    })
}

fn rejected(error: ModelError) -> CadError {
    CadError::new(Code::InvalidConstraint, format!("the sketch cannot be analysed: {error}"))
}

struct Builder {
    system: System,
    points: Vec<Known>,
    curves: Vec<Known>,
    /// The constraint that each equation comes from; nothing for those of the sketch itself.
    names: Vec<Option<EntityId>>,
}

impl Builder {
    fn new(sketch: &Sketch, state: &Solved) -> Result<Self, ModelError> {
        let mut system = System::new();
        let points =
            state.points.iter().map(|point| system.point(Some(*point))).collect::<Result<Vec<_>, _>>()?;
        let mut curves = Vec::new();
        for (index, curve) in sketch.curves.iter().enumerate() {
            curves.push(match curve {
                SketchCurve::Line { start, end } => system.line(points[*start], points[*end])?,
                SketchCurve::Circle { center, .. } => {
                    system.circle(points[*center], Some(state.radii[index].abs()))?
                }
                SketchCurve::Arc { center, start, end } => {
                    system.arc(points[*center], points[*start], points[*end], false)?
                }
            });
        }
        Ok(Self { system, points, curves, names: Vec::new() })
    }

    fn add(&mut self, name: &EntityId, rule: &Rule) -> Result<(), ModelError> {
        let (points, curves) = (&self.points, &self.curves);
        let constraint = match *rule {
            Rule::Same(a, b) => Constraint::Coincident(points[a], points[b]),
            Rule::On(point, curve) => Constraint::On { point: points[point], curve: curves[curve] },
            Rule::Parallel(a, b) => Constraint::Parallel(curves[a], curves[b]),
            Rule::Perpendicular(a, b) => Constraint::Perpendicular(curves[a], curves[b]),
            Rule::Tangent(a, b) => Constraint::Tangent(curves[a], curves[b]),
            Rule::Apart(a, b, value) => {
                Constraint::Distance { a: points[a], b: points[b], value, along: Along::Direct }
            }
            Rule::Beside(point, line, value) => {
                Constraint::Distance { a: points[point], b: curves[line], value, along: Along::Direct }
            }
            Rule::Angle(from, to, degrees) => {
                Constraint::Angle { from: curves[from], to: curves[to], degrees }
            }
            Rule::Radius(curve, value) => Constraint::Radius { curve: curves[curve], value },
            Rule::Level(a, b) => Constraint::Horizontal(Pair::Points(points[a], points[b])),
            Rule::Upright(a, b) => Constraint::Vertical(Pair::Points(points[a], points[b])),
            Rule::Fixed(point) => Constraint::Fix { entity: points[point], at: None },
        };
        let id = self.system.add(constraint)?;
        self.names.resize(id.index() + 1, None);
        self.names[id.index()] = Some(name.clone());
        Ok(())
    }
}
