//! Errors: the kinds there are, and the one envelope that every error comes in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why something was not done.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ErrorBody {
    /// What kind of error, for programs.
    pub error: String,
    /// What happened and what to do, for a person.
    pub message: String,
    /// More, when there is more: for example every problem of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Which request it was, to find it in the server's log.
    pub request_id: String,
}

/// What kind of error it is. Over HTTP the kind is the status; on the command line it decides the exit code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ErrorKind {
    /// The request cannot be understood.
    BadRequest,
    /// The credential is missing or not accepted.
    Unauthorized,
    /// The credential is not enough.
    Forbidden,
    /// There is no such thing, or it is not the caller's to see.
    NotFound,
    /// The path does not answer to the method.
    MethodNotAllowed,
    /// No form of the answer is one that the caller accepts.
    NotAcceptable,
    /// The request took too long to arrive.
    RequestTimeout,
    /// The request does not fit the state of what it is about.
    Conflict,
    /// What the caller read before has changed since.
    PreconditionFailed,
    /// The request is larger than it may be.
    TooLarge,
    /// The body is of a type that is not understood.
    UnsupportedMediaType,
    /// The request is understood, and what it asks for cannot be done.
    Unprocessable,
    /// The caller asks too often, or has too much already.
    TooMany,
    /// The server met a bug or an impossible state.
    Internal,
    /// What was called for the caller failed.
    BadGateway,
    /// What the answer needs cannot be reached.
    Unavailable,
    /// What was called for the caller took too long.
    GatewayTimeout,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 17] = [
        Self::BadRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::NotAcceptable,
        Self::RequestTimeout,
        Self::Conflict,
        Self::PreconditionFailed,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::Unprocessable,
        Self::TooMany,
        Self::Internal,
        Self::BadGateway,
        Self::Unavailable,
        Self::GatewayTimeout,
    ];

    /// Returns the status of an answer with such an error.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::RequestTimeout => 408,
            Self::Conflict => 409,
            Self::PreconditionFailed => 412,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Unprocessable => 422,
            Self::TooMany => 429,
            Self::Internal => 500,
            Self::BadGateway => 502,
            Self::Unavailable => 503,
            Self::GatewayTimeout => 504,
        }
    }

    /// Returns the kind of a status. A status that no artel server sends counts as its class: another refusal, or
    /// another failure of the server or of a proxy in front of it.
    pub fn of_status(status: u16) -> Self {
        let exact = Self::ALL.into_iter().find(|kind| kind.status() == status);
        exact.unwrap_or(if status < 500 { Self::BadRequest } else { Self::Unavailable })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_and_its_status_are_one_to_one() {
        for kind in ErrorKind::ALL {
            assert_eq!(ErrorKind::of_status(kind.status()), kind);
        }
        assert_eq!(ErrorKind::of_status(418), ErrorKind::BadRequest);
        assert_eq!(ErrorKind::of_status(507), ErrorKind::Unavailable);
    }
}
