//! Why an operation came to nothing, wherever it was asked for.

use artel_api::ErrorKind;
use artel_api::client::ClientError;
use artel_app::OperationError;
use serde_json::Value;

use crate::failure::{Failure, chain, refused};

/// Why an operation came to nothing.
#[derive(Debug)]
pub(crate) enum BackendError {
    /// The application refuses it or cannot do it.
    Operation(OperationError),
    /// The server refuses it or cannot be asked.
    Client(ClientError),
}

impl BackendError {
    /// Returns the code for programs; nothing when no application answered.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Operation(error) => Some(error.code()),
            Self::Client(error) => error.code(),
        }
    }

    /// Returns what kind of error it is; nothing when no application answered.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Operation(error) => Some(error.kind()),
            Self::Client(error) => error.status().map(ErrorKind::of_status),
        }
    }

    /// Returns what is said for programs.
    pub(crate) fn details(&self) -> Option<&Value> {
        match self {
            Self::Operation(error) => error.details(),
            Self::Client(error) => error.details(),
        }
    }

    /// Returns what is said for people.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Operation(error) => error.cause().unwrap_or(error.message()).to_owned(),
            Self::Client(error) => chain(error),
        }
    }

    /// Says that what was asked for does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.kind() == Some(ErrorKind::NotFound)
    }
}

impl From<OperationError> for BackendError {
    fn from(error: OperationError) -> Self {
        Self::Operation(error)
    }
}

impl From<ClientError> for BackendError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

/// What to do about a cursor that is none.
const CURSOR_HINT: &str = "`--after` takes the `next` of the page before";

impl From<BackendError> for Failure {
    fn from(error: BackendError) -> Self {
        let failure = match &error {
            BackendError::Operation(operation) => Self::of_kind(operation.kind(), error.message()),
            BackendError::Client(client) => refused(client),
        };
        match error.code() {
            Some("invalid_cursor") => failure.hint(CURSOR_HINT),
            Some(_) | None => failure,
        }
    }
}
