//! Ending agents whose work another process does: whoever ends them waits until that process has ended it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artel_agents::{Agents, CommandRefused, Job, WorkDriver};
use artel_model::agent::{AgentSpec, AgentState, Cause, SpawnError, WorkEnd, WorkOutcome};
use artel_model::id::AgentId;
use async_trait::async_trait;
use serde_json::{Map, json};
use tokio::sync::{Notify, watch};

use crate::workplace::{Workplace, driver};

/// A driver whose work ends some time after it was told to.
#[derive(Clone, Default)]
struct Reluctant(Arc<Stage>);

#[derive(Default)]
struct Stage {
    /// Whether the work was told to end.
    told: watch::Sender<bool>,
    may_end: Notify,
    is_over: AtomicBool,
}

#[async_trait]
impl WorkDriver for Reluctant {
    fn check(&self, _: &AgentSpec) -> Result<(), SpawnError> {
        Ok(())
    }

    async fn work(&self, mut job: Job) -> WorkEnd {
        while job.control.may_go_on().await {
            job.control.changed().await;
        }
        self.0.told.send_replace(true);
        self.0.may_end.notified().await;
        self.0.is_over.store(true, Ordering::SeqCst);
        let outcome = WorkOutcome::Failed { error: "it was told to end".to_owned() };
        WorkEnd { outcome, calls: Vec::new(), results: Map::new() }
    }
}

/// An agent at work in one process, and another process.
async fn stage(grace_ms: u64) -> (Workplace, Reluctant, AgentId, Agents) {
    let reluctant = Reluctant::default();
    let equip = reluctant.clone();
    let place = Workplace::with(
        &[],
        |config| config.grace_ms = grace_ms,
        |parts, _| {
            parts.llm = driver(equip);
        },
    )
    .await;
    let id = place.spawn(json!({"task": "stay", "driver": "llm"})).await.agent_id;
    let other = place.another("second");
    (place, reluctant, id, other)
}

#[tokio::test]
async fn whoever_ends_an_agent_elsewhere_waits_for_the_end_of_its_work() {
    let (place, reluctant, id, other) = stage(2000).await;
    let stage = &reluctant.0;
    let mut told = stage.told.subscribe();
    let ending = async {
        told.wait_for(|told| *told).await.unwrap();
        assert_eq!(place.state(id).await, AgentState::Terminated);
        stage.may_end.notify_one();
    };
    let (terminated, ()) = tokio::join!(other.terminate(id, Cause::by("other")), ending);
    assert!(stage.is_over.load(Ordering::SeqCst), "nothing of its work is left when this returns");
    assert_eq!(terminated.unwrap().state(), AgentState::Terminated);
    assert_eq!(place.state(id).await, AgentState::Terminated);
}

#[tokio::test]
async fn work_elsewhere_that_does_not_end_in_time_is_told() {
    let (place, reluctant, id, other) = stage(1).await;
    let late = other.terminate(id, Cause::by("other")).await;
    assert!(matches!(late, Err(CommandRefused::StillEnding(late)) if late == [id]));
    assert_eq!(place.state(id).await, AgentState::Terminated);
    reluctant.0.may_end.notify_one();
    while place.agents.is_busy() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn nobody_waits_for_a_process_that_is_gone() {
    let place = Workplace::with(
        &[],
        |config| config.owner.0 = "dead".to_owned(),
        |parts, _| {
            parts.llm = driver(Reluctant::default());
        },
    )
    .await;
    let id = place.spawn(json!({"task": "stay", "driver": "llm"})).await.agent_id;
    let ended = place.another("second").terminate(id, Cause::by("other")).await.unwrap();
    assert_eq!(ended.state(), AgentState::Terminated);
}
