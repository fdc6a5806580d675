//! `artel run list`.

use artel_engine::Clock;
use artel_model::run::{RunSummary, SubmissionKind};
use artel_store::{Cursor, Page, PageRequest, RunFilter};
use serde_json::{Value, json};

use crate::cli::{PageArgs, RunListArgs};
use crate::command::Context;
use crate::desk::{FoundRun, RunDesk};
use crate::failure::Failure;
use crate::output::{Table, Tone, ago, span};
use crate::workshop::wait_for;

pub(crate) fn list(context: Context<'_>, args: &RunListArgs) -> Result<(), Failure> {
    let now = Clock::system().now();
    let filter = RunFilter {
        states: args.state.iter().map(|choice| choice.0).collect(),
        created_from: args.since.map(|moment| moment.before(now)),
        created_before: None,
        owner: None,
    };
    let page = wait_for(async {
        match RunDesk::open_if_any(context).await? {
            Some(desk) => desk.list(&filter, &page_of(&args.page)).await,
            None => Ok(Page { items: Vec::new(), next: None }),
        }
    })?;
    let output = context.output;
    if output.json {
        let items: Vec<Value> = page.items.iter().map(item).collect();
        output.document(&json!({"items": items, "next": page.next.map(|cursor| cursor.0)}));
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Strong, Tone::Plain, Tone::Accent, Tone::Faint, Tone::Faint]);
    for run in &page.items {
        let RunSummary { run_id, steps, created_at, completed_at, .. } = &run.summary;
        let took = completed_at
            .map(|at| format!(", took {}", span(at.millis_since(*created_at))))
            .unwrap_or_default();
        let steps = if *steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
        let when = format!("{}{took}", ago(*created_at, now));
        table.row([run_id.to_string(), word(run), what(&run.summary.kind), steps, when]);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.as_ref(), "run");
    Ok(())
}

/// Says where a run stands; of one that nobody drives, that too.
fn word(run: &FoundRun) -> String {
    let state = run.summary.state.as_str();
    if run.is_left_over() { format!("{state} (left over)") } else { state.to_owned() }
}

/// Says what a run is of.
pub(super) fn what(kind: &SubmissionKind) -> String {
    match kind {
        SubmissionKind::Plan => "plan".to_owned(),
        SubmissionKind::Skill { skill } => skill.to_string(),
    }
}

fn item(run: &FoundRun) -> Value {
    let mut item = json!(run.summary);
    item["driven"] = json!(run.is_driven);
    item
}

/// Returns the page that was asked for.
pub(in crate::command) fn page_of(args: &PageArgs) -> PageRequest {
    PageRequest { after: args.after.clone().map(Cursor), limit: usize::from(args.limit) }
}

/// Says how many there are, and how to see more.
pub(in crate::command) fn tell_next(context: Context<'_>, count: usize, next: Option<&Cursor>, noun: &str) {
    let count = if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    match next {
        Some(next) => context.output.talk(&format!("{count}; there are more: --after {}", next.0)),
        None => context.output.talk(&count),
    }
}
