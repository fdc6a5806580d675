//! What a process is started with: the program, its surroundings, what it may reach, how much it may use. Knows nothing
//! of how it is started.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// A process to start.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SpawnRequest {
    /// The file to execute; it is not looked up in `PATH`.
    pub program: Utf8PathBuf,
    /// The arguments after the program's name.
    pub arguments: Vec<String>,
    /// The folder that the process starts in.
    pub cwd: Utf8PathBuf,
    /// The whole environment; nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// Whom it runs as.
    pub run_as: RunAs,
    /// What it may reach.
    pub sandbox: Sandbox,
    /// How much it may use.
    pub limits: ProcessLimits,
}

/// Whom a process runs as.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum RunAs {
    /// The user who runs artel.
    Artel,
    /// Another user, without further groups. Only root can start such a process, and only in the sandbox.
    User {
        /// The user's number.
        user: u32,
        /// The number of the user's group.
        group: u32,
        /// What it may do with files that are closed to this user.
        closed_files: ClosedFiles,
    },
}

/// What a process of another user may do with files that are closed to that user. Which files it reaches at all is said by
/// its profile: skills and folders of artel are closed to every user but artel's own.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum ClosedFiles {
    /// Read them, and go through folders; its own program can be executed.
    Read,
    /// Whatever its profile says: the operator granted it folders of others, or it has programs closed to others.
    Use,
}

/// What a process may reach. The process group, the limits and the closed descriptors are there in both cases.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Sandbox {
    /// Whatever the user who runs artel may reach.
    Off,
    /// System folders, and what the profile names.
    On(Profile),
}

/// What a sandboxed process may reach beside the system folders. Folders that do not exist are skipped.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Profile {
    /// Folders and files it may read.
    pub read: Vec<Utf8PathBuf>,
    /// Folders it may read and execute from: its skill's folder, an interpreter that is not in a system folder.
    pub execute: Vec<Utf8PathBuf>,
    /// Its own folders, to read, write and execute from; their size counts against `folder_bytes`.
    pub write: Vec<Utf8PathBuf>,
    /// Folders of others that it was granted to write; their size is not measured.
    pub write_shared: Vec<Utf8PathBuf>,
    /// Whether it may use the internet.
    pub network: Network,
    /// What happens where the kernel lacks a part of the sandbox.
    pub strictness: Strictness,
}

/// Whether a process may use the internet. Unix sockets of other programs are denied in both cases.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Network {
    /// No sockets but socket pairs.
    Denied,
    /// IPv4 and IPv6.
    Allowed,
}

/// What happens where the kernel lacks a part of the sandbox.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Strictness {
    /// The process is not started.
    Enforce,
    /// The process runs with what there is.
    BestEffort,
}

/// How much a process and its descendants may use.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ProcessLimits {
    /// Seconds of processor time.
    pub cpu_s: u64,
    /// Bytes of memory: of data for one process, resident for all together.
    pub memory_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Processes and threads of all together.
    pub processes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes in the folders it owns.
    pub folder_bytes: u64,
}

/// A signal to a process and all its descendants.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum GroupSignal {
    /// SIGTERM: please end.
    Terminate,
    /// SIGKILL: end.
    Kill,
    /// SIGSTOP: stand still.
    Stop,
    /// SIGCONT: go on.
    Continue,
}
