//! `artel agent prune`.

use artel_api::agents::PrunedAgents;
use artel_engine::Clock;
use serde_json::json;

use crate::backend::Backend;
use crate::cli::Moment;
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::wait_for;

pub(crate) fn prune(context: Context<'_>, before: Moment) -> Result<(), Failure> {
    let before = before.before(Clock::system().now());
    let PrunedAgents { removed, folders } = wait_for(async {
        match Backend::open_if_any(context).await? {
            Some(backend) => Ok(backend.prune_agents(before).await?),
            None => Ok(PrunedAgents { removed: 0, folders: 0 }),
        }
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
