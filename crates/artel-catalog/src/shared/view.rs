//! What one person sees of all skills, and what can be asked about it. Nothing that others see has any part in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_model::access::Viewer;
use artel_model::catalog::{Listed as _, SourceKind, view};
use artel_model::name::SkillName;

use super::digest::{Digest, Hash, hex};
use super::entry::Entry;
use super::entry_id::EntryId;
use super::indexes::Indexes;
use super::list::{ListQuery, Listing, listing};
use super::snapshot::Content;
use super::source_state::{Freshness, SourceState};
use crate::catalog::Catalog;
use crate::load::Loaded;
use crate::prompt::{Prompt, PromptBudget, PromptFormat, prompt_at};
use crate::search::{SearchDocument, SearchIndex};

/// What one person sees of a snapshot.
#[derive(Debug)]
pub struct View {
    content: Arc<Content>,
    /// The places of what is listed, ascending: the order of a list is that of the snapshot.
    winners: Vec<u32>,
    /// The places of what can be seen but is hidden by another of its name, ascending.
    hidden: Vec<u32>,
    /// By what is listed, what it hides.
    shadows: BTreeMap<u32, Vec<u32>>,
    /// Places among what is held back, of what the viewer saved.
    held_back: Vec<usize>,
    /// The sources that the viewer is told about.
    sources: Vec<SourceState>,
    etag: String,
    /// Says what is searched.
    index_key: Hash,
    indexes: Arc<Indexes>,
}

/// A skill that somebody may see.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The skill.
    pub entry: &'a Entry,
    /// The skill of the same name that is listed instead, when this one is not.
    pub shadowed_by: Option<&'a EntryId>,
    /// Whether the gate holds it back: it can be read by who saved it, and neither listed for others nor run.
    pub is_held_back: bool,
}

impl View {
    pub(super) fn new(content: Arc<Content>, viewer: &Viewer, indexes: Arc<Indexes>) -> Self {
        let place = |place: usize| u32::try_from(place).expect("a snapshot has fewer skills than that");
        let mut winners: Vec<u32> = view(&content.entries, viewer).into_iter().map(place).collect();
        winners.sort_unstable();
        let seen = (0_u32..).zip(&content.entries).filter(|(_, entry)| entry.visibility().is_seen_by(viewer));
        let hidden: Vec<u32> =
            seen.map(|(place, _)| place).filter(|place| winners.binary_search(place).is_err()).collect();
        let shadows = shadows(&content, &winners, &hidden);
        let is_own = |entry: &Entry| entry.owner.as_ref() == Some(&viewer.user);
        let held_back: Vec<usize> =
            (0..content.blocked.len()).filter(|place| is_own(&content.blocked[*place])).collect();
        let sources: Vec<SourceState> =
            content.sources.iter().filter(|source| source.is_for(viewer)).cloned().collect();
        let etag = hex(&etag(&content, [&winners, &hidden], &held_back, &sources));
        let at = |place: &u32| content.entries[*place as usize].content_hash.as_str();
        let index_key = Digest::of("index").texts(winners.iter().map(at)).finish();
        Self { content, winners, hidden, shadows, held_back, sources, etag, index_key, indexes }
    }

    /// Returns what is listed: by source, then by name.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.winners.iter().map(|place| self.at(*place))
    }

    /// Returns how many skills are listed.
    pub fn len(&self) -> usize {
        self.winners.len()
    }

    /// Says whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.winners.is_empty()
    }

    /// Returns a text that changes whenever something changes that can be seen here, and only then.
    pub fn etag(&self) -> &str {
        &self.etag
    }

    /// Returns the sources that the viewer is told about, by kind and id.
    pub fn sources(&self) -> &[SourceState] {
        &self.sources
    }

    /// Returns what the viewer saved and the gate holds back. It is not listed, not searched and not run.
    pub fn held_back(&self) -> impl Iterator<Item = &Entry> {
        self.held_back.iter().map(|place| &self.content.blocked[*place])
    }

    /// Returns the skills that a listed one hides from the viewer because they have its name.
    pub fn shadows(&self, id: &EntryId) -> impl Iterator<Item = &EntryId> {
        let place = self.content.places.get(id);
        let hidden = place.and_then(|place| self.shadows.get(place)).into_iter().flatten();
        hidden.map(|place| &self.at(*place).id)
    }

    /// Returns a skill by its id. What must not be seen is not there.
    pub fn get(&self, id: &EntryId) -> Option<Seen<'_>> {
        let place = *self.content.places.get(id)?;
        let entry = self.at(place);
        if self.winners.binary_search(&place).is_ok() {
            return Some(Seen { entry, shadowed_by: None, is_held_back: false });
        }
        self.hidden.binary_search(&place).ok()?;
        let shadowed_by = self.by_name(&entry.name).map(|winner| &winner.id);
        Some(Seen { entry, shadowed_by, is_held_back: false })
    }

    /// Returns a skill by its id, for reading alone: also one that the viewer saved and the gate holds back.
    pub fn readable(&self, id: &EntryId) -> Option<Seen<'_>> {
        let held_back = || {
            let entry = self.held_back().find(|entry| entry.id == *id)?;
            Some(Seen { entry, shadowed_by: None, is_held_back: true })
        };
        self.get(id).or_else(held_back)
    }

    /// Returns the skill that a name means here.
    pub fn by_name(&self, name: &SkillName) -> Option<&Entry> {
        let at = |source: SourceKind| {
            let key = |place: &u32| {
                let entry = self.at(*place);
                (entry.source(), &entry.name)
            };
            self.winners.binary_search_by(|place| key(place).cmp(&(source, name))).ok()
        };
        SourceKind::ALL.into_iter().find_map(at).map(|found| self.at(self.winners[found]))
    }

    /// Returns a page of what is listed, or of what matches.
    pub fn list(&self, query: &ListQuery) -> Listing<'_> {
        listing(self, query)
    }

    /// Builds the index of the view when it is not there, so that nobody has to wait for it with the first search.
    pub fn prepare_search(&self) {
        self.ask(|_| ());
    }

    /// Returns the skills of the view as a catalog, for whoever runs them: what is listed, in all its versions.
    pub fn catalog(&self) -> Catalog {
        let usual = self.entries().map(|entry| Arc::clone(&entry.loaded)).collect();
        let others = self.entries().flat_map(|entry| entry.other_versions.iter().map(Arc::clone)).collect();
        Catalog::of(usual, others)
    }

    /// Writes the skills that a model may choose. Files are named by address: a folder of the server means nothing
    /// elsewhere, and nobody's business is where it lies.
    pub fn prompt(&self, format: PromptFormat, budget: PromptBudget) -> Prompt {
        let entries: Vec<&Loaded> = self.entries().map(|entry| &*entry.loaded).collect();
        prompt_at(&entries, format, budget, |loaded| {
            let name = loaded.skill.as_ref().map_or("", |skill| skill.name.as_str());
            format!("skill://{name}/{}", crate::catalog::main_file_name(loaded).unwrap_or("SKILL.md"))
        })
    }

    /// Asks the index of what is listed; positions in it are positions in the list.
    pub(super) fn ask<R>(&self, question: impl FnOnce(&SearchIndex) -> R) -> R {
        let build = || SearchIndex::build(self.entries().map(document));
        self.indexes.ask(&self.index_key, build, question)
    }

    pub(super) fn nth(&self, position: u32) -> Option<&Entry> {
        self.winners.get(position as usize).map(|place| self.at(*place))
    }

    fn at(&self, place: u32) -> &Entry {
        &self.content.entries[place as usize]
    }
}

fn document(entry: &Entry) -> SearchDocument<'_> {
    SearchDocument {
        name: entry.name.as_str(),
        title: &entry.title,
        description: &entry.description,
        tags: entry.tags(),
        body: entry.content(),
    }
}

/// Finds what each listed skill hides.
fn shadows(content: &Content, winners: &[u32], hidden: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let name = |place: &u32| &content.entries[*place as usize].name;
    let mut shadows: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    if hidden.is_empty() {
        return shadows;
    }
    let listed: BTreeMap<&SkillName, u32> = winners.iter().map(|place| (name(place), *place)).collect();
    for place in hidden {
        if let Some(winner) = listed.get(name(place)) {
            shadows.entry(*winner).or_default().push(*place);
        }
    }
    shadows
}

/// Hashes what can be seen. Neither the generation nor the number of other skills is part of it.
fn etag(content: &Content, places: [&[u32]; 2], held_back: &[usize], sources: &[SourceState]) -> Hash {
    let add = |digest: Digest, places: &[u32]| {
        let digest = digest.number(places.len() as u64);
        places.iter().fold(digest, |digest, place| digest.hash(&content.entries[*place as usize].digest))
    };
    let digest = places.into_iter().fold(Digest::of("view"), add);
    let digest = held_back.iter().fold(digest.number(held_back.len() as u64), |digest, place| {
        digest.hash(&content.blocked[*place].digest)
    });
    add_failing(digest, sources).finish()
}

/// Adds what is told of the sources that fail.
pub(super) fn add_failing<'a>(digest: Digest, sources: impl IntoIterator<Item = &'a SourceState>) -> Digest {
    let failing = sources.into_iter().filter(|source| source.is_unavailable());
    failing.fold(digest, |digest, source| {
        let digest = digest
            .text(source.kind.as_str())
            .text(source.id.as_deref().unwrap_or_default())
            .text(&source.label);
        match &source.state {
            Freshness::Fresh => digest,
            Freshness::Stale { since, reason } => digest.text("stale").text(&since.to_string()).text(reason),
            Freshness::Unavailable { reason } => digest.text("unavailable").text(reason),
        }
    })
}
