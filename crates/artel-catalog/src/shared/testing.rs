//! Skills of all sources in memory, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_model::access::Viewer;
use artel_model::catalog::{
    Gate, Hub, HubKind, HubStatus, HubVisibility, Override, Severity, SourceKind, VerdictRecord, Visibility,
};
use artel_model::id::{CustomSkillId, HubId};
use artel_model::time::Timestamp;
use serde_json::json;

use super::{Freshness, Indexes, Judge, SavedSkill, Sealed, Snapshot, SnapshotDraft, SourceState, seal_tree};
use crate::catalog::Catalog;
use crate::load::{Keep, Location, load_tree};
use crate::source::{FileTree as _, MemoryTree};

/// A skill to put into a snapshot.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) source: SourceKind,
    /// Which hub, or when it was saved.
    pub(super) number: u8,
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) visibility: Visibility,
}

/// What else decides how skills stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) gate: Gate,
    pub(super) verdicts: Vec<VerdictRecord>,
    pub(super) overrides: Vec<Override>,
}

pub(super) fn made(source: SourceKind, number: u8, name: &'static str, text: &str) -> Made {
    Made { source, number, name, text: text.to_owned(), visibility: Visibility::Global }
}

pub(super) fn personal(number: u8, name: &'static str, text: &str, owner: &str) -> Made {
    let visibility = Visibility::Personal { owner_user_id: owner.parse().unwrap() };
    Made { visibility, ..made(SourceKind::AgentSkills, number, name, text) }
}

pub(super) fn team(number: u8, name: &'static str, text: &str, teams: &[&str]) -> Made {
    let team_ids = teams.iter().map(|team| team.parse().unwrap()).collect();
    let visibility = Visibility::Team { team_ids };
    Made { visibility, ..made(SourceKind::AgentSkills, number, name, text) }
}

pub(super) fn viewer(user: &str, teams: &[&str]) -> Viewer {
    let teams = teams.iter().map(|team| team.parse().unwrap()).collect();
    Viewer { user: user.parse().unwrap(), teams }
}

pub(super) fn custom_id(name: &str, number: u8) -> CustomSkillId {
    let seed = name.bytes().fold(u64::from(number), |sum, byte| sum * 31 + u64::from(byte));
    CustomSkillId(serde_json::from_value(json!(format!("00000000-0000-4000-8000-{seed:012x}"))).unwrap())
}

pub(super) fn hub(number: u8) -> Hub {
    let at = Timestamp::from_millis(1000);
    let id = format!("00000000-0000-4000-9000-0000000000{number:02x}");
    Hub {
        id: HubId(serde_json::from_value(json!(id)).unwrap()),
        kind: HubKind::Git,
        location: "https://example.org/skills".to_owned(),
        reference: None,
        include_paths: Vec::new(),
        is_enabled: true,
        credentials_ref: None,
        visibility: HubVisibility::default(),
        position: u64::from(number),
        created_at: at,
        updated_at: at,
        created_by: "root".parse().unwrap(),
        status: HubStatus::default(),
    }
}

pub(super) fn fresh(kind: SourceKind) -> SourceState {
    let state = Freshness::Fresh;
    SourceState {
        kind,
        id: None,
        label: kind.label().to_owned(),
        audience: Vec::new(),
        loaded_at: None,
        state,
    }
}

/// Loads a skill as the machine `machine` does, whose folders lie elsewhere than those of another.
pub(super) fn sealed(name: &str, version: &str, text: &str, machine: &str) -> Sealed {
    let mut tree = MemoryTree::default();
    let front = format!("name: {name}\ndescription: About {text}.\nmetadata:\n  version: \"{version}\"\n");
    tree.add("SKILL.md", format!("---\n{front}  tags: {name},plain\n---\n{text}\n"), false);
    tree.add("scripts/run.sh", format!("#!/bin/sh\necho {text}\n"), true);
    let place = Location::Folder(format!("/{machine}/{name}").into());
    let loaded = load_tree(&tree, tree.listing(), place, Keep::Instructions);
    assert!(loaded.is_usable(), "{:?}", loaded.findings);
    seal_tree(Arc::new(loaded), &tree).unwrap()
}

pub(super) fn verdict(content_hash: &str, worst: Option<Severity>, is_complete: bool) -> VerdictRecord {
    VerdictRecord {
        content_hash: content_hash.to_owned(),
        engine: "artel".to_owned(),
        engine_version: "1".to_owned(),
        worst,
        is_complete,
        gaps: Vec::new(),
        findings: Vec::new(),
        scanned_at: Timestamp::from_millis(5),
    }
}

pub(super) fn judge(said: Said) -> Judge {
    let engines = BTreeMap::from([("artel".to_owned(), "1".to_owned())]);
    Judge::new(said.gate, Severity::High, engines, said.verdicts, said.overrides)
}

pub(super) fn snapshot(all: &[Made]) -> Snapshot {
    snapshot_on("machine", 1, all, Said::default(), &Indexes::new())
}

pub(super) fn snapshot_on(
    machine: &str,
    generation: u64,
    all: &[Made],
    said: Said,
    indexes: &Arc<Indexes>,
) -> Snapshot {
    let made_at = Timestamp::from_millis(i64::try_from(generation).unwrap());
    let mut draft = SnapshotDraft::new(generation, made_at, judge(said));
    let seal = |made: &&Made| sealed(made.name, "1.0.0", &made.text, machine);
    let of = |source: SourceKind| all.iter().filter(move |made| made.source == source);
    let defaults: Vec<Sealed> = of(SourceKind::Default).map(|made| seal(&made)).collect();
    let catalog =
        Catalog::of(defaults.iter().map(|sealed| Arc::clone(sealed.loaded())).collect(), Vec::new());
    draft.add_default(fresh(SourceKind::Default), &catalog, defaults);
    let saved = of(SourceKind::AgentSkills).map(|made| SavedSkill {
        id: custom_id(made.name, made.number),
        visibility: made.visibility.clone(),
        owner_user_id: "ann".parse().unwrap(),
        created_at: Timestamp::from_millis(i64::from(made.number)),
        updated_at: Timestamp::from_millis(9),
        sealed: seal(&made),
    });
    draft.add_custom(fresh(SourceKind::AgentSkills), saved.collect());
    for made in of(SourceKind::Hub) {
        draft.add_hub(
            &hub(made.number),
            fresh(SourceKind::Hub),
            None,
            vec![(Visibility::Global, seal(&made))],
        );
    }
    draft.finish(Arc::clone(indexes))
}
