//! Points, curves and profiles: the flat geometry that solids are made from.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::{AngleUnit, direction, label, length};
use super::regions::{named_curves, region_of};
use super::session::{Call, Session, describe};
use crate::entity::{Entity, EntityId, Shape, region_properties};
use crate::error::{CadResult, bad_params};
use crate::geometry::{Arc, Curve, Vec3};
use crate::limit::{JOIN_DISTANCE_MAX, LENGTH_MIN, POINTS_MAX, PROFILE_CURVES_MAX};
use crate::rpc::{Access, Method};
use crate::store::{Change, Content, Put};

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "entity.create_point",
            Access::Writes,
            "Makes a point.",
            r#"{"coordinates": [10, 20, 0]}"#,
            create_point,
        ),
        Method::new(
            "entity.create_line",
            Access::Writes,
            "Makes a straight line between two points.",
            r#"{"start": [0, 0], "end": [100, 0], "entity_id": "bottom"}"#,
            create_line,
        ),
        Method::new(
            "entity.create_circle",
            Access::Writes,
            "Makes a circle.",
            r#"{"center": [50, 40], "radius": 5}"#,
            create_circle,
        ),
        Method::new(
            "entity.create_arc",
            Access::Writes,
            "Makes an arc, counter-clockwise: from center, radius and angles, through three points, or from its ends and radius.",
            r#"{"center": [0, 0], "radius": 10, "start_angle": 0, "end_angle": 90}"#,
            create_arc,
        ),
        Method::new(
            "entity.create_polyline",
            Access::Writes,
            "Makes straight lines through many points, closed or open.",
            r#"{"points": [[0, 0], [40, 0], [40, 10], [10, 10], [10, 30], [0, 30]], "closed": true, "entity_id": "outline"}"#,
            create_polyline,
        ),
        Method::new(
            "entity.create_profile",
            Access::Writes,
            "Names the curves of a closed outline, with holes; it follows them when they are moved.",
            r#"{"entity_ids": ["bottom", "right", "top", "left", "hole"]}"#,
            create_profile,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PointParams {
    /// Where it is; or give `x`, `y` and `z`.
    #[serde(alias = "position")]
    coordinates: Option<Vec3>,
    /// Along the x axis.
    x: Option<f64>,
    /// Along the y axis.
    y: Option<f64>,
    /// Along the z axis, 0 when left out.
    z: Option<f64>,
    /// What people call it.
    name: Option<String>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn create_point(session: &mut Session, call: &Call<'_>, params: PointParams) -> CadResult<Value> {
    let at = match (params.coordinates, params.x, params.y) {
        (Some(at), None, None) if params.z.is_none() => at,
        (None, Some(x), Some(y)) => {
            let at = json!([x, y, params.z.unwrap_or(0.0)]);
            serde_json::from_value(at).map_err(|error| bad_params(error.to_string()))?
        }
        _ => return Err(bad_params("give either `coordinates`, or `x` and `y` and perhaps `z`")),
    };
    write(session, call, params.entity_id, params.name, Shape::Point(at))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LineParams {
    /// One end.
    #[serde(alias = "start_point")]
    start: Vec3,
    /// The other end.
    #[serde(alias = "end_point")]
    end: Vec3,
    /// What people call it.
    name: Option<String>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn create_line(session: &mut Session, call: &Call<'_>, params: LineParams) -> CadResult<Value> {
    let (start, end) = (params.start, params.end);
    if start.distance(end) < LENGTH_MIN {
        let message =
            format!("`start` and `end` are {} mm apart; {LENGTH_MIN} mm is the least", start.distance(end));
        return Err(bad_params(message));
    }
    write(session, call, params.entity_id, params.name, Shape::Curve(Curve::Line { start, end }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CircleParams {
    /// The middle.
    center: Vec3,
    /// The radius in millimetres.
    radius: f64,
    /// The direction it is seen from; z when left out.
    normal: Option<Vec3>,
    /// What people call it.
    name: Option<String>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn create_circle(session: &mut Session, call: &Call<'_>, params: CircleParams) -> CadResult<Value> {
    let normal = direction("normal", params.normal.unwrap_or(Vec3::Z))?;
    let curve = Curve::Circle { center: params.center, normal, radius: length("radius", params.radius)? };
    write(session, call, params.entity_id, params.name, Shape::Curve(curve))
}

/// One of three forms: `center`, `radius`, `start_angle` and `end_angle`; or `start`, `through` and `end`; or `start`, `end` and
/// `radius`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArcParams {
    /// The middle of the circle.
    center: Option<Vec3>,
    /// The radius in millimetres.
    radius: Option<f64>,
    /// Where it starts, counter-clockwise from the x axis.
    start_angle: Option<f64>,
    /// Where it ends, reached counter-clockwise from the start.
    end_angle: Option<f64>,
    /// What the angles are in.
    #[serde(default)]
    angle_unit: AngleUnit,
    /// Where it starts.
    start: Option<Vec3>,
    /// A point that it passes between its ends.
    through: Option<Vec3>,
    /// Where it ends.
    end: Option<Vec3>,
    /// Takes the longer of the two arcs with this radius.
    #[serde(default)]
    long: bool,
    /// The direction it is seen from; z when left out.
    normal: Option<Vec3>,
    /// What people call it.
    name: Option<String>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn create_arc(session: &mut Session, call: &Call<'_>, params: ArcParams) -> CadResult<Value> {
    let normal = direction("normal", params.normal.unwrap_or(Vec3::Z))?;
    let angles = (params.start_angle, params.end_angle);
    let points = (params.start, params.through, params.end);
    let arc = match (params.center, params.radius, angles, points) {
        (Some(center), Some(radius), (Some(start), Some(end)), (None, None, None)) => {
            let start = params.angle_unit.radians("start_angle", start)?;
            let end = params.angle_unit.radians("end_angle", end)?;
            Arc::from_angles(center, normal, length("radius", radius)?, [start, end])?
        }
        (None, None, (None, None), (Some(start), Some(through), Some(end))) => {
            Arc::through(start, through, end)?
        }
        (None, Some(radius), (None, None), (Some(start), None, Some(end))) => {
            Arc::from_ends(start, end, normal, length("radius", radius)?, params.long)?
        }
        _ => {
            return Err(bad_params("these parameters are no form of an arc").hint(
                "give center, radius, start_angle and end_angle; or start, through and end; or start, end and radius",
            ));
        }
    };
    write(session, call, params.entity_id, params.name, Shape::Curve(Curve::Arc(arc)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PolylineParams {
    /// The points in their order.
    #[schemars(length(min = 2, max = 10000))]
    points: Vec<Vec3>,
    /// Goes back from the last point to the first.
    #[serde(default)]
    closed: bool,
    /// What people call it.
    name: Option<String>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn create_polyline(session: &mut Session, call: &Call<'_>, params: PolylineParams) -> CadResult<Value> {
    let mut points = params.points;
    let mut closed = params.closed;
    if points.len() > POINTS_MAX {
        return Err(bad_params(format!("{} points, {POINTS_MAX} is the limit", points.len())));
    }
    // A last point that repeats the first says the same as `closed`.
    if points.len() > 2 && points[0].distance(points[points.len() - 1]) <= JOIN_DISTANCE_MAX {
        points.pop();
        closed = true;
    }
    if points.len() < if closed { 3 } else { 2 } {
        return Err(bad_params("a polyline has at least 2 points, a closed one 3"));
    }
    if let Some(index) = points.windows(2).position(|pair| pair[0].distance(pair[1]) < LENGTH_MIN) {
        let message = format!("points {index} and {} are less than {LENGTH_MIN} mm apart", index + 1);
        return Err(bad_params(message));
    }
    write(session, call, params.entity_id, params.name, Shape::Polyline { points, closed })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProfileParams {
    /// Lines, arcs, circles and polylines, in any order and direction; loops inside of the outer one are holes.
    #[serde(alias = "curves", alias = "curve_ids")]
    entity_ids: Vec<EntityId>,
    /// What people call it.
    name: Option<String>,
    /// An id of your choice; left out, it gets a number.
    entity_id: Option<EntityId>,
}

fn create_profile(session: &mut Session, call: &Call<'_>, params: ProfileParams) -> CadResult<Value> {
    if params.entity_ids.len() > PROFILE_CURVES_MAX {
        let message = format!("{} curves, {PROFILE_CURVES_MAX} is the limit", params.entity_ids.len());
        return Err(bad_params(message));
    }
    let view = session.view(call)?;
    session.refuse_taken(&view, params.entity_id.as_ref())?;
    let stored = session.stored(&view, &params.entity_ids)?;
    let region = region_of(&named_curves(session, &view, &stored)?)?;
    let expected = stored.iter().map(|stored| (stored.id.clone(), stored.version)).collect();
    let entity = Entity { name: label(params.name)?, shape: Shape::Profile { curves: params.entity_ids } };
    let content = Content::New(Box::new(entity.clone()), None);
    let change = Change { puts: vec![Put { id: params.entity_id, content }], deletes: Vec::new(), expected };
    session.commit(call, change, |receipt| {
        let mut answer = describe(call.workspace, &receipt.ids[0], &entity);
        if let (Value::Object(answer), Value::Object(more)) = (&mut answer, region_properties(&region)) {
            answer.extend(more);
        }
        answer
    })
}

/// Writes a new entity.
fn write(
    session: &mut Session,
    call: &Call<'_>,
    id: Option<EntityId>,
    name: Option<String>,
    shape: Shape,
) -> CadResult<Value> {
    let entity = Entity { name: label(name)?, shape };
    if id.is_some() {
        let view = session.view(call)?;
        session.refuse_taken(&view, id.as_ref())?;
    }
    let content = Content::New(Box::new(entity.clone()), None);
    let change = Change { puts: vec![Put { id, content }], ..Change::default() };
    session.commit(call, change, |receipt| describe(call.workspace, &receipt.ids[0], &entity))
}
