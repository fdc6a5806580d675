//! Changes of a solid: rounded and cut edges, hollowing out, and copies of it in rows, circles and mirrors.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::{AngleUnit, direction, length};
use super::session::{Call, MadeSolid, Session, describe};
use super::solids::NewSolid;
use crate::entity::{Entity, EntityId, Shape, Solid};
use crate::error::{CadResult, bad_params};
use crate::geometry::{Motion, Vec3};
use crate::kernel::{BooleanKind, EdgeChoice, FaceChoice, JobRequest};
use crate::limit::TOOLS_MAX;
use crate::rpc::{Access, Method};
use crate::store::{Change, Content, Put, Stored};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "solid.fillet",
            Access::Writes,
            "Rounds edges of a solid: all of them, those along a direction, or those through points.",
            r#"{"solid_id": "plate", "radius": 2, "edges_along": [0, 0, 1]}"#,
            fillet,
        ),
        Method::new(
            "solid.chamfer",
            Access::Writes,
            "Cuts edges of a solid off at 45 degrees.",
            r#"{"solid_id": "plate", "distance": 1, "edges_near": [[50, 0, 20]]}"#,
            chamfer,
        ),
        Method::new(
            "solid.shell",
            Access::Writes,
            "Hollows a solid out to walls of a thickness, leaving faces open.",
            r#"{"solid_id": "plate", "thickness": 2, "open_facing": [0, 0, 1]}"#,
            shell,
        ),
        Method::new(
            "solid.pattern",
            Access::Writes,
            "Repeats a solid in a row or around an axis, as copies or united into one.",
            r#"{"solid_id": "hole_1", "kind": "linear", "step": [20, 0, 0], "count": 4}"#,
            pattern,
        ),
        Method::new(
            "solid.mirror",
            Access::Writes,
            "Makes the mirror image of a solid.",
            r#"{"solid_id": "plate", "plane_origin": [0, 0, 0], "plane_normal": [1, 0, 0]}"#,
            mirror,
        ),
    ]
}

/// Lets the kernel change one solid, which keeps its id.
fn change(session: &mut Session, call: &Call<'_>, id: &EntityId, request: JobRequest) -> CadResult<Value> {
    let view = session.view(call)?;
    let (stored, solid, bytes) = session.solid(&view, id)?;
    let made = session.make_one(request, vec![bytes])?;
    let new = NewSolid {
        id: Some(id.clone()),
        name: stored.entity.name,
        color: solid.color,
        made_of: vec![id.clone()],
    };
    let change = Change { expected: vec![(stored.id, stored.version)], ..Change::default() };
    new.write(session, call, made, change)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FilletParams {
    /// The solid.
    #[serde(alias = "entity_id")]
    solid_id: EntityId,
    /// The radius in millimetres.
    radius: f64,
    /// Only straight edges along this direction.
    edges_along: Option<Vec3>,
    /// For each point, the edge that passes it.
    #[serde(default)]
    edges_near: Vec<Vec3>,
}

fn fillet(session: &mut Session, call: &Call<'_>, params: FilletParams) -> CadResult<Value> {
    let edges = edge_choice(params.edges_along, params.edges_near)?;
    let radius = length("radius", params.radius)?;
    change(session, call, &params.solid_id, JobRequest::Fillet { edges, radius })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChamferParams {
    /// The solid.
    #[serde(alias = "entity_id")]
    solid_id: EntityId,
    /// How much is cut off each side, in millimetres.
    distance: f64,
    /// Only straight edges along this direction.
    edges_along: Option<Vec3>,
    /// For each point, the edge that passes it.
    #[serde(default)]
    edges_near: Vec<Vec3>,
}

fn chamfer(session: &mut Session, call: &Call<'_>, params: ChamferParams) -> CadResult<Value> {
    let edges = edge_choice(params.edges_along, params.edges_near)?;
    let distance = length("distance", params.distance)?;
    change(session, call, &params.solid_id, JobRequest::Chamfer { edges, distance })
}

fn edge_choice(along: Option<Vec3>, near: Vec<Vec3>) -> CadResult<EdgeChoice> {
    match (along, near.len()) {
        (None, 0) => Ok(EdgeChoice::All),
        (Some(along), 0) => Ok(EdgeChoice::Along(direction("edges_along", along)?)),
        (None, 1..=TOOLS_MAX) => Ok(EdgeChoice::Near(near)),
        (None, _) => {
            Err(bad_params(format!("`edges_near` has {} points, {TOOLS_MAX} is the limit", near.len())))
        }
        (Some(_), _) => Err(bad_params("give `edges_along` or `edges_near`, not both")),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShellParams {
    /// The solid.
    #[serde(alias = "entity_id")]
    solid_id: EntityId,
    /// The thickness of the walls, in millimetres; they go inwards.
    thickness: f64,
    /// Opens the flat faces furthest in this direction.
    open_facing: Option<Vec3>,
    /// For each point, opens the face it lies on.
    #[serde(default)]
    open_near: Vec<Vec3>,
}

fn shell(session: &mut Session, call: &Call<'_>, params: ShellParams) -> CadResult<Value> {
    let open = match (params.open_facing, params.open_near.len()) {
        (Some(facing), 0) => FaceChoice::Facing(direction("open_facing", facing)?),
        (None, 1..=TOOLS_MAX) => FaceChoice::Near(params.open_near),
        _ => {
            return Err(
                bad_params("give either `open_facing` or `open_near`").hint("a shell needs an open face")
            );
        }
    };
    let thickness = length("thickness", params.thickness)?;
    change(session, call, &params.solid_id, JobRequest::Shell { open, thickness })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PatternKind {
    Linear,
    Circular,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PatternParams {
    /// The solid.
    #[serde(alias = "entity_id")]
    solid_id: EntityId,
    /// In a row, or around an axis.
    kind: PatternKind,
    /// How many there are in the end, the first included.
    #[schemars(range(min = 2, max = 500))]
    count: usize,
    /// From one to the next of a row.
    step: Option<Vec3>,
    /// A point on the axis of a circle; the origin when left out.
    axis_origin: Option<Vec3>,
    /// Where the axis of a circle points; z when left out.
    axis_direction: Option<Vec3>,
    /// From the first to the last of a circle; spread evenly over a full turn when left out.
    angle: Option<f64>,
    /// What the angle is in.
    #[serde(default)]
    angle_unit: AngleUnit,
    /// Unites all into the first instead of making copies.
    #[serde(default)]
    unite: bool,
}

impl PatternParams {
    fn motions(&self) -> CadResult<Vec<Motion>> {
        if !(2..=TOOLS_MAX).contains(&self.count) {
            return Err(bad_params(format!("`count` = {} is not from 2 to {TOOLS_MAX}", self.count)));
        }
        match (self.kind, self.step) {
            (PatternKind::Linear, Some(step)) => {
                direction("step", step)?;
                Ok((1..self.count).map(|index| Motion::translation(step * index as f64)).collect())
            }
            (PatternKind::Linear, None) => Err(bad_params("a linear pattern needs `step`")),
            (PatternKind::Circular, Some(_)) => Err(bad_params("`step` belongs to a linear pattern")),
            (PatternKind::Circular, None) => {
                let axis = direction("axis_direction", self.axis_direction.unwrap_or(Vec3::Z))?;
                let origin = self.axis_origin.unwrap_or_default();
                let each = match self.angle {
                    Some(angle) => self.angle_unit.radians("angle", angle)? / (self.count - 1) as f64,
                    None => TAU / self.count as f64,
                };
                Ok((1..self.count).map(|index| Motion::rotation(origin, axis, each * index as f64)).collect())
            }
        }
    }
}

fn pattern(session: &mut Session, call: &Call<'_>, params: PatternParams) -> CadResult<Value> {
    let motions = params.motions()?;
    let view = session.view(call)?;
    let (stored, solid, bytes) = session.solid(&view, &params.solid_id)?;
    let copies = session.make(JobRequest::Place { motions }, vec![bytes.clone()])?;
    if params.unite {
        let solids = std::iter::once(bytes).chain(copies.into_iter().map(|(_, bytes)| bytes)).collect();
        let made = session.make_one(JobRequest::Boolean { kind: BooleanKind::Union }, solids)?;
        let (id, name) = (stored.id.clone(), stored.entity.name);
        let new = NewSolid { id: Some(id.clone()), name, color: solid.color, made_of: vec![id] };
        let change = Change { expected: vec![(stored.id, stored.version)], ..Change::default() };
        return new.write(session, call, made, change);
    }
    let (entities, puts) = copied(call, &stored, &solid, copies);
    let change = Change { puts, deletes: Vec::new(), expected: vec![(stored.id.clone(), stored.version)] };
    session.commit(call, change, |receipt| {
        let copies: Vec<Value> = receipt
            .ids
            .iter()
            .zip(&entities)
            .map(|(id, entity)| describe(call.workspace, id, entity))
            .collect();
        let ids: Vec<&EntityId> = std::iter::once(&stored.id).chain(&receipt.ids).collect();
        json!({"entity_ids": ids, "copies": copies, "workspace_id": call.workspace})
    })
}

/// Makes entities of copies of a solid.
fn copied(
    call: &Call<'_>,
    stored: &Stored,
    solid: &Solid,
    copies: Vec<MadeSolid>,
) -> (Vec<Entity>, Vec<Put>) {
    let entity = |measure| Entity {
        name: stored.entity.name.clone(),
        shape: Shape::Solid(Solid {
            measure,
            made_by: call.method.to_owned(),
            made_of: vec![stored.id.clone()],
            color: solid.color,
        }),
    };
    let made = copies.into_iter().map(|(measure, bytes)| {
        let entity = entity(measure);
        let content = Content::New(Box::new(entity.clone()), Some(bytes));
        (entity, Put { id: None, content })
    });
    made.unzip()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MirrorParams {
    /// The solid.
    #[serde(alias = "entity_id")]
    solid_id: EntityId,
    /// A point of the mirror; the origin when left out.
    #[serde(default)]
    plane_origin: Vec3,
    /// The direction that the mirror faces.
    plane_normal: Vec3,
    /// Unites the image with the solid instead of making a copy.
    #[serde(default)]
    unite: bool,
}

fn mirror(session: &mut Session, call: &Call<'_>, params: MirrorParams) -> CadResult<Value> {
    let normal = direction("plane_normal", params.plane_normal)?;
    let motion = Motion::reflection(params.plane_origin, normal);
    let view = session.view(call)?;
    let (stored, solid, bytes) = session.solid(&view, &params.solid_id)?;
    let image = session.make_one(JobRequest::Place { motions: vec![motion] }, vec![bytes.clone()])?;
    let change = Change { expected: vec![(stored.id.clone(), stored.version)], ..Change::default() };
    let mut new =
        NewSolid { id: None, name: stored.entity.name, color: solid.color, made_of: vec![stored.id.clone()] };
    if params.unite {
        let made =
            session.make_one(JobRequest::Boolean { kind: BooleanKind::Union }, vec![bytes, image.1])?;
        new.id = Some(stored.id);
        return new.write(session, call, made, change);
    }
    new.write(session, call, image, change)
}
