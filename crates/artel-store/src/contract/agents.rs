//! Cases about agents: their creation and its limits, their logs, and what ends them.

use artel_model::agent::{AgentPhase, AgentRecord, AgentState};
use tokio::task::JoinSet;

use super::agent_sample::{
    PLENTY, SharedAgents, agent_id, agent_log, agent_record, agent_row, bring, new_agent, said, spawn,
    spawn_below, standing,
};
use super::sample::{WORKS, at};
use crate::agent::{AgentAppend, AgentAppendError, AgentRefused, AgentRow, NewAgent, may_have_children};
use crate::run::Revision;

/// An agent is kept with its first event.
pub async fn an_agent_is_kept_with_its_first_event(store: SharedAgents) {
    let agent = new_agent(agent_record(1, None, -10));
    assert_eq!(store.agent(agent_id(1)).await.expect(WORKS), None);
    assert_eq!(store.create_agent(agent.clone()).await.expect(WORKS), Ok(()));
    assert_eq!(agent_row(&store, 1).await, AgentRow { record: agent.record.clone(), revision: Revision(1) });
    let log = agent_log(&store, 1).await;
    assert_eq!((log.len(), log[0].revision, &log[0].event), (1, Revision(1), &agent.event));
    assert_eq!(agent_log(&store, 2).await, []);
}

/// A second agent with the same id is refused, whatever else is wrong with it.
pub async fn a_second_agent_with_the_same_id_is_refused(store: SharedAgents) {
    spawn(&store, 1).await;
    let first = agent_row(&store, 1).await;
    for parent in [None, Some(1), Some(9)] {
        let second = NewAgent { agents_max: 1, ..new_agent(agent_record(1, parent, 20)) };
        assert_eq!(store.create_agent(second).await.expect(WORKS), Err(AgentRefused::Exists));
    }
    assert_eq!(agent_row(&store, 1).await, first);
    assert_eq!(agent_log(&store, 1).await.len(), 1);
}

/// A child needs a parent that is idle or running.
pub async fn a_parent_must_be_idle_or_running(store: SharedAgents) {
    let child = |number| new_agent(agent_record(number, Some(1), 10));
    assert_eq!(store.create_agent(child(2)).await.expect(WORKS), Err(AgentRefused::NoParent));
    spawn(&store, 1).await;
    for (number, state) in (10..).zip(AgentState::ALL) {
        bring(&store, 1, *state, 20).await;
        let expected =
            if may_have_children(*state) { Ok(()) } else { Err(AgentRefused::ParentState(*state)) };
        assert_eq!(store.create_agent(child(number)).await.expect(WORKS), expected, "{state:?}");
        let is_kept = store.agent(agent_id(number)).await.expect(WORKS).is_some();
        assert_eq!(is_kept, expected.is_ok(), "{state:?}");
    }
}

/// A parent has as many living children as its spec says; those that ended make room.
pub async fn living_children_are_limited(store: SharedAgents) {
    let mut parent = agent_record(1, None, 10);
    parent.spec.max_children = 2;
    assert_eq!(store.create_agent(new_agent(parent)).await.expect(WORKS), Ok(()));
    spawn_below(&store, 2, 1).await;
    spawn_below(&store, 3, 1).await;
    bring(&store, 3, AgentState::Paused, 20).await;
    let another = || new_agent(agent_record(4, Some(1), 10));
    let full = Err(AgentRefused::TooManyChildren { children: 2 });
    assert_eq!(store.create_agent(another()).await.expect(WORKS), full);
    // Too many children are told before too many agents.
    let both = NewAgent { agents_max: 3, ..another() };
    assert_eq!(store.create_agent(both).await.expect(WORKS), full);
    bring(&store, 2, AgentState::Failed, 30).await;
    assert_eq!(store.create_agent(another()).await.expect(WORKS), Ok(()));
    bring(&store, 2, AgentState::Idle, 40).await;
    let full = Err(AgentRefused::TooManyChildren { children: 3 });
    assert_eq!(store.create_agent(new_agent(agent_record(5, Some(1), 10))).await.expect(WORKS), full);
    // Grandchildren are somebody else's.
    spawn_below(&store, 6, 2).await;
    let mut barren = agent_record(7, None, 10);
    barren.spec.max_children = 0;
    assert_eq!(store.create_agent(new_agent(barren)).await.expect(WORKS), Ok(()));
    let full = Err(AgentRefused::TooManyChildren { children: 0 });
    assert_eq!(store.create_agent(new_agent(agent_record(8, Some(7), 10))).await.expect(WORKS), full);
}

/// There are as many living agents as there may be; those that ended make room.
pub async fn living_agents_are_limited(store: SharedAgents) {
    let another = |number, agents_max| NewAgent { agents_max, ..new_agent(agent_record(number, None, 10)) };
    for number in 1..=3 {
        assert_eq!(store.create_agent(another(number, 3)).await.expect(WORKS), Ok(()));
    }
    let full = Err(AgentRefused::TooManyAgents { agents: 3 });
    assert_eq!(store.create_agent(another(4, 3)).await.expect(WORKS), full);
    assert_eq!(store.create_agent(another(4, 0)).await.expect(WORKS), full);
    let states = [
        (AgentState::Running, false),
        (AgentState::Paused, false),
        (AgentState::Completed, true),
        (AgentState::Idle, false),
        (AgentState::Terminated, true),
    ];
    for (number, (state, makes_room)) in (10..).zip(states) {
        bring(&store, 2, state, 20).await;
        let created = store.create_agent(another(number, 3)).await.expect(WORKS);
        assert_eq!(created, if makes_room { Ok(()) } else { full }, "{state:?}");
        if makes_room {
            bring(&store, number, AgentState::Cancelled, 20).await;
        }
    }
}

/// However many are spawned at once, exactly as many get in as may.
pub async fn many_spawns_at_once_stay_within_the_limits(store: SharedAgents) {
    spawn(&store, 1).await;
    let refused = |children| AgentRefused::TooManyChildren { children };
    let answers = spawn_many(&store, 100, Some(1), PLENTY).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| **answer == Err(refused(5))).count(), 15, "{answers:?}");
    let answers = spawn_many(&store, 200, None, 13).await;
    let full = Err(AgentRefused::TooManyAgents { agents: 13 });
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 7, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| **answer == full).count(), 13, "{answers:?}");
    let counts = store.agent_counts().await.expect(WORKS);
    assert_eq!(counts, [(AgentState::Idle, 13)]);
}

async fn spawn_many(
    store: &SharedAgents,
    first: u128,
    parent: Option<u128>,
    agents_max: usize,
) -> Vec<Result<(), AgentRefused>> {
    let mut tasks = JoinSet::new();
    for number in first..first + 20 {
        let store = store.clone();
        let agent = NewAgent { agents_max, ..new_agent(agent_record(number, parent, 10)) };
        tasks.spawn(async move { store.create_agent(agent).await.expect(WORKS) });
    }
    tasks.join_all().await
}

/// Of many that spawn an agent with one id, one does.
pub async fn one_of_many_spawns_of_an_id_wins(store: SharedAgents) {
    let mut tasks = JoinSet::new();
    for millis in 0..16 {
        let store = store.clone();
        tasks.spawn(async move {
            let agent = new_agent(agent_record(1, None, millis));
            store.create_agent(agent).await.expect(WORKS).map(|()| millis)
        });
    }
    let answers = tasks.join_all().await;
    let won: Vec<i64> = answers.iter().filter_map(|answer| answer.ok()).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| matches!(answer, Ok(_) | Err(AgentRefused::Exists))), "{answers:?}");
    assert_eq!(agent_row(&store, 1).await.record.created_at, at(won[0]));
    assert_eq!(agent_log(&store, 1).await.len(), 1);
}

/// An append changes the log and the record at once, and every state is kept.
pub async fn an_agents_append_changes_log_and_record(store: SharedAgents) {
    spawn(&store, 1).await;
    let mut record = agent_row(&store, 1).await.record;
    for (revision, state) in (1..).step_by(2).zip(AgentState::ALL) {
        record = AgentRecord { standing: standing(*state), operation_count: revision, ..record };
        let events = vec![said(20, "\u{0} first"), said(21, state.as_str())];
        let append = AgentAppend { expected: Revision(revision), events, record: record.clone() };
        let end = store.append_agent(append.clone()).await.expect(WORKS);
        assert_eq!(end, Revision(revision + 2));
        assert_eq!(agent_row(&store, 1).await, AgentRow { record: record.clone(), revision: end });
        let logged = store.agent_events(agent_id(1), Revision(revision), 10).await.expect(WORKS);
        assert_eq!(
            logged.iter().map(|logged| logged.revision.0).collect::<Vec<_>>(),
            [revision + 1, revision + 2]
        );
        assert!(logged.iter().map(|logged| &logged.event).eq(&append.events));
    }
    let silent = AgentAppend { expected: Revision(15), events: Vec::new(), record };
    assert_eq!(store.append_agent(silent).await.expect(WORKS), Revision(15));
}

/// An append that expects another end of the log writes nothing, nor does one to an agent that is not there.
pub async fn an_agents_conflict_writes_nothing(store: SharedAgents) {
    spawn(&store, 1).await;
    let before = agent_row(&store, 1).await;
    let version = store.version().await.expect(WORKS);
    let record = AgentRecord { standing: AgentPhase::Terminated, ..before.record.clone() };
    for expected in [0, 2, u64::MAX] {
        let expected = Revision(expected);
        let append = AgentAppend { expected, events: vec![said(20, "late")], record: record.clone() };
        let answer = store.append_agent(append).await;
        assert!(matches!(answer, Err(AgentAppendError::Conflict { actual: Revision(1) })), "{answer:?}");
    }
    let foreign = AgentRecord { agent_id: agent_id(9), ..record };
    let append = AgentAppend { expected: Revision(0), events: vec![said(20, "whose?")], record: foreign };
    let answer = store.append_agent(append).await;
    assert!(matches!(answer, Err(AgentAppendError::Unknown)), "{answer:?}");
    assert_eq!(agent_row(&store, 1).await, before);
    assert_eq!(agent_log(&store, 1).await.len(), 1);
    assert_eq!(store.agent(agent_id(9)).await.expect(WORKS), None);
    assert_eq!(store.version().await.expect(WORKS), version);
}

/// Of many that append to one place of an agent's log, one wins.
pub async fn one_of_many_agent_appends_wins(store: SharedAgents) {
    spawn(&store, 1).await;
    let record = agent_row(&store, 1).await.record;
    for revision in 1..=5 {
        let mut tasks = JoinSet::new();
        for writer in 0..16 {
            let store = store.clone();
            let expected = Revision(revision);
            let append = AgentAppend { expected, events: vec![said(writer, "mine")], record: record.clone() };
            tasks.spawn(async move { store.append_agent(append).await });
        }
        let answers = tasks.join_all().await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        for answer in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            let AgentAppendError::Conflict { actual } = answer else { panic!("{answer:?}") };
            assert_eq!(*actual, Revision(revision + 1));
        }
    }
    assert_eq!(agent_log(&store, 1).await.len(), 6);
}

/// What is said goes to the end of the log, whatever that is, and changes nothing but when the agent was last active.
pub async fn what_is_said_is_added_wherever_the_log_ends(store: SharedAgents) {
    spawn(&store, 1).await;
    for (revision, state) in (2..).step_by(4).zip(AgentState::ALL) {
        bring(&store, 1, *state, 20).await;
        let before = agent_row(&store, 1).await;
        let events = vec![said(30, "\u{0} one"), said(40, "two"), said(35, "three")];
        let end = store.append_said(agent_id(1), events.clone()).await.expect(WORKS);
        assert_eq!(end, Revision(revision + 3));
        let record = AgentRecord { last_active: at(35), ..before.record.clone() };
        assert_eq!(agent_row(&store, 1).await, AgentRow { record, revision: end });
        let logged = store.agent_events(agent_id(1), Revision(revision), 9).await.expect(WORKS);
        assert!(logged.iter().map(|logged| &logged.event).eq(&events), "{logged:?}");
        assert!(logged.iter().map(|logged| logged.revision.0).eq(revision + 1..=revision + 3), "{logged:?}");
        // Who decided something before that has to look again.
        let late = AgentAppend { expected: before.revision, events, record: before.record };
        let answer = store.append_agent(late).await;
        assert!(matches!(answer, Err(AgentAppendError::Conflict { actual }) if actual == end), "{answer:?}");
    }
    let before = agent_row(&store, 1).await;
    assert_eq!(store.append_said(agent_id(1), Vec::new()).await.expect(WORKS), before.revision);
    assert_eq!(agent_row(&store, 1).await, before);
    let answer = store.append_said(agent_id(9), vec![said(20, "whose?")]).await;
    assert!(matches!(answer, Err(AgentAppendError::Unknown)), "{answer:?}");
    assert_eq!(agent_log(&store, 9).await, []);
}

/// However many talk in one log, everything is there, and what one of them says stays together and in order.
pub async fn many_talk_at_once_and_nothing_is_lost(store: SharedAgents) {
    const EACH: i64 = 5;
    spawn(&store, 1).await;
    let mut tasks = JoinSet::new();
    for talker in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            for number in 0..EACH {
                let pair = vec![said(talker * 100 + number, "one"), said(talker * 100 + number, "two")];
                store.append_said(agent_id(1), pair).await.expect(WORKS);
            }
        });
    }
    tasks.join_all().await;
    let log = agent_log(&store, 1).await;
    assert!(log.iter().map(|logged| logged.revision.0).eq(1..=81), "{log:?}");
    let pairs: Vec<i64> = log[1..].chunks(2).map(|pair| pair[0].event.at.as_millis()).collect();
    assert!(log[1..].chunks(2).all(|pair| pair[0].event.at == pair[1].event.at), "{pairs:?}");
    for talker in 0..8 {
        let own: Vec<i64> = pairs.iter().copied().filter(|millis| millis / 100 == talker).collect();
        assert!(own.iter().copied().eq(talker * 100..talker * 100 + EACH), "{own:?}");
    }
    assert_eq!(agent_row(&store, 1).await.revision, Revision(81));
}

/// A log is read in pieces.
pub async fn agent_events_are_read_in_pages(store: SharedAgents) {
    spawn(&store, 1).await;
    let record = agent_row(&store, 1).await.record;
    let events = (0..250).map(|number| said(number, &number.to_string())).collect();
    store.append_agent(AgentAppend { expected: Revision(1), events, record }).await.expect(WORKS);
    let mut seen = Vec::new();
    loop {
        let after = Revision(seen.last().copied().unwrap_or(0));
        let page = store.agent_events(agent_id(1), after, 100).await.expect(WORKS);
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 100);
        seen.extend(page.iter().map(|logged| logged.revision.0));
    }
    assert!(seen.into_iter().eq(1..=251));
    assert_eq!(store.agent_events(agent_id(1), Revision(u64::MAX), 9).await.expect(WORKS), []);
    assert_eq!(store.agent_events(agent_id(1), Revision(0), 0).await.expect(WORKS), []);
}

/// Agents are counted by state.
pub async fn agents_are_counted_by_state(store: SharedAgents) {
    assert_eq!(store.agent_counts().await.expect(WORKS), []);
    for (number, state) in (1..).zip(AgentState::ALL.iter().rev()) {
        for copy in 0..number {
            spawn(&store, number * 100 + copy).await;
            bring(&store, number * 100 + copy, *state, 20).await;
        }
    }
    let expected: Vec<_> = AgentState::ALL.iter().copied().zip((1_u64..=7).rev()).collect();
    assert_eq!(store.agent_counts().await.expect(WORKS), expected);
    bring(&store, 100, AgentState::Idle, 30).await;
    let counts = store.agent_counts().await.expect(WORKS);
    assert_eq!((counts.first(), counts.len()), (Some(&(AgentState::Idle, 8)), 6));
}
