//! `artel run recover` and `artel agent recover`: the same work, of which each tells its own part.

use std::time::Duration;

use artel_agents::Agents;
use artel_catalog::Keep;
use artel_model::agent::{AgentDocument, AgentRecord, AgentState};
use artel_model::id::{AgentId, RunId};
use artel_model::run::{RunState, RunSummary};
use artel_store::OwnerId;
use serde_json::{Value, json};

use super::list::what;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::runtime::{AgentsSetup, BusAway, Interrupts, Runtime, Shelf, Store, wait_for};

/// How often to look whether something only waits for somebody, in milliseconds.
const LOOK_MS: u64 = 200;

/// What was asked about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::command) enum RecoverWhat {
    Runs,
    Agents,
}

/// What was left over, and what came of it.
#[derive(Default)]
struct Recovered {
    runs: Vec<RunSummary>,
    agents: Vec<AgentRecord>,
    is_interrupted: bool,
}

pub(crate) fn recover(context: Context<'_>, asked: RecoverWhat) -> Result<(), Failure> {
    let recovered = wait_for(async {
        if Store::open_existing(context.config).await?.is_none() {
            return Ok(Recovered::default());
        }
        // An agent that goes on may need plans to be made for it.
        let shelf = Shelf::open(context, Keep::Instructions).await?;
        let runtime = Runtime::open(context, shelf).await?;
        let agents_setup = AgentsSetup::open(context, &runtime, BusAway::StandIn).await?;
        let mut interrupts = Interrupts::listen()?;
        let mut recovered = Recovered::default();
        tokio::select! {
            ended = go_on(context, &runtime, &agents_setup.agents, &mut recovered) => ended?,
            () = interrupts.next() => {
                context.output.talk("stopping");
                recovered.is_interrupted = true;
            }
        }
        drop(agents_setup);
        runtime.close().await;
        Ok(recovered)
    })?;
    if recovered.is_interrupted {
        let message = "stopped before what was left over had ended";
        return Err(Failure::failed(message).hint("`artel run recover` goes on where this ended"));
    }
    print(context, asked, &recovered);
    Ok(())
}

/// Takes over what nobody sees to, runs before the agents whose work they are, and waits for the end of all of it.
async fn go_on(
    context: Context<'_>,
    runtime: &Runtime,
    agents: &Agents,
    recovered: &mut Recovered,
) -> Result<(), Failure> {
    let is_alive = |owner: &OwnerId| runtime.is_alive(owner);
    agents.end_runs_of_the_ended().await.map_err(|error| Failure::missing(chain(&error)))?;
    let runs = runtime.engine.recover(&is_alive).await.map_err(|error| Failure::missing(chain(&error)))?;
    for run in &runs {
        context.output.talk(&format!("going on with run {run}"));
    }
    let ids = agents.recover().await.map_err(|error| Failure::missing(chain(&error)))?;
    for agent in &ids {
        context.output.talk(&format!("going on with agent {agent}"));
    }
    for run in runs {
        recovered.runs.push(end_of(runtime, run).await?);
    }
    for agent in ids {
        recovered.agents.extend(end_of_agent(runtime, agents, agent).await?);
    }
    let are_all_over = recovered.agents.iter().all(|record| record.standing.work().is_none());
    let mut looks = tokio::time::interval(Duration::from_millis(LOOK_MS));
    // What agents spawned meanwhile goes on until it ends, too.
    while are_all_over && agents.is_busy() {
        looks.tick().await;
    }
    Ok(())
}

/// Waits until an agent's work is over, or waits for somebody.
async fn end_of_agent(
    runtime: &Runtime,
    agents: &Agents,
    id: AgentId,
) -> Result<Option<AgentRecord>, Failure> {
    let mut looks = tokio::time::interval(Duration::from_millis(LOOK_MS));
    let mut waiting = std::pin::pin!(agents.wait(id));
    loop {
        tokio::select! {
            ended = &mut waiting => return ended.map_err(|error| Failure::missing(chain(&error))),
            _ = looks.tick() => {
                let row = runtime.store.agents.agent(id).await.map_err(|error| Failure::unavailable(&error))?;
                let Some(record) = row.map(|row| row.record) else { return Ok(None) };
                if waits_for_somebody(runtime, &record).await? {
                    return Ok(Some(record));
                }
            }
        }
    }
}

async fn waits_for_somebody(runtime: &Runtime, record: &AgentRecord) -> Result<bool, Failure> {
    if record.state() == AgentState::Paused {
        return Ok(true);
    }
    let Some(run) = record.standing.work().and_then(|work| work.run_id) else { return Ok(false) };
    let row = runtime.store.runs.run(run).await.map_err(|error| Failure::unavailable(&error))?;
    Ok(row.is_some_and(|row| is_parked(row.summary.state)))
}

/// Waits until a run is over, or waits for somebody.
async fn end_of(runtime: &Runtime, run: RunId) -> Result<RunSummary, Failure> {
    let mut looks = tokio::time::interval(Duration::from_millis(LOOK_MS));
    loop {
        tokio::select! {
            over = runtime.engine.wait(run) => {
                return over.map_err(|error| Failure::missing(format!("run {run}: {}", chain(&error))));
            }
            _ = looks.tick() => {
                let row = runtime.store.runs.run(run).await.map_err(|error| Failure::unavailable(&error))?;
                if let Some(row) = row && is_parked(row.summary.state) {
                    return Ok(row.summary);
                }
            }
        }
    }
}

/// Says whether a run stands still until somebody says something.
fn is_parked(state: RunState) -> bool {
    match state {
        RunState::AwaitingApproval | RunState::Paused => true,
        RunState::Running
        | RunState::Stopping
        | RunState::Succeeded
        | RunState::Failed
        | RunState::Cancelled => false,
    }
}

fn print(context: Context<'_>, asked: RecoverWhat, recovered: &Recovered) {
    let output = context.output;
    let Recovered { runs, agents, .. } = recovered;
    if output.json {
        let agents: Vec<Value> = agents.iter().map(|record| json!(AgentDocument::of(record))).collect();
        output.document(&match asked {
            RecoverWhat::Runs => json!({"items": runs, "agents": agents}),
            RecoverWhat::Agents => json!({"items": agents, "runs": runs}),
        });
    } else if runs.is_empty() && agents.is_empty() {
        output.talk("nothing is left over");
    } else {
        for record in agents {
            let name = record.spec.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
            output.line(&format!("agent {}{name} {}", record.agent_id, record.state().as_str()));
        }
        for summary in runs {
            let word = match asked {
                RecoverWhat::Runs => "",
                RecoverWhat::Agents => "run ",
            };
            output.line(&format!(
                "{word}{} {} {}",
                summary.run_id,
                what(&summary.kind),
                summary.state.as_str()
            ));
        }
    }
    for record in agents.iter().filter(|record| record.state() == AgentState::Paused) {
        let agent = record.agent_id;
        output
            .talk(&format!("agent {agent} waits: `artel agent resume {agent}`, then `artel agent recover`"));
    }
    for summary in runs.iter().filter(|summary| is_parked(summary.state)) {
        let how = if summary.state == RunState::Paused { "resume" } else { "approve" };
        let run = summary.run_id;
        output.talk(&format!("run {run} waits: `artel run {how} {run}`, then `artel run recover`"));
    }
}
