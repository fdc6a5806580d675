//! Why a hub was not fetched. Inside, errors may quote what servers and programs said; what leaves is fit to be kept.

use std::io;
use std::net::IpAddr;

use artel_catalog::hub::{ArchiveError, Host, IndexProblem, LocationProblem, TooManyEntries};
use camino::Utf8PathBuf;
use thiserror::Error;

use super::token::HubToken;
use crate::error_text::error_text;
use crate::process::SpawnError;
use crate::program::TooMuch;

/// Why a hub was not fetched: at most 500 characters, without secrets.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{message}")]
pub struct HubFailure {
    /// What kind of failure it is.
    pub kind: HubFailureKind,
    /// In words.
    pub message: String,
}

/// What kind of failure it is, going by who can do something about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HubFailureKind {
    /// The operator does not allow it.
    NotAllowed,
    /// The token is missing, or the hub does not take it.
    Credentials,
    /// There is no such repository, branch or site.
    NotFound,
    /// It took too long.
    Deadline,
    /// The hub is too large, damaged or hostile.
    Content,
    /// The hub cannot be reached, or answers with something else.
    Unreachable,
    /// Something of this machine failed.
    Machine,
}

/// Why a hub was not fetched, with what others said about it.
#[derive(Debug, Error)]
pub(super) enum HubError {
    #[error(transparent)]
    NotAllowed(#[from] LocationProblem),
    #[error("the address `{0}` that the hub leads to is not allowed")]
    HostNotAllowed(String),
    #[error("`{host}` has the address {address}, which hubs may not lead to")]
    AddressNotAllowed { host: Host, address: IpAddr },
    #[error("the environment variable `{0}` is not set, is empty, or holds something that is no token")]
    NoToken(String),
    #[error("the hub refuses access: it wants a token, or another one ({0})")]
    Refused(String),
    #[error("there is no such repository, branch or site, or a token is needed to see it ({0})")]
    NotFound(String),
    #[error("GitHub takes no more requests for now ({0}); a token in `credentials_ref` allows for more")]
    RateLimit(String),
    #[error("the hub was not fetched within {0} ms")]
    Deadline(u64),
    #[error("the hub sends more than {bytes_max} bytes")]
    TooLarge { bytes_max: u64 },
    #[error(transparent)]
    TooMany(#[from] TooManyEntries),
    #[error("the hub's archive cannot be read")]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Index(#[from] IndexProblem),
    #[error("the hub redirects more than {0} times")]
    Redirects(usize),
    #[error("`{host}` cannot be resolved")]
    Unresolved { host: Host, source: io::Error },
    #[error("`{host}` cannot be reached: {why}")]
    Unreachable { host: String, why: String },
    #[error("`{host}` answers with status {status}")]
    Status { host: String, status: u16 },
    #[error("what the hub sends is not what was asked for: {0}")]
    Answer(&'static str),
    #[error("git failed ({end}): {said}")]
    Git { end: String, said: String },
    #[error("the `git` program cannot be started")]
    GitStart(#[source] Box<SpawnError>),
    #[error("repositories are not fetched through ssh here; use https")]
    NoSsh,
    #[error("cannot use `{path}`")]
    Folder { path: Utf8PathBuf, source: io::Error },
    #[error("the machine cannot fetch: {0}")]
    Machine(String),
}

impl From<SpawnError> for HubError {
    fn from(error: SpawnError) -> Self {
        Self::GitStart(Box::new(error))
    }
}

impl From<TooMuch> for HubError {
    fn from(TooMuch { bytes_max }: TooMuch) -> Self {
        Self::TooLarge { bytes_max }
    }
}

impl HubError {
    /// Makes the error fit to be kept: the token is hidden wherever it was repeated.
    pub(super) fn into_failure(self, token: Option<&HubToken>) -> HubFailure {
        HubFailure { kind: self.kind(), message: HubToken::hide_in(token, &error_text(&self)) }
    }

    fn kind(&self) -> HubFailureKind {
        match self {
            Self::NotAllowed(_) | Self::HostNotAllowed(_) | Self::AddressNotAllowed { .. } | Self::NoSsh => {
                HubFailureKind::NotAllowed
            }
            Self::NoToken(_) | Self::Refused(_) => HubFailureKind::Credentials,
            Self::NotFound(_) => HubFailureKind::NotFound,
            Self::Deadline(_) => HubFailureKind::Deadline,
            Self::TooLarge { .. }
            | Self::TooMany(_)
            | Self::Archive(_)
            | Self::Index(_)
            | Self::Answer(_) => HubFailureKind::Content,
            Self::Redirects(_)
            | Self::RateLimit(_)
            | Self::Unresolved { .. }
            | Self::Unreachable { .. }
            | Self::Status { .. }
            | Self::Git { .. } => HubFailureKind::Unreachable,
            Self::GitStart(_) | Self::Folder { .. } | Self::Machine(_) => HubFailureKind::Machine,
        }
    }
}
