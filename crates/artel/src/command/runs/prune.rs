//! `artel run prune`.

use artel_api::runs::PrunedRuns;
use artel_engine::Clock;
use serde_json::json;

use crate::backend::Backend;
use crate::cli::{Moment, PruneArgs};
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::wait_for;

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
    let PrunedRuns { removed, assets } = wait_for(async {
        match Backend::open_if_any(context).await? {
            Some(backend) => Ok(backend.prune_runs(before).await?),
            None => Ok(PrunedRuns { removed: 0, assets: 0 }),
        }
    })?;
    if context.output.json {
        context.output.document(&json!({"removed": removed, "assets": assets, "before": before}));
    } else {
        context.output.line(&format!("removed {} that ended before {before}", counted(removed, "run")));
        if assets > 0 {
            context.output.line(&format!("removed {} that only they had made", counted(assets, "file")));
        }
    }
    Ok(())
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
