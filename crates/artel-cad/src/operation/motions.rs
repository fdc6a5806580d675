//! Moving entities, whatever they are.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::{AngleUnit, direction};
use super::session::{Call, Session, describe};
use crate::entity::{Entity, EntityId, Shape, Solid};
use crate::error::{CadResult, bad_params, invalid};
use crate::geometry::{Motion, Vec3};
use crate::kernel::JobRequest;
use crate::limit::TOOLS_MAX;
use crate::rpc::{Access, Method};
use crate::store::{Change, Content, Put, Stored};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![Method::new(
        "entity.transform",
        Access::Writes,
        "Turns entities around an axis, then moves them; they keep their ids unless they are copied.",
        r#"{"entity_id": "plate", "rotate": {"axis": [0, 0, 1], "angle": 90}, "translate": [10, 0, 0]}"#,
        transform,
    )]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rotation {
    /// A point on the axis; the origin when left out.
    #[serde(default)]
    origin: Vec3,
    /// Where the axis points.
    axis: Vec3,
    /// How far to turn, counter-clockwise.
    angle: f64,
    /// What the angle is in.
    #[serde(default)]
    angle_unit: AngleUnit,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TransformParams {
    /// The entity.
    entity_id: Option<EntityId>,
    /// Several at once.
    #[serde(default)]
    entity_ids: Vec<EntityId>,
    /// How far to move.
    #[serde(alias = "translation")]
    translate: Option<Vec3>,
    /// How to turn, before moving.
    #[serde(alias = "rotation")]
    rotate: Option<Rotation>,
    /// Leaves the entities where they are and moves copies.
    #[serde(default)]
    copy: bool,
}

fn transform(session: &mut Session, call: &Call<'_>, params: TransformParams) -> CadResult<Value> {
    let motion = motion(params.translate, params.rotate)?;
    let ids: Vec<EntityId> = params.entity_ids.into_iter().chain(params.entity_id).collect();
    if ids.is_empty() || ids.len() > TOOLS_MAX {
        return Err(bad_params(format!("{} entities; 1 to {TOOLS_MAX} are possible", ids.len())));
    }
    let view = session.view(call)?;
    let stored = session.stored(&view, &ids)?;
    let mut entities = Vec::new();
    let mut puts = Vec::new();
    for one in &stored {
        let (entity, content) = moved(session, one, &motion)?;
        entities.push(entity);
        puts.push(Put { id: (!params.copy).then(|| one.id.clone()), content });
    }
    let expected = stored.iter().map(|stored| (stored.id.clone(), stored.version)).collect();
    session.commit(call, Change { puts, deletes: Vec::new(), expected }, |receipt| {
        let all: Vec<Value> = receipt
            .ids
            .iter()
            .zip(&entities)
            .map(|(id, entity)| describe(call.workspace, id, entity))
            .collect();
        match <[Value; 1]>::try_from(all) {
            Ok([one]) => one,
            Err(all) => json!({"entities": all, "workspace_id": call.workspace}),
        }
    })
}

fn motion(translate: Option<Vec3>, rotate: Option<Rotation>) -> CadResult<Motion> {
    let turned = match &rotate {
        Some(rotation) => {
            let axis = direction("rotate.axis", rotation.axis)?;
            let angle = rotation.angle_unit.radians("rotate.angle", rotation.angle)?;
            Motion::rotation(rotation.origin, axis, angle)
        }
        None => Motion::translation(Vec3::ZERO),
    };
    if translate.is_none() && rotate.is_none() {
        return Err(bad_params("give `translate`, `rotate` or both"));
    }
    Ok(turned.then(&Motion::translation(translate.unwrap_or_default())))
}

fn moved(session: &mut Session, stored: &Stored, motion: &Motion) -> CadResult<(Entity, Content)> {
    let shape = match &stored.entity.shape {
        Shape::Point(at) => Shape::Point(motion.point(*at)),
        Shape::Curve(curve) => Shape::Curve(curve.moved(motion)),
        Shape::Polyline { points, closed } => Shape::Polyline {
            points: points.iter().map(|point| motion.point(*point)).collect(),
            closed: *closed,
        },
        Shape::Solid(solid) => {
            let bytes = session.store.blob(stored.version)?;
            let (measure, bytes) =
                session.make_one(JobRequest::Place { motions: vec![*motion] }, vec![bytes])?;
            let entity = Entity {
                name: stored.entity.name.clone(),
                shape: Shape::Solid(Solid { measure, ..solid.clone() }),
            };
            return Ok((entity.clone(), Content::New(Box::new(entity), Some(bytes))));
        }
        Shape::Profile { .. } | Shape::Constraint(_) | Shape::Mesh { .. } => {
            let message = format!(
                "`{}` is a {}, which has no place of its own",
                stored.id,
                stored.entity.kind().word()
            );
            return Err(invalid(message).hint("move the curves that it is about"));
        }
    };
    let entity = Entity { name: stored.entity.name.clone(), shape };
    Ok((entity.clone(), Content::New(Box::new(entity), None)))
}
