//! `artel agent start`.

use artel_agents::StartRefused;
use artel_catalog::Keep;
use artel_model::agent::DriverKind;

use super::see_to::SeeTo;
use super::spawn::{print, refused};
use crate::cli::StartArgs;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::output::Shown;
use crate::workshop::{Agency, Interrupts, Shelf, Workshop, cause, find_agent, wait_for};

pub(crate) fn start(context: Context<'_>, args: &StartArgs) -> Result<(), Failure> {
    let record = wait_for(async {
        // The agent may need plans to be made for it.
        let shelf = Shelf::open(context, Keep::Instructions).await?;
        let workshop = Workshop::open(context, shelf).await?;
        let agent = find_agent(&workshop.store, &args.which.agent).await?.record.agent_id;
        let agency = Agency::open(context, &workshop).await?;
        // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
        let interrupts = Interrupts::listen()?;
        let started = agency.agents.start(agent, cause(context)).await;
        let record = started.map_err(|error| not_started(context, &error))?;
        let record = match record.spec.driver.kind() {
            DriverKind::External => record,
            DriverKind::Skill | DriverKind::Plan | DriverKind::Llm | DriverKind::Command => {
                let shown = if args.watch { Shown::Steps } else { Shown::Said };
                SeeTo { context, workshop: &workshop, agents: &agency.agents, shown }
                    .end(record, interrupts)
                    .await?
            }
        };
        drop(agency);
        workshop.close().await;
        Ok(record)
    })?;
    print(context, &record)
}

fn not_started(context: Context<'_>, error: &StartRefused) -> Failure {
    match error {
        StartRefused::Unfit(refusal) => refused(context, refusal, "the agent did not begin"),
        StartRefused::Transition(_) => Failure::failed(chain(error))
            .hint("`artel agent free` frees an agent whose work is done or failed"),
        StartRefused::Unknown(_) => Failure::failed(chain(error)),
        StartRefused::Failed(_) => Failure::missing(chain(error)),
    }
}
