//! Solids from regions: moved along a line, or turned around an axis.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::checks::{AngleUnit, color, direction, label, length};
use super::regions::region;
use super::session::{Call, Session};
use super::solids::NewSolid;
use crate::entity::EntityId;
use crate::error::{CadResult, bad_params, invalid};
use crate::geometry::{Curve, Region, Vec3};
use crate::kernel::{Axis, JobRequest};
use crate::limit::LENGTH_MIN;
use crate::rpc::{Access, Method};
use crate::store::{Change, Stored};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "solid.extrude",
            Access::Writes,
            "Makes a solid of a closed profile, moved straight by a distance.",
            r#"{"entity_ids": ["outline"], "distance": 5, "name": "bracket"}"#,
            extrude,
        ),
        Method::new(
            "solid.revolve",
            Access::Writes,
            "Makes a solid of a closed profile, turned around an axis that it does not cross.",
            r#"{"profile_id": "profile_1", "axis_origin": [0, 0, 0], "axis_direction": [0, 1, 0], "angle": 360}"#,
            revolve,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExtrudeParams {
    /// A profile, circle or closed polyline.
    profile_id: Option<EntityId>,
    /// The curves of a closed outline, in any order; loops inside of the outer one are holes.
    #[serde(default)]
    entity_ids: Vec<EntityId>,
    /// How far, in millimetres; negative goes the other way.
    #[serde(alias = "height")]
    distance: f64,
    /// Where to; the profile's normal when left out.
    direction: Option<Vec3>,
    /// Goes half the distance to each side.
    #[serde(default)]
    symmetric: bool,
    /// What people call it; the part's name in files.
    name: Option<String>,
    /// Red, green and blue, from 0 to 1.
    color: Option<[f64; 3]>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn extrude(session: &mut Session, call: &Call<'_>, params: ExtrudeParams) -> CadResult<Value> {
    length("distance", params.distance.abs())?;
    let view = session.view(call)?;
    session.refuse_taken(&view, params.entity_id.as_ref())?;
    let (mut region, inputs) = region(session, &view, params.profile_id, params.entity_ids)?;
    let along = direction("direction", params.direction.unwrap_or(region.plane.normal))?;
    let by = along * params.distance;
    if by.dot(region.plane.normal).abs() < LENGTH_MIN {
        return Err(
            bad_params("`direction` lies in the plane of the profile").hint("leave it out, or point it away")
        );
    }
    if params.symmetric {
        region = moved(&region, by * -0.5);
    }
    let new = NewSolid {
        id: params.entity_id,
        name: label(params.name)?,
        color: color(params.color)?,
        made_of: inputs.iter().map(|input| input.id.clone()).collect(),
    };
    let made = session.make_one(JobRequest::Extrude { region, by }, Vec::new())?;
    new.write(session, call, made, unchanged(&inputs))
}

fn moved(region: &Region, by: Vec3) -> Region {
    let motion = crate::geometry::Motion::translation(by);
    let all = |curves: &[Curve]| curves.iter().map(|curve| curve.moved(&motion)).collect();
    let mut plane = region.plane;
    plane.origin = motion.point(plane.origin);
    Region { plane, outer: all(&region.outer), holes: region.holes.iter().map(|hole| all(hole)).collect() }
}

/// A change that holds only while its inputs are what they were.
fn unchanged(inputs: &[Stored]) -> Change {
    let expected = inputs.iter().map(|input| (input.id.clone(), input.version)).collect();
    Change { expected, ..Change::default() }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RevolveParams {
    /// A profile, circle or closed polyline.
    profile_id: Option<EntityId>,
    /// The curves of a closed outline, in any order.
    #[serde(default)]
    entity_ids: Vec<EntityId>,
    /// A point on the axis; the origin when left out.
    #[serde(default)]
    axis_origin: Vec3,
    /// Where the axis points.
    #[serde(alias = "axis")]
    axis_direction: Vec3,
    /// How far to turn; a full turn when left out.
    angle: Option<f64>,
    /// What the angle is in.
    #[serde(default)]
    angle_unit: AngleUnit,
    /// What people call it; the part's name in files.
    name: Option<String>,
    /// Red, green and blue, from 0 to 1.
    color: Option<[f64; 3]>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn revolve(session: &mut Session, call: &Call<'_>, params: RevolveParams) -> CadResult<Value> {
    let axis =
        Axis { origin: params.axis_origin, direction: direction("axis_direction", params.axis_direction)? };
    let radians = match params.angle {
        Some(angle) => params.angle_unit.radians("angle", angle)?,
        None => TAU,
    };
    if radians.abs() < 1e-4 || radians.abs() > TAU + 1e-9 {
        return Err(bad_params(
            "`angle` must be more than 0 and at most a full turn (360 degrees, 2π radians)",
        ));
    }
    let view = session.view(call)?;
    session.refuse_taken(&view, params.entity_id.as_ref())?;
    let (region, inputs) = region(session, &view, params.profile_id, params.entity_ids)?;
    check_axis(&region, &axis)?;
    let new = NewSolid {
        id: params.entity_id,
        name: label(params.name)?,
        color: color(params.color)?,
        made_of: inputs.iter().map(|input| input.id.clone()).collect(),
    };
    let made = session.make_one(JobRequest::Revolve { region, axis, radians }, Vec::new())?;
    new.write(session, call, made, unchanged(&inputs))
}

/// The axis lies in the plane of the region and has all of it on one side.
fn check_axis(region: &Region, axis: &Axis) -> CadResult<()> {
    let normal = region.plane.normal;
    let off = (axis.origin - region.plane.origin).dot(normal).abs();
    if off > 1e-6 || axis.direction.dot(normal).abs() > 1e-9 {
        return Err(invalid("the axis does not lie in the plane of the profile")
            .hint("draw the profile in a plane that holds the axis"));
    }
    let across = normal.cross(axis.direction);
    let sides = region.outer.iter().flat_map(|curve| curve.points(96)).map(|p| (p - axis.origin).dot(across));
    let (least, most) = sides.fold((f64::MAX, f64::MIN), |(a, b), side| (a.min(side), b.max(side)));
    if least < -1e-6 && most > 1e-6 {
        let message =
            format!("the profile crosses the axis: it reaches {:.3} mm to one side", most.min(-least));
        return Err(invalid(message).hint("keep the profile on one side of the axis; it may touch it"));
    }
    Ok(())
}
