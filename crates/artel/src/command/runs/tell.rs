//! `artel run cancel`, `pause`, `resume`, `approve` and `reject`.

use artel_engine::Command;
use artel_model::run::RunState;

use crate::backend::{Backend, not_commanded};
use crate::cli::RunPrefix;
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::wait_for;

pub(crate) fn tell(context: Context<'_>, id: &RunPrefix, command: &Command) -> Result<(), Failure> {
    wait_for(async {
        let backend = Backend::open(context).await?;
        let found = backend.find_run(id).await?;
        let run = found.run_id;
        let summary = backend.command_run(run, command).await.map_err(not_commanded)?;
        if context.output.json {
            context.output.document(&summary);
        } else {
            context.output.line(&format!("{run}: {}", told(command, summary.state)));
        }
        if !summary.state.is_final() && !found.driven {
            let what = if summary.state == RunState::Stopping { "ends it" } else { "goes on with it" };
            context.output.talk(&format!("nobody drives this run at the moment; `artel run recover` {what}"));
        }
        Ok(())
    })
}

fn told(command: &Command, state: RunState) -> &'static str {
    match command {
        Command::Cancel if state.is_final() => "cancelled",
        Command::Cancel => "is being cancelled",
        Command::Pause => "paused",
        Command::Resume => "goes on",
        Command::Approve { .. } => "approved",
        Command::Reject { .. } => "rejected",
    }
}
