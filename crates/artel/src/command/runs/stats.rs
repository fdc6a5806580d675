//! `artel run stats`.

use artel_api::runs::{CountedBy, StatsItem, StatsQuery};
use artel_engine::Clock;
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::cli::{StatsArgs, StatsChoice};
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone, span};
use crate::runtime::wait_for;

pub(crate) fn stats(context: Context<'_>, args: &StatsArgs) -> Result<(), Failure> {
    let (by, name) = match args.by {
        StatsChoice::Skill => (CountedBy::Skill, "skill"),
        StatsChoice::Agent => (CountedBy::Agent, "agent"),
    };
    let since = args.since.map(|moment| moment.before(Clock::system().now()));
    let query = StatsQuery { by, since, until: None };
    let counted = wait_for(async {
        match Backend::open_if_any(context).await? {
            Some(backend) => Ok(backend.stats(query).await?.items),
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
        let rate = stats.success_rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate));
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

fn item(by: &str, stats: &StatsItem) -> Value {
    json!({
        by: stats.of, "count": stats.count, "ended": stats.ended, "succeeded": stats.succeeded,
        "success_rate": stats.success_rate, "retries": stats.retries,
        "p50_ms": stats.p50_ms, "p95_ms": stats.p95_ms, "p99_ms": stats.p99_ms,
    })
}
