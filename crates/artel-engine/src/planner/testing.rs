//! What tests of planners ask with: the built-in skills, offers of their own, and a check that resolves plans.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};
use artel_model::health::Health;
use artel_model::id::PlanId;
use artel_model::name::SkillName;
use artel_model::plan::{PlanDocument, SkillLookup, SkillView, ToolPath};
use artel_model::registry::Availability;
use artel_model::schema::Schema;
use artel_model::skill::{Script, Skill};
use artel_model::version::Version;
use serde_json::Value;
use uuid::Uuid;

use super::ask::PlanningRequest;
use super::clock;
use super::offer::{Runs, ScriptOffer, SkillOffer, offers};

/// Skills that plans are resolved against, all of them healthy but those named.
pub(super) struct Skills {
    skills: Vec<Arc<Skill>>,
    pub(super) broken: BTreeSet<SkillName>,
}

impl SkillLookup for Skills {
    fn skill(&self, name: &SkillName, _version: Option<&Version>) -> Option<SkillView<'_>> {
        let skill = self.skills.iter().find(|skill| skill.name == *name)?;
        let is_broken = self.broken.contains(name);
        Some(SkillView {
            sharing: artel_model::data_scope::Sharing::NotGranted,
            origin: None,
            skill,
            content_hash: "sha256:0",
            folder: "skills",
            health: if is_broken { Health::PermanentFailure } else { Health::NEW },
            availability: Availability::Enabled,
        })
    }

    fn tool_path(&self, _path: &str) -> ToolPath {
        ToolPath::Outside
    }

    fn similar(&self, _name: &SkillName) -> Vec<SkillName> {
        Vec::new()
    }
}

/// A plan's id that tells which one it is.
pub(super) fn plan_id(number: u128) -> PlanId {
    PlanId(Uuid::from_u128(number))
}

/// A request for the built-in skills.
pub(super) fn ask(text: &str) -> PlanningRequest {
    let request = CatalogRequest {
        roots: Vec::new(),
        options: LoadOptions::from(Keep::Instructions),
        disabled: BTreeSet::new(),
        chosen: Vec::new(),
    };
    let catalog = Catalog::load(&request);
    let skills = catalog.enabled().iter().filter_map(|entry| entry.skill.clone()).collect();
    asked(text, offers(&catalog, |_| true), Skills { skills, broken: BTreeSet::new() })
}

/// A request for skills of one's own.
pub(super) fn ask_with(text: &str, skills: Vec<Skill>) -> PlanningRequest {
    let offers = skills.iter().map(offer).collect();
    let skills = skills.into_iter().map(Arc::new).collect();
    asked(text, offers, Skills { skills, broken: BTreeSet::new() })
}

pub(super) fn asked(text: &str, offers: Arc<[SkillOffer]>, skills: Skills) -> PlanningRequest {
    PlanningRequest {
        text: text.to_owned(),
        offers,
        disabled: BTreeSet::new(),
        plan_id: plan_id(1),
        attempt: 1,
        parent: None,
        feedback: Vec::new(),
        deadline: clock::from_now(60_000),
        check: Arc::new(skills),
    }
}

/// A skill with one script that takes such parameters.
pub(super) fn skill(name: &str, description: &str, parameters: Value) -> Skill {
    let mut skill = Skill::new(name.parse().expect("a name"), Version::new(1, 0, 0), description.to_owned());
    skill.interface.parameters = Schema::parse(parameters).expect("a schema");
    skill.scripts = vec![Script {
        name: "run".parse().expect("a name"),
        path: "run.sh".into(),
        is_executable: true,
        description: None,
        parameters_schema: None,
        returns_schema: None,
        timeout: None,
    }];
    skill.entrypoint = Some("run".parse().expect("a name"));
    skill
}

fn offer(skill: &Skill) -> SkillOffer {
    let script = |script: &Script| ScriptOffer {
        name: script.name.clone(),
        description: script.description.clone(),
        parameters: skill.interface.parameters.clone(),
    };
    SkillOffer {
        name: skill.name.clone(),
        version: skill.version.clone(),
        title: None,
        description: skill.description.clone(),
        tags: Vec::new(),
        instructions: None,
        parameters: skill.interface.parameters.clone(),
        scripts: skill.scripts.iter().map(script).collect(),
        runs: skill.entrypoint.clone().map_or(Runs::Nothing, Runs::Script),
    }
}

/// A plan as lines: its tools with what they wait for, or what it says when it has none.
pub(super) fn shown(document: &PlanDocument) -> String {
    let tool = |tool: &artel_model::plan::ToolInvocation| {
        let skill = tool.skill.as_ref().map(ToString::to_string).unwrap_or_default();
        let script = tool.script.as_ref().map(|script| format!("/{script}")).unwrap_or_default();
        let input = Value::Object(tool.input.clone());
        let needs: Vec<String> = tool.dependencies.iter().map(ToString::to_string).collect();
        let needs = if needs.is_empty() { String::new() } else { format!(" < {}", needs.join(", ")) };
        format!("{}: {skill}{script} {input}{needs}", tool.tool_id)
    };
    if document.tools.is_empty() {
        return document.narrative.clone().unwrap_or_default();
    }
    document.tools.iter().map(tool).collect::<Vec<_>>().join("\n")
}
