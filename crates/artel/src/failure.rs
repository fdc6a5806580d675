//! Why a command did not do what was asked, and the exit code that says so.

use std::error::Error;
use std::fmt::Write;

use artel_api::ErrorKind;
use artel_api::client::ClientError;

/// A command that did not succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    /// What went wrong; empty when the output has said it already.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
}

/// The kinds of failure, one exit code each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FailureKind {
    /// The thing asked for failed.
    Failed,
    /// The command was used wrongly.
    Usage,
    /// Something needed could not be opened or reached.
    Unavailable,
    /// The store may have lost what was written last; the same command, started again, goes on.
    StoreLost,
}

impl Failure {
    /// The thing asked for failed, and the output says why.
    pub(crate) fn reported() -> Self {
        Self::failed("")
    }

    /// What was given cannot be used, and the output says why.
    pub(crate) fn reported_usage() -> Self {
        Self::usage("")
    }

    /// The thing asked for failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Failed, message: message.into(), hint: None }
    }

    /// The command was used wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, message: message.into(), hint: None }
    }

    /// Something needed could not be opened; the message is the error's whole chain.
    pub(crate) fn unavailable(error: &dyn Error) -> Self {
        Self { kind: FailureKind::Unavailable, message: chain(error), hint: None }
    }

    /// Something needed is not there.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unavailable, message: message.into(), hint: None }
    }

    /// The store may have lost what was written last, so this process cannot go on.
    pub(crate) fn store_lost(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::StoreLost, message: message.into(), hint: None }
    }

    /// An operation was refused or failed. An input that is refused is wrong usage; what the caller may not do or what does
    /// not exist failed; everything else is unavailable.
    pub(crate) fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        match kind {
            ErrorKind::BadRequest | ErrorKind::TooLarge | ErrorKind::Unprocessable => Self::usage(message),
            ErrorKind::Unauthorized => Self::missing(message).hint(
                "`ARTEL_TOKEN` holds the administrator's token or a key; `artel key create` makes keys",
            ),
            ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::PreconditionFailed => Self::failed(message),
            ErrorKind::MethodNotAllowed
            | ErrorKind::NotAcceptable
            | ErrorKind::RequestTimeout
            | ErrorKind::UnsupportedMediaType
            | ErrorKind::TooMany
            | ErrorKind::Internal
            | ErrorKind::BadGateway
            | ErrorKind::Unavailable
            | ErrorKind::GatewayTimeout => Self::missing(message),
        }
    }

    /// Adds what to do next.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the exit code of the process.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::Failed => 1,
            FailureKind::Usage => 2,
            FailureKind::Unavailable => 3,
            FailureKind::StoreLost => 4,
        }
    }
}

/// Says why a server did not do what was asked.
pub(crate) fn refused(error: &ClientError) -> Failure {
    let message = chain(error);
    match error {
        ClientError::Unreachable { .. } => Failure::missing(message)
            .hint("is the server running, and is the address right? `artel serve` starts one"),
        ClientError::Unusable { .. } | ClientError::Garbled { .. } | ClientError::TooLarge { .. } => {
            Failure::missing(message)
        }
        ClientError::Refused { status, .. } => Failure::of_kind(ErrorKind::of_status(*status), message),
    }
}

/// Writes an error and its causes on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        write!(text, ": {cause}").expect("writing to a string does not fail");
        source = cause.source();
    }
    text
}
