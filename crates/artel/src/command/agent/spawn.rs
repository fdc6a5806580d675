//! `artel agent spawn`.

use artel_agents::{SpawnCaller, SpawnFailed, Spawned};
use artel_api::agents::SpawnedAgent;
use artel_api::client::{ApiPath, Client, ClientError};
use artel_catalog::{Keep, visible};
use artel_model::agent::{AgentDocument, AgentState, DriverKind, SpawnErrorCode, SpawnRefused, SpawnRequest};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::request::{document, has_parameters};
use super::see_to::SeeTo;
use super::see_to_there::SeeToThere;
use crate::cli::SpawnArgs;
use crate::command::Context;
use crate::desk::AgentRoll;
use crate::failure::{self, Failure, chain};
use crate::output::{Shown, Tone, span};
use crate::workshop::{Agency, BusAway, Interrupts, Shelf, Workshop, cause, wait_for};

pub(crate) fn spawn(context: Context<'_>, args: &SpawnArgs) -> Result<(), Failure> {
    let shown = if args.watch { Shown::Steps } else { Shown::Said };
    let agent = match context.remote()? {
        None => wait_for(spawn_here(context, args, shown))?,
        Some(client) => {
            let catalog =
                if has_parameters(args) { Some(context.catalog(Keep::Descriptions)?) } else { None };
            let document = document(args, catalog.as_ref())?;
            wait_for(spawn_there(context, args, &client, document, shown))?
        }
    };
    print(context, &agent)
}

async fn spawn_here(context: Context<'_>, args: &SpawnArgs, shown: Shown) -> Result<AgentDocument, Failure> {
    // Only who makes plans reads what skills say.
    let keep = if args.skill.is_some() { Keep::Descriptions } else { Keep::Instructions };
    let shelf = Shelf::open(context, keep).await?;
    let mut request = read(context, &document(args, Some(shelf.catalog()))?)?;
    let workshop = Workshop::open(context, shelf).await?;
    if let Some(parent) = &args.parent {
        request.parent = Some(AgentRoll::Here(&workshop.store).find(parent).await?.agent_id);
    }
    let agency = Agency::open(context, &workshop, BusAway::StandIn).await?;
    // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
    let interrupts = Interrupts::listen()?;
    let spawned = agency.agents.spawn(&request, SpawnCaller::LOCAL, cause(context)).await;
    let Spawned { record, warnings } = spawned.map_err(|error| not_spawned(context, error))?;
    warn(context, &warnings);
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

async fn spawn_there(
    context: Context<'_>,
    args: &SpawnArgs,
    client: &Client,
    mut document: Map<String, Value>,
    shown: Shown,
) -> Result<AgentDocument, Failure> {
    // What can be known to be wrong without the server is told by nobody else.
    read(context, &document)?;
    if let Some(parent) = &args.parent {
        let parent = AgentRoll::There(client).find(parent).await?.agent_id;
        document.insert("parent".to_owned(), parent.to_string().into());
    }
    let interrupts = Interrupts::listen()?;
    let key = Uuid::new_v4().to_string();
    let spawned = client.post(&ApiPath::new("/api/agents"), &document, Some(&key)).await;
    let SpawnedAgent { agent, warnings } =
        spawned.map_err(|error| refused_there(context, &error, NOT_SPAWNED))?;
    warn(context, &warnings);
    match agent.driver {
        DriverKind::External => Ok(agent),
        DriverKind::Skill | DriverKind::Plan | DriverKind::Llm | DriverKind::Command => {
            SeeToThere { context, client, shown }.end(agent, interrupts).await
        }
    }
}

fn read(context: Context<'_>, document: &Map<String, Value>) -> Result<SpawnRequest, Failure> {
    SpawnRequest::read(document)
        .map_err(|errors| refused(context, &SpawnRefused::new(errors, Vec::new()), NOT_SPAWNED))
}

fn warn(context: Context<'_>, warnings: &[String]) {
    for warning in warnings {
        context.output.remark("warning:", Tone::Warning, warning);
    }
}

/// Reads the refusal of a server: the reasons why an agent was not spawned, or anything else.
pub(super) fn refused_there(context: Context<'_>, error: &ClientError, so: &str) -> Failure {
    let refusal = error.details().and_then(|details| serde_json::from_value(details.clone()).ok());
    match refusal {
        Some(refusal) => refused(context, &refusal, so),
        None => failure::refused(error),
    }
}

fn not_spawned(context: Context<'_>, error: SpawnFailed) -> Failure {
    match error {
        SpawnFailed::Refused(refusal) => refused(context, &refusal, NOT_SPAWNED),
        SpawnFailed::Failed(error) => Failure::missing(chain(&error)),
    }
}

/// What it comes to when something does not fit.
const NOT_SPAWNED: &str = "no agent was spawned";

/// Prints why an agent was not spawned or did not begin. A request that cannot be read is wrong usage.
pub(super) fn refused(context: Context<'_>, refusal: &SpawnRefused, so: &str) -> Failure {
    let output = context.output;
    if output.json {
        output.document(refusal);
    } else {
        for error in &refusal.errors {
            let head = output.paint(&format!("error[{}]", error.code.as_str()), Tone::Error);
            output.line(&format!("{head}: {}", visible(&error.message)));
        }
        for warning in &refusal.warnings {
            output.line(&format!("{}: {}", output.paint("warning", Tone::Warning), visible(warning)));
        }
        output.talk(so);
    }
    let is_invalid = refusal.errors.iter().any(|error| error.code == SpawnErrorCode::InvalidRequest);
    if is_invalid { Failure::reported_usage() } else { Failure::reported() }
}

/// Prints the agent in a few lines, and how its work ended.
pub(super) fn print(context: Context<'_>, agent: &AgentDocument) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        output.document(agent);
    } else {
        output.data(&super::paper::card(context, agent));
    }
    let id = agent.agent_id;
    let took = match (agent.started_at, agent.completed_at) {
        (Some(from), Some(to)) => format!(" in {}", span(to.millis_since(from))),
        (_, _) => String::new(),
    };
    let failure = |message: String| {
        if output.json {
            return Failure::reported();
        }
        Failure::failed(message).hint(format!("`artel agent show {id} --events` shows what happened"))
    };
    match agent.state {
        AgentState::Completed => {
            output.remark("done:", Tone::Good, &format!("agent {id}{took}"));
            Ok(())
        }
        AgentState::Idle => {
            output.talk("it waits to be told; `artel agent execute` calls a tool for it");
            Ok(())
        }
        AgentState::Failed => {
            Err(failure(format!("agent {id} failed: {}", agent.error.as_deref().unwrap_or_default())))
        }
        state @ (AgentState::Cancelled
        | AgentState::Terminated
        | AgentState::Running
        | AgentState::Paused) => Err(failure(format!("agent {id} is {}", state.as_str()))),
    }
}
