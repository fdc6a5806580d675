//! `artel agent spawn`.

use artel_agents::{SpawnFailed, Spawned};
use artel_catalog::{Keep, visible};
use artel_model::agent::{
    AgentDocument, AgentRecord, AgentState, DriverKind, SpawnErrorCode, SpawnRefused, SpawnRequest,
};

use super::request;
use super::see_to::SeeTo;
use crate::cli::SpawnArgs;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::output::{Shown, Tone, span};
use crate::workshop::{Agency, Interrupts, Shelf, Workshop, cause, find_agent, wait_for};

pub(crate) fn spawn(context: Context<'_>, args: &SpawnArgs) -> Result<(), Failure> {
    let record = wait_for(async {
        // Only who makes plans reads what skills say.
        let keep = if args.skill.is_some() { Keep::Descriptions } else { Keep::Instructions };
        let shelf = Shelf::open(context, keep).await?;
        let document = request::document(args, shelf.catalog())?;
        let mut request = SpawnRequest::read(&document)
            .map_err(|errors| refused(context, &SpawnRefused::new(errors, Vec::new()), NOT_SPAWNED))?;
        let workshop = Workshop::open(context, shelf).await?;
        if let Some(parent) = &args.parent {
            request.parent = Some(find_agent(&workshop.store, parent).await?.record.agent_id);
        }
        let agency = Agency::open(context, &workshop).await?;
        // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
        let interrupts = Interrupts::listen()?;
        let spawned = agency.agents.spawn(&request, None, cause(context)).await;
        let Spawned { record, warnings } = spawned.map_err(|error| not_spawned(context, error))?;
        for warning in &warnings {
            context.output.remark("warning:", Tone::Warning, warning);
        }
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
pub(super) fn print(context: Context<'_>, record: &AgentRecord) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        output.document(&AgentDocument::of(record));
    } else {
        output.data(&super::paper::card(context, record));
    }
    let id = record.agent_id;
    let took = match (record.started_at, record.completed_at) {
        (Some(from), Some(to)) => format!(" in {}", span(to.millis_since(from))),
        (_, _) => String::new(),
    };
    let failure = |message: String| {
        if output.json {
            return Failure::reported();
        }
        Failure::failed(message).hint(format!("`artel agent show {id} --events` shows what happened"))
    };
    match record.state() {
        AgentState::Completed => {
            output.remark("done:", Tone::Good, &format!("agent {id}{took}"));
            Ok(())
        }
        AgentState::Idle => {
            output.talk("it waits to be told; `artel agent execute` calls a tool for it");
            Ok(())
        }
        AgentState::Failed => {
            Err(failure(format!("agent {id} failed: {}", record.error().unwrap_or_default())))
        }
        state @ (AgentState::Cancelled
        | AgentState::Terminated
        | AgentState::Running
        | AgentState::Paused) => Err(failure(format!("agent {id} is {}", state.as_str()))),
    }
}
