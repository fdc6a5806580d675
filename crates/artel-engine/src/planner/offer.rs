//! Skills as planners see them: what they are for, what runs, and what goes in. Knows no planner.

use std::sync::Arc;

use artel_catalog::{Catalog, Loaded};
use artel_model::name::{LocalName, SkillName};
use artel_model::schema::Schema;
use artel_model::version::Version;

/// A skill that a plan may use.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillOffer {
    /// Its name.
    pub name: SkillName,
    /// Its version.
    pub version: Version,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does and when to use it.
    pub description: String,
    /// Labels to find it by.
    pub tags: Vec<String>,
    /// Its instructions, when they were loaded.
    pub instructions: Option<Arc<str>>,
    /// What goes in when it is run by its name.
    pub parameters: Schema,
    /// Its executable scripts, by name.
    pub scripts: Vec<ScriptOffer>,
    /// What runs when it is run by its name.
    pub runs: Runs,
}

/// A script of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptOffer {
    /// Its name within the skill.
    pub name: LocalName,
    /// What it does.
    pub description: Option<String>,
    /// What goes in.
    pub parameters: Schema,
}

/// What runs when a skill is run by its name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Runs {
    /// Its steps.
    Steps,
    /// That script.
    Script(LocalName),
    /// Nothing: it holds instructions, or several scripts of which none comes first.
    Nothing,
}

impl SkillOffer {
    /// Returns whether there is anything in it that a plan could run.
    pub fn is_runnable(&self) -> bool {
        self.runs != Runs::Nothing || !self.scripts.is_empty()
    }

    fn of(entry: &Loaded) -> Option<Self> {
        let skill = entry.skill.as_deref().filter(|skill| skill.invocation.by_model)?;
        let schema = |own: &Option<Schema>| own.clone().unwrap_or_else(|| skill.interface.parameters.clone());
        let scripts: Vec<ScriptOffer> = skill
            .scripts
            .iter()
            .filter(|script| script.is_executable)
            .map(|script| ScriptOffer {
                name: script.name.clone(),
                description: script.description.clone(),
                parameters: schema(&script.parameters_schema),
            })
            .collect();
        let is_offered = |name: &&LocalName| scripts.iter().any(|script| script.name == **name);
        let runs = match (&skill.composite, skill.entrypoint.as_ref().filter(is_offered)) {
            (Some(_), _) => Runs::Steps,
            (None, Some(entrypoint)) => Runs::Script(entrypoint.clone()),
            (None, None) => Runs::Nothing,
        };
        let parameters = match &runs {
            Runs::Script(name) => scripts.iter().find(|script| script.name == *name),
            Runs::Steps | Runs::Nothing => None,
        };
        Some(Self {
            name: skill.name.clone(),
            version: skill.version.clone(),
            title: skill.about.display_name.clone(),
            description: skill.description.clone(),
            tags: skill.about.tags.clone(),
            instructions: entry.instructions.clone(),
            parameters: parameters
                .map_or_else(|| skill.interface.parameters.clone(), |script| script.parameters.clone()),
            scripts,
            runs,
        })
    }
}

/// Returns every enabled skill that a model may choose and that `is_usable` does not refuse, by name.
pub fn offers(catalog: &Catalog, is_usable: impl Fn(&SkillName) -> bool) -> Arc<[SkillOffer]> {
    let enabled = catalog.enabled().into_iter().filter_map(SkillOffer::of);
    enabled.filter(|offer| is_usable(&offer.name)).collect()
}
