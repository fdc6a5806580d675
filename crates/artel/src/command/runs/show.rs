//! `artel run show`.

use artel_model::id::RunId;
use artel_model::run::{AttemptTrace, ResultDocument, Run, TraceEntry};
use artel_store::{LoggedEvent, Revision};
use serde_json::{Value, json};

use super::list::what;
use crate::backend::{Backend, is_left_over};
use crate::cli::RunShowArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone, span};
use crate::runtime::wait_for;

/// Lines of stderr that are shown of one attempt.
const STDERR_LINES_SHOWN: usize = 10;

pub(crate) fn show(context: Context<'_>, args: &RunShowArgs) -> Result<(), Failure> {
    wait_for(async {
        let backend = Backend::open(context).await?;
        let found = backend.find_run(&args.id).await?;
        let id = found.run_id;
        if args.events {
            return print_events(context, &backend, id).await;
        }
        let (run, result) = backend.run_result(backend.run_history(id).await?).await?;
        if context.output.json {
            context.output.document(&result);
            return Ok(());
        }
        context.output.data(&head(context, &run, &result));
        context.output.narrative(&result);
        context.output.steps(&result);
        context.output.data(&troubles(context, &result));
        if is_left_over(&found) {
            context.output.talk("nobody drives this run; `artel run recover` goes on with it");
        }
        Ok(())
    })
}

async fn print_events(context: Context<'_>, backend: &Backend, id: RunId) -> Result<(), Failure> {
    let mut after = Revision(0);
    loop {
        let page = backend.run_log(id, after).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.revision;
        page.iter().for_each(|logged| context.output.line(&line(logged)));
    }
}

/// One event of a log, as a line of JSON.
pub(super) fn line(logged: &LoggedEvent) -> String {
    json!({"revision": logged.revision.0, "at": logged.event.at, "event": logged.event.event}).to_string()
}

fn head(context: Context<'_>, run: &Run, result: &ResultDocument) -> String {
    let summary = run.summary();
    let mut facts = Table::new(&[Tone::Accent, Tone::Plain]);
    facts.row(["run", &summary.run_id.to_string()]);
    facts.row(["of", &what(&summary.kind)]);
    facts.row(["plan", &summary.plan_id.to_string()]);
    facts.row(["state", summary.state.as_str()]);
    facts.row(["asked for", &summary.created_at.to_string()]);
    if let Some(at) = summary.completed_at {
        facts.row(["ended", &format!("{at}, after {}", span(at.millis_since(summary.created_at)))]);
    }
    let awaiting: Vec<String> =
        run.awaiting_approval().map(|step| run.plan().steps()[step].id.to_string()).collect();
    if !awaiting.is_empty() {
        facts.row(["waits for", &format!("approval of {}", awaiting.join(", "))]);
    }
    for asset in &result.assets {
        facts.row([
            "file",
            &format!("{} ({}, {} bytes) {}", asset.path, asset.media_type, asset.size, asset.hash),
        ]);
    }
    if !result.final_state.is_empty() {
        facts.row(["state at the end", &Value::Object(result.final_state.clone()).to_string()]);
    }
    format!("{}\n", facts.render(context.output))
}

/// The attempts of steps that did not go smoothly, with the end of their stderr.
fn troubles(context: Context<'_>, result: &ResultDocument) -> String {
    let output = context.output;
    let mut out = String::new();
    let is_trouble = |entry: &&TraceEntry| entry.attempts.iter().any(|attempt| attempt.error.is_some());
    for entry in result.execution_trace.iter().filter(is_trouble) {
        out.push_str(&format!("\n{}\n", output.paint(entry.tool_id.as_str(), Tone::Strong)));
        for attempt in &entry.attempts {
            out.push_str(&trouble(context, attempt));
        }
    }
    out
}

fn trouble(context: Context<'_>, attempt: &AttemptTrace) -> String {
    let output = context.output;
    let told = match &attempt.error {
        Some(error) => {
            let kind = json!(error.kind);
            format!("{}: {}", kind.as_str().unwrap_or_default(), error.message)
        }
        None if attempt.execution_time_ms.is_none() => "nobody saw its end".to_owned(),
        None => "completed".to_owned(),
    };
    let took = attempt.execution_time_ms.map(|millis| format!(" after {}", span(millis))).unwrap_or_default();
    let head = format!("attempt {}{took}: {told}", attempt.attempt);
    let mut out = format!("  {}\n", output.paint(&head, Tone::Plain));
    let lines: Vec<&str> = attempt.stderr.lines().collect();
    for line in &lines[lines.len().saturating_sub(STDERR_LINES_SHOWN)..] {
        out.push_str(&format!(
            "    {} {}\n",
            output.paint("|", Tone::Accent),
            output.paint(line, Tone::Faint)
        ));
    }
    out
}
