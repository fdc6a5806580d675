//! What a tool or a step runs: an exact script, or the steps of a composite. A plan never runs anything else.

use std::collections::BTreeSet;

use super::document::SkillChoice;
use super::lookup::{SkillLookup, SkillView, ToolPath};
use super::problem::{PlanProblem, PlanProblemCode};
use super::resolved::ScriptTarget;
use crate::composite::Composite;
use crate::data_scope::{DataRefusal, DataScope, Sharing};
use crate::name::{LocalName, SkillName};
use crate::registry::Availability;
use crate::skill::Script;
use crate::version::Version;

/// What somebody wants to run.
#[derive(Clone, Copy)]
pub(super) enum Choice<'a> {
    Path(&'a str),
    Skill { name: &'a SkillName, version: Option<&'a Version>, script: Option<&'a LocalName> },
}

/// What that is.
pub(super) enum Found<'a> {
    Script(FoundScript<'a>),
    Composite(SkillView<'a>, &'a Composite),
}

pub(super) struct FoundScript<'a> {
    pub(super) view: SkillView<'a>,
    pub(super) script: &'a Script,
    tool_path: String,
}

impl<'a> Choice<'a> {
    pub(super) fn of(choice: &'a SkillChoice, script: Option<&'a LocalName>) -> Self {
        Self::Skill { name: &choice.name, version: choice.version.as_ref(), script }
    }

    /// The field of a tool that says it.
    fn field(self) -> &'static str {
        match self {
            Self::Path(_) => "toolPath",
            Self::Skill { .. } => "skill",
        }
    }
}

impl FoundScript<'_> {
    pub(super) fn target(&self) -> ScriptTarget {
        let skill = self.view.skill;
        ScriptTarget {
            skill: skill.name.clone(),
            version: skill.version.clone(),
            content_hash: self.view.content_hash.to_owned(),
            script: self.script.name.clone(),
            tool_path: self.tool_path.clone(),
            idempotent: skill.attempts.idempotent,
            is_entrypoint: skill.entrypoint.as_ref() == Some(&self.script.name),
            origin: self.view.origin.cloned(),
        }
    }

    /// Milliseconds one attempt may take when nobody says otherwise.
    pub(super) fn timeout_ms(&self) -> u64 {
        1000 * u64::from(self.script.timeout.unwrap_or(self.view.skill.attempts.timeout_s))
    }
}

/// Finds what is meant. The paths of problems are fields of the tool: `/skill`, `/script`, `/toolPath`.
pub(super) fn find<'a>(
    choice: Choice<'_>,
    skills: &'a dyn SkillLookup,
    disabled: &BTreeSet<SkillName>,
) -> Result<Found<'a>, PlanProblem> {
    let problem = |code, message: String| PlanProblem::new(format!("/{}", choice.field()), code, message);
    let found = match choice {
        Choice::Path(path) => Found::Script(find_path(path, skills)?),
        Choice::Skill { name, version, script } => find_skill(skills, name, version, script)?,
    };
    let (Found::Script(FoundScript { view, .. }) | Found::Composite(view, _)) = &found;
    let name = &view.skill.name;
    if disabled.contains(name) {
        let message = format!("skill `{name}` is among the plan's `disabledSkills`");
        return Err(problem(PlanProblemCode::SkillDisabled, message));
    }
    match view.availability {
        Availability::Enabled => {}
        Availability::Disabled => {
            let disabled = problem(PlanProblemCode::SkillDisabled, format!("skill `{name}` is disabled"));
            return Err(disabled.hint(format!("`artel skill enable {name}` switches it on")));
        }
    }
    if !view.health.is_usable() {
        let message = format!("skill `{name}` failed too often and is not run");
        let hint = format!("mend it, or reset it with `artel skill enable {name}`");
        return Err(problem(PlanProblemCode::SkillUnhealthy, message).hint(hint));
    }
    if let Found::Script(FoundScript { view, .. }) = &found
        && let Some(refusal) = refused_sharing(view)
    {
        return Err(problem(PlanProblemCode::SharingNotGranted, refusal.to_string()));
    }
    if let Found::Script(FoundScript { script, .. }) = &found
        && !script.is_executable
    {
        let message = format!("script `{}` of `{name}` is not executable", script.name);
        return Err(
            problem(PlanProblemCode::NotExecutable, message).hint(format!("chmod +x {}", script.path))
        );
    }
    Ok(found)
}

/// Returns why no script of a skill would get its data folder, whichever run it is in.
fn refused_sharing(view: &SkillView<'_>) -> Option<DataRefusal> {
    match (view.skill.data_scope, view.sharing) {
        (DataScope::Shared, Sharing::NotGranted) => {
            let id = view.origin.map_or_else(|| view.skill.name.to_string(), |origin| origin.id.clone());
            Some(DataRefusal::SharingNotGranted(id))
        }
        (DataScope::Shared, Sharing::Granted)
        | (DataScope::Principal | DataScope::Run | DataScope::Team, _) => None,
    }
}

fn find_path<'a>(path: &str, skills: &'a dyn SkillLookup) -> Result<FoundScript<'a>, PlanProblem> {
    let shown: String = path.chars().take(200).collect();
    let refuse = |code, why: &str| {
        let problem = PlanProblem::new("/toolPath", code, format!("`{shown}` {why}"));
        Err(problem.hint("a plan can only run the scripts of known skills"))
    };
    let not_a_script = PlanProblemCode::NotADiscoveredScript;
    match skills.tool_path(path) {
        ToolPath::Script { skill, script } => {
            let view = skills.skill(&skill.name, Some(&skill.version));
            match view.and_then(|view| Some((view, view.skill.script(&script)?))) {
                Some((view, script)) => Ok(FoundScript { view, script, tool_path: path.to_owned() }),
                None => refuse(not_a_script, "is no script of a known skill"),
            }
        }
        ToolPath::Outside => refuse(not_a_script, "is outside all skills"),
        ToolPath::NotAScript => refuse(not_a_script, "is a file of a skill, but none of its scripts"),
        ToolPath::Missing => refuse(not_a_script, "does not exist"),
        ToolPath::NotExecutable => refuse(PlanProblemCode::NotExecutable, "is not executable"),
    }
}

fn find_skill<'a>(
    skills: &'a dyn SkillLookup,
    name: &SkillName,
    version: Option<&Version>,
    script: Option<&LocalName>,
) -> Result<Found<'a>, PlanProblem> {
    let Some(view) = skills.skill(name, version) else { return Err(unknown(skills, name, version)) };
    let skill = view.skill;
    let script = match (script, &skill.composite, &skill.entrypoint) {
        (Some(script), ..) => script,
        (None, Some(composite), _) => return Ok(Found::Composite(view, composite)),
        (None, None, Some(entrypoint)) => entrypoint,
        (None, None, None) => return Err(nothing_to_run(view)),
    };
    match skill.script(script) {
        Some(script) => {
            let tool_path = format!("{}/{}", view.folder.trim_end_matches('/'), script.path);
            Ok(Found::Script(FoundScript { view, script, tool_path }))
        }
        None => {
            let message = format!("skill `{name}` has no script `{script}`");
            let mut problem = PlanProblem::new("/script", PlanProblemCode::UnknownScript, message);
            problem.hint = scripts_of(view);
            Err(problem)
        }
    }
}

fn unknown(skills: &dyn SkillLookup, name: &SkillName, version: Option<&Version>) -> PlanProblem {
    let problem = |message: String| PlanProblem::new("/skill", PlanProblemCode::UnknownSkill, message);
    if let Some((version, usual)) = version.zip(skills.skill(name, None)) {
        let message = format!("there is no version {version} of skill `{name}`");
        return problem(message).hint(format!("version {} exists", usual.skill.version));
    }
    problem(format!("there is no skill `{name}`"))
}

/// Returns a hint for a name that no skill has.
pub(super) fn similar(choice: Choice<'_>, skills: &dyn SkillLookup) -> Option<String> {
    let Choice::Skill { name, .. } = choice else { return None };
    let similar: Vec<String> = skills.similar(name).iter().take(3).map(|name| format!("`{name}`")).collect();
    (!similar.is_empty()).then(|| format!("did you mean {}?", similar.join(" or ")))
}

fn nothing_to_run(view: SkillView<'_>) -> PlanProblem {
    let name = &view.skill.name;
    let problem = |message: String| PlanProblem::new("/skill", PlanProblemCode::NoEntrypoint, message);
    match scripts_of(view) {
        Some(scripts) => problem(format!("skill `{name}` does not say which of its scripts runs"))
            .hint(format!("name one; {scripts}")),
        None => problem(format!("skill `{name}` has nothing to run"))
            .hint("it holds instructions for an agent; add a script or steps to run it"),
    }
}

fn scripts_of(view: SkillView<'_>) -> Option<String> {
    let names: Vec<&str> = view.skill.scripts.iter().map(|script| script.name.as_str()).take(20).collect();
    (!names.is_empty()).then(|| format!("scripts are: {}", names.join(", ")))
}
