//! `artel agent spawn`.

use artel_api::agents::SpawnedAgent;
use artel_catalog::{Keep, visible};
use artel_model::agent::{AgentDocument, AgentState, SpawnErrorCode, SpawnRefused, SpawnRequest};
use serde_json::{Map, Value};

use super::request::{document, has_parameters};
use super::wait_for_agent::WaitForAgent;
use crate::backend::{Backend, BackendError};
use crate::cli::SpawnArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Shown, Tone, span};
use crate::runtime::{Interrupts, Shelf, wait_for};

pub(crate) fn spawn(context: Context<'_>, args: &SpawnArgs) -> Result<(), Failure> {
    let shown = if args.watch { Shown::Steps } else { Shown::Said };
    let remote = context.remote()?;
    let catalog = match remote.is_some() && has_parameters(args) {
        true => Some(context.catalog(Keep::Descriptions)?),
        false => None,
    };
    let agent = wait_for(async {
        let (backend, document) = match remote {
            Some(client) => {
                let document = document(args, catalog.as_ref())?;
                // What can be known to be wrong without the server is told at once.
                read(context, &document)?;
                (Backend::Remote(client), document)
            }
            None => {
                // Only planners read the instructions of skills.
                let keep = if args.skill.is_some() { Keep::Descriptions } else { Keep::Instructions };
                let shelf = Shelf::open(context, keep).await?;
                let document = document(args, Some(shelf.catalog()))?;
                read(context, &document)?;
                (Backend::open_to_work(context, shelf).await?, document)
            }
        };
        let agent = spawn_and_wait(context, args, &backend, document, shown).await?;
        backend.close().await;
        Ok(agent)
    })?;
    print(context, &agent)
}

async fn spawn_and_wait(
    context: Context<'_>,
    args: &SpawnArgs,
    backend: &Backend,
    mut document: Map<String, Value>,
    shown: Shown,
) -> Result<AgentDocument, Failure> {
    if let Some(parent) = &args.parent {
        let parent = backend.find_agent(parent).await?.agent_id;
        document.insert("parent".to_owned(), parent.to_string().into());
    }
    // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
    let interrupts = Interrupts::listen()?;
    let spawned = backend.spawn_agent(&document).await;
    let SpawnedAgent { agent, warnings } = spawned.map_err(|error| not_begun(context, error, NOT_SPAWNED))?;
    warn(context, &warnings);
    WaitForAgent { context, backend, shown }.end(agent, interrupts).await
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

/// Says why an agent was not spawned or did not begin: the reasons when there are some, or anything else.
pub(super) fn not_begun(context: Context<'_>, error: BackendError, so: &str) -> Failure {
    let refusal = error.details().and_then(|details| serde_json::from_value(details.clone()).ok());
    match refusal {
        Some(refusal) => refused(context, &refusal, so),
        None => error.into(),
    }
}

/// What it comes to when something does not fit.
const NOT_SPAWNED: &str = "no agent was spawned";

/// Prints why an agent was not spawned or did not begin. A request that cannot be read is wrong usage.
fn refused(context: Context<'_>, refusal: &SpawnRefused, so: &str) -> Failure {
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
        output.data(&super::render::card(context, agent));
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
