//! `artel agent start`.

use artel_agents::StartRefused;
use artel_api::client::{ApiPath, Client};
use artel_catalog::Keep;
use artel_model::agent::{AgentDocument, CallOrigin, DriverKind};

use super::see_to::SeeTo;
use super::see_to_there::SeeToThere;
use super::spawn::{print, refused, refused_there};
use crate::cli::StartArgs;
use crate::command::Context;
use crate::desk::AgentRoll;
use crate::failure::{self, Failure, chain};
use crate::output::Shown;
use crate::workshop::{Agency, BusAway, Interrupts, Shelf, Workshop, cause, wait_for};

pub(crate) fn start(context: Context<'_>, args: &StartArgs) -> Result<(), Failure> {
    let shown = if args.watch { Shown::Steps } else { Shown::Said };
    let agent = match context.remote()? {
        None => wait_for(start_here(context, args, shown))?,
        Some(client) => wait_for(start_there(context, args, &client, shown))?,
    };
    print(context, &agent)
}

async fn start_here(context: Context<'_>, args: &StartArgs, shown: Shown) -> Result<AgentDocument, Failure> {
    // The agent may need plans to be made for it.
    let shelf = Shelf::open(context, Keep::Instructions).await?;
    let workshop = Workshop::open(context, shelf).await?;
    let agent = AgentRoll::Here(&workshop.store).find(&args.which.agent).await?.agent_id;
    let agency = Agency::open(context, &workshop, BusAway::StandIn).await?;
    // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
    let interrupts = Interrupts::listen()?;
    let started = agency.agents.start(agent, CallOrigin::Local, cause(context)).await;
    let record = started.map_err(|error| not_started(context, &error))?;
    let agent = match record.spec.driver.kind() {
        DriverKind::External => AgentDocument::of(&record),
        DriverKind::Skill | DriverKind::Plan | DriverKind::Llm | DriverKind::Command => {
            let see_to = SeeTo { context, workshop: &workshop, agents: &agency.agents, shown };
            see_to.end(record, interrupts).await?
        }
    };
    drop(agency);
    workshop.close().await;
    Ok(agent)
}

async fn start_there(
    context: Context<'_>,
    args: &StartArgs,
    client: &Client,
    shown: Shown,
) -> Result<AgentDocument, Failure> {
    let agent = AgentRoll::There(client).find(&args.which.agent).await?.agent_id;
    let interrupts = Interrupts::listen()?;
    let path = ApiPath::new("/api/agents").name(agent).then("start");
    let agent: AgentDocument = client.tell(&path).await.map_err(|error| match error.code() {
        Some("INVALID_STATE") => failure::refused(&error).hint(FREE_HINT),
        Some(_) | None => refused_there(context, &error, NOT_STARTED),
    })?;
    match agent.driver {
        DriverKind::External => Ok(agent),
        DriverKind::Skill | DriverKind::Plan | DriverKind::Llm | DriverKind::Command => {
            SeeToThere { context, client, shown }.end(agent, interrupts).await
        }
    }
}

/// What it comes to when something does not fit.
const NOT_STARTED: &str = "the agent did not begin";
/// What to do about an agent that is not free.
const FREE_HINT: &str = "`artel agent free` frees an agent whose work is done or failed";

fn not_started(context: Context<'_>, error: &StartRefused) -> Failure {
    match error {
        StartRefused::Unfit(refusal) => refused(context, refusal, NOT_STARTED),
        StartRefused::Transition(_) => Failure::failed(chain(error)).hint(FREE_HINT),
        StartRefused::Unknown(_) => Failure::failed(chain(error)),
        StartRefused::Failed(_) => Failure::missing(chain(error)),
    }
}
