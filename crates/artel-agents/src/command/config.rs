//! What programs of others are started with. Values only.

use artel_engine::process::ProcessLimits;
use artel_engine::{SandboxMode, SandboxUsers};
use camino::Utf8PathBuf;

/// How programs of others are started.
#[derive(Clone)]
pub struct CommandDriverConfig {
    /// Where each piece of work gets a folder of its own.
    pub work_root: Utf8PathBuf,
    /// The folders that programs are looked up in, in order; also their `PATH`.
    pub path: Vec<Utf8PathBuf>,
    /// The variables there are. A program gets those in `pass`; one that the owner of this machine starts also gets the few
    /// that every program needs, and the keys of its client.
    pub environment: Vec<(String, String)>,
    /// Names of further variables that every program gets.
    pub pass: Vec<String>,
    /// What is a program's home folder.
    pub home: ClientHome,
    /// Whether agents may be command lines of their own.
    pub own_commands: OwnCommands,
    /// Whether programs run in the sandbox.
    pub sandbox: SandboxMode,
    /// Whom programs run as.
    pub users: ClientUsers,
    /// Which network programs get.
    pub network: ClientNetwork,
    /// Folders that programs may execute from and read, beside those where they are installed.
    pub programs: Vec<Utf8PathBuf>,
    /// How much a program and all that it starts may use.
    pub limits: ProcessLimits,
    /// Milliseconds between SIGTERM and SIGKILL.
    pub grace_ms: u64,
    /// What happens to the folder when the work is over.
    pub after: AfterWork,
}

/// What is a program's home folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ClientHome {
    /// A fresh one, removed when the work is over: the program finds no skills, settings and logins of a user.
    Private,
    /// A user's, of which the client may read what it keeps there: its login and its settings.
    Shared(Utf8PathBuf),
}

/// Whom programs run as.
#[derive(Clone, Debug)]
pub enum ClientUsers {
    /// The user who runs artel.
    Artel,
    /// Each agent as a user of its own.
    OnePerAgent(SandboxUsers),
    /// All as one user, that the operator names.
    One {
        /// The user's number.
        user: u32,
        /// The number of the user's group.
        group: u32,
    },
}

/// Which network programs get.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClientNetwork {
    /// What each client needs.
    AsPreset,
    /// None.
    Denied,
}

/// Whether agents may be command lines of their own, beside the known clients.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OwnCommands {
    /// They may.
    Allowed,
    /// Only the known clients are started, as artel starts them.
    Refused,
}

/// What happens to a folder when the work in it is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AfterWork {
    /// It stays, and the result says where it is.
    Keep,
    /// It is removed.
    Remove,
}
