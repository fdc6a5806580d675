//! What can happen to an agent. Its log is a list of these; replaying it gives the agent's record again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::gate::Denial;
use super::record::{Work, WorkOutcome};
use super::spec::AgentSpec;
use crate::id::RunId;
use crate::time::Timestamp;

/// An event and when it happened.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct StampedAgentEvent {
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: AgentEvent,
}

/// What can happen to an agent.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    /// It was spawned; always the first event, and only the first.
    Spawned {
        /// What it is.
        spec: Box<AgentSpec>,
        /// Why.
        cause: Cause,
    },
    /// It begins a piece of work.
    Started {
        /// The work.
        work: Box<Work>,
        /// Why.
        cause: Cause,
    },
    /// It stands still.
    Paused {
        /// Why.
        cause: Cause,
    },
    /// It goes on.
    Resumed {
        /// Why.
        cause: Cause,
    },
    /// Another process sees to its work from now on: the one before is gone.
    TakenOver {
        /// The process.
        owner: String,
    },
    /// Its work goes on with a run of the engine, or without one.
    Doing {
        /// The run.
        run_id: Option<RunId>,
    },
    /// Something it called is over.
    Called(OperationEnd),
    /// It wanted to call something that it may not.
    Denied(Denial),
    /// Its work is over.
    Ended(Box<WorkEnd>),
    /// Its work could not even begin.
    Unfit {
        /// Why.
        error: String,
    },
    /// It is free again, because it calls something else after a call that failed.
    Retried {
        /// Why.
        cause: Cause,
    },
    /// It is free again, after a failure or a success.
    Freed {
        /// Why.
        cause: Cause,
    },
    /// Somebody ended its work for good.
    Cancelled {
        /// Why.
        cause: Cause,
    },
    /// Somebody ended the agent.
    Terminated {
        /// Why.
        cause: Cause,
    },
    /// It, its model or its program said something that is only kept.
    Said {
        /// By whom: `model`, `tool`, `stdout`, `stderr`.
        by: String,
        /// What.
        what: Value,
    },
}

/// Why something happened to an agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Cause {
    /// Who wanted it: a person's name, an agent's id, or what of artel.
    pub by: String,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Cause {
    /// Makes a cause without a reason.
    pub fn by(who: impl Into<String>) -> Self {
        Self { by: who.into(), why: None }
    }

    /// Adds a reason.
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }
}

/// How one call of an agent went.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OperationEnd {
    /// What was called.
    pub operation: String,
    /// What came of it, by the step's id and the skill's name; nothing when it failed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub results: Map<String, Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Entities it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
}

/// How a piece of work went.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct WorkEnd {
    /// What came of it.
    pub outcome: WorkOutcome,
    /// Its calls that were not told one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<OperationEnd>,
    /// What it says in the end, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub results: Map<String, Value>,
}
