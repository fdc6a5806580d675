//! Random operations with agents and mail: the store under test must answer as the store in memory does.

use std::sync::Arc;

use artel_model::agent::{AgentRecord, AgentState};
use artel_model::message::{Address, DeadLetter, DeadReason, Message, MessageKind, Sender, Wait};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::agent_sample::{
    SharedAgents, agent_id, agent_record, correlation, from, message, message_id, new_agent, priority, said,
    standing, ttl,
};
use super::sample::{WORKS, at, owner_of};
use crate::agent::{AgentAppend, AgentFilter, NewAgent};
use crate::mail::{MESSAGE_REMEMBERED_MS, MailQuery, Post};
use crate::memory::MemoryStore;
use crate::page::PageRequest;
use crate::run::Revision;

const CASES: u32 = 48;
const OPERATIONS_MAX: usize = 60;
const TOPICS: [&str; 4] = ["a", "a.b", "a.c", "b.c.d"];
const PATTERNS: [&str; 6] = ["a", "a.*", "*.b", ">", "b.>", "*.*.d"];

/// Something to do with a store. Everything comes from small sets, so that operations meet.
#[derive(Clone, Debug)]
enum Operation {
    Create { agent: u128, parent: Option<u128>, millis: i64, agents_max: usize },
    Append { agent: u128, state: AgentState, millis: i64, is_late: bool },
    Say { agent: u128, millis: i64 },
    Children { agent: u128, live_only: bool },
    Prune { before: i64 },
    List { states: Vec<AgentState>, parent: Option<u128>, name: Option<u128>, owner: u128, limit: usize },
    Post(Post),
    Read(MailQuery),
    Mark { agent: u128, messages: Vec<u128> },
    Take { agent: u128, correlation: u128, now: i64 },
    Keep { number: u128, topic: usize, keep_max: usize },
    Replay { pattern: usize, latest: bool, limit: usize },
    Sweep { now: i64, dead_max: usize },
    Bury { number: u128, agent: Option<u128>, reason: DeadReason, millis: i64 },
    Letters { agent: Option<u128>, limit: usize },
    Begin { waiter: u128, awaited: u128, until: i64, now: i64 },
    End { waiter: u128, awaited: u128 },
}

fn agent() -> impl Strategy<Value = u128> {
    1_u128..7
}

fn moment() -> impl Strategy<Value = i64> {
    (0_i64..16).prop_map(|half_seconds| half_seconds * 500)
}

fn state() -> impl Strategy<Value = AgentState> {
    prop_oneof![4 => Just(AgentState::Idle), 3 => proptest::sample::select(AgentState::ALL)]
}

fn sender() -> impl Strategy<Value = Sender> {
    prop_oneof![1 => Just(Sender::System), 6 => agent().prop_map(from)]
}

fn any_post() -> impl Strategy<Value = Post> {
    let address = prop_oneof![
        4 => agent().prop_map(|agent| Address::Agent(agent_id(agent))),
        1 => Just(Address::Broadcast),
    ];
    let kind = proptest::sample::select(MessageKind::ALL);
    let envelope = (1_u128..60, sender(), address, kind, proptest::option::of(0_u128..4));
    (envelope, moment(), 1_u32..6, 1_u8..4, 0_usize..5, 0_i64..3).prop_map(
        |((number, sender, address, kind, asked), sent, seconds, urgency, mailbox_max, late)| {
            let message = Message {
                sender,
                kind,
                timestamp: at(sent),
                ttl: ttl(seconds),
                priority: priority(urgency),
                correlation: asked.map(correlation),
                ..message(number, address)
            };
            Post { message, now: at(sent + late * 500), mailbox_max }
        },
    )
}

fn any_query() -> impl Strategy<Value = MailQuery> {
    (agent(), moment(), any::<bool>(), any::<bool>(), 0_usize..4).prop_map(
        |(agent, now, with_read, mark_read, limit)| MailQuery {
            agent: agent_id(agent),
            now: at(now),
            with_read,
            mark_read,
            limit,
        },
    )
}

fn agent_operation() -> impl Strategy<Value = Operation> {
    let parent = || proptest::option::weighted(0.4, agent());
    prop_oneof![
        4 => (agent(), parent(), moment(), 0_usize..7).prop_map(|(agent, parent, millis, agents_max)| {
            Operation::Create { agent, parent, millis, agents_max }
        }),
        4 => (agent(), state(), moment(), proptest::bool::weighted(0.1)).prop_map(
            |(agent, state, millis, is_late)| Operation::Append { agent, state, millis, is_late }
        ),
        2 => (agent(), moment()).prop_map(|(agent, millis)| Operation::Say { agent, millis }),
        1 => (agent(), any::<bool>()).prop_map(|(agent, live_only)| Operation::Children { agent, live_only }),
        1 => moment().prop_map(|before| Operation::Prune { before }),
        1 => (proptest::collection::vec(state(), 0..3), parent(), parent(), 0_u128..6, 1_usize..4).prop_map(
            |(states, parent, name, owner, limit)| Operation::List { states, parent, name, owner, limit }
        ),
    ]
}

fn mail_operation() -> impl Strategy<Value = Operation> {
    let dead_agent = || proptest::option::of(agent());
    let much_later = moment().prop_map(|now| now + i64::try_from(MESSAGE_REMEMBERED_MS).expect("an hour"));
    let reason = proptest::sample::select(DeadReason::ALL);
    prop_oneof![
        12 => any_post().prop_map(Operation::Post),
        4 => any_query().prop_map(Operation::Read),
        2 => (agent(), proptest::collection::vec(1_u128..60, 0..9))
            .prop_map(|(agent, messages)| Operation::Mark { agent, messages }),
        2 => (agent(), 0_u128..4, moment())
            .prop_map(|(agent, correlation, now)| Operation::Take { agent, correlation, now }),
        2 => (1_u128..9, 0..TOPICS.len(), 0_usize..6)
            .prop_map(|(number, topic, keep_max)| Operation::Keep { number, topic, keep_max }),
        1 => (0..PATTERNS.len(), any::<bool>(), 0_usize..4)
            .prop_map(|(pattern, latest, limit)| Operation::Replay { pattern, latest, limit }),
        1 => (prop_oneof![9 => moment().boxed(), 1 => much_later.boxed()], 0_usize..9)
            .prop_map(|(now, dead_max)| Operation::Sweep { now, dead_max }),
        1 => (1_u128..60, dead_agent(), reason, moment())
            .prop_map(|(number, agent, reason, millis)| Operation::Bury { number, agent, reason, millis }),
        1 => (dead_agent(), 1_usize..4).prop_map(|(agent, limit)| Operation::Letters { agent, limit }),
        2 => (agent(), agent(), moment(), moment())
            .prop_map(|(waiter, awaited, until, now)| Operation::Begin { waiter, awaited, until, now }),
        1 => (agent(), agent()).prop_map(|(waiter, awaited)| Operation::End { waiter, awaited }),
    ]
}

/// Whatever is done with agents and mail in whatever order, the answers are those of the store in memory.
pub async fn random_mail_is_handled_as_in_memory(store: SharedAgents) {
    let memory: SharedAgents = Arc::new(MemoryStore::new());
    let handle = tokio::runtime::Handle::current();
    let config = Config { cases: CASES, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    tokio::task::block_in_place(|| {
        let operation = prop_oneof![1 => agent_operation(), 3 => mail_operation()];
        let operations = proptest::collection::vec(operation, 1..OPERATIONS_MAX);
        let outcome = TestRunner::new(config).run(&operations, |operations| {
            for operation in operations {
                let expected = handle.block_on(answer(&memory, operation.clone()));
                let actual = handle.block_on(answer(&store, operation.clone()));
                prop_assert_eq!(actual, expected, "{:?}", operation);
            }
            prop_assert_eq!(handle.block_on(everything(&store)), handle.block_on(everything(&memory)));
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{failure}");
        }
    });
}

/// Does what is asked and returns all that can be said about the answer, but for cursors and places, which are a
/// store's own.
async fn answer(store: &SharedAgents, operation: Operation) -> String {
    match operation {
        Operation::Create { agent, parent, millis, agents_max } => {
            let mut record = agent_record(agent, parent, millis);
            record.spec.max_children = 2;
            let created = store.create_agent(NewAgent { agents_max, ..new_agent(record) }).await;
            format!("{created:?}")
        }
        Operation::Append { agent, state, millis, is_late } => {
            bring_random(store, agent, state, millis, is_late).await
        }
        Operation::Say { agent, millis } => {
            format!("{:?}", store.append_said(agent_id(agent), vec![said(millis, "hello")]).await)
        }
        Operation::Children { agent, live_only } => {
            format!("{:?}", store.children(agent_id(agent), live_only).await)
        }
        Operation::Prune { before } => format!("{:?}", store.prune_agents(at(before)).await),
        Operation::List { states, parent, name, owner, limit } => {
            let (parent, name) = (parent.map(agent_id), name.map(|name| format!("agent {name}")));
            let owner = owner_of(owner).filter(|_| owner < 3);
            let filter = AgentFilter { states, parent, name, owner, ..AgentFilter::default() };
            all_agents(store, &filter, limit).await
        }
        Operation::Post(post) => format!("{:?}", store.post(post).await),
        Operation::Read(query) => format!("{:?}", store.mailbox(query).await),
        Operation::Mark { agent, messages } => {
            let messages: Vec<_> = messages.into_iter().map(message_id).collect();
            format!("{:?}", store.mark_read(agent_id(agent), &messages).await)
        }
        Operation::Take { agent, correlation: number, now } => {
            format!("{:?}", store.take_answer(agent_id(agent), correlation(number), at(now)).await)
        }
        Operation::Keep { number, topic, keep_max } => {
            let topic = Address::Topic(TOPICS[topic].parse().expect("a topic"));
            store.keep_event(message(number, topic), keep_max).await.expect(WORKS);
            String::new()
        }
        Operation::Replay { pattern, latest, limit } => {
            replayed(store, PATTERNS[pattern], latest, limit).await
        }
        Operation::Sweep { now, dead_max } => format!("{:?}", store.sweep(at(now), dead_max).await),
        Operation::Bury { number, agent, reason, millis } => {
            let recipient_id = agent.map(agent_id);
            let message = message(number, Address::Broadcast);
            format!(
                "{:?}",
                store.bury(vec![DeadLetter { message, recipient_id, reason, at: at(millis) }]).await
            )
        }
        Operation::Letters { agent, limit } => all_letters(store, agent, limit).await,
        Operation::Begin { waiter, awaited, until, now } => {
            let wait = random_wait(waiter, awaited, until);
            format!("{:?}", store.begin_wait(wait, at(now)).await)
        }
        Operation::End { waiter, awaited } => {
            let wait = random_wait(waiter, awaited, 0);
            format!("{:?}", store.end_wait(wait.waiter, wait.correlation).await)
        }
    }
}

fn random_wait(waiter: u128, awaited: u128, until: i64) -> Wait {
    let (waiter, awaited, correlation) = (agent_id(waiter), agent_id(awaited), correlation(awaited));
    Wait { waiter, awaited, correlation, since: at(0), until: at(until) }
}

async fn bring_random(
    store: &SharedAgents,
    agent: u128,
    state: AgentState,
    millis: i64,
    is_late: bool,
) -> String {
    let Some(row) = store.agent(agent_id(agent)).await.expect(WORKS) else {
        return String::new();
    };
    let record = AgentRecord { standing: standing(state), last_active: at(millis), ..row.record };
    let expected = Revision(row.revision.0 - u64::from(is_late));
    let append = AgentAppend { expected, events: vec![said(millis, state.as_str())], record };
    format!("{:?}", store.append_agent(append).await)
}

async fn replayed(store: &SharedAgents, pattern: &str, latest: bool, limit: usize) -> String {
    let pattern = pattern.parse().expect("a pattern");
    let events = store.topic_events(&pattern, 0, latest, limit).await.expect(WORKS);
    format!("{:?}", events.iter().map(|event| &event.message).collect::<Vec<_>>())
}

async fn all_agents(store: &SharedAgents, filter: &AgentFilter, limit: usize) -> String {
    let mut told = String::new();
    let mut after = None;
    loop {
        let page = store.agents(filter, &PageRequest { after, limit }).await.expect(WORKS);
        told += &format!("{:?}\n", page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return told,
        }
    }
}

async fn all_letters(store: &SharedAgents, agent: Option<u128>, limit: usize) -> String {
    let mut told = String::new();
    let mut after = None;
    loop {
        let request = PageRequest { after, limit };
        let page = store.dead_letters(agent.map(agent_id), &request).await.expect(WORKS);
        told += &format!("{:?}\n", page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return told,
        }
    }
}

/// Returns all that a store holds.
async fn everything(store: &SharedAgents) -> String {
    let agents = all_agents(store, &AgentFilter::default(), 100).await;
    let letters = all_letters(store, None, 100).await;
    let topics = replayed(store, ">", false, 100).await;
    let mut mail = String::new();
    for number in 1..7 {
        let query = MailQuery {
            agent: agent_id(number),
            now: at(i64::MIN),
            with_read: true,
            mark_read: false,
            limit: usize::MAX,
        };
        let events = store.agent_events(agent_id(number), Revision(0), 10_000).await.expect(WORKS);
        mail += &format!("{:?}\n{events:?}\n", store.mailbox(query).await.expect(WORKS));
    }
    let counts = (store.agent_counts().await.expect(WORKS), store.mail_counts().await.expect(WORKS));
    format!("{agents}{letters}{topics}{mail}{counts:?}")
}
