//! `artel agent prune`.

use artel_engine::Clock;
use serde_json::json;

use crate::cli::Moment;
use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::{Store, prune_work, wait_for};

pub(crate) fn prune(context: Context<'_>, before: Moment) -> Result<(), Failure> {
    let before = before.before(Clock::system().now());
    let (removed, folders) = wait_for(async {
        let Some(store) = Store::open_existing(context.config).await? else { return Ok((0, 0)) };
        let removed = store.agents.prune_agents(before).await;
        let removed = removed.map_err(|error| Failure::unavailable(&error))?;
        Ok((removed, prune_work(context, &store).await?))
    })?;
    if context.output.json {
        context.output.document(&json!({"removed": removed, "before": before, "folders": folders}));
    } else {
        let agents = if removed == 1 { "1 agent".to_owned() } else { format!("{removed} agents") };
        context.output.line(&format!("removed {agents} that ended before {before}"));
        if folders > 0 {
            let folders = if folders == 1 { "1 folder".to_owned() } else { format!("{folders} folders") };
            context.output.line(&format!("removed {folders} that agents which are gone worked in"));
        }
    }
    Ok(())
}
