//! `artel skill check`.

use artel_catalog::{Catalog, Keep, visible};
use artel_model::policy::{ComposeMode, compose};
use artel_model::set::SetReport;
use artel_model::skill::Skill;
use serde_json::json;

use super::child::Child;
use super::compose::{known, report};
use super::context::Context;
use crate::cli::CheckArgs;
use crate::failure::Failure;
use crate::output::Tone;

pub(crate) fn run(context: Context<'_>, args: &CheckArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    let report = report(&catalog, &args.names);
    let child = child(context, args, &catalog, &report)?;
    let output = context.output;
    if output.json {
        let mut document = json!(report);
        if let Some(child) = &child {
            document["child"] = child.document();
        }
        output.document(&document);
    } else {
        print(context, &report);
        if let Some(child) = &child {
            output.data(&child.text(context));
        }
    }
    if report.valid { Ok(()) } else { Err(Failure::reported()) }
}

/// Looks what a child with these skills could call, if one was asked about and could be.
fn child(
    context: Context<'_>,
    args: &CheckArgs,
    catalog: &Catalog,
    report: &SetReport,
) -> Result<Option<Child>, Failure> {
    let Some(parent) = args.child.for_agent.as_ref().filter(|_| report.valid) else { return Ok(None) };
    let skills: Vec<&Skill> = args.names.iter().filter_map(|name| known(catalog, name)).collect();
    let composed = compose(&skills, ComposeMode::Union);
    Child::of(context, parent, &composed, catalog, &[]).map(Some)
}

fn print(context: Context<'_>, report: &SetReport) {
    let output = context.output;
    for error in &report.errors {
        let code = serde_json::to_value(error.code).expect("a code is JSON");
        let code = code.as_str().unwrap_or_default();
        output.line(&format!(
            "{}: {}",
            output.paint(&format!("error[{code}]"), Tone::Error),
            visible(&error.message)
        ));
    }
    for warning in &report.warnings {
        output.line(&format!("{}: {}", output.paint("warning", Tone::Warning), visible(warning)));
    }
    if report.valid {
        output.line(&format!("{}: these skills can be used together", output.paint("ok", Tone::Good)));
    }
}
