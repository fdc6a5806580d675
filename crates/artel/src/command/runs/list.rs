//! `artel run list`.

use artel_api::Paged;
use artel_api::runs::{RunStatus, RunsQuery};
use artel_engine::Clock;
use artel_model::run::SubmissionKind;

use crate::backend::{Backend, is_left_over};
use crate::cli::{PageArgs, RunListArgs};
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone, ago, span};
use crate::runtime::wait_for;

pub(crate) fn list(context: Context<'_>, args: &RunListArgs) -> Result<(), Failure> {
    let now = Clock::system().now();
    let (after, limit) = page_of(&args.page);
    let query = RunsQuery {
        state: comma_separated(args.state.iter().map(|choice| choice.0.as_str())),
        since: args.since.map(|moment| moment.before(now)),
        until: None,
        owner: None,
        after,
        limit,
    };
    let page = wait_for(async {
        match Backend::open_if_any(context).await? {
            Some(backend) => Ok(backend.list_runs(query).await?),
            None => Ok(Paged { items: Vec::new(), next: None }),
        }
    })?;
    let output = context.output;
    if output.json {
        output.document(&page);
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Strong, Tone::Plain, Tone::Accent, Tone::Faint, Tone::Faint]);
    for run in &page.items {
        let RunStatus { run_id, steps, created_at, completed_at, .. } = run;
        let took = completed_at
            .map(|at| format!(", took {}", span(at.millis_since(*created_at))))
            .unwrap_or_default();
        let steps = if *steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
        let when = format!("{}{took}", ago(*created_at, now));
        table.row([run_id.to_string(), word(run), what(&run.kind), steps, when]);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.as_deref(), "run");
    Ok(())
}

/// Says where a run stands; of one that nobody drives, that too.
fn word(run: &RunStatus) -> String {
    let state = run.state.as_str();
    if is_left_over(run) { format!("{state} (left over)") } else { state.to_owned() }
}

/// Says what a run is of.
pub(super) fn what(kind: &SubmissionKind) -> String {
    match kind {
        SubmissionKind::Plan => "plan".to_owned(),
        SubmissionKind::Skill { skill } => skill.to_string(),
    }
}

/// Returns which page was asked for: after what, and how many items.
pub(in crate::command) fn page_of(args: &PageArgs) -> (Option<String>, Option<u32>) {
    (args.after.clone(), Some(u32::from(args.limit)))
}

/// Writes choices as a query names them; nothing when there are none.
pub(in crate::command) fn comma_separated<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let words: Vec<&str> = words.collect();
    (!words.is_empty()).then(|| words.join(","))
}

/// Says how many there are, and how to see more.
pub(in crate::command) fn tell_next(context: Context<'_>, count: usize, next: Option<&str>, noun: &str) {
    let count = if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    match next {
        Some(next) => context.output.talk(&format!("{count}; there are more: --after {next}")),
        None => context.output.talk(&count),
    }
}
