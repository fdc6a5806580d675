//! Closed regions from the entities that a call names.

use crate::entity::{EntityId, Shape};
use crate::error::{CadResult, bad_params, invalid};
use crate::geometry::{Curve, NamedCurve, Region};
use crate::store::{Stored, View};

use super::session::Session;

/// Returns the region that entities enclose, and those that it depends on.
pub(super) fn region(
    session: &mut Session,
    view: &View,
    profile: Option<EntityId>,
    entities: Vec<EntityId>,
) -> CadResult<(Region, Vec<Stored>)> {
    let ids = match (profile, entities.is_empty()) {
        (Some(profile), true) => vec![profile],
        (None, false) => entities,
        _ => {
            return Err(bad_params("give either `profile_id` or `entity_ids`")
                .hint("`entity_ids` are the curves of a closed outline, in any order"));
        }
    };
    let stored = session.stored(view, &ids)?;
    let curves = named_curves(session, view, &stored)?;
    Ok((region_of(&curves)?, stored))
}

/// Returns the region that curves enclose.
pub(super) fn region_of(curves: &[NamedCurve]) -> CadResult<Region> {
    Region::from_curves(curves)
}

/// Takes entities apart into curves: profiles into theirs, polylines into lines.
pub(super) fn named_curves(
    session: &mut Session,
    view: &View,
    stored: &[Stored],
) -> CadResult<Vec<NamedCurve>> {
    let mut curves = Vec::new();
    for one in stored {
        match &one.entity.shape {
            Shape::Profile { curves: ids } => {
                // A profile never holds another one, so this goes one level deep.
                let inner = session.stored(view, ids)?;
                for part in &inner {
                    curves.extend(plain_curves(part)?);
                }
            }
            Shape::Point(_)
            | Shape::Curve(_)
            | Shape::Polyline { .. }
            | Shape::Constraint(_)
            | Shape::Solid(_)
            | Shape::Mesh { .. } => curves.extend(plain_curves(one)?),
        }
    }
    Ok(curves)
}

fn plain_curves(stored: &Stored) -> CadResult<Vec<NamedCurve>> {
    let name = stored.id.to_string();
    match &stored.entity.shape {
        Shape::Curve(curve) => Ok(vec![(name, *curve)]),
        Shape::Polyline { points, closed } => {
            let count = if *closed { points.len() } else { points.len() - 1 };
            let side = |i: usize| Curve::Line { start: points[i], end: points[(i + 1) % points.len()] };
            Ok((0..count).map(|index| (format!("{name}[{index}]"), side(index))).collect())
        }
        Shape::Point(_)
        | Shape::Profile { .. }
        | Shape::Constraint(_)
        | Shape::Solid(_)
        | Shape::Mesh { .. } => {
            let message = format!("`{name}` is a {}, not a curve", stored.entity.kind().word());
            Err(invalid(message).hint("an outline is made of lines, arcs, circles and polylines"))
        }
    }
}
