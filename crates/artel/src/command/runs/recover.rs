//! `artel run recover`.

use std::time::Duration;

use artel_catalog::Keep;
use artel_model::id::RunId;
use artel_model::run::{RunState, RunSummary};
use artel_store::OwnerId;
use serde_json::json;

use super::list::what;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::workshop::{Interrupts, Shelf, Store, Workshop, wait_for};

/// How often to look whether a run only waits for somebody, in milliseconds.
const LOOK_MS: u64 = 200;

pub(crate) fn recover(context: Context<'_>) -> Result<(), Failure> {
    let (summaries, is_interrupted) = wait_for(async {
        if Store::open_existing(context.config).await?.is_none() {
            return Ok((Vec::new(), false));
        }
        let shelf = Shelf::open(context, Keep::Descriptions).await?;
        let workshop = Workshop::open(context, shelf).await?;
        let mut interrupts = Interrupts::listen()?;
        let is_alive = |owner: &OwnerId| workshop.is_alive(owner);
        let runs =
            workshop.engine.recover(&is_alive).await.map_err(|error| Failure::missing(chain(&error)))?;
        for run in &runs {
            context.output.talk(&format!("going on with run {run}"));
        }
        let (mut summaries, mut is_interrupted) = (Vec::new(), false);
        for run in runs {
            tokio::select! {
                summary = end_of(&workshop, run) => summaries.push(summary?),
                () = interrupts.next() => {
                    context.output.talk("stopping");
                    is_interrupted = true;
                    break;
                }
            }
        }
        workshop.close().await;
        Ok((summaries, is_interrupted))
    })?;
    if is_interrupted {
        let message = "stopped before the runs that were left over had ended";
        return Err(Failure::failed(message).hint("`artel run recover` goes on where this ended"));
    }
    print(context, &summaries)
}

/// Waits until a run is over, or waits for somebody.
async fn end_of(workshop: &Workshop, run: RunId) -> Result<RunSummary, Failure> {
    let mut looks = tokio::time::interval(Duration::from_millis(LOOK_MS));
    loop {
        tokio::select! {
            over = workshop.engine.wait(run) => {
                return over.map_err(|error| Failure::missing(format!("run {run}: {}", chain(&error))));
            }
            _ = looks.tick() => {
                let row = workshop.store.runs.run(run).await.map_err(|error| Failure::unavailable(&error))?;
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

fn print(context: Context<'_>, summaries: &[RunSummary]) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        output.document(&json!({"items": summaries}));
    } else if summaries.is_empty() {
        output.talk("nothing is left over");
    } else {
        for summary in summaries {
            output.line(&format!("{} {} {}", summary.run_id, what(&summary.kind), summary.state.as_str()));
        }
    }
    for summary in summaries.iter().filter(|summary| is_parked(summary.state)) {
        let how = if summary.state == RunState::Paused { "resume" } else { "approve" };
        let run = summary.run_id;
        output.talk(&format!("run {run} waits: `artel run {how} {run}`, then `artel run recover`"));
    }
    Ok(())
}
