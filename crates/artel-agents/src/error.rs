//! What can go wrong with agents, an enum per operation.

use artel_engine::{CommandError, SubmitError};
use artel_model::agent::{Denial, InvalidTransition, SpawnRefused};
use artel_model::id::AgentId;
use artel_store::StoreError;

/// Something outside of an agent's own doing went wrong.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// The store failed.
    #[error("cannot keep agents")]
    Store(#[source] StoreError),
    /// Others kept writing to the same agent.
    #[error("agent {0} is changed by others all the time: try again")]
    Contended(AgentId),
    /// A run could not be begun.
    #[error("cannot begin the agent's run")]
    Submit(#[source] SubmitError),
}

impl From<StoreError> for AgentsError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Why an agent was not spawned.
#[derive(Debug, thiserror::Error)]
pub enum SpawnFailed {
    /// It may not be, or cannot be.
    #[error(transparent)]
    Refused(SpawnRefused),
    /// Something went wrong.
    #[error(transparent)]
    Failed(#[from] AgentsError),
}

/// Why an agent did not begin anew.
#[derive(Debug, thiserror::Error)]
pub enum StartRefused {
    /// There is no such agent.
    #[error("there is no agent {0}")]
    Unknown(AgentId),
    /// It is not free.
    #[error(transparent)]
    Transition(InvalidTransition),
    /// What it was spawned for cannot be done any more.
    #[error(transparent)]
    Unfit(SpawnRefused),
    /// Something went wrong.
    #[error(transparent)]
    Failed(#[from] AgentsError),
}

impl From<SpawnFailed> for StartRefused {
    fn from(error: SpawnFailed) -> Self {
        match error {
            SpawnFailed::Refused(refused) => Self::Unfit(refused),
            SpawnFailed::Failed(error) => Self::Failed(error),
        }
    }
}

/// Why an agent was not told.
#[derive(Debug, thiserror::Error)]
pub enum CommandRefused {
    /// There is no such agent.
    #[error("there is no agent {0}")]
    Unknown(AgentId),
    /// It cannot go there from where it stands.
    #[error(transparent)]
    Transition(InvalidTransition),
    /// Its run could not be told.
    #[error(transparent)]
    Run(CommandError),
    /// There are as many living agents as there may be.
    #[error("there are {0} living agents, which is the limit")]
    Full(u64),
    /// It was told, but work of these agents has not come to its end yet.
    #[error("not everything has ended yet: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    StillEnding(Vec<AgentId>),
    /// Something went wrong.
    #[error(transparent)]
    Failed(#[from] AgentsError),
}

/// Why a call of an agent came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// It may not be made.
    #[error(transparent)]
    Denied(Denial),
    /// There is no such tool.
    #[error("there is no tool `{tool}`{}", .hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default())]
    UnknownTool {
        /// What was asked for.
        tool: String,
        /// What may have been meant.
        hint: Option<String>,
    },
    /// What goes in cannot be used.
    #[error("the call cannot be made: {0}")]
    Invalid(String),
    /// The tool failed.
    #[error("{0}")]
    Failed(String),
    /// The agent is in no state for it.
    #[error(transparent)]
    Transition(InvalidTransition),
    /// Something went wrong.
    #[error(transparent)]
    Agents(#[from] AgentsError),
}

impl CallError {
    /// Returns the typed code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Denied(denial) => denial.code.as_str(),
            Self::UnknownTool { .. } => "UNKNOWN_TOOL",
            Self::Invalid(_) => "INVALID_PARAMETERS",
            Self::Failed(_) => "OPERATION_FAILED",
            Self::Transition(_) => "INVALID_STATE",
            Self::Agents(_) => "UNKNOWN_ERROR",
        }
    }
}

/// Returns an error and everything that caused it, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
