//! A snapshot in the making: the skills of every source are put in, judged, and put into the one order they have on
//! every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_model::access::UserId;
use artel_model::catalog::{Hub, Served, SourceKind, Visibility};
use artel_model::id::CustomSkillId;
use artel_model::name::SkillName;
use artel_model::time::Timestamp;

use super::entry::{Entry, Origin};
use super::entry_id::EntryId;
use super::indexes::Indexes;
use super::judge::Judge;
use super::sealed::Sealed;
use super::snapshot::{Parts, Snapshot};
use super::source_state::SourceState;
use crate::catalog::Catalog;
use crate::load::Loaded;

/// The skills of all sources, before it is decided which are served.
#[derive(Debug)]
pub struct SnapshotDraft {
    generation: u64,
    made_at: Timestamp,
    judge: Judge,
    sources: Vec<SourceState>,
    candidates: Vec<Candidate>,
}

#[derive(Debug)]
struct Candidate {
    origin: Origin,
    sealed: Sealed,
    other_versions: Vec<Sealed>,
}

/// A skill that somebody saved, ready to be put into a snapshot.
#[derive(Clone, Debug)]
pub struct SavedSkill {
    /// Its id.
    pub id: CustomSkillId,
    /// Who sees it.
    pub visibility: Visibility,
    /// Who saved it; they see it also when it is held back.
    pub owner_user_id: UserId,
    /// When it was first saved; of two with one name the earlier wins.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
    /// Its files.
    pub sealed: Sealed,
}

impl SnapshotDraft {
    /// Starts a snapshot. The generation must have been taken before any source was read.
    pub fn new(generation: u64, made_at: Timestamp, judge: Judge) -> Self {
        Self { generation, made_at, judge, sources: Vec::new(), candidates: Vec::new() }
    }

    /// Adds a source that gave nothing.
    pub fn add_source(&mut self, state: SourceState) {
        self.sources.push(state);
    }

    /// Adds the skills of folders and of the binary: `sealed` is what [`Catalog::published`] holds, sealed.
    pub fn add_default(&mut self, state: SourceState, catalog: &Catalog, sealed: Vec<Sealed>) {
        self.sources.push(state);
        let is_usual = |sealed: &Sealed| {
            let skill = sealed.loaded.skill.as_ref();
            skill.is_some_and(|skill| {
                catalog.registry().get(&skill.name, None).is_ok_and(|usual| Arc::ptr_eq(usual, skill))
            })
        };
        let (usual, others): (Vec<Sealed>, Vec<Sealed>) = sealed.into_iter().partition(is_usual);
        let mut versions: BTreeMap<SkillName, Vec<Sealed>> = BTreeMap::new();
        for sealed in others {
            if let Some(skill) = sealed.loaded.skill.as_ref() {
                versions.entry(skill.name.clone()).or_default().push(sealed);
            }
        }
        for sealed in usual {
            let Some(skill) = sealed.loaded.skill.as_ref() else { continue };
            let other_versions = versions.remove(&skill.name).unwrap_or_default();
            let origin = Origin {
                id: EntryId::Default(skill.name.clone()),
                visibility: Visibility::Global,
                owner: None,
                created_at: None,
                updated_at: None,
                rank: 0,
            };
            self.candidates.push(Candidate { origin, sealed, other_versions });
        }
    }

    /// Adds what people saved.
    pub fn add_custom(&mut self, state: SourceState, skills: Vec<SavedSkill>) {
        self.sources.push(state);
        for skill in skills {
            let SavedSkill { id, visibility, owner_user_id, created_at, updated_at, sealed } = skill;
            let origin = Origin {
                id: EntryId::Custom(id),
                visibility,
                owner: Some(owner_user_id),
                created_at: Some(created_at),
                updated_at: Some(updated_at),
                rank: u64::try_from(created_at.as_millis()).unwrap_or(0),
            };
            self.candidates.push(Candidate { origin, sealed, other_versions: Vec::new() });
        }
    }

    /// Adds the skills of a hub, each with who sees it; `published_at` is when this content of it was first published.
    pub fn add_hub(
        &mut self,
        hub: &Hub,
        state: SourceState,
        published_at: Option<Timestamp>,
        skills: Vec<(Visibility, Sealed)>,
    ) {
        self.sources.push(state);
        for (visibility, sealed) in skills {
            let Some(skill) = sealed.loaded.skill.as_ref() else { continue };
            let origin = Origin {
                id: EntryId::Hub(hub.id, skill.name.clone()),
                visibility,
                owner: None,
                created_at: Some(hub.created_at),
                updated_at: published_at,
                rank: hub.position,
            };
            self.candidates.push(Candidate { origin, sealed, other_versions: Vec::new() });
        }
    }

    /// Decides about every skill. Those that are held back are kept apart; of one id the first in order is used.
    pub fn finish(self, indexes: Arc<Indexes>) -> Snapshot {
        let Self { generation, made_at, judge, mut sources, candidates } = self;
        sources.sort_by(|a, b| (a.kind, &a.id, &a.label).cmp(&(b.kind, &b.id, &b.label)));
        let mut judged: Vec<(Entry, Served)> =
            candidates.into_iter().filter_map(|candidate| candidate.judged(&judge)).collect();
        // The version and the hash only order what has one id twice.
        judged.sort_by(|(a, _), (b, _)| order(a).cmp(&order(b)));
        let mut ids: BTreeSet<EntryId> = BTreeSet::new();
        let (mut entries, mut blocked, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for (entry, served) in judged {
            match served {
                _ if !ids.insert(entry.id.clone()) => repeated.push(entry.id),
                Served::Yes => entries.push(entry),
                Served::Blocked => blocked.push(entry),
            }
        }
        Snapshot::new(Parts { generation, made_at, sources, entries, blocked, repeated }, indexes)
    }
}

type Order<'a> = (SourceKind, &'a str, u64, &'a EntryId, &'a str);

fn order(entry: &Entry) -> Order<'_> {
    (entry.source(), entry.name.as_str(), entry.rank, &entry.id, &entry.content_hash)
}

impl Candidate {
    /// What cannot be used is no entry.
    fn judged(self, judge: &Judge) -> Option<(Entry, Served)> {
        let skill = Arc::clone(self.sealed.loaded.skill.as_ref().filter(|_| self.sealed.loaded.is_usable())?);
        let (scan, served) = judge.judge(&self.sealed.content_hash);
        let is_served = |other: &Sealed| judge.judge(&other.content_hash).1 == Served::Yes;
        let others: Vec<Arc<Loaded>> =
            self.other_versions.into_iter().filter(is_served).map(|other| other.loaded).collect();
        Some((Entry::new(self.origin, &skill, self.sealed, others, scan), served))
    }
}
