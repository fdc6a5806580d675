//! `artel run stats`.

use artel_engine::Clock;
use artel_store::{ExecutionStats, StatsBy, StatsFilter};
use serde_json::{Value, json};

use crate::cli::{StatsArgs, StatsChoice};
use crate::command::Context;
use crate::desk::RunDesk;
use crate::failure::Failure;
use crate::output::{Table, Tone, span};
use crate::workshop::wait_for;

pub(crate) fn stats(context: Context<'_>, args: &StatsArgs) -> Result<(), Failure> {
    let (by, name) = match args.by {
        StatsChoice::Skill => (StatsBy::Skill, "skill"),
        StatsChoice::Agent => (StatsBy::Agent, "agent"),
    };
    let since = args.since.map(|moment| moment.before(Clock::system().now()));
    let filter = StatsFilter { by, started_from: since, started_before: None };
    let counted = wait_for(async {
        match RunDesk::open_if_any(context).await? {
            Some(desk) => desk.stats(&filter).await,
            None => Ok(Vec::new()),
        }
    })?;
    if context.output.json {
        let items: Vec<Value> = counted.iter().map(|stats| item(name, stats)).collect();
        context.output.document(&json!({"items": items, "since": since}));
        return Ok(());
    }
    let tones = [Tone::Strong, Tone::Plain, Tone::Plain, Tone::Plain, Tone::Plain, Tone::Plain, Tone::Plain];
    let mut table = Table::new(&tones);
    table.row([name, "runs", "succeeded", "p50", "p95", "p99", "retries"]);
    for stats in &counted {
        let took = |millis: Option<u64>| millis.map_or_else(|| "-".to_owned(), span);
        let rate = rate(stats).map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate));
        let of = stats.of.clone().unwrap_or_else(|| "(none)".to_owned());
        let count = stats.count.to_string();
        table.row([
            of,
            count,
            rate,
            took(stats.p50_ms),
            took(stats.p95_ms),
            took(stats.p99_ms),
            stats.retries.to_string(),
        ]);
    }
    context.output.data(&table.render(context.output));
    Ok(())
}

/// Returns how many in one of those that ended did what they should.
fn rate(stats: &ExecutionStats) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown with few digits")]
    let rate = |succeeded: u64, ended: u64| succeeded as f64 / ended as f64;
    (stats.ended > 0).then(|| rate(stats.succeeded, stats.ended))
}

fn item(by: &str, stats: &ExecutionStats) -> Value {
    json!({
        by: stats.of, "count": stats.count, "ended": stats.ended, "succeeded": stats.succeeded,
        "success_rate": rate(stats), "retries": stats.retries,
        "p50_ms": stats.p50_ms, "p95_ms": stats.p95_ms, "p99_ms": stats.p99_ms,
    })
}
