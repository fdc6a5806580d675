//! `artel agent pause`, `resume`, `cancel`, `terminate` and `free`.

use crate::backend::{Backend, Telling};
use crate::cli::AgentArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::wait_for;

pub(crate) fn tell(context: Context<'_>, args: &AgentArgs, telling: Telling) -> Result<(), Failure> {
    wait_for(async {
        let backend = Backend::open(context).await?;
        let before = backend.find_agent(&args.agent).await?;
        let was_left_over = backend.left_over_agents().await?.contains(&before.agent_id);
        let agent = backend.tell_agent(before.agent_id, telling).await?;
        if context.output.json {
            context.output.document(&agent);
        } else {
            context.output.line(&format!("{}: {}", agent.agent_id, agent.state.as_str()));
        }
        if was_left_over {
            context.output.talk(
                "nobody saw to its work any more; `artel agent recover` goes on with what is left over",
            );
        }
        Ok(())
    })
}
