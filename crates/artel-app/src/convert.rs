//! From what the catalog holds to what travels; written out, so that nothing travels by accident.

use std::collections::BTreeSet;

use artel_api::skills::{SkillEntry, SkillFile, SkillScan, SkillScanEngine, UnavailableSource};
use artel_catalog::shared::{EngineState, Entry, Freshness, Seen, SourceState, View};
use artel_model::access::Principal;
use artel_model::catalog::Visibility;

/// Returns a skill as it travels.
pub fn skill_entry(entry: &Entry, with_content: bool) -> SkillEntry {
    let (team_ids, owner_user_id) = match &entry.visibility {
        Visibility::Global => (BTreeSet::new(), None),
        Visibility::Team { team_ids } => (team_ids.clone(), None),
        Visibility::Personal { owner_user_id } => (BTreeSet::new(), Some(owner_user_id.clone())),
    };
    SkillEntry {
        id: entry.id.to_string(),
        name: entry.name.to_string(),
        title: entry.title.clone(),
        description: entry.description.clone(),
        source: entry.source(),
        source_label: entry.source().label().to_owned(),
        source_id: entry.source_id(),
        content: with_content.then(|| entry.content().to_owned()),
        metadata: entry.metadata.clone(),
        visibility: entry.visibility.as_str().to_owned(),
        team_ids,
        owner_user_id,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        content_hash: entry.content_hash.clone(),
        files: entry.files.iter().map(skill_file).collect(),
        contents_left_out: None,
        scan_status: entry.scan.status,
        scan: SkillScan {
            max_severity: entry.scan.worst,
            engines: entry.scan.engines.iter().map(engine).collect(),
            is_stale: entry.scan.is_stale,
            overridden: entry.scan.overridden.clone(),
        },
        shadowed_by: None,
        shadows: Vec::new(),
        is_held_back: false,
        revision: None,
        warnings: Vec::new(),
    }
}

/// Returns a skill as it travels to a caller, with the skills of its name that it hides, or that hide it.
pub fn seen_entry(view: &View, seen: &Seen<'_>, with_content: bool) -> SkillEntry {
    SkillEntry {
        shadowed_by: seen.shadowed_by.map(ToString::to_string),
        shadows: view.shadows(&seen.entry.id).map(ToString::to_string).collect(),
        is_held_back: seen.is_held_back,
        ..skill_entry(seen.entry, with_content)
    }
}

/// Returns a file of a skill as it travels.
pub fn skill_file(file: &artel_catalog::shared::EntryFile) -> SkillFile {
    SkillFile {
        path: file.path.to_string(),
        size: file.size,
        hash: file.hash.to_string(),
        is_executable: file.is_executable,
        text: None,
        base64: None,
    }
}

fn engine(state: &EngineState) -> SkillScanEngine {
    SkillScanEngine {
        engine: state.engine.clone(),
        version: state.engine_version.clone(),
        max_severity: state.worst,
        is_complete: state.is_complete,
        gaps: state.gaps.clone(),
        scanned_at: state.scanned_at,
    }
}

/// Who is told about a source: where hubs are, and what their servers said, is for administrators.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SourceDetail {
    Everything,
    Neutrally,
}

impl SourceDetail {
    /// Returns how much a caller is told.
    pub fn to(caller: &Principal) -> Self {
        if caller.is_admin() { Self::Everything } else { Self::Neutrally }
    }
}

/// What everybody but administrators is told of a source that failed.
const NEUTRAL_STALE: &str = "it could not be read again; its last content is shown";
const NEUTRAL_UNAVAILABLE: &str = "it cannot be read at the moment";

/// Returns the sources whose content is missing or old.
pub fn unavailable_sources<'a>(
    sources: impl IntoIterator<Item = &'a SourceState>,
    told: SourceDetail,
) -> Vec<UnavailableSource> {
    let neutral = |source: UnavailableSource| UnavailableSource {
        label: source.source.label().to_owned(),
        reason: match source.since {
            Some(_) => NEUTRAL_STALE.to_owned(),
            None => NEUTRAL_UNAVAILABLE.to_owned(),
        },
        ..source
    };
    let unavailable = sources.into_iter().filter_map(unavailable_source);
    match told {
        SourceDetail::Everything => unavailable.collect(),
        SourceDetail::Neutrally => unavailable.map(neutral).collect(),
    }
}

fn unavailable_source(source: &SourceState) -> Option<UnavailableSource> {
    let (state, since, reason) = match &source.state {
        Freshness::Fresh => return None,
        Freshness::Stale { since, reason } => ("stale", Some(*since), reason),
        Freshness::Unavailable { reason } => ("unavailable", None, reason),
    };
    Some(UnavailableSource {
        source: source.kind,
        source_id: source.id.clone(),
        label: source.label.clone(),
        state: state.to_owned(),
        since,
        reason: reason.clone(),
    })
}

/// Returns how a source is named in the list of those that were loaded.
pub fn source_name(source: &SourceState) -> String {
    match &source.id {
        Some(id) => format!("{}/{id}", source.kind),
        None => source.kind.to_string(),
    }
}
