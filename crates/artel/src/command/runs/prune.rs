//! `artel run prune`.

use artel_engine::{Clock, Pruned};
use serde_json::json;

use crate::cli::{Moment, PruneArgs};
use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::{self, Store, wait_for};

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
    let Pruned { runs, assets } = wait_for(async {
        match Store::open_existing(context.config).await? {
            Some(store) => workshop::prune(context, &store, before).await,
            None => Ok(Pruned { runs: 0, assets: 0 }),
        }
    })?;
    if context.output.json {
        context.output.document(&json!({"removed": runs, "assets": assets, "before": before}));
    } else {
        context.output.line(&format!("removed {} that ended before {before}", counted(runs, "run")));
        if assets > 0 {
            context.output.line(&format!("removed {} that only they had made", counted(assets, "file")));
        }
    }
    Ok(())
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
