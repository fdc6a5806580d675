//! Agents and messages, made as short as the cases need them.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_model::access::Viewer;
use artel_model::agent::{
    AgentEvent, AgentPhase, AgentRecord, AgentSpec, AgentState, CallOrigin, Cause, Driver, Policy,
    StampedAgentEvent, Work,
};
use artel_model::id::{AgentId, CorrelationId, MessageId};
use artel_model::message::{Address, Message, MessageKind, Payload, Priority, Sender, Ttl};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::sample::{WORKS, at, owner_of};
use crate::agent::{AgentAppend, AgentRow, LoggedAgentEvent, NewAgent};
use crate::mail::{Mail, MailQuery, Post, Posted};
use crate::run::Revision;
use crate::{AgentStore, MailStore, RunStore, WaitStore};

/// A store of agents and their messages.
pub trait AnyAgentStore: RunStore + AgentStore + MailStore + WaitStore {}

impl<T: RunStore + AgentStore + MailStore + WaitStore> AnyAgentStore for T {}

/// A store of agents that a case may share with the tasks it starts.
pub(super) type SharedAgents = Arc<dyn AnyAgentStore>;

/// How many living agents and unread messages there may be where a case is not about that.
pub(super) const PLENTY: usize = 10_000;

/// Returns the id of an agent.
pub fn agent_id(number: u128) -> AgentId {
    AgentId(Uuid::from_u128(number))
}

/// Returns the id of a message.
pub fn message_id(number: u128) -> MessageId {
    MessageId(Uuid::from_u128(number))
}

/// Returns the correlation of a request.
pub fn correlation(number: u128) -> CorrelationId {
    CorrelationId(Uuid::from_u128(number))
}

/// Returns the record of an agent that was spawned at `millis` and is idle.
pub fn agent_record(number: u128, parent: Option<u128>, millis: i64) -> AgentRecord {
    let spec = AgentSpec {
        name: Some(format!("agent {number}")),
        task: None,
        skills: None,
        readable: None,
        role: None,
        workspace_id: None,
        parent: parent.map(agent_id),
        viewer: owner_of(number).map(|user| Viewer { user, teams: BTreeSet::new() }),
        origin: if number.is_multiple_of(2) { CallOrigin::Local } else { CallOrigin::Remote },
        depth: u32::from(parent.is_some()),
        max_children: 5,
        driver: Driver::External,
        model: None,
        thinking: None,
        timeout_ms: None,
        policy: Policy::default(),
        execution_protocol: Vec::new(),
        contracts: Vec::new(),
        metadata: Map::from_iter([("text".to_owned(), Value::from("\u{0}\"\u{1f600}"))]),
    };
    AgentRecord::new(agent_id(number), Box::new(spec), at(millis))
}

/// Returns an agent to be kept, with its first event.
pub fn new_agent(record: AgentRecord) -> NewAgent {
    let event = AgentEvent::Spawned { spec: record.spec.clone(), cause: Cause::by("tester") };
    let event = StampedAgentEvent { at: record.created_at, event };
    NewAgent { record, event, agents_max: PLENTY }
}

/// Returns an event that holds a text.
pub fn said(millis: i64, text: &str) -> StampedAgentEvent {
    StampedAgentEvent {
        at: at(millis),
        event: AgentEvent::Said { by: "model".to_owned(), what: text.into() },
    }
}

/// Returns what goes with a state.
pub(super) fn standing(state: AgentState) -> AgentPhase {
    match state {
        AgentState::Idle => AgentPhase::Idle,
        AgentState::Running => AgentPhase::Running { work: Box::new(Work::default()) },
        AgentState::Paused => AgentPhase::Paused { work: Box::new(Work::default()) },
        AgentState::Completed => AgentPhase::Completed,
        AgentState::Failed => AgentPhase::Failed { error: "it broke".to_owned() },
        AgentState::Cancelled => AgentPhase::Cancelled,
        AgentState::Terminated => AgentPhase::Terminated,
    }
}

/// Keeps an idle agent that was spawned at 10.
pub(super) async fn spawn(store: &SharedAgents, number: u128) {
    let agent = new_agent(agent_record(number, None, 10));
    assert_eq!(store.create_agent(agent).await.expect(WORKS), Ok(()));
}

/// Keeps an idle child of an agent.
pub(super) async fn spawn_below(store: &SharedAgents, number: u128, parent: u128) {
    let agent = new_agent(agent_record(number, Some(parent), 10));
    assert_eq!(store.create_agent(agent).await.expect(WORKS), Ok(()));
}

/// Brings an agent into a state, at `millis`.
pub(super) async fn bring(store: &SharedAgents, number: u128, state: AgentState, millis: i64) {
    let AgentRow { mut record, revision } = agent_row(store, number).await;
    record.standing = standing(state);
    record.last_active = at(millis);
    let append = AgentAppend { expected: revision, events: vec![said(millis, state.as_str())], record };
    assert_eq!(store.append_agent(append).await.expect(WORKS), Revision(revision.0 + 1));
}

/// Returns what is kept about an agent that is there.
pub(super) async fn agent_row(store: &SharedAgents, number: u128) -> AgentRow {
    store.agent(agent_id(number)).await.expect(WORKS).expect("the agent is kept")
}

/// Returns a whole log.
pub(super) async fn agent_log(store: &SharedAgents, number: u128) -> Vec<LoggedAgentEvent> {
    store.agent_events(agent_id(number), Revision(0), usize::MAX).await.expect(WORKS)
}

/// Returns an event from the system, sent at 1000 with 60 seconds to live.
pub fn message(number: u128, address: Address) -> Message {
    let payload = Map::from_iter([("number".to_owned(), Value::from(number.to_string()))]);
    Message {
        id: message_id(number),
        sender: Sender::System,
        address,
        kind: MessageKind::Event,
        payload: Payload::new(payload).expect("it is short"),
        timestamp: at(SENT),
        ttl: Ttl::default(),
        priority: Priority::default(),
        correlation: None,
        trace_parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().ok(),
    }
}

/// When messages are sent, where a case is not about that.
pub(super) const SENT: i64 = 1000;
/// From when on such messages are expired.
pub(super) const EXPIRED: i64 = SENT + 60_000;

/// Returns a message to an agent.
pub fn to(number: u128, agent: u128) -> Message {
    message(number, Address::Agent(agent_id(agent)))
}

/// Returns a message to everybody.
pub(super) fn to_all(number: u128, sender: Sender) -> Message {
    Message { sender, ..message(number, Address::Broadcast) }
}

/// Returns an agent as who sends.
pub(super) fn from(agent: u128) -> Sender {
    Sender::Agent(agent_id(agent))
}

/// Returns a number as a priority.
pub(super) fn priority(number: u8) -> Priority {
    Priority::try_from(number).expect("a priority")
}

/// Returns a number of seconds as a time to live.
pub(super) fn ttl(seconds: u32) -> Ttl {
    Ttl::try_from(seconds).expect("a time to live")
}

/// Returns a message to be posted when it is sent.
pub fn post(message: Message) -> Post {
    Post { now: message.timestamp, message, mailbox_max: PLENTY }
}

/// Posts a message when it is sent, and returns what came of it.
pub(super) async fn send(store: &SharedAgents, message: Message) -> Posted {
    store.post(post(message)).await.expect(WORKS)
}

/// Returns that a message lies in these mailboxes.
pub(super) fn delivered(agents: &[u128]) -> Posted {
    Posted::Delivered(agents.iter().copied().map(agent_id).collect())
}

/// Returns how everything unread is read, without marking it.
pub fn peek(agent: u128, now: i64) -> MailQuery {
    MailQuery { agent: agent_id(agent), now: at(now), with_read: false, mark_read: false, limit: usize::MAX }
}

/// Returns how everything is read, without marking it.
pub(super) fn peek_all(agent: u128, now: i64) -> MailQuery {
    MailQuery { with_read: true, ..peek(agent, now) }
}

/// Returns the numbers of messages.
pub(super) fn numbers_of(mail: &[Mail]) -> Vec<u128> {
    mail.iter().map(|mail| mail.message.id.0.as_u128()).collect()
}

/// Reads a mailbox and returns the numbers of the messages.
pub(super) async fn read_numbers(store: &SharedAgents, query: MailQuery) -> Vec<u128> {
    numbers_of(&store.mailbox(query).await.expect(WORKS))
}

/// Returns the numbers of what is unread when messages are sent.
pub(super) async fn unread(store: &SharedAgents, agent: u128) -> Vec<u128> {
    read_numbers(store, peek(agent, SENT)).await
}
