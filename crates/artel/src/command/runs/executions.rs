//! `artel run executions`.

use artel_api::Paged;
use artel_api::runs::ExecutionsQuery;
use artel_engine::Clock;
use artel_model::run::ExecutionRecord;
use serde_json::Value;

use super::list::{comma_separated, page_of, tell_next};
use crate::backend::Backend;
use crate::cli::ExecutionsArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone, ago, span};
use crate::runtime::wait_for;

pub(crate) fn executions(context: Context<'_>, args: &ExecutionsArgs) -> Result<(), Failure> {
    let now = Clock::system().now();
    let page = wait_for(async {
        let Some(backend) = Backend::open_if_any(context).await? else {
            return Ok(Paged { items: Vec::new(), next: None });
        };
        let run = match &args.run {
            Some(prefix) => Some(backend.find_run(prefix).await?.run_id.0),
            None => None,
        };
        let (after, limit) = page_of(&args.page);
        let query = ExecutionsQuery {
            agent: args.agent.map(|agent| agent.0),
            run,
            skill: args.skill.clone(),
            status: comma_separated(args.status.iter().map(|choice| choice.0.as_str())),
            since: args.since.map(|moment| moment.before(now)),
            until: args.until.map(|moment| moment.before(now)),
            after,
            limit,
        };
        Ok(backend.executions(query).await?)
    })?;
    let output = context.output;
    if output.json {
        output.document(&page);
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
    tell_next(context, page.items.len(), page.next.as_deref(), "execution");
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
