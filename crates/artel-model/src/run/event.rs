//! What can happen to a run. A run's log is a list of these; replaying it gives the run's state again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::report::AttemptReport;
use crate::access::Viewer;
use crate::agent::Policy;
use crate::id::{AgentId, ExecutionId};
use crate::name::SkillName;
use crate::plan::{Plan, StepIndex};
use crate::protocol::ToolEvent;
use crate::time::Timestamp;
use crate::trace::TraceParent;

/// An event and when it happened.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct StampedEvent {
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: RunEvent,
}

/// What can happen to a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// Somebody asked for it; always the first event, and only the first.
    Submitted(Box<Submission>),
    /// An attempt at a step begins. Written before the process is started.
    Started {
        /// The step.
        step: StepIndex,
        /// Which try, from 1.
        attempt: u32,
        /// The record that the step's attempts belong to.
        execution: ExecutionId,
    },
    /// A running script said something.
    Emitted {
        /// The step.
        step: StepIndex,
        /// Which try.
        attempt: u32,
        /// What it said, in order.
        events: Vec<ToolEvent>,
    },
    /// An attempt at a step is over.
    Ended {
        /// The step.
        step: StepIndex,
        /// Which try.
        attempt: u32,
        /// How it went.
        report: Box<AttemptReport>,
    },
    /// A moment that the run was waiting for has come.
    TimeReached,
    /// Somebody wants it to end.
    CancelRequested {
        /// Who.
        by: Origin,
    },
    /// Somebody wants it to stand still.
    PauseRequested {
        /// Who.
        by: Origin,
    },
    /// Somebody wants it to go on.
    ResumeRequested {
        /// Who.
        by: Origin,
    },
    /// Somebody said yes to a step.
    Approved {
        /// The step.
        step: StepIndex,
        /// Who.
        by: Origin,
        /// What they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Somebody said no to a step.
    Rejected {
        /// The step.
        step: StepIndex,
        /// Who.
        by: Origin,
        /// What they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// What was running was given up.
    Interrupted {
        /// Why.
        #[serde(default, skip_serializing_if = "Interruption::is_death")]
        because: Interruption,
    },
}

/// Why steps that were running were given up.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruption {
    /// The process that drove the run died. The time until another one went on does not count against deadlines.
    #[default]
    OwnerDied,
    /// The store could not be written for so long that the steps were stopped. Deadlines went on meanwhile.
    StoreAway,
    /// The process that drove the run was shut down before the steps ended.
    Shutdown,
}

impl Interruption {
    fn is_death(&self) -> bool {
        *self == Self::OwnerDied
    }

    /// Says what became of a step that was running.
    pub fn message(self) -> &'static str {
        match self {
            Self::OwnerDied => "interrupted: the process that drove the run died while the step was running",
            Self::StoreAway => {
                "interrupted: the store could not be written, so the step was stopped while it was running"
            }
            Self::Shutdown => "interrupted by shutdown: artel was stopped before the step ended",
        }
    }
}

impl RunEvent {
    /// Says whether anybody may write it, and not only who drives the run.
    pub fn is_command(&self) -> bool {
        match self {
            Self::CancelRequested { .. }
            | Self::PauseRequested { .. }
            | Self::ResumeRequested { .. }
            | Self::Approved { .. }
            | Self::Rejected { .. } => true,
            Self::Submitted(_)
            | Self::Started { .. }
            | Self::Emitted { .. }
            | Self::Ended { .. }
            | Self::TimeReached
            | Self::Interrupted { .. } => false,
        }
    }
}

/// Who did something: a person's or a program's name.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Origin(pub String);

/// What somebody asked for.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Submission {
    /// What kind of thing.
    pub kind: SubmissionKind,
    /// The plan.
    pub plan: Plan,
    /// The state it starts from.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub state: Map<String, Value>,
    /// How long it may take.
    pub deadlines: Deadlines,
    /// Steps that may run at once, at least one.
    pub slots: usize,
    /// The agent it is run for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// What that agent may call; every step passes it. Nothing when nobody restricts the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Whose eyes its skills are seen with; nothing for somebody who has the data folder in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewer: Option<Viewer>,
    /// The place in a trace that it was asked for at, so that whoever drives it, here or elsewhere, goes on with that trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_parent: Option<TraceParent>,
}

/// What kind of thing is run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SubmissionKind {
    /// A plan.
    Plan,
    /// One skill, perhaps with those it depends on.
    Skill {
        /// The skill.
        #[schemars(with = "String")]
        skill: SkillName,
    },
}

/// How long a run may take.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Deadlines {
    /// Milliseconds the whole run may take, while it does not stand still.
    pub run_ms: u64,
}
