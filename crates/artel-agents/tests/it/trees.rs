//! Stopping an agent with everything below it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_model::agent::AgentState;
use artel_model::id::AgentId;
use serde_json::json;

use crate::workplace::{TestSkill, Workplace, cause, done};

/// A place with a skill that writes its process number and then waits, and one that is quick.
async fn place() -> Workplace {
    let slow = format!("echo $$ > \"$ARTEL_DATA_DIR/pid.$ARTEL_RUN_ID\"\nsleep 60 & wait\n{}", done("{}"));
    Workplace::new(&[
        TestSkill("slow", json!({"timeout": 100}), &slow),
        TestSkill("quick", json!({}), &done("{}")),
    ])
    .await
}

/// Waits until so many slow scripts run, and returns their process numbers.
async fn running(place: &Workplace, count: usize) -> Vec<String> {
    let data = place.data_of("slow", None);
    loop {
        let files = data.read_dir_utf8().into_iter().flatten().map(|entry| entry.unwrap().into_path());
        let pids: Vec<String> = files
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
            .collect();
        if pids.len() >= count {
            return pids;
        }
        tokio::task::yield_now().await;
    }
}

/// Returns the state of a process as the kernel tells it; nothing when it is gone.
fn process_state(pid: &str) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim().chars().next()
}

async fn family(place: &Workplace) -> [AgentId; 3] {
    let top = place.spawn(json!({"skill": "slow"})).await.agent_id;
    let middle = place.spawn(json!({"skill": "slow", "parent": top})).await.agent_id;
    let below = place.spawn(json!({"skill": "slow", "parent": middle})).await.agent_id;
    [top, middle, below]
}

#[tokio::test]
async fn cancelling_ends_everything_below_and_leaves_no_process() {
    let place = place().await;
    let family = family(&place).await;
    let other = place.spawn(json!({"skill": "quick"})).await.agent_id;
    let pids = running(&place, 3).await;
    let cancelled = place.agents.cancel(family[0], cause()).await.unwrap();
    assert_eq!(cancelled.state(), AgentState::Cancelled);
    for pid in &pids {
        assert_eq!(process_state(pid), None);
    }
    for agent in family {
        assert_eq!(place.state(agent).await, AgentState::Cancelled);
    }
    assert_eq!(place.agents.wait(other).await.unwrap().unwrap().state(), AgentState::Completed);
    let told = format!("cancelled {}", family[0]);
    assert!(place.history(family[2]).await.contains(&told));
}

#[tokio::test]
async fn pausing_stops_the_processes_below_and_resuming_lets_them_go_on() {
    let place = place().await;
    let family = family(&place).await;
    let pids = running(&place, 3).await;
    place.agents.pause(family[0], cause()).await.unwrap();
    for pid in &pids {
        while process_state(pid) != Some('T') {
            tokio::task::yield_now().await;
        }
    }
    for agent in family {
        assert_eq!(place.state(agent).await, AgentState::Paused);
    }
    assert!(place.try_spawn(json!({"parent": family[0]})).await.is_err());
    place.agents.resume(family[0], cause()).await.unwrap();
    for pid in &pids {
        while process_state(pid) == Some('T') {
            tokio::task::yield_now().await;
        }
    }
    for agent in family {
        assert_eq!(place.state(agent).await, AgentState::Running);
    }
    place.agents.terminate(family[0], cause()).await.unwrap();
    for (agent, pid) in family.iter().zip(&pids) {
        assert_eq!((place.state(*agent).await, process_state(pid)), (AgentState::Terminated, None));
    }
}

#[tokio::test]
async fn an_idle_agent_below_one_that_stands_still_does_nothing() {
    let place = place().await;
    let top = place.spawn(json!({"skill": "slow"})).await.agent_id;
    let idle = place.spawn(json!({"parent": top})).await.agent_id;
    running(&place, 1).await;
    place.agents.pause(top, cause()).await.unwrap();
    let (code, _) = place.execute(idle, "quick", json!({})).await.unwrap_err();
    assert_eq!(code, "INVALID_STATE");
    place.agents.resume(top, cause()).await.unwrap();
    place.execute(idle, "quick", json!({})).await.unwrap();
    place.agents.terminate(top, cause()).await.unwrap();
    assert_eq!(place.state(idle).await, AgentState::Terminated);
}

#[tokio::test]
async fn what_does_not_fit_names_both_states() {
    let place = place().await;
    let id = place.spawn(json!({})).await.agent_id;
    let error = place.agents.resume(id, cause()).await.unwrap_err();
    assert_eq!(error.to_string(), "an agent that is idle cannot become running");
    let error = place.agents.pause(id, cause()).await.unwrap_err();
    assert_eq!(error.to_string(), "an agent that is idle cannot become paused");
    place.agents.terminate(id, cause()).await.unwrap();
    let error = place.agents.cancel(id, cause()).await.unwrap_err();
    assert_eq!(error.to_string(), "an agent that is terminated cannot become cancelled");
}

#[tokio::test]
async fn what_is_below_an_agent_that_is_done_can_still_be_stopped() {
    let place = place().await;
    let top = place.spawn(json!({})).await.agent_id;
    let below = place.spawn(json!({"skill": "slow", "parent": top})).await.agent_id;
    running(&place, 1).await;
    place.agents.cancel(top, cause()).await.unwrap();
    assert_eq!(place.state(below).await, AgentState::Cancelled);
    // Once more there is nothing left to be told.
    let error = place.agents.cancel(top, cause()).await.unwrap_err();
    assert_eq!(error.to_string(), "an agent that is cancelled cannot become cancelled");
}

#[tokio::test]
async fn an_order_that_was_cut_short_can_be_given_again() {
    let place = place().await;
    let family = family(&place).await;
    running(&place, 3).await;
    // What a process leaves that ends after it has told the first agent only.
    let cut = place.agents.agent(family[0]).await.unwrap().unwrap();
    let mut agent = artel_model::agent::Agent::from_record(cut.record);
    let at = artel_engine::Clock::system().now();
    let event = artel_model::agent::AgentEvent::Terminated { cause: cause() };
    let event = artel_model::agent::StampedAgentEvent { at, event };
    agent.apply(&event).unwrap();
    let append =
        artel_store::AgentAppend { expected: cut.revision, events: vec![event], record: agent.into_record() };
    artel_store::AgentStore::append_agent(&*place.store, append).await.unwrap();
    place.agents.terminate(family[0], cause()).await.unwrap();
    for agent in family {
        assert_eq!(place.state(agent).await, AgentState::Terminated);
    }
}
