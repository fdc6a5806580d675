//! Constraints between the points and curves of a workspace.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::AngleUnit;
use super::session::{Call, Session};
use super::workspaces::NoParams;
use crate::entity::{Entity, EntityId, EntityKind, Shape};
use crate::error::{CadError, CadResult, Code, bad_params};
use crate::limit::{COORDINATE_MAX, LENGTH_MIN};
use crate::rpc::{Access, Method};
use crate::sketch::{Constraint, ConstraintKind, Diagnosis, Part, Sketch, Solved, Target, diagnose, solve};
use crate::store::{Change, Content, Put, VersionKey, View};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "constraint.apply",
            Access::Writes,
            "Adds a constraint between points and curves; one that contradicts others is refused. Nothing moves before constraint.solve.",
            r#"{"kind": "distance", "targets": [{"entity_id": "bottom"}], "value": 120}"#,
            apply,
        ),
        Method::new(
            "constraint.solve",
            Access::Writes,
            "Moves points and curves so that all constraints hold; ends that meet stay together.",
            "{}",
            solve_all,
        ),
        Method::new(
            "constraint.status",
            Access::Reads,
            "Returns which constraints hold, which are redundant or conflicting, and the degrees of freedom that are left.",
            "{}",
            status,
        ),
    ]
}

/// An entity, or a point of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TargetParams {
    /// The entity.
    entity_id: EntityId,
    /// Its start, end or center instead of the whole.
    #[serde(alias = "point")]
    part: Option<Part>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyParams {
    /// What must hold.
    #[serde(alias = "constraint_type", alias = "type")]
    kind: ConstraintKind,
    /// Between what, in order; `entity_ids` is shorter where whole entities are meant.
    #[serde(default)]
    targets: Vec<TargetParams>,
    /// Whole entities.
    #[serde(default)]
    entity_ids: Vec<EntityId>,
    /// The distance or radius in millimetres, or the angle.
    value: Option<f64>,
    /// What an angle is in.
    #[serde(default)]
    angle_unit: AngleUnit,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

impl ApplyParams {
    fn constraint(&self) -> CadResult<Constraint> {
        let whole = self.entity_ids.iter().map(|entity| Target { entity: entity.clone(), part: Part::Whole });
        let named = self.targets.iter().map(|target| Target {
            entity: target.entity_id.clone(),
            part: target.part.unwrap_or(Part::Whole),
        });
        let targets: Vec<Target> = named.chain(whole).collect();
        if targets.is_empty() || targets.len() > 2 {
            return Err(bad_params(format!("{} targets; a constraint is about one or two", targets.len())));
        }
        let value = match (self.kind, self.value) {
            (ConstraintKind::Distance, Some(value)) if (0.0..=COORDINATE_MAX).contains(&value) => Some(value),
            (ConstraintKind::Radius, Some(value)) if (LENGTH_MIN..=COORDINATE_MAX).contains(&value) => {
                Some(value)
            }
            (ConstraintKind::Angle, Some(value)) => {
                Some(self.angle_unit.radians("value", value)?.to_degrees())
            }
            (ConstraintKind::Distance | ConstraintKind::Radius | ConstraintKind::Angle, None) => {
                return Err(bad_params("this kind needs `value`"));
            }
            (ConstraintKind::Distance | ConstraintKind::Radius, Some(value)) => {
                return Err(bad_params(format!("`value` = {value} is not a length in millimetres")));
            }
            (_, None) => None,
            (_, Some(_)) => return Err(bad_params("this kind has no `value`")),
        };
        Ok(Constraint { kind: self.kind, targets, value })
    }
}

/// The constraints of a workspace and everything that moves with them.
struct Drawing {
    sketch: Sketch,
    constraints: Vec<EntityId>,
    versions: BTreeMap<EntityId, VersionKey>,
}

impl Drawing {
    /// Reads the constraints, the entities they are about, and all curves joined to those.
    fn read(session: &mut Session, view: &View, extra: Option<(EntityId, Constraint)>) -> CadResult<Self> {
        let kinds = [
            EntityKind::Point,
            EntityKind::Line,
            EntityKind::Circle,
            EntityKind::Arc,
            EntityKind::Constraint,
        ];
        let mut constraints = Vec::new();
        let mut geometry = BTreeMap::new();
        let mut versions = BTreeMap::new();
        for stored in session.store.entities(view, &kinds)? {
            versions.insert(stored.id.clone(), stored.version);
            if let Shape::Constraint(constraint) = stored.entity.shape {
                constraints.push((stored.id, constraint));
            } else {
                geometry.insert(stored.id, stored.entity);
            }
        }
        constraints.extend(extra);
        let needed: BTreeSet<EntityId> =
            constraints.iter().flat_map(|(_, constraint)| constraint.entities()).collect();
        if let Some(missing) = needed.iter().find(|id| !geometry.contains_key(*id)) {
            // Says what is wrong with the id as every method does.
            let stored = session.store.entity(view, missing)?;
            let message =
                format!("`{missing}` is a {} and cannot be constrained", stored.entity.kind().word());
            return Err(CadError::new(Code::InvalidConstraint, message)
                .hint("constraints are between points, lines, circles and arcs"));
        }
        let joined = with_joined(&geometry, needed);
        geometry.retain(|id, _| joined.contains(id));
        let sketch = Sketch::new(geometry, &constraints)?;
        Ok(Self { sketch, constraints: constraints.into_iter().map(|(id, _)| id).collect(), versions })
    }

    fn drawn(&self) -> Solved {
        self.sketch.drawn()
    }
}

/// Adds everything that shares an end, directly or through others.
fn with_joined(geometry: &BTreeMap<EntityId, Entity>, mut chosen: BTreeSet<EntityId>) -> BTreeSet<EntityId> {
    // Ends on a grid finer than the joining distance; equal ends fall into equal or neighbouring cells.
    let ends = |entity: &Entity| match &entity.shape {
        Shape::Point(at) => vec![*at],
        Shape::Curve(curve) => curve.ends().into_iter().flatten().collect(),
        Shape::Polyline { .. }
        | Shape::Profile { .. }
        | Shape::Constraint(_)
        | Shape::Solid(_)
        | Shape::Mesh { .. } => Vec::new(),
    };
    let key = |at: crate::geometry::Vec3| at.to_array().map(|number| (number * 1e5).round() as i64);
    let mut by_end: BTreeMap<[i64; 3], Vec<&EntityId>> = BTreeMap::new();
    for (id, entity) in geometry {
        for end in ends(entity) {
            by_end.entry(key(end)).or_default().push(id);
        }
    }
    let mut open: Vec<EntityId> = chosen.iter().cloned().collect();
    while let Some(id) = open.pop() {
        let Some(entity) = geometry.get(&id) else { continue };
        for end in ends(entity) {
            for other in by_end.get(&key(end)).into_iter().flatten() {
                if chosen.insert((*other).clone()) {
                    open.push((*other).clone());
                }
            }
        }
    }
    chosen
}

fn apply(session: &mut Session, call: &Call<'_>, params: ApplyParams) -> CadResult<Value> {
    let constraint = params.constraint()?;
    let view = session.view(call)?;
    session.refuse_taken(&view, params.entity_id.as_ref())?;
    let name: EntityId = match &params.entity_id {
        Some(id) => id.clone(),
        None => "the-new-constraint".parse()?,
    };
    let drawing = Drawing::read(session, &view, Some((name.clone(), constraint.clone())))?;
    let solved = solve(&drawing.sketch)?;
    let diagnosis = diagnose(&drawing.sketch, &solved)?;
    if !diagnosis.violated.is_empty() || !diagnosis.conflicting.is_empty() {
        return Err(contradiction(&name, &diagnosis));
    }
    let holds = !diagnose(&drawing.sketch, &drawing.drawn())?.violated.contains(&name);
    let redundant = diagnosis.redundant.contains(&name);
    let expected =
        constraint.entities().into_iter().filter_map(|id| Some((id.clone(), *drawing.versions.get(&id)?)));
    let entity = Entity { name: None, shape: Shape::Constraint(constraint.clone()) };
    let content = Content::New(Box::new(entity), None);
    let change = Change {
        puts: vec![Put { id: params.entity_id, content }],
        deletes: Vec::new(),
        expected: expected.collect(),
    };
    session.commit(call, change, |receipt| {
        json!({
            "entity_id": receipt.ids[0], "constraint_id": receipt.ids[0], "entity_type": "constraint",
            "workspace_id": call.workspace, "kind": constraint.kind, "targets": constraint.targets,
            "value": constraint.value, "satisfied": holds, "redundant": redundant,
            "degrees_of_freedom": diagnosis.degrees_of_freedom
        })
    })
}

fn contradiction(name: &EntityId, diagnosis: &Diagnosis) -> CadError {
    let mut others: BTreeSet<EntityId> = diagnosis
        .conflicting
        .iter()
        .flat_map(|(id, with)| std::iter::once(id).chain(with))
        .filter(|id| *id != name)
        .cloned()
        .collect();
    if others.is_empty() {
        others = diagnosis.violated.iter().filter(|id| *id != name).cloned().collect();
    }
    let list: Vec<String> = others.iter().take(10).map(|id| format!("`{id}`")).collect();
    let message = match list.len() {
        0 => "the constraint cannot hold for these entities".to_owned(),
        _ => format!("the constraint contradicts {}", list.join(", ")),
    };
    CadError::new(Code::ConstraintConflict, message)
        .hint("nothing was changed; delete one of them with entity.delete, or take another value")
        .fact("conflicting", json!(others))
}

fn solve_all(session: &mut Session, call: &Call<'_>, _: NoParams) -> CadResult<Value> {
    let view = session.view(call)?;
    let drawing = Drawing::read(session, &view, None)?;
    if drawing.constraints.is_empty() {
        return Err(CadError::new(Code::OperationInvalid, "the workspace has no constraints")
            .hint("add some with constraint.apply"));
    }
    let solved = solve(&drawing.sketch)?;
    let diagnosis = diagnose(&drawing.sketch, &solved)?;
    if !diagnosis.violated.is_empty() {
        let list: Vec<String> = diagnosis.violated.iter().map(|id| format!("`{id}`")).collect();
        return Err(CadError::new(
            Code::ConstraintConflict,
            format!("these cannot hold together: {}", list.join(", ")),
        )
        .hint("nothing was moved; delete one of them with entity.delete")
        .fact("violated", json!(diagnosis.violated)));
    }
    let moved = drawing.sketch.moved(&solved.points, &solved.radii);
    let answer = json!({
        "moved": moved.keys().collect::<Vec<_>>(), "satisfied": drawing.constraints.len(),
        "degrees_of_freedom": diagnosis.degrees_of_freedom, "redundant": diagnosis.redundant,
        "workspace_id": call.workspace
    });
    let expected = drawing.versions.into_iter().filter(|(id, _)| moved.contains_key(id)).collect();
    let puts = moved
        .into_iter()
        .map(|(id, entity)| Put { id: Some(id), content: Content::New(Box::new(entity), None) })
        .collect();
    session.commit(call, Change { puts, deletes: Vec::new(), expected }, |_| answer)
}

fn status(session: &mut Session, call: &Call<'_>, _: NoParams) -> CadResult<Value> {
    let view = session.view(call)?;
    let drawing = Drawing::read(session, &view, None)?;
    let drawn = diagnose(&drawing.sketch, &drawing.drawn())?;
    let solved = match solve(&drawing.sketch) {
        Ok(solved) => diagnose(&drawing.sketch, &solved)?,
        Err(error) if error.code == Code::ConstraintConflict => drawn.clone(),
        Err(error) => return Err(error),
    };
    let conflicting: Vec<Value> =
        solved.conflicting.iter().map(|(id, with)| json!({"constraint_id": id, "with": with})).collect();
    let satisfied: Vec<&EntityId> =
        drawing.constraints.iter().filter(|id| !drawn.violated.contains(*id)).collect();
    Ok(json!({
        "constraint_count": drawing.constraints.len(), "satisfied": satisfied, "violated": drawn.violated,
        "redundant": solved.redundant, "conflicting": conflicting,
        "degrees_of_freedom": solved.degrees_of_freedom, "workspace_id": call.workspace
    }))
}
