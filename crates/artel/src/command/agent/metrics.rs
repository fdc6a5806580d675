//! `artel agent metrics`.

use artel_model::id::AgentId;
use artel_store::{ExecutionFilter, PageRequest, has_ended};
use serde_json::json;

use crate::cli::AgentArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone, span};
use crate::workshop::{Store, Teller, find_agent, wait_for};

/// Records that are read at once.
const RECORDS_PAGE: usize = 1000;

pub(crate) fn metrics(context: Context<'_>, args: &AgentArgs) -> Result<(), Failure> {
    let (record, average_ms) = wait_for(async {
        let Teller { store, .. } = Teller::open(context).await?;
        let record = find_agent(&store, &args.agent).await?.record;
        let average = average_ms(&store, record.agent_id).await?;
        Ok((record, average))
    })?;
    let (count, success) = (record.operation_count, record.success_count);
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown with few digits")]
    let rate = (count > 0).then(|| success as f64 / count as f64);
    let output = context.output;
    if output.json {
        #[expect(clippy::cast_precision_loss, reason = "an average is shown with few digits")]
        let average = average_ms.map(|millis| millis as f64 / 1000.0);
        output.document(&json!({
            "agent_id": record.agent_id, "operation_count": count, "success_count": success,
            "error_count": record.error_count, "success_rate": rate, "average_operation_time": average,
        }));
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Accent, Tone::Plain]);
    table.row(["agent", &record.agent_id.to_string()]);
    table.row(["calls", &count.to_string()]);
    table.row(["went well", &success.to_string()]);
    table.row(["did not", &record.error_count.to_string()]);
    table
        .row(["success rate", &rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate))]);
    table.row(["average time", &average_ms.map_or_else(|| "-".to_owned(), span)]);
    output.data(&table.render(output));
    Ok(())
}

/// Returns the average time of what was run for the agent and has ended.
async fn average_ms(store: &Store, agent: AgentId) -> Result<Option<u64>, Failure> {
    let filter = ExecutionFilter { agent: Some(agent), ..ExecutionFilter::default() };
    let mut page = PageRequest { after: None, limit: RECORDS_PAGE };
    let (mut sum, mut count) = (0_u64, 0_u64);
    loop {
        let records = store.executions.executions(&filter, &page).await;
        let records = records.map_err(|error| Failure::unavailable(&error))?;
        for record in records.items.iter().filter(|record| has_ended(record.status)) {
            if let Some(millis) = record.duration_ms {
                sum = sum.saturating_add(millis);
                count += 1;
            }
        }
        match records.next {
            Some(next) => page.after = Some(next),
            None => return Ok((count > 0).then(|| sum / count)),
        }
    }
}
