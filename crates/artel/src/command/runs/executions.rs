//! `artel run executions`.

use artel_engine::Clock;
use artel_model::run::ExecutionRecord;
use artel_store::{ExecutionFilter, Page};
use serde_json::{Value, json};

use super::list::{page_of, tell_next};
use crate::cli::ExecutionsArgs;
use crate::command::Context;
use crate::desk::RunDesk;
use crate::failure::Failure;
use crate::output::{Table, Tone, ago, span};
use crate::workshop::wait_for;

pub(crate) fn executions(context: Context<'_>, args: &ExecutionsArgs) -> Result<(), Failure> {
    let now = Clock::system().now();
    let page = wait_for(async {
        let Some(desk) = RunDesk::open_if_any(context).await? else {
            return Ok(Page { items: Vec::new(), next: None });
        };
        let run = match &args.run {
            Some(prefix) => Some(desk.find(prefix).await?.summary.run_id),
            None => None,
        };
        let filter = ExecutionFilter {
            agent: args.agent,
            run,
            skill: args.skill.clone(),
            statuses: args.status.iter().map(|choice| choice.0).collect(),
            started_from: args.since.map(|moment| moment.before(now)),
            started_before: args.until.map(|moment| moment.before(now)),
            owner: None,
        };
        desk.executions(&filter, &page_of(&args.page)).await
    })?;
    let output = context.output;
    if output.json {
        output.document(&json!({"items": page.items, "next": page.next.map(|cursor| cursor.0)}));
        return Ok(());
    }
    let mut table =
        Table::new(&[Tone::Faint, Tone::Plain, Tone::Strong, Tone::Faint, Tone::Faint, Tone::Plain]);
    for record in &page.items {
        let took = record.duration_ms.map(span).unwrap_or_default();
        let skill = format!("{}@{}", record.skill_name, record.skill_version);
        let (id, status) = (record.execution_id.to_string(), record.status.as_str().to_owned());
        table.row([id, status, skill, ago(record.started_at, now), took, what(record)]);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.as_ref(), "execution");
    Ok(())
}

/// Says why it failed, or what came of it.
fn what(record: &ExecutionRecord) -> String {
    match (&record.error, &record.result) {
        (Some(error), _) => error.message.clone(),
        (None, Some(result)) => Value::Object(result.clone()).to_string(),
        (None, None) => String::new(),
    }
}
