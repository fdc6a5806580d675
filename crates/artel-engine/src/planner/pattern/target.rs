//! What a plan can run: a skill by its name, or one of its scripts; and finding those by words. Knows nothing of
//! parameters' values.

use std::collections::BTreeSet;

use artel_catalog::search::{Hit, Query, SearchDocument, SearchIndex};
use artel_model::name::LocalName;
use artel_model::schema::Schema;

use super::property::{parts, properties};
use super::words::words;
use crate::planner::offer::{Runs, ScriptOffer, SkillOffer};

/// Targets that are looked at for one clause.
const HITS_MAX: usize = 50;

/// Something that a tool of a plan can run.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    pub(super) offer: &'a SkillOffer,
    /// The script to name in the plan; what the skill runs by itself otherwise.
    pub(super) script: Option<&'a LocalName>,
    pub(super) schema: &'a Schema,
    title: String,
    body: String,
}

/// Everything that can be run, and an index of it.
pub(super) struct Targets<'a> {
    all: Vec<Target<'a>>,
    index: SearchIndex,
}

impl<'a> Target<'a> {
    fn new(offer: &'a SkillOffer, runs: Option<&'a ScriptOffer>, script: Option<&'a LocalName>) -> Self {
        let schema = runs.map_or(&offer.parameters, |runs| &runs.parameters);
        let mut body = runs.and_then(|runs| runs.description.clone()).unwrap_or_default();
        for property in properties(schema.document()) {
            body.push_str(&format!("\n{}\n{}", property.words.join(" "), property.about()));
        }
        let names = [offer.title.as_deref(), runs.map(|runs| runs.name.as_str())];
        let title = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Self { offer, script, schema, title, body }
    }

    fn document(&self) -> SearchDocument<'_> {
        SearchDocument {
            name: self.offer.name.as_str(),
            title: &self.title,
            description: &self.offer.description,
            tags: &self.offer.tags,
            body: &self.body,
        }
    }
}

impl<'a> Targets<'a> {
    pub(super) fn new(offers: impl IntoIterator<Item = &'a SkillOffer>) -> Self {
        let all: Vec<Target<'a>> = offers.into_iter().flat_map(targets_of).collect();
        let index = SearchIndex::build(all.iter().map(Target::document));
        Self { all, index }
    }

    /// Returns what fits a text by its words, the best first.
    pub(super) fn find(&self, text: &str) -> Vec<(&Target<'a>, Hit)> {
        let hits = self.index.search(&Query::new(text), HITS_MAX).hits;
        hits.into_iter().filter_map(|hit| Some((self.all.get(hit.document as usize)?, hit))).collect()
    }

    /// Returns the words that begin what skills do: the first word of every name and of every description.
    pub(super) fn verbs(&self) -> BTreeSet<String> {
        let first = |text: &str| words(text).into_iter().next().filter(|word| !word.is_stop_word());
        let verbs = self.all.iter().flat_map(|target| {
            let names = [Some(target.offer.name.as_str()), target.script.map(LocalName::as_str)];
            let described = [first(&target.offer.description), first(&target.body)];
            let named = names.into_iter().flatten().filter_map(|name| parts(name).into_iter().next());
            named.chain(described.into_iter().flatten().map(|word| word.key)).collect::<Vec<_>>()
        });
        verbs.collect()
    }
}

fn targets_of(offer: &SkillOffer) -> Vec<Target<'_>> {
    let by_itself = match &offer.runs {
        Runs::Steps => Some(Target::new(offer, None, None)),
        Runs::Script(name) => {
            let script = offer.scripts.iter().find(|script| script.name == *name);
            Some(Target::new(offer, script, None))
        }
        Runs::Nothing => None,
    };
    let is_entrypoint = |script: &&ScriptOffer| offer.runs == Runs::Script(script.name.clone());
    let others = offer.scripts.iter().filter(|script| !is_entrypoint(script));
    by_itself
        .into_iter()
        .chain(others.map(|script| Target::new(offer, Some(script), Some(&script.name))))
        .collect()
}

/// Returns the offers that fit a text by its words, the best first, then all others by name.
pub(in crate::planner) fn ranked_offers<'a>(
    offers: impl IntoIterator<Item = &'a SkillOffer>,
    text: &str,
) -> Vec<&'a SkillOffer> {
    let mut rest: Vec<&SkillOffer> = offers.into_iter().collect();
    let index = SearchIndex::build(rest.iter().map(|offer| SearchDocument {
        name: offer.name.as_str(),
        title: offer.title.as_deref().unwrap_or_default(),
        description: &offer.description,
        tags: &offer.tags,
        body: offer.instructions.as_deref().unwrap_or_default(),
    }));
    let hits = index.search(&Query::new(text), rest.len()).hits;
    let mut ranked: Vec<&SkillOffer> = hits.iter().map(|hit| rest[hit.document as usize]).collect();
    let found: BTreeSet<u32> = hits.iter().map(|hit| hit.document).collect();
    let mut place = 0..;
    rest.retain(|_| place.next().is_none_or(|place| !found.contains(&place)));
    ranked.append(&mut rest);
    ranked
}
