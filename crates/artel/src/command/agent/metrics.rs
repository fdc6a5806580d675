//! `artel agent metrics`.

use artel_api::agents::AgentMetrics;
use serde_json::json;

use crate::backend::Backend;
use crate::cli::AgentArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone, span};
use crate::runtime::wait_for;

pub(crate) fn metrics(context: Context<'_>, args: &AgentArgs) -> Result<(), Failure> {
    let metrics = wait_for(async {
        let backend = Backend::open(context).await?;
        let agent = backend.find_agent(&args.agent).await?;
        Ok(backend.agent_metrics(agent.agent_id).await?)
    })?;
    let output = context.output;
    if output.json {
        output.document(&json!(metrics));
        return Ok(());
    }
    let AgentMetrics { agent_id, operation_count, success_count, error_count, .. } = metrics;
    let mut table = Table::new(&[Tone::Accent, Tone::Plain]);
    table.row(["agent", &agent_id.to_string()]);
    table.row(["calls", &operation_count.to_string()]);
    table.row(["went well", &success_count.to_string()]);
    table.row(["did not", &error_count.to_string()]);
    let rate = metrics.success_rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate));
    table.row(["success rate", &rate]);
    let average = metrics.average_operation_time.map_or_else(|| "-".to_owned(), |time| span(millis(time)));
    table.row(["average time", &average]);
    output.data(&table.render(output));
    Ok(())
}

/// Returns the milliseconds of seconds that were made of whole ones.
fn millis(seconds: f64) -> u64 {
    u64::try_from(std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_millis())
        .unwrap_or(u64::MAX)
}
