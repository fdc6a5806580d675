//! An agent as text: a few lines, or everything.

use artel_model::agent::{AgentDocument, PolicyDocument, PolicyRule};
use serde_json::Value;

use crate::command::Context;
use crate::output::{Table, Tone};

/// Writes an agent in a few lines.
pub(super) fn card(context: Context<'_>, shown: &AgentDocument) -> String {
    let mut facts = Table::new(&[Tone::Accent, Tone::Plain]);
    facts.row(["agent", &shown.agent_id.to_string()]);
    optional(&mut facts, "name", shown.name.as_deref());
    facts.row(["state", shown.state.as_str()]);
    results(&mut facts, shown);
    facts.render(context.output)
}

/// Writes everything about an agent but its policy.
pub(super) fn sheet(context: Context<'_>, shown: &AgentDocument) -> String {
    let mut facts = Table::new(&[Tone::Accent, Tone::Plain]);
    facts.row(["agent", &shown.agent_id.to_string()]);
    optional(&mut facts, "name", shown.name.as_deref());
    let team_word =
        if shown.status == shown.state.as_str() { String::new() } else { format!(" ({})", shown.status) };
    facts.row(["state", &format!("{}{team_word}", shown.state.as_str())]);
    optional(&mut facts, "error", shown.error.as_deref());
    what_it_is(&mut facts, shown);
    facts.row([
        "calls",
        &format!(
            "{}: {} went well, {} did not",
            shown.operation_count, shown.success_count, shown.error_count
        ),
    ]);
    times(&mut facts, shown);
    list(&mut facts, "protocol", &shown.execution_protocol);
    list(&mut facts, "before", &shown.preconditions);
    list(&mut facts, "after", &shown.postconditions);
    for (skill, promise) in &shown.output_contract {
        facts.row(["promises", &format!("{skill}: {promise}")]);
    }
    for (name, value) in &shown.metadata {
        facts.row(["metadata", &format!("{name}: {}", plain(value))]);
    }
    list(&mut facts, "made", &shown.created_entities);
    results(&mut facts, shown);
    for entry in &shown.error_log {
        facts.row(["went wrong", &format!("{} {}", entry.at, entry.message)]);
    }
    facts.render(context.output)
}

fn what_it_is(facts: &mut Table, shown: &AgentDocument) {
    optional(facts, "task", shown.task.as_deref());
    let driver = match &shown.command {
        Some(command) => format!("{}: {}", shown.driver.as_str(), command.join(" ")),
        None => shown.driver.as_str().to_owned(),
    };
    facts.row(["driver", &driver]);
    if let Some(skills) = &shown.skills {
        let names: Vec<&str> = skills.iter().map(artel_model::name::SkillName::as_str).collect();
        facts.row(["skills".to_owned(), if names.is_empty() { "none".to_owned() } else { names.join(", ") }]);
    }
    if let Some(skill) = &shown.assigned_skill {
        facts.row(["runs", &format!("{skill} {}", Value::Object(shown.skill_params.clone()))]);
    }
    optional(facts, "role", shown.role.as_ref().map(artel_model::agent::RoleName::as_str));
    optional(facts, "workspace", shown.workspace_id.as_deref());
    optional(facts, "parent", shown.parent.map(|parent| parent.to_string()).as_deref());
    optional(facts, "depth", (shown.depth > 0).then(|| shown.depth.to_string()).as_deref());
    optional(facts, "model", shown.model.as_deref());
    optional(facts, "thinking", shown.thinking.map(artel_model::agent::Thinking::as_str));
    optional(facts, "timeout", shown.timeout.map(|seconds| format!("{seconds} s")).as_deref());
    facts.row(["children", &format!("at most {}", shown.max_children)]);
    optional(facts, "run", shown.run_id.map(|run| run.to_string()).as_deref());
}

fn times(facts: &mut Table, shown: &AgentDocument) {
    facts.row(["spawned", &shown.created_at.to_string()]);
    optional(facts, "started", shown.started_at.map(|at| at.to_string()).as_deref());
    optional(facts, "ended", shown.completed_at.map(|at| at.to_string()).as_deref());
    facts.row(["last active", &shown.last_active.to_string()]);
}

/// Writes a policy layer by layer: who allows and who forbids what.
pub(super) fn policy(context: Context<'_>, policy: &PolicyDocument) -> String {
    let mut table = Table::new(&[Tone::Accent, Tone::Strong, Tone::Faint]);
    for (place, origin) in policy.layers.iter().enumerate() {
        let of_layer = |rules: &[PolicyRule]| -> Vec<PolicyRule> {
            rules.iter().filter(|rule| rule.layer == place).cloned().collect()
        };
        let (allowed, forbidden) = (of_layer(&policy.allowed), of_layer(&policy.forbidden));
        table.row([format!("layer {place}"), origin.clone(), String::new()]);
        if allowed.is_empty() {
            table.row(["  allows", "nothing", ""]);
        }
        for (word, rules) in [("  allows", allowed), ("  forbids", forbidden)] {
            for rule in rules {
                table.row([word.to_owned(), rule.pattern, rule.by]);
            }
        }
    }
    table.render(context.output)
}

fn results(facts: &mut Table, shown: &AgentDocument) {
    for (name, value) in &shown.results {
        facts.row(["result".to_owned(), format!("{name}: {}", plain(value))]);
    }
}

fn list(facts: &mut Table, name: &str, items: &[String]) {
    for item in items {
        facts.row([name, item]);
    }
}

fn optional(facts: &mut Table, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        facts.row([name, value]);
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
