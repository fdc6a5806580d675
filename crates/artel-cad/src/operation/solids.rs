//! Solids from nothing: primitives, and booleans between solids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::checks::{color, direction, label, length};
use super::session::{Call, MadeSolid, Session, describe};
use crate::entity::{Entity, EntityId, Shape, Solid};
use crate::error::{CadError, CadResult, Code, bad_params};
use crate::geometry::{Motion, Vec3, reference_direction};
use crate::kernel::{BooleanKind, JobRequest, Primitive};
use crate::limit::TOOLS_MAX;
use crate::rpc::{Access, Method};
use crate::store::{Change, Content, Put, Stored};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "solid.primitive",
            Access::Writes,
            "Makes a box, cylinder, sphere, cone or torus.",
            r#"{"kind": "box", "size": [100, 80, 20], "position": [0, 0, 0], "name": "plate"}"#,
            primitive,
        ),
        Method::new(
            "solid.boolean",
            Access::Writes,
            "Unites solids, subtracts solids from one, or keeps what they have in common. Every result is verified.",
            r#"{"operation": "subtract", "target_id": "plate", "tool_ids": ["hole_1", "hole_2"]}"#,
            boolean,
        ),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PrimitiveKind {
    Box,
    Cylinder,
    Sphere,
    Cone,
    Torus,
}

/// Lengths are millimetres. A box takes `size`, or `width`, `depth` and `height`; a cylinder `radius` and `height`; a sphere
/// `radius`; a cone `bottom_radius`, `top_radius` and `height`; a torus `major_radius` and `minor_radius`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PrimitiveParams {
    /// What to make.
    #[serde(alias = "primitive", alias = "primitive_type", alias = "type")]
    kind: PrimitiveKind,
    /// The box's lengths along x, y and z.
    size: Option<Vec3>,
    /// The box's length along x.
    #[serde(alias = "length")]
    width: Option<f64>,
    /// The box's length along y.
    depth: Option<f64>,
    /// The length along z, or along `axis`.
    height: Option<f64>,
    /// The radius of a cylinder or sphere.
    radius: Option<f64>,
    /// The cone's radius at `position`.
    bottom_radius: Option<f64>,
    /// The cone's radius at the other end; 0 for a point.
    top_radius: Option<f64>,
    /// The torus' radius up to the middle of its tube.
    major_radius: Option<f64>,
    /// The radius of the torus' tube.
    minor_radius: Option<f64>,
    /// The box's corner with the smallest coordinates (its middle when `centered`), the middle of the bottom of a cylinder or
    /// cone, the middle of a sphere or torus.
    #[serde(default, alias = "origin", alias = "center")]
    position: Vec3,
    /// Where z points to: the direction of a cylinder, cone or torus, the height of a box.
    axis: Option<Vec3>,
    /// Puts the middle of a box, cylinder or cone to `position`.
    #[serde(default)]
    centered: bool,
    /// What people call it; the part's name in files.
    name: Option<String>,
    /// Red, green and blue, from 0 to 1.
    color: Option<[f64; 3]>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

impl PrimitiveParams {
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("size", self.size.is_some()),
            ("width", self.width.is_some()),
            ("depth", self.depth.is_some()),
            ("height", self.height.is_some()),
            ("radius", self.radius.is_some()),
            ("bottom_radius", self.bottom_radius.is_some()),
            ("top_radius", self.top_radius.is_some()),
            ("major_radius", self.major_radius.is_some()),
            ("minor_radius", self.minor_radius.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    fn need(&self, name: &'static str, value: Option<f64>) -> CadResult<f64> {
        let value = value.ok_or_else(|| {
            let kind = json!(self.kind);
            bad_params(format!("a {} needs `{name}`", kind.as_str().unwrap_or_default()))
        })?;
        length(name, value)
    }

    /// Returns the primitive and how far its middle is from its place, along z for all but the box.
    fn parse(&self) -> CadResult<(Primitive, Vec3)> {
        let half = |height: f64| Vec3::Z * (height / 2.0);
        let (allowed, parsed): (&[&str], _) = match self.kind {
            PrimitiveKind::Box => {
                let size = match self.size {
                    Some(size) => size,
                    None => Vec3::new(
                        self.need("width", self.width)?,
                        self.need("depth", self.depth)?,
                        self.need("height", self.height)?,
                    ),
                };
                for number in size.to_array() {
                    length("size", number)?;
                }
                let allowed: &[&str] =
                    if self.size.is_some() { &["size"] } else { &["width", "depth", "height"] };
                (allowed, (Primitive::Box(size), size * 0.5))
            }
            PrimitiveKind::Cylinder => {
                let (radius, height) = (self.need("radius", self.radius)?, self.need("height", self.height)?);
                (&["radius", "height"], (Primitive::Cylinder { radius, height }, half(height)))
            }
            PrimitiveKind::Sphere => {
                let radius = self.need("radius", self.radius)?;
                (&["radius"], (Primitive::Sphere { radius }, Vec3::ZERO))
            }
            PrimitiveKind::Cone => (&["bottom_radius", "top_radius", "height"], self.parse_cone()?),
            PrimitiveKind::Torus => {
                let major = self.need("major_radius", self.major_radius)?;
                let minor = self.need("minor_radius", self.minor_radius)?;
                if minor >= major {
                    return Err(bad_params("`minor_radius` must be smaller than `major_radius`"));
                }
                (&["major_radius", "minor_radius"], (Primitive::Torus { major, minor }, Vec3::ZERO))
            }
        };
        match self.given().into_iter().find(|name| !allowed.contains(name)) {
            None => Ok(parsed),
            Some(name) => {
                let kind = json!(self.kind);
                Err(bad_params(format!(
                    "`{name}` does not belong to this {}",
                    kind.as_str().unwrap_or_default()
                ))
                .hint(format!("it takes {}", allowed.join(", "))))
            }
        }
    }

    fn parse_cone(&self) -> CadResult<(Primitive, Vec3)> {
        let height = self.need("height", self.height)?;
        let radius = |name: &'static str, value: Option<f64>| match value {
            Some(0.0) => Ok(0.0),
            other => self.need(name, other),
        };
        let (bottom, top) =
            (radius("bottom_radius", self.bottom_radius)?, radius("top_radius", self.top_radius)?);
        if (bottom - top).abs() < crate::limit::LENGTH_MIN {
            return Err(bad_params("`bottom_radius` and `top_radius` are the same").hint("make a cylinder"));
        }
        Ok((Primitive::Cone { bottom, top, height }, Vec3::Z * (height / 2.0)))
    }
}

fn primitive(session: &mut Session, call: &Call<'_>, params: PrimitiveParams) -> CadResult<Value> {
    let (primitive, middle) = params.parse()?;
    let axis = direction("axis", params.axis.unwrap_or(Vec3::Z))?;
    let place = Motion::to_frame(params.position, reference_direction(axis), axis);
    let motion = if params.centered { Motion::translation(-middle).then(&place) } else { place };
    let view = session.view(call)?;
    session.refuse_taken(&view, params.entity_id.as_ref())?;
    let label = NewSolid {
        id: params.entity_id,
        name: label(params.name)?,
        color: color(params.color)?,
        made_of: Vec::new(),
    };
    let made = session.make_one(JobRequest::Primitive { primitive, motion }, Vec::new())?;
    label.write(session, call, made, Change::default())
}

/// A solid about to be written.
pub(super) struct NewSolid {
    pub(super) id: Option<EntityId>,
    pub(super) name: Option<String>,
    pub(super) color: Option<[f64; 3]>,
    pub(super) made_of: Vec<EntityId>,
}

impl NewSolid {
    /// Writes it together with a change that belongs to it.
    pub(super) fn write(
        self,
        session: &mut Session,
        call: &Call<'_>,
        (measure, bytes): MadeSolid,
        mut change: Change,
    ) -> CadResult<Value> {
        let solid =
            Solid { measure, made_by: call.method.to_owned(), made_of: self.made_of, color: self.color };
        let entity = Entity { name: self.name, shape: Shape::Solid(solid) };
        let content = Content::New(Box::new(entity.clone()), Some(bytes));
        change.puts.insert(0, Put { id: self.id, content });
        session.commit(call, change, |receipt| describe(call.workspace, &receipt.ids[0], &entity))
    }
}

/// `target_id` and `tool_ids`, or all of them as `entity_ids`, the target first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BooleanParams {
    /// How to combine them.
    #[serde(alias = "operation_type", alias = "kind", alias = "type")]
    operation: BooleanKind,
    /// The solid that is changed.
    #[serde(alias = "target")]
    target_id: Option<EntityId>,
    /// The solids it is combined with.
    #[serde(default, alias = "tools")]
    tool_ids: Vec<EntityId>,
    /// The target and its tools in one list.
    #[serde(default)]
    entity_ids: Vec<EntityId>,
    /// Keeps target and tools; the result is a new entity then. Otherwise it replaces the target and the tools are gone.
    #[serde(default)]
    keep_inputs: bool,
    /// What people call it; the target's name when left out.
    name: Option<String>,
    /// An id for the new entity when inputs are kept.
    entity_id: Option<EntityId>,
}

impl BooleanParams {
    fn solids(&self) -> CadResult<(EntityId, Vec<EntityId>)> {
        let (target, tools) = match (&self.target_id, self.entity_ids.split_first()) {
            (Some(target), None) => (target.clone(), self.tool_ids.clone()),
            (None, Some((target, tools))) if self.tool_ids.is_empty() => (target.clone(), tools.to_vec()),
            _ => return Err(bad_params("give `target_id` and `tool_ids`, or all of them as `entity_ids`")),
        };
        if tools.is_empty() || tools.len() > TOOLS_MAX {
            return Err(bad_params(format!("{} tools; 1 to {TOOLS_MAX} are possible", tools.len())));
        }
        let mut all: Vec<&EntityId> = tools.iter().chain([&target]).collect();
        all.sort();
        if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("`{}` is named twice; a solid cannot be combined with itself", pair[0]);
            return Err(CadError::new(Code::CircularDependency, message));
        }
        Ok((target, tools))
    }
}

fn boolean(session: &mut Session, call: &Call<'_>, params: BooleanParams) -> CadResult<Value> {
    let (target_id, tool_ids) = params.solids()?;
    if params.entity_id.is_some() && !params.keep_inputs {
        return Err(bad_params("`entity_id` is for a new entity")
            .hint("add `\"keep_inputs\": true`, or leave it out"));
    }
    let view = session.view(call)?;
    session.refuse_taken(&view, params.entity_id.as_ref())?;
    let (target, solid, bytes) = session.solid(&view, &target_id)?;
    let mut inputs: Vec<Stored> = vec![target];
    let mut solids = vec![bytes];
    for id in &tool_ids {
        let (tool, _, bytes) = session.solid(&view, id)?;
        inputs.push(tool);
        solids.push(bytes);
    }
    let made = session.make_one(JobRequest::Boolean { kind: params.operation }, solids)?;
    let expected = inputs.iter().map(|input| (input.id.clone(), input.version)).collect();
    let name = label(params.name)?.or_else(|| inputs[0].entity.name.clone());
    let made_of = inputs.into_iter().map(|input| input.id).collect();
    let (id, deletes) =
        if params.keep_inputs { (params.entity_id, Vec::new()) } else { (Some(target_id), tool_ids) };
    let change = Change { puts: Vec::new(), deletes, expected };
    NewSolid { id, name, color: solid.color, made_of }.write(session, call, made, change)
}
