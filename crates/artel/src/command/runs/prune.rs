//! `artel run prune`.

use artel_engine::Clock;
use serde_json::json;

use crate::cli::{Moment, PruneArgs};
use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::{Store, wait_for};

/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

pub(crate) fn prune(context: Context<'_>, args: &PruneArgs) -> Result<(), Failure> {
    let configured = context.config.retention_days.value.map(|days| Moment::Ago(u64::from(days) * DAY_MS));
    let Some(before) = args.before.or(configured) else {
        return Err(Failure::usage("it is not said what may be removed").hint(
            "`--before 30d` removes what ended more than 30 days ago; so does `retention_days` in artel.toml",
        ));
    };
    let before = before.before(Clock::system().now());
    let removed = wait_for(async {
        match Store::open_existing(context.config).await? {
            Some(store) => store.runs.prune(before).await.map_err(|error| Failure::unavailable(&error)),
            None => Ok(0),
        }
    })?;
    if context.output.json {
        context.output.document(&json!({"removed": removed, "before": before}));
    } else {
        let runs = if removed == 1 { "1 run".to_owned() } else { format!("{removed} runs") };
        context.output.line(&format!("removed {runs} that ended before {before}"));
    }
    Ok(())
}
