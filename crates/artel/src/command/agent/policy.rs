//! What a policy says about tools, and who decided. The tools are those of the catalog, under every name they go by.

use artel_agents::EffectiveRules;
use artel_catalog::Catalog;
use artel_model::agent::{Allowance, Policy, ToolUse, Verdict};
use artel_model::name::{LocalName, SkillName};
use artel_model::skill::Skill;
use artel_model::tool::ToolPattern;
use serde_json::{Value, json};

use crate::command::Context;
use crate::failure::Failure;
use crate::output::Table;

/// Tools that artel itself has for agents.
const OWN_TOOLS: [&str; 3] = ["read_skill_file", "send_message", "spawn_agent"];

/// What a policy says about one tool.
pub(in crate::command) struct Judgement {
    pub(in crate::command) tool: String,
    /// Nothing when it may be called.
    pub(in crate::command) code: Option<&'static str>,
    /// Who decided, in words: for a tool that may be called, a line for every layer.
    pub(in crate::command) why: Vec<String>,
}

impl Judgement {
    /// Shows it as data.
    pub(in crate::command) fn document(&self) -> Value {
        json!({"tool": self.tool, "allowed": self.code.is_none(), "code": self.code, "why": self.why})
    }
}

/// Says whether a tool may be called, and who decided.
pub(in crate::command) fn judge(policy: &Policy, tool: &ToolUse) -> Judgement {
    let (code, why) = match policy.check(tool.names()) {
        Verdict::Allowed(allowances) => (None, allowances.iter().map(allowed_by).collect()),
        Verdict::Forbidden { layer, grant, name } => {
            let alias = if name == tool.names()[0] { String::new() } else { format!(" as `{name}`") };
            let who = layer.origin.who_granted(grant);
            (Some("TOOL_FORBIDDEN"), vec![format!("forbidden{alias} by {who} ({})", grant.pattern)])
        }
        Verdict::NotAllowed(Some(layer)) => (Some("TOOL_NOT_ALLOWED"), vec![layer.origin.not_allowed()]),
        Verdict::NotAllowed(None) => (Some("TOOL_NOT_ALLOWED"), vec!["there is no policy".to_owned()]),
    };
    Judgement { tool: tool.to_string(), code, why }
}

fn allowed_by(allowance: &Allowance<'_>) -> String {
    let who = allowance.layer.origin.who_granted(allowance.grant);
    format!("allowed by {who} ({})", allowance.grant.pattern)
}

/// Adds a line for every judgement to a table of three columns.
pub(in crate::command) fn judgements(table: &mut Table, judgements: &[Judgement]) {
    for judgement in judgements {
        let why = judgement.why.join("; ");
        match judgement.code {
            None => table.row(["may call".to_owned(), judgement.tool.clone(), why]),
            Some(code) => table.row(["may not".to_owned(), judgement.tool.clone(), format!("{code}: {why}")]),
        }
    }
}

/// Reads the name of a tool: of a skill or its script, under all of its names; of anything else, as it is.
pub(in crate::command) fn tool_use(catalog: &Catalog, text: &str) -> Result<ToolUse, Failure> {
    let find = |name: &SkillName| catalog.registry().get(name, None).ok().map(AsRef::as_ref);
    if let Some(found) = ToolUse::resolve(text, find) {
        return Ok(found.tool);
    }
    ToolUse::named(text).map_err(|error| {
        Failure::usage(format!("`{text}`: {error}"))
            .hint("a tool looks like `navigate`, `navigate/run` or `Bash(git push)`")
    })
}

/// Returns the tools there are that a policy lets through, by name: those of skills, and artel's own.
pub(in crate::command) fn known_tools(catalog: &Catalog, policy: &Policy) -> Vec<String> {
    let of_skills = catalog.registry().list(&[]).flat_map(|skill| uses(skill));
    let own = OWN_TOOLS.iter().filter_map(|name| ToolUse::named(name).ok());
    let allowed = of_skills.chain(own).filter(|tool| policy.allows(tool.names()));
    let mut names: Vec<String> = allowed.map(|tool| tool.to_string()).collect();
    names.sort();
    names
}

fn uses(skill: &Skill) -> Vec<ToolUse> {
    let is_entrypoint = |name: &LocalName| skill.entrypoint.as_ref() == Some(name);
    let scripts = skill.scripts.iter().filter(|script| script.is_executable);
    let mut uses: Vec<ToolUse> = scripts
        .map(|script| ToolUse::script(&skill.name, &script.name, is_entrypoint(&script.name)))
        .collect();
    if skill.composite.is_some() {
        uses.push(ToolUse::skill(&skill.name));
    }
    uses
}

/// Returns what a policy comes to, without its layers: what is allowed, and what is forbidden.
pub(in crate::command) fn rules(policy: &Policy) -> (Vec<String>, Vec<String>) {
    let rules = EffectiveRules::of(policy);
    let texts = |patterns: &[ToolPattern]| patterns.iter().map(ToString::to_string).collect();
    (texts(&rules.allowed), texts(&rules.forbidden))
}

/// Decides about tools as they were typed.
pub(super) fn decide(
    context: Context<'_>,
    policy: &Policy,
    tools: &[String],
) -> Result<Vec<Judgement>, Failure> {
    let catalog = context.catalog(artel_catalog::Keep::Descriptions)?;
    tools.iter().map(|text| Ok(judge(policy, &tool_use(&catalog, text)?))).collect()
}
