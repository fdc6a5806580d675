//! Agents across restarts and beside each other.

use artel_agents::StartRefused;
use artel_model::agent::{AgentEvent, AgentPhase, AgentState, CallOrigin, Cause, Work};
use artel_model::id::RunId;
use artel_model::run::RunState;
use artel_store::{AgentAppend, AgentStore as _};
use serde_json::json;
use uuid::Uuid;

use crate::workplace::{TestSkill, Workplace, done};

#[tokio::test]
async fn an_agent_whose_process_died_before_its_run_began_goes_on() {
    let place = Workplace::new(&[TestSkill("quick", json!({}), &done(r#"{"n":1}"#))]).await;
    let id = place.spawn(json!({})).await.agent_id;
    // What a process leaves that ends right after writing that the agent begins.
    let row = place.store.agent(id).await.unwrap().unwrap();
    let mut record = row.record;
    record.spec.driver = artel_model::agent::Driver::Skill {
        skill: "quick".parse().unwrap(),
        params: serde_json::Map::new(),
        chain: false,
    };
    let work = Work { owner: "dead".to_owned(), run_id: Some(RunId(Uuid::now_v7())), ..Work::default() };
    let event = AgentEvent::Started { work: Box::new(work.clone()), cause: Cause::by("it") };
    record.standing = AgentPhase::Running { work: Box::new(work) };
    let events = vec![artel_model::agent::StampedAgentEvent { at: record.created_at, event }];
    place.store.append_agent(AgentAppend { expected: row.revision, events, record }).await.unwrap();
    let again = place.another("second");
    let recovered = again.recover().await.unwrap();
    assert_eq!(recovered, [id]);
    let agent = again.wait(id).await.unwrap().unwrap();
    assert_eq!((agent.state(), agent.success_count), (AgentState::Completed, 1));
}

#[tokio::test]
async fn another_process_can_cancel_an_agent_at_work() {
    let slow = format!("sleep 60 & wait\n{}", done("{}"));
    let place = Workplace::new(&[TestSkill("slow", json!({"timeout": 100}), &slow)]).await;
    let id = place.spawn(json!({"skill": "slow"})).await.agent_id;
    let other = place.another("second");
    let cancelled = other.cancel(id, Cause::by("other")).await.unwrap();
    assert_eq!(cancelled.state(), AgentState::Cancelled);
    assert_eq!(place.agents.wait(id).await.unwrap().unwrap().state(), AgentState::Cancelled);
}

#[tokio::test]
async fn a_crash_or_a_hang_of_one_agent_touches_nobody_else() {
    let place = Workplace::new(&[
        TestSkill("crashes", json!({}), "kill -SEGV $$"),
        TestSkill("hangs", json!({"timeout": 1}), "sleep 60 & wait"),
        TestSkill("quick", json!({}), &done("{}")),
    ])
    .await;
    let crashed = place.spawn(json!({"skill": "crashes"})).await.agent_id;
    let hung = place.spawn(json!({"skill": "hangs"})).await.agent_id;
    for _ in 0..5 {
        assert_eq!(place.run(json!({"skill": "quick"})).await.state(), AgentState::Completed);
    }
    let crashed = place.agents.wait(crashed).await.unwrap().unwrap();
    assert_eq!((crashed.state(), crashed.error_count), (AgentState::Failed, 1));
    let hung = place.agents.wait(hung).await.unwrap().unwrap();
    assert_eq!(hung.state(), AgentState::Failed);
}

#[tokio::test]
async fn many_tools_that_hang_leave_slots_for_other_agents() {
    let place = Workplace::new(&[
        TestSkill("hangs", json!({"timeout": 100}), "sleep 60 & wait"),
        TestSkill("quick", json!({}), &done("{}")),
    ])
    .await;
    let tool = |number: u32| json!({"toolId": format!("t{number}"), "skill": "hangs", "async": true});
    let plan = json!({
        "requestId": "123e4567-e89b-42d3-a456-426614174000",
        "parallel": true,
        "tools": (0..20).map(tool).collect::<Vec<_>>(),
    });
    let hog = place.spawn(json!({"plan": plan})).await.agent_id;
    for _ in 0..5 {
        assert_eq!(place.run(json!({"skill": "quick"})).await.state(), AgentState::Completed);
    }
    assert_eq!(place.state(hog).await, AgentState::Running);
    place.agents.terminate(hog, Cause::by("me")).await.unwrap();
}

#[tokio::test]
async fn an_agent_that_is_done_can_be_used_again() {
    let place = Workplace::new(&[TestSkill("quick", json!({}), &done("{}"))]).await;
    let id = place.run(json!({"skill": "quick"})).await.agent_id;
    let freed = place.agents.free(id, Cause::by("me")).await.unwrap();
    assert_eq!(freed.state(), AgentState::Idle);
    place.execute(id, "quick", json!({})).await.unwrap();
    assert_eq!(place.record(id).await.success_count, 2);
    assert!(
        !place.engine().has_runs() && !place.agents.is_busy(),
        "nothing of a call is left when it returns"
    );
}

/// A place with a skill that waits until a file is there.
async fn waiting_place() -> Workplace {
    let waits = format!("while [ ! -e \"$ARTEL_DATA_DIR/go\" ]; do sleep 0.01; done\n{}", done(r#"{"n":1}"#));
    Workplace::new(&[
        TestSkill("waits", json!({"timeout": 100, "allowed_tools": ["waits"]}), &waits),
        TestSkill("quick", json!({}), &done("{}")),
    ])
    .await
}

async fn until(place: &Workplace, id: artel_model::id::AgentId, state: AgentState) {
    while place.state(id).await != state {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_comes_to_its_end() {
    let place = waiting_place().await;
    let id = place.spawn(json!({})).await.agent_id;
    {
        let call = place.execute(id, "waits", json!({}));
        tokio::select! {
            _ = call => panic!("it waits"),
            () = until(&place, id, AgentState::Running) => {}
        }
    }
    std::fs::write(place.data_of("waits", None).join("go"), "").unwrap();
    until(&place, id, AgentState::Idle).await;
    assert_eq!(place.record(id).await.success_count, 1);
    place.execute(id, "quick", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_cancelled_leaves_its_agent_usable() {
    let place = waiting_place().await;
    let id = place.spawn(json!({})).await.agent_id;
    let cancelling = async {
        until(&place, id, AgentState::Running).await;
        let run = place.record(id).await.standing.work().unwrap().run_id.unwrap();
        let by = artel_model::run::Origin("somebody".to_owned());
        // The run may not be there yet.
        while place.engine().command(run, &artel_engine::Command::Cancel, by.clone()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    let (called, ()) = tokio::join!(place.execute(id, "waits", json!({})), cancelling);
    assert_eq!(called.unwrap_err().0, "OPERATION_FAILED");
    assert_eq!(place.state(id).await, AgentState::Failed);
    place.execute(id, "quick", json!({})).await.unwrap();
    assert_eq!(place.state(id).await, AgentState::Idle);
}

#[tokio::test]
async fn an_agent_that_is_put_aside_leaves_no_run_behind() {
    let place = waiting_place().await;
    let id = place.spawn(json!({"skill": "waits", "skills": ["waits"]})).await.agent_id;
    let run = place.record(id).await.standing.work().unwrap().run_id.unwrap();
    for _ in 0..10 {
        let (code, _) = place.execute(id, "quick", json!({})).await.unwrap_err();
        assert_eq!(code, "TOOL_NOT_ALLOWED");
    }
    assert_eq!(place.state(id).await, AgentState::Failed);
    let over = place.engine().wait(run).await.unwrap();
    assert_eq!(over.state, RunState::Cancelled);
}

#[tokio::test]
async fn only_one_of_two_processes_takes_an_agent_over() {
    let place = Workplace::new(&[TestSkill("quick", json!({}), &done("{}"))]).await;
    let id = place.spawn(json!({})).await.agent_id;
    let row = place.store.agent(id).await.unwrap().unwrap();
    let work = Work { owner: "dead".to_owned(), run_id: None, ..Work::default() };
    let mut agent = artel_model::agent::Agent::from_record(row.record);
    let at = artel_engine::Clock::system().now();
    let event = AgentEvent::Started { work: Box::new(work), cause: Cause::by("it") };
    let event = artel_model::agent::StampedAgentEvent { at, event };
    agent.apply(&event).unwrap();
    let append = AgentAppend { expected: row.revision, events: vec![event], record: agent.into_record() };
    place.store.append_agent(append).await.unwrap();
    let (one, other) = (place.another("one"), place.another("other"));
    let (first, second) = tokio::join!(one.recover(), other.recover());
    let taken: Vec<_> = first.unwrap().into_iter().chain(second.unwrap()).collect();
    assert_eq!(taken, [id]);
    let agent = place.record(id).await;
    assert_eq!((agent.state(), agent.error().unwrap().contains("interrupted")), (AgentState::Failed, true));
}

#[tokio::test]
async fn an_agent_that_never_began_begins_when_it_is_recovered() {
    let place = Workplace::new(&[TestSkill("quick", json!({}), &done("{}"))]).await;
    let spec = place.spawn(json!({})).await.spec;
    let mut spec = *spec;
    spec.driver = artel_model::agent::Driver::Skill {
        skill: "quick".parse().unwrap(),
        params: serde_json::Map::new(),
        chain: false,
    };
    let at = artel_engine::Clock::system().now() - 120_000;
    let spec = Box::new(spec);
    let record =
        artel_model::agent::AgentRecord::new(artel_model::id::AgentId(Uuid::new_v4()), spec.clone(), at);
    let event = AgentEvent::Spawned { spec, cause: Cause::by("it") };
    let event = artel_model::agent::StampedAgentEvent { at, event };
    let new = artel_store::NewAgent { record: record.clone(), event, agents_max: 100 };
    place.store.create_agent(new).await.unwrap().unwrap();
    assert_eq!(place.agents.recover().await.unwrap(), [record.agent_id]);
    let agent = place.agents.wait(record.agent_id).await.unwrap().unwrap();
    assert_eq!(agent.state(), AgentState::Completed);
}

#[tokio::test]
async fn runs_of_agents_that_were_ended_do_not_go_on() {
    let place = Workplace::new(&[TestSkill("quick", json!({}), &done("{}"))]).await;
    let (ended, living) = (place.spawn(json!({})).await.agent_id, place.spawn(json!({})).await.agent_id);
    let runs = [place.leave_run(ended, "quick").await, place.leave_run(living, "quick").await];
    place.agents.cancel(ended, Cause::by("me")).await.unwrap();
    assert_eq!(place.agents.end_runs_of_the_ended().await.unwrap(), [runs[0]]);
    place.engine().recover(&|owner| owner.0 != "dead").await.unwrap();
    let mut states = Vec::new();
    for run in runs {
        states.push(place.engine().wait(run).await.unwrap().state);
    }
    assert_eq!(states, [RunState::Cancelled, RunState::Succeeded]);
}

#[tokio::test]
async fn an_agent_can_begin_anew_what_it_was_spawned_for() {
    let place = Workplace::new(&[TestSkill("quick", json!({}), &done("{}"))]).await;
    let id = place.run(json!({"skill": "quick"})).await.agent_id;
    place.agents.free(id, Cause::by("me")).await.unwrap();
    place.agents.start(id, CallOrigin::Local, Cause::by("me")).await.unwrap();
    let refused = place.agents.start(id, CallOrigin::Local, Cause::by("me")).await.unwrap_err();
    assert!(matches!(refused, StartRefused::Transition(_)), "{refused}");
    let agent = place.agents.wait(id).await.unwrap().unwrap();
    assert_eq!((agent.state(), agent.success_count), (AgentState::Completed, 2));
}
