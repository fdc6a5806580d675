//! What makes an agent act that is not a run of the engine: a model, or a program of somebody else.

use std::time::Duration;

use artel_model::agent::{AgentSpec, SpawnError, WorkEnd};
use artel_model::id::AgentId;
use async_trait::async_trait;
use tokio::sync::watch;

use crate::agent_tools::AgentTools;

/// Lets an agent work.
#[async_trait]
pub trait WorkDriver: Send + Sync {
    /// Says why an agent could not work, before it exists.
    fn check(&self, spec: &AgentSpec) -> Result<(), SpawnError>;

    /// Lets the agent work until its work is over, or it is told to end. Whatever it started is gone when this returns.
    async fn work(&self, job: Job) -> WorkEnd;

    /// Removes what is left of an agent's work that was not ended properly. The agent must not be at work. Files may be
    /// removed, so this belongs on a thread that may wait.
    fn clear(&self, _agent: AgentId) {}
}

/// A piece of work.
pub struct Job {
    /// What the agent can do.
    pub agent_tools: AgentTools,
    /// What the agent is told meanwhile.
    pub control: Control,
    /// How long it may take, while it does not stand still.
    pub deadline: Duration,
    /// What was said before, when the work was interrupted and goes on: by whom and what, in order.
    pub said: Vec<(String, serde_json::Value)>,
}

/// What an agent at work should do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DriverSignal {
    /// Go on.
    Go,
    /// Stand still.
    Pause,
    /// Come to an end: politely, and soon.
    End,
}

/// What an agent at work is told.
#[derive(Clone, Debug)]
pub struct Control {
    signal: watch::Receiver<DriverSignal>,
}

impl Control {
    /// Makes a control that hears what is sent.
    pub fn new(signal: watch::Receiver<DriverSignal>) -> Self {
        Self { signal }
    }

    /// Returns what it should do.
    pub fn signal(&self) -> DriverSignal {
        *self.signal.borrow()
    }

    /// Waits until it should do something else, and returns what.
    pub async fn changed(&mut self) -> DriverSignal {
        match self.signal.changed().await {
            Ok(()) => *self.signal.borrow_and_update(),
            // Nobody is there any more to tell it anything.
            Err(_) => DriverSignal::End,
        }
    }

    /// Waits until it may go on, and returns whether it may; not when it should end.
    pub async fn may_go_on(&mut self) -> bool {
        loop {
            match self.signal() {
                DriverSignal::Go => return true,
                DriverSignal::End => return false,
                // Also when nobody is there any more to say that it may go on.
                DriverSignal::Pause if self.changed().await == DriverSignal::End => return false,
                DriverSignal::Pause => {}
            }
        }
    }
}
