//! The handle, what it needs around it, and the tasks that go on as long as it is there.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_bus::{Bus, BusError};
use artel_engine::Clock;
use artel_model::id::AgentId;
use artel_model::limit::{DEAD_LETTERS_MAX, MAILBOX_MAX, TOPIC_REPLAY_MAX};
use artel_model::message::DeadReason;
use artel_store::{AgentStore, MailStore, RunStore, WaitStore};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::dead::DeadLetterBox;
use super::line::Line;
use super::poller::Poller;
use super::wait::OpenWaits;
use crate::metrics::{DeadMeters, MailMeters};

const POLL_MS: u64 = 50;
const SWEEP_MS: u64 = 10_000;

/// How the post office works.
#[derive(Clone, Debug)]
pub struct OfficeConfig {
    /// Unread messages that a mailbox holds.
    pub mailbox_max: usize,
    /// Dead letters that are kept.
    pub dead_letters_max: usize,
    /// Events of topics that are kept for those who come late.
    pub topic_events_max: usize,
    /// How often to look for what other processes wrote, in milliseconds.
    pub poll_ms: u64,
    /// How often to make dead letters of what is expired, in milliseconds.
    pub sweep_ms: u64,
}

impl Default for OfficeConfig {
    fn default() -> Self {
        Self {
            mailbox_max: MAILBOX_MAX,
            dead_letters_max: DEAD_LETTERS_MAX,
            topic_events_max: TOPIC_REPLAY_MAX,
            poll_ms: POLL_MS,
            sweep_ms: SWEEP_MS,
        }
    }
}

/// What the post office needs around it.
#[derive(Clone)]
pub struct OfficeParts {
    /// Mailboxes, kept events and dead letters.
    pub mail: Arc<dyn MailStore>,
    /// Who waits for whom.
    pub waits: Arc<dyn WaitStore>,
    /// The agents there are.
    pub agents: Arc<dyn AgentStore>,
    /// Says when something was written, and makes what was written survive a power cut.
    pub runs: Arc<dyn RunStore>,
    /// What makes it quick. Its dead letters belong into a [`DeadLetterBox`].
    pub bus: Arc<dyn Bus>,
    /// What time it is.
    pub clock: Clock,
}

/// The post office; clones are the same. What goes on behind it ends with the last of them and of its listeners.
#[derive(Clone)]
pub struct Office {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) config: OfficeConfig,
    pub(super) parts: OfficeParts,
    pub(super) line: Line,
    pub(super) poller: Poller,
    pub(super) dead: DeadLetterBox,
    /// Which agents belong to a team, of those that were asked about. What an agent is never changes.
    pub(super) teams: Mutex<HashMap<AgentId, bool>>,
    pub(super) open_waits: OpenWaits,
    pub(super) runtime: Handle,
    pub(super) meters: MailMeters,
    sweeper: AbortHandle,
}

impl Office {
    /// Opens the post office, within a runtime.
    pub fn new(config: OfficeConfig, parts: OfficeParts) -> Self {
        let dead = DeadLetterBox::open(parts.mail.clone());
        Self::with_dead_letters(config, parts, dead)
    }

    /// Opens the post office with the box that its bus has too, so that what neither can keep is counted together.
    pub fn with_dead_letters(config: OfficeConfig, parts: OfficeParts, dead: DeadLetterBox) -> Self {
        let runtime = Handle::current();
        let sweeping = sweep(config.clone(), parts.mail.clone(), parts.clock, DeadMeters::new());
        let shared = Shared {
            line: Line::new(parts.bus.clone(), parts.clock, runtime.clone()),
            poller: Poller::start(parts.runs.clone(), Duration::from_millis(config.poll_ms)),
            dead,
            teams: Mutex::default(),
            open_waits: OpenWaits::default(),
            sweeper: runtime.spawn(sweeping).abort_handle(),
            runtime,
            meters: MailMeters::new(),
            config,
            parts,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Says whether the bus is there; without it, everything comes a little later.
    pub async fn reachable(&self) -> Result<(), BusError> {
        self.shared.parts.bus.reachable().await
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.sweeper.abort();
    }
}

impl fmt::Debug for Office {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Office").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// Makes dead letters of what is expired, again and again.
async fn sweep(config: OfficeConfig, mail: Arc<dyn MailStore>, clock: Clock, meters: DeadMeters) {
    loop {
        tokio::time::sleep(Duration::from_millis(config.sweep_ms)).await;
        match mail.sweep(clock.now(), config.dead_letters_max).await {
            Ok(0) => {}
            Ok(count) => {
                meters.add(DeadReason::Expired, count);
                tracing::debug!(count, "messages expired");
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot sweep the mailboxes");
            }
        }
    }
}
