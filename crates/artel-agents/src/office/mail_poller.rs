//! Says when to look for one agent's mail: when the bus rings for it, or when something was written, a little later.

use std::sync::Arc;

use artel_bus::{Bell, Heard};
use artel_model::id::AgentId;
use tokio::sync::watch;

use super::post_office::Shared;

/// Calls after every write that may concern an agent, from when it was made. It may call for nothing.
pub(super) struct MailPoller {
    shared: Arc<Shared>,
    agent: AgentId,
    /// Nothing while the bus is away.
    bell: Option<Bell>,
    changes: watch::Receiver<u64>,
}

impl MailPoller {
    /// Makes a poller. A reader who looks after that and finds nothing may wait for its call.
    pub(super) fn new(shared: &Arc<Shared>, agent: AgentId) -> Self {
        let bell = shared.line.hang_bell(agent);
        Self { shared: Arc::clone(shared), agent, bell, changes: shared.poller.subscribe() }
    }

    /// Returns whose mail it looks out for.
    pub(super) fn agent(&self) -> AgentId {
        self.agent
    }

    /// Waits until it is worth looking. Giving up the wait may lose the call, so look before waiting again.
    pub(super) async fn calls(&mut self) {
        if self.bell.is_none() {
            self.bell = self.shared.line.hang_bell(self.agent);
            // It may have rung while there was no bell.
            if self.bell.is_some() {
                return;
            }
        }
        let heard = async {
            match &mut self.bell {
                Some(bell) => bell.rings().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            heard = heard => match heard {
                Heard::Ring => {}
                Heard::Closed => self.bell = None,
            },
            // The sender lives as long as what is shared.
            _ = self.changes.changed() => {}
        }
    }
}
