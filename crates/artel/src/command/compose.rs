//! `artel skill compose`.

use artel_catalog::{Catalog, Keep};
use artel_model::policy::{ComposeMode, ComposedSkill, Decision, Grant, compose};
use artel_model::set::{SetErrorCode, SetReport, validate_set};
use artel_model::skill::Skill;
use artel_model::tool::ToolCall;
use serde_json::{Value, json};

use super::child::Child;
use super::context::Context;
use crate::cli::ComposeArgs;
use crate::failure::Failure;
use crate::output::{Table, Tone};

pub(crate) fn run(context: Context<'_>, args: &ComposeArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    let report = report(&catalog, &args.names);
    let unknown = report
        .errors
        .iter()
        .any(|error| matches!(error.code, SetErrorCode::UnknownSkill | SetErrorCode::TooManySkills));
    if unknown {
        return Err(refused(context, &report));
    }
    let skills: Vec<&Skill> = args.names.iter().filter_map(|name| known(&catalog, name)).collect();
    let mode = if args.strict { ComposeMode::Strict } else { ComposeMode::Union };
    let composed = compose(&skills, mode);
    if let Some(parent) = &args.child.for_agent {
        let tools: Vec<String> = args.tool.iter().map(ToString::to_string).collect();
        let child = Child::of(context, parent, &composed, &catalog, &tools)?;
        if context.output.json {
            let mut document = serde_json::to_value(&composed).expect("a composition is JSON");
            document["child"] = child.document();
            context.output.document(&document);
        } else {
            context.output.data(&child.text(context));
        }
    } else if context.output.json {
        let mut document = serde_json::to_value(&composed).expect("a composition is JSON");
        if !args.tool.is_empty() {
            document["decisions"] = args.tool.iter().map(|call| decision_json(&composed, call)).collect();
        }
        context.output.document(&document);
    } else {
        context.output.data(&text(context, &composed, &args.tool));
    }
    for line in report.errors.iter().map(|error| &error.message).chain(&report.warnings) {
        context.output.remark("warning:", Tone::Warning, line);
    }
    Ok(())
}

/// Validates a set against the catalog.
pub(crate) fn report(catalog: &Catalog, names: &[String]) -> SetReport {
    let mut report = validate_set(names, |name| known(catalog, name));
    for error in &mut report.errors {
        let name = error.skill.as_ref().and_then(|name| name.parse().ok());
        if let (SetErrorCode::UnknownSkill, Some(name)) = (error.code, name)
            && !catalog.is_enabled(&name)
        {
            error.message = format!("skill `{name}` is disabled; `artel skill enable {name}` switches it on");
        }
    }
    report
}

/// Prints why a set was refused.
pub(crate) fn refused(context: Context<'_>, report: &SetReport) -> Failure {
    if context.output.json {
        context.output.document(report);
        return Failure::reported();
    }
    let messages: Vec<String> = report.errors.iter().map(|error| error.message.clone()).collect();
    Failure::failed(messages.join("; ")).hint("`artel skill list` shows the skills there are")
}

pub(super) fn known<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Skill> {
    let name = name.parse().ok()?;
    catalog.registry().get(&name, None).ok().map(AsRef::as_ref)
}

fn decision_json(composed: &ComposedSkill, call: &ToolCall) -> Value {
    let decision = composed.check(call);
    let mut document = serde_json::to_value(&decision).expect("a decision is JSON");
    document["tool"] = json!(call);
    document["code"] = json!(decision.code());
    document
}

fn text(context: Context<'_>, composed: &ComposedSkill, calls: &[ToolCall]) -> String {
    let mut table = Table::new(&[Tone::Accent, Tone::Strong, Tone::Faint]);
    let names = |grant: &Grant| {
        let names: Vec<&str> = grant.skills.iter().map(artel_model::name::SkillName::as_str).collect();
        names.join(", ")
    };
    for grant in &composed.allowed_tools {
        table.row(["allows".to_owned(), grant.pattern.to_string(), names(grant)]);
    }
    for grant in &composed.forbidden_tools {
        table.row(["forbids".to_owned(), grant.pattern.to_string(), names(grant)]);
    }
    for (index, step) in composed.execution_protocol.iter().enumerate() {
        table.row([format!("step {}", index + 1), step.clone(), String::new()]);
    }
    for call in calls {
        let (word, why) = match composed.check(call) {
            Decision::Allowed { pattern, skills } => {
                ("may call", format!("allowed by {} ({pattern})", join(&skills)))
            }
            Decision::Forbidden { pattern, skills } => {
                ("may not", format!("TOOL_FORBIDDEN by {} ({pattern})", join(&skills)))
            }
            Decision::NotAllowed => ("may not", "TOOL_NOT_ALLOWED by any of these skills".to_owned()),
        };
        table.row([word.to_owned(), call.to_string(), why]);
    }
    table.render(context.output)
}

fn join(skills: &[artel_model::name::SkillName]) -> String {
    skills.iter().map(artel_model::name::SkillName::as_str).collect::<Vec<_>>().join(", ")
}
