//! A post office with agents 1 to 4 and a bus that can fall and rise, for the tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_agents::{DeadLetterBox, Office, OfficeConfig, OfficeParts, ReadOptions};
use artel_bus::{
    Bell, Bus, BusConfig, BusError, Counts, InProcessBus, Published, RequestError, RespondError,
    SubscribeError, SubscribeOptions, Subscription,
};
use artel_engine::Clock;
use artel_model::agent::AgentPhase;
use artel_model::id::{AgentId, CorrelationId};
use artel_model::message::{
    Address, Message, MessageDraft, MessageKind, Payload, Priority, Sender, TopicPattern, Ttl,
};
use artel_model::time::Timestamp;
use artel_store::contract::{AnyAgentStore, agent_id, agent_record, new_agent, said};
use artel_store::{AgentAppend, MemoryStore};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use async_trait::async_trait;
use camino::Utf8Path;
use serde_json::Value;

/// So long that nobody ever looks: whoever is woken is woken by the bus.
pub(crate) const NEVER_MS: u64 = 3_600_000_000;

/// The agents that are there.
pub(crate) const AGENTS: u128 = 4;

pub(crate) struct House {
    pub(crate) store: Arc<dyn AnyAgentStore>,
    pub(crate) clock: Clock,
    pub(crate) bus: Arc<WeakBus>,
    pub(crate) dead: DeadLetterBox,
    pub(crate) office: Office,
}

impl House {
    /// A house on a store in memory, where nobody looks at the store without being woken.
    pub(crate) async fn quick() -> Self {
        Self::open(OfficeConfig { poll_ms: NEVER_MS, ..OfficeConfig::default() }).await
    }

    pub(crate) async fn open(config: OfficeConfig) -> Self {
        Self::open_on(Arc::new(MemoryStore::new()), config, AGENTS).await
    }

    pub(crate) async fn open_on(store: Arc<dyn AnyAgentStore>, config: OfficeConfig, agents: u128) -> Self {
        for number in 1..=agents {
            store.create_agent(new_agent(agent_record(number, None, 10))).await.unwrap().unwrap();
        }
        Self::beside(store, Clock::starting_at(Timestamp::from_millis(1000)), config)
    }

    /// Another process on the same store: nothing else is shared.
    pub(crate) fn other_process(&self, config: OfficeConfig) -> Self {
        self.other_process_on(self.store.clone(), config)
    }

    /// Another process that has opened the same file.
    pub(crate) fn other_process_on(&self, store: Arc<dyn AnyAgentStore>, config: OfficeConfig) -> Self {
        Self::beside(store, self.clock, config)
    }

    fn beside(store: Arc<dyn AnyAgentStore>, clock: Clock, config: OfficeConfig) -> Self {
        let dead = DeadLetterBox::open(store.clone());
        let bus_clock = artel_bus::Clock::new(move || clock.now());
        let bus =
            Arc::new(WeakBus::new(BusConfig { clock: bus_clock, dead_letters: Arc::new(dead.clone()) }));
        let parts = OfficeParts {
            mail: store.clone(),
            waits: store.clone(),
            agents: store.clone(),
            runs: store.clone(),
            bus: bus.clone(),
            clock,
        };
        let office = Office::with_dead_letters(config, parts, dead.clone());
        Self { store, clock, bus, dead, office }
    }

    pub(crate) async fn terminate(&self, number: u128) {
        let row = self.store.agent(agent_id(number)).await.unwrap().unwrap();
        let mut record = row.record;
        record.standing = AgentPhase::Terminated;
        record.last_active = self.clock.now();
        let append = AgentAppend { expected: row.revision, events: vec![said(20, "over")], record };
        self.store.append_agent(append).await.unwrap();
    }

    /// Sends what must be taken.
    pub(crate) async fn send(&self, draft: MessageDraft) -> Message {
        self.office.send(draft).await.unwrap().message
    }

    /// Reads what is unread, marks it, and returns what it says.
    pub(crate) async fn read(&self, number: u128) -> Vec<String> {
        let mail = self.office.read(agent_id(number), ReadOptions::default()).await.unwrap();
        mail.iter().map(|mail| text(&mail.message)).collect()
    }

    /// Waits for a request and answers it.
    pub(crate) async fn answer(&self, number: u128, kind: MessageKind, says: &str) {
        let id = agent_id(number);
        self.office.wait_for_mail(id, Duration::from_secs(10)).await.unwrap();
        let mail = self.office.read(id, ReadOptions::default()).await.unwrap();
        let [request] = &mail[..] else { panic!("one request: {mail:?}") };
        let Sender::Agent(asker) = request.message.sender else { panic!("from an agent") };
        let answer = MessageDraft {
            correlation: request.message.correlation,
            ..draft(number, Address::Agent(asker), kind, says)
        };
        self.office.send(answer).await.unwrap();
    }

    /// Returns the reasons of all dead letters and what they say, the latest first.
    pub(crate) async fn dead_letters(&self) -> Vec<(&'static str, String)> {
        let page = artel_store::PageRequest { limit: 1000, after: None };
        let letters = self.office.dead_letters(None, &page).await.unwrap().items;
        letters.iter().map(|letter| (letter.reason.as_str(), text(&letter.message))).collect()
    }
}

/// Opens the store in a folder.
pub(crate) fn sqlite(folder: &tempfile::TempDir) -> Arc<dyn AnyAgentStore> {
    let path = Utf8Path::from_path(folder.path()).unwrap().join("artel.db");
    Arc::new(SqliteStore::open(&path, SqliteOptions::default()).unwrap())
}

pub(crate) fn text(message: &Message) -> String {
    message.payload.object().get("says").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A message of an agent, or of the system when the number is 0.
pub(crate) fn draft(from: u128, address: Address, kind: MessageKind, says: &str) -> MessageDraft {
    let sender = if from == 0 { Sender::System } else { Sender::Agent(agent_id(from)) };
    let payload = serde_json::Map::from_iter([("says".to_owned(), Value::from(says))]);
    MessageDraft::new(sender, address, kind, Payload::new(payload).unwrap())
}

pub(crate) fn to(number: u128) -> Address {
    Address::Agent(agent_id(number))
}

pub(crate) fn event(from: u128, recipient: u128, says: &str) -> MessageDraft {
    draft(from, to(recipient), MessageKind::Event, says)
}

pub(crate) fn request(from: u128, recipient: u128) -> MessageDraft {
    draft(from, to(recipient), MessageKind::Request, "please")
}

pub(crate) fn about(topic: &str, says: &str) -> MessageDraft {
    draft(0, Address::Topic(topic.parse().unwrap()), MessageKind::Event, says)
}

pub(crate) fn urgent(priority: u8, draft: MessageDraft) -> MessageDraft {
    MessageDraft { priority: Priority::try_from(priority).unwrap(), ..draft }
}

pub(crate) fn short_lived(draft: MessageDraft) -> MessageDraft {
    MessageDraft { ttl: Ttl::try_from(1).unwrap(), ..draft }
}

pub(crate) fn correlated(correlation: CorrelationId, draft: MessageDraft) -> MessageDraft {
    MessageDraft { correlation: Some(correlation), ..draft }
}

pub(crate) fn ids(numbers: &[u128]) -> Vec<AgentId> {
    numbers.iter().copied().map(agent_id).collect()
}

/// A bus that can fall, and then forgets everybody who listened; or hang, and then never answers.
pub(crate) struct WeakBus {
    config: BusConfig,
    state: Mutex<BusState>,
}

#[derive(Clone)]
enum BusState {
    Up(Arc<InProcessBus>),
    Fallen,
    Hanging,
}

impl WeakBus {
    fn new(config: BusConfig) -> Self {
        let bus = Self { config, state: Mutex::new(BusState::Fallen) };
        bus.rise();
        bus
    }

    pub(crate) fn fall(&self) {
        *self.state.lock().unwrap() = BusState::Fallen;
    }

    pub(crate) fn hang(&self) {
        *self.state.lock().unwrap() = BusState::Hanging;
    }

    pub(crate) fn rise(&self) {
        *self.state.lock().unwrap() = BusState::Up(Arc::new(InProcessBus::new(self.config.clone())));
    }

    fn current(&self) -> Option<Arc<InProcessBus>> {
        match self.state.lock().unwrap().clone() {
            BusState::Up(bus) => Some(bus),
            BusState::Fallen | BusState::Hanging => None,
        }
    }
}

fn away() -> BusError {
    BusError::Unavailable { doing: "publish a message", source: "it fell".into() }
}

#[async_trait]
impl Bus for WeakBus {
    async fn publish(&self, message: Arc<Message>) -> Result<Published, BusError> {
        let state = self.state.lock().unwrap().clone();
        match state {
            BusState::Up(bus) => bus.publish(message).await,
            BusState::Fallen => Err(away()),
            BusState::Hanging => std::future::pending().await,
        }
    }

    fn subscribe(
        &self,
        pattern: TopicPattern,
        options: SubscribeOptions,
    ) -> Result<Subscription, SubscribeError> {
        self.current().ok_or(SubscribeError::Closed)?.subscribe(pattern, options)
    }

    async fn request(&self, request: Arc<Message>, timeout: Duration) -> Result<Arc<Message>, RequestError> {
        self.current().ok_or_else(|| RequestError::Bus(away()))?.request(request, timeout).await
    }

    async fn respond(&self, response: Arc<Message>) -> Result<(), RespondError> {
        self.current().ok_or_else(|| RespondError::Bus(away()))?.respond(response).await
    }

    fn ring(&self, agents: &[AgentId]) {
        if let Some(bus) = self.current() {
            bus.ring(agents);
        }
    }

    fn hang_bell(&self, agent: AgentId) -> Result<Bell, SubscribeError> {
        self.current().ok_or(SubscribeError::Closed)?.hang_bell(agent)
    }

    fn counts(&self) -> Counts {
        self.current().map(|bus| bus.counts()).unwrap_or_default()
    }

    async fn reachable(&self) -> Result<(), BusError> {
        self.current().ok_or_else(away)?.reachable().await
    }
}
