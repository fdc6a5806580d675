//! Why a model gave no answer. Texts of the endpoint are cut and never hold the key.

use std::time::Duration;

/// Why a model gave no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LlmError {
    /// It took too long.
    #[error("it did not answer within {deadline_ms} ms")]
    Deadline {
        /// How long it may take.
        deadline_ms: u64,
    },
    /// It cannot be reached.
    #[error("it cannot be reached: {why}")]
    Unreachable {
        /// What the system says.
        why: String,
    },
    /// It refuses.
    #[error("it answered {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it says.
        message: String,
        /// When to come again, if it says so.
        retry_after: Option<Duration>,
    },
    /// Its answer is too long.
    #[error("its answer has more than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// Its answer ends in the middle.
    #[error("its answer broke off: {why}")]
    BrokenOff {
        /// What the system says.
        why: String,
    },
    /// Its answer is not what the protocol promises.
    #[error("its answer is not what the protocol promises: {why}")]
    Protocol {
        /// What is wrong with it.
        why: String,
    },
}

impl LlmError {
    pub(crate) fn protocol(why: impl Into<String>) -> Self {
        Self::Protocol { why: why.into() }
    }

    /// Says whether asking again may help.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Deadline { .. } | Self::Unreachable { .. } | Self::BrokenOff { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 429 | 500..=599),
            Self::TooLarge { .. } | Self::Protocol { .. } => false,
        }
    }
}
