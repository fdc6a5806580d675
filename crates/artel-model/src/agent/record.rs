//! Where an agent stands, as it is kept and shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::spec::AgentSpec;
use crate::access::{UserId, Viewer};
use crate::id::{AgentId, RunId};
use crate::limit::{AGENT_ERROR_CHARS_MAX, AGENT_RESULTS_BYTES_MAX, AGENT_RESULTS_MAX};
use crate::name::SkillName;
use crate::time::Timestamp;

/// Everything that is known about an agent; made from its log.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AgentRecord {
    /// Its id.
    pub agent_id: AgentId,
    /// What it is.
    pub spec: Box<AgentSpec>,
    /// Where it stands.
    pub standing: AgentPhase,
    /// What its calls came to, the latest last; a later one under the same name replaces an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultEntry>,
    /// Calls it tried.
    pub operation_count: u64,
    /// Those that went well.
    pub success_count: u64,
    /// Those that did not, and those it was not allowed to make.
    pub error_count: u64,
    /// Calls against its policy, since the last that went well.
    #[serde(default)]
    pub denied_in_a_row: u32,
    /// Entities it made, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created_entities: Vec<String>,
    /// What went wrong, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_log: Vec<ErrorEntry>,
    /// When it was spawned.
    pub created_at: Timestamp,
    /// When its last work began.
    pub started_at: Option<Timestamp>,
    /// When its last work ended.
    pub completed_at: Option<Timestamp>,
    /// When something last happened to it.
    pub last_active: Timestamp,
}

/// Where an agent stands, in one word.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It has nothing to do.
    Idle,
    /// It works.
    Running,
    /// It was made to stand still.
    Paused,
    /// Its work is done.
    Completed,
    /// Its work failed.
    Failed,
    /// Its work was ended for good.
    Cancelled,
    /// It is gone.
    Terminated,
}

/// Where an agent stands, and what goes with that.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum AgentPhase {
    /// It has nothing to do.
    Idle,
    /// It works.
    Running {
        /// At this.
        work: Box<Work>,
    },
    /// It was made to stand still.
    Paused {
        /// In the middle of this.
        work: Box<Work>,
    },
    /// Its work is done.
    Completed,
    /// Its work failed.
    Failed {
        /// Why.
        error: String,
    },
    /// Its work was ended for good.
    Cancelled,
    /// It is gone.
    Terminated,
}

/// A piece of work.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Work {
    /// Which piece of work it is, so that nobody takes the end of an earlier one for its own.
    #[serde(default)]
    pub id: Uuid,
    /// Who sees to it: the name of a process that can be asked whether it is alive.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The run that does it, or the part of it that is done at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The skill that is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillName>,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// The operation that is called, for an agent that is driven call by call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

/// What came of a piece of work.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum WorkOutcome {
    /// It is done, and so is the agent.
    Completed,
    /// It failed, and so did the agent.
    Failed {
        /// Why.
        error: String,
    },
    /// One call is over; the agent is free for the next.
    Returned,
}

/// What a call came to, and its name: a step's id or a skill's name.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ResultEntry {
    /// Its name.
    pub name: String,
    /// What it came to.
    pub value: Value,
    /// Bytes of both, written as JSON; kept so that the limit does not have to count everything again.
    pub bytes: usize,
}

/// Something that went wrong.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ErrorEntry {
    /// When.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: Timestamp,
    /// What.
    pub message: String,
}

impl AgentState {
    /// Every state.
    pub const ALL: &[Self] = &[
        Self::Idle,
        Self::Running,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Terminated,
    ];

    /// Returns the word that people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Terminated => "terminated",
        }
    }

    /// Returns the word that teams use.
    pub fn team_word(self) -> &'static str {
        match self {
            Self::Running => "working",
            Self::Failed => "error",
            Self::Idle | Self::Paused | Self::Completed | Self::Cancelled | Self::Terminated => self.as_str(),
        }
    }

    /// Says whether the agent takes up room: it has, or may get, something to do without being asked to begin anew.
    pub fn is_live(self) -> bool {
        match self {
            Self::Idle | Self::Running | Self::Paused => true,
            Self::Completed | Self::Failed | Self::Cancelled | Self::Terminated => false,
        }
    }

    /// Says whether messages can reach the agent.
    pub fn has_mailbox(self) -> bool {
        self != Self::Terminated
    }

    /// Says whether the agent may go from here to there.
    pub fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (Self::Terminated, _) => false,
            (_, Self::Terminated)
            | (Self::Idle | Self::Paused, Self::Running)
            | (Self::Running, Self::Paused | Self::Completed | Self::Failed | Self::Idle)
            | (Self::Idle, Self::Failed)
            | (Self::Failed | Self::Completed, Self::Idle)
            | (Self::Idle | Self::Running | Self::Paused, Self::Cancelled) => true,
            (
                Self::Idle | Self::Running | Self::Paused | Self::Completed | Self::Failed | Self::Cancelled,
                Self::Idle | Self::Running | Self::Paused | Self::Completed | Self::Failed | Self::Cancelled,
            ) => false,
        }
    }
}

impl AgentPhase {
    /// Returns the one word.
    pub fn state(&self) -> AgentState {
        match self {
            Self::Idle => AgentState::Idle,
            Self::Running { .. } => AgentState::Running,
            Self::Paused { .. } => AgentState::Paused,
            Self::Completed => AgentState::Completed,
            Self::Failed { .. } => AgentState::Failed,
            Self::Cancelled => AgentState::Cancelled,
            Self::Terminated => AgentState::Terminated,
        }
    }

    /// Returns the work that is in hand.
    pub fn work(&self) -> Option<&Work> {
        match self {
            Self::Running { work } | Self::Paused { work } => Some(work),
            Self::Idle | Self::Completed | Self::Failed { .. } | Self::Cancelled | Self::Terminated => None,
        }
    }
}

impl AgentRecord {
    /// Begins the record of an agent.
    pub fn new(agent_id: AgentId, spec: Box<AgentSpec>, at: Timestamp) -> Self {
        Self {
            agent_id,
            spec,
            standing: AgentPhase::Idle,
            results: Vec::new(),
            operation_count: 0,
            success_count: 0,
            error_count: 0,
            denied_in_a_row: 0,
            created_entities: Vec::new(),
            error_log: Vec::new(),
            created_at: at,
            started_at: None,
            completed_at: None,
            last_active: at,
        }
    }

    /// Says where it stands, in one word.
    pub fn state(&self) -> AgentState {
        self.standing.state()
    }

    /// Returns whose eyes its skills are seen with.
    pub fn viewer(&self) -> Option<&Viewer> {
        self.spec.viewer.as_ref()
    }

    /// Returns whose it is; nothing for somebody who has the data folder in hand.
    pub fn owner(&self) -> Option<&UserId> {
        self.viewer().map(|viewer| &viewer.user)
    }

    /// Returns the last error, while it counts.
    pub fn error(&self) -> Option<&str> {
        match &self.standing {
            AgentPhase::Failed { error } => Some(error),
            AgentPhase::Idle
            | AgentPhase::Running { .. }
            | AgentPhase::Paused { .. }
            | AgentPhase::Completed
            | AgentPhase::Cancelled
            | AgentPhase::Terminated => None,
        }
    }

    /// Keeps results; the oldest go when there are too many, but never the last.
    pub(super) fn keep_results(&mut self, results: &Map<String, Value>) {
        for (name, value) in results {
            self.results.retain(|entry| entry.name != *name);
            let bytes = name.len() + value.to_string().len();
            self.results.push(ResultEntry { name: name.clone(), value: value.clone(), bytes });
        }
        let mut bytes: usize = self.results.iter().map(|entry| entry.bytes).sum();
        let too_many = self.results.len().saturating_sub(AGENT_RESULTS_MAX);
        let mut gone = 0;
        while gone < too_many || (bytes > AGENT_RESULTS_BYTES_MAX && gone + 1 < self.results.len()) {
            bytes -= self.results[gone].bytes;
            gone += 1;
        }
        self.results.drain(..gone);
    }
}

/// Cuts an error to what is kept of it.
pub(super) fn cut_error(text: &str) -> String {
    match text.char_indices().nth(AGENT_ERROR_CHARS_MAX) {
        Some(_) => text.chars().take(AGENT_ERROR_CHARS_MAX - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}
