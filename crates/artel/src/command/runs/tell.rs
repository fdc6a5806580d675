//! `artel run cancel`, `pause`, `resume`, `approve` and `reject`.

use artel_engine::{Command, CommandError};
use artel_model::run::RunState;

use crate::cli::RunPrefix;
use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::{Teller, find_run, is_driven, person, wait_for};

pub(crate) fn tell(context: Context<'_>, id: &RunPrefix, command: &Command) -> Result<(), Failure> {
    wait_for(async {
        let teller = Teller::open(context).await?;
        let row = find_run(&teller.store, id).await?;
        let run = row.summary.run_id;
        let by = person(&context.config.environment);
        let summary = teller.engine.command(run, command, by).await.map_err(|error| refused(&error))?;
        if context.output.json {
            context.output.document(&summary);
        } else {
            context.output.line(&format!("{run}: {}", told(command, summary.state)));
        }
        if !summary.state.is_final() && !is_driven(context, &row) {
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

fn refused(error: &CommandError) -> Failure {
    match error {
        CommandError::NotAwaiting { awaiting, .. } if !awaiting.is_empty() => {
            Failure::failed(error.to_string()).hint("`--step` names the step")
        }
        CommandError::Unknown(_)
        | CommandError::Over(_)
        | CommandError::NotNow { .. }
        | CommandError::NotAwaiting { .. } => Failure::failed(error.to_string()),
        CommandError::Drive(_) => Failure::unavailable(error),
    }
}
