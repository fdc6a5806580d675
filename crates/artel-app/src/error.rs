//! Why a request is not answered as asked.

use artel_api::ErrorKind;
use artel_store::StoreError;
use serde_json::Value;

use crate::catalog::RefreshFailed;

/// Why a request is not answered as asked.
#[derive(Clone, Debug)]
pub struct OperationError {
    pub kind: ErrorKind,
    pub code: &'static str,
    pub message: String,
    pub details: Option<Value>,
    pub retry_after_seconds: Option<u64>,
    /// What exactly failed: for the operator, never for a remote caller.
    pub cause: Option<String>,
}

impl OperationError {
    /// Makes an error of a kind, with a code for programs and a message for people.
    pub fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), details: None, retry_after_seconds: None, cause: None }
    }

    /// Something in the request cannot be understood.
    pub fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, code, message)
    }

    /// The body does not say what is needed.
    pub fn unprocessable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unprocessable, code, message)
    }

    /// There is no such thing, or it is not the caller's to see: the two are told alike.
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorKind::NotFound, "not_found", format!("there is no such {what}"))
    }

    /// It does not fit what is there.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, code, message)
    }

    /// The credential is not enough.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, "forbidden", message)
    }

    /// The credential is missing or not accepted; the caller is not told which.
    pub fn unauthorized() -> Self {
        let message = "A valid credential is needed: an API key in `X-Artel-Key`, or a token in `Authorization: Bearer`.";
        Self::new(ErrorKind::Unauthorized, "unauthorized", message)
    }

    /// Too many requests.
    pub fn too_many(retry_after_seconds: u64) -> Self {
        let message = format!("Too many requests; try again in {retry_after_seconds} s.");
        let error = Self::new(ErrorKind::TooMany, "rate_limited", message);
        Self { retry_after_seconds: Some(retry_after_seconds), ..error }
    }

    /// What the answer needs cannot be reached.
    pub fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        let error = Self::new(ErrorKind::Unavailable, code, message);
        Self { retry_after_seconds: Some(1), ..error }
    }

    /// Something went wrong here.
    pub fn internal(message: &'static str) -> Self {
        tracing::error!(message, "a request failed");
        Self::new(ErrorKind::Internal, "internal", message)
    }

    /// Returns what kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns what people are told.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns what is said for programs.
    pub fn details(&self) -> Option<&Value> {
        self.details.as_ref()
    }

    /// Returns what exactly failed: for the operator, never for a remote caller.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// Adds what exactly failed.
    #[must_use]
    pub fn because(self, error: &dyn std::error::Error) -> Self {
        let mut cause = error.to_string();
        let mut source = error.source();
        while let Some(next) = source {
            cause = format!("{cause}: {next}");
            source = next.source();
        }
        Self { cause: Some(cause), ..self }
    }

    /// Adds more for programs.
    #[must_use]
    pub fn with_details(self, details: Value) -> Self {
        Self { details: Some(details), ..self }
    }
}

impl From<StoreError> for OperationError {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::UnknownCursor { .. } => Self::bad_request("invalid_cursor", error.to_string()),
            StoreError::Unavailable { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Full { .. }
            | StoreError::Lost { .. }
            | StoreError::TooNew { .. } => {
                // What exactly is wrong is the operator's to know, not the caller's.
                tracing::error!(error = &error as &dyn std::error::Error, "the store does not answer");
                Self::unavailable("store_unavailable", "The store cannot be reached. Please try again later.")
                    .because(&error)
            }
        }
    }
}

impl From<RefreshFailed> for OperationError {
    fn from(failed: RefreshFailed) -> Self {
        match failed {
            RefreshFailed::Store(error) => error.into(),
        }
    }
}
