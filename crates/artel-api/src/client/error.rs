//! Why a server did not do what was asked.

use crate::ErrorBody;

/// A request that came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The client could not be made.
    #[error("cannot prepare to call `{server}`")]
    Unusable {
        /// The server.
        server: String,
        /// What is wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nobody answered, or not to the end.
    #[error("cannot reach `{server}`")]
    Unreachable {
        /// The server.
        server: String,
        /// What happened.
        #[source]
        source: reqwest::Error,
    },
    /// The server said no.
    #[error("{}", body.message)]
    Refused {
        /// The status.
        status: u16,
        /// What it said.
        body: Box<ErrorBody>,
    },
    /// What answered is not an artel server, or one of another kind.
    #[error("`{server}` answered {status} with something else than expected: {what}")]
    Garbled {
        /// The server.
        server: String,
        /// The status.
        status: u16,
        /// What was wrong with it.
        what: String,
    },
    /// The answer is larger than anything a server has to say.
    #[error("the answer of `{server}` has more than {bytes_max} bytes")]
    TooLarge {
        /// The server.
        server: String,
        /// How many it may have.
        bytes_max: usize,
    },
}

impl ClientError {
    /// Returns the code of a refusal.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { body, .. } => Some(&body.error),
            Self::Unusable { .. }
            | Self::Unreachable { .. }
            | Self::Garbled { .. }
            | Self::TooLarge { .. } => None,
        }
    }

    /// Returns the status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::Unusable { .. }
            | Self::Unreachable { .. }
            | Self::Garbled { .. }
            | Self::TooLarge { .. } => None,
        }
    }

    /// Returns what a refusal says for programs.
    pub fn details(&self) -> Option<&serde_json::Value> {
        match self {
            Self::Refused { body, .. } => body.details.as_ref(),
            Self::Unusable { .. }
            | Self::Unreachable { .. }
            | Self::Garbled { .. }
            | Self::TooLarge { .. } => None,
        }
    }
}
