//! Solids and curves of two branches that take the same space. Touching is not overlapping.

use super::session::Session;
use crate::entity::{EntityId, Shape};
use crate::error::{CadError, CadResult, Code, invalid};
use crate::geometry::{BoundingBox, Curve};
use crate::kernel::{Job, JobRequest, Outcome};
use crate::limit::OVERLAP_PAIRS_MAX;
use crate::store::{Stored, VersionRef};
use crate::workspace::{Conflict, ConflictKind, MergePlan, Versions, conflict, hash, near_pairs};

/// How much two solids must have in common, relative to the smaller one.
const VOLUME_SHARE: f64 = 1e-6;
/// How near two curves must be to be the same, in millimetres.
const CURVE_DISTANCE: f64 = 1e-6;
/// Pairs of solids in one job, so that each stays within the kernel's time.
const JOB_PAIRS: usize = 20;

/// Returns the overlaps between what the target takes and what it changed itself.
pub(super) fn overlaps(
    session: &mut Session,
    plan: &MergePlan,
    versions: &[Versions; 2],
) -> CadResult<Vec<Conflict>> {
    let theirs: Vec<(&EntityId, &VersionRef)> = plan
        .takes
        .iter()
        .filter(|(_, version)| version.is_some())
        .filter_map(|(id, _)| Some((id, versions[0].get(id)?)))
        .collect();
    let ours: Vec<(&EntityId, &VersionRef)> = plan
        .target_changed
        .iter()
        .filter(|id| !plan.takes.contains_key(*id))
        .filter_map(|id| Some((id, versions[1].get(id)?)))
        .collect();
    if theirs.is_empty() || ours.is_empty() {
        return Ok(Vec::new());
    }
    let read = |session: &mut Session, list: &[(&EntityId, &VersionRef)], wanted: &dyn Fn(&str) -> bool| {
        let chosen = list.iter().filter(|(_, reference)| wanted(&reference.kind));
        chosen
            .map(|(id, reference)| session.store.version(id, reference.version))
            .collect::<CadResult<Vec<Stored>>>()
    };
    let is_solid = |kind: &str| kind == "solid";
    let is_curve = |kind: &str| matches!(kind, "line" | "arc" | "circle");
    let solids = [read(session, &theirs, &is_solid)?, read(session, &ours, &is_solid)?];
    let curves = [read(session, &theirs, &is_curve)?, read(session, &ours, &is_curve)?];
    let mut pairs = same_curves(&curves);
    pairs.extend(common_solids(session, &solids)?);
    Ok(pairs
        .into_iter()
        .map(|(a, b)| {
            let hashes = [hash(versions[0].get(&a)), hash(versions[1].get(&b))];
            conflict(ConflictKind::OverlappingGeometry, [&a, &b], hashes)
        })
        .collect())
}

fn boxes(list: &[Stored]) -> Vec<BoundingBox> {
    list.iter().filter_map(|stored| stored.entity.bounding_box()).collect()
}

fn curve(stored: &Stored) -> Option<&Curve> {
    match &stored.entity.shape {
        Shape::Curve(curve) => Some(curve),
        Shape::Point(_)
        | Shape::Polyline { .. }
        | Shape::Profile { .. }
        | Shape::Constraint(_)
        | Shape::Solid(_)
        | Shape::Mesh { .. } => None,
    }
}

fn same_curves(curves: &[Vec<Stored>; 2]) -> Vec<(EntityId, EntityId)> {
    let near = near_pairs(&boxes(&curves[0]), &boxes(&curves[1]), CURVE_DISTANCE);
    let same = near.into_iter().filter(|(i, j)| match (curve(&curves[0][*i]), curve(&curves[1][*j])) {
        (Some(a), Some(b)) => a.coincides(b, CURVE_DISTANCE),
        _ => false,
    });
    same.map(|(i, j)| (curves[0][i].id.clone(), curves[1][j].id.clone())).collect()
}

fn common_solids(session: &mut Session, solids: &[Vec<Stored>; 2]) -> CadResult<Vec<(EntityId, EntityId)>> {
    let near = near_pairs(&boxes(&solids[0]), &boxes(&solids[1]), 0.0);
    if near.len() > OVERLAP_PAIRS_MAX {
        let message =
            format!("{} pairs of solids are near each other, {OVERLAP_PAIRS_MAX} is the limit", near.len());
        return Err(invalid(message).hint("merge in smaller steps, or add `\"allow_overlaps\": true`"));
    }
    let volume = |stored: &Stored| match &stored.entity.shape {
        Shape::Solid(solid) => solid.measure.volume,
        Shape::Point(_)
        | Shape::Curve(_)
        | Shape::Polyline { .. }
        | Shape::Profile { .. }
        | Shape::Constraint(_)
        | Shape::Mesh { .. } => 0.0,
    };
    let mut found = Vec::new();
    for chunk in near.chunks(JOB_PAIRS) {
        let mut bytes = Vec::new();
        for (i, j) in chunk {
            bytes.push(session.store.blob(solids[0][*i].version)?);
            bytes.push(session.store.blob(solids[1][*j].version)?);
        }
        let pairs = (0..chunk.len()).map(|index| (2 * index, 2 * index + 1)).collect();
        let (Outcome::Volumes(volumes), _) =
            session.run(&Job { request: JobRequest::Overlaps { pairs }, solids: bytes })?
        else {
            return Err(CadError::new(Code::InternalError, "the kernel's answer does not fit the question"));
        };
        for ((i, j), common) in chunk.iter().zip(volumes) {
            let (a, b) = (&solids[0][*i], &solids[1][*j]);
            if common > VOLUME_SHARE * volume(a).min(volume(b)) {
                found.push((a.id.clone(), b.id.clone()));
            }
        }
    }
    Ok(found)
}
