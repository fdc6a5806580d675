//! `artel agent pause`, `resume`, `cancel`, `terminate` and `free`.

use crate::cli::AgentArgs;
use crate::command::Context;
use crate::desk::{AgentDesk, Telling};
use crate::failure::Failure;
use crate::workshop::wait_for;

pub(crate) fn tell(context: Context<'_>, args: &AgentArgs, telling: Telling) -> Result<(), Failure> {
    wait_for(async {
        let desk = AgentDesk::open(context).await?;
        let before = desk.find(&args.agent).await?;
        let was_left_over = !desk.left_over(std::slice::from_ref(&before)).await?.is_empty();
        let agent = desk.tell(before.agent_id, telling).await?;
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
