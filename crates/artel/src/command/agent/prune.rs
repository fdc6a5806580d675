//! `artel agent prune`.

use artel_engine::Clock;
use serde_json::json;

use crate::cli::Moment;
use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::{Store, wait_for};

pub(crate) fn prune(context: Context<'_>, before: Moment) -> Result<(), Failure> {
    let before = before.before(Clock::system().now());
    let removed = wait_for(async {
        match Store::open_existing(context.config).await? {
            Some(store) => {
                store.agents.prune_agents(before).await.map_err(|error| Failure::unavailable(&error))
            }
            None => Ok(0),
        }
    })?;
    if context.output.json {
        context.output.document(&json!({"removed": removed, "before": before}));
    } else {
        let agents = if removed == 1 { "1 agent".to_owned() } else { format!("{removed} agents") };
        context.output.line(&format!("removed {agents} that ended before {before}"));
    }
    Ok(())
}
