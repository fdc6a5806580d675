//! `artel agent pause`, `resume`, `cancel`, `terminate` and `free`.

use artel_agents::{Agents, CommandRefused};
use artel_model::agent::{AgentDocument, AgentRecord, Cause};
use artel_model::id::AgentId;

use super::list::is_left_over;
use crate::cli::AgentArgs;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::workshop::{Agency, Teller, cause, find_agent, wait_for};

/// What an agent can be told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::command) enum Telling {
    Pause,
    Resume,
    Cancel,
    Terminate,
    Free,
}

impl Telling {
    async fn tell(self, agents: &Agents, id: AgentId, cause: Cause) -> Result<AgentRecord, CommandRefused> {
        match self {
            Self::Pause => agents.pause(id, cause).await,
            Self::Resume => agents.resume(id, cause).await,
            Self::Cancel => agents.cancel(id, cause).await,
            Self::Terminate => agents.terminate(id, cause).await,
            Self::Free => agents.free(id, cause).await,
        }
    }
}

pub(crate) fn tell(context: Context<'_>, args: &AgentArgs, telling: Telling) -> Result<(), Failure> {
    wait_for(async {
        let teller = Teller::open(context).await?;
        let before = find_agent(&teller.store, &args.agent).await?.record;
        let agency = Agency::to_tell(context, &teller).await?;
        let id = before.agent_id;
        let told = telling.tell(&agency.agents, id, cause(context)).await;
        let record = told.map_err(|error| refused(&error))?;
        if context.output.json {
            context.output.document(&AgentDocument::of(&record));
        } else {
            context.output.line(&format!("{id}: {}", record.state().as_str()));
        }
        if is_left_over(context, &before) {
            context.output.talk(
                "nobody saw to its work any more; `artel agent recover` goes on with what is left over",
            );
        }
        Ok(())
    })
}

fn refused(error: &CommandRefused) -> Failure {
    match error {
        CommandRefused::Unknown(_)
        | CommandRefused::Transition(_)
        | CommandRefused::Full(_)
        | CommandRefused::StillEnding(_)
        | CommandRefused::Run(_) => {
            Failure::failed(chain(error)).hint("`artel agent show` says where it stands")
        }
        CommandRefused::Failed(_) => Failure::missing(chain(error)),
    }
}
