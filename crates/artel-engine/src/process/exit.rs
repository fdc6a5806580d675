//! How a process ended, what it used, and which limit it reached. Values only.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The end of a process.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Exit {
    /// How it ended.
    pub status: ExitStatus,
    /// What it and the descendants it waited for have used.
    pub usage: Usage,
    /// The limit that ended it.
    pub limit: Option<LimitReached>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum ExitStatus {
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody knows: the launcher was killed, and the process with it.
    Lost,
}

/// What a process has used.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Usage {
    /// Milliseconds of processor time in the program.
    pub user_ms: u64,
    /// Milliseconds of processor time in the kernel.
    pub system_ms: u64,
    /// The most memory that was resident at once, in KiB. Never less than the launcher's own few MiB.
    pub max_rss_kib: u64,
}

/// A limit that ended a process.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LimitReached {
    /// Which one.
    pub limit: Limit,
    /// Its value, in the limit's unit.
    pub allowed: u64,
}

/// What is limited.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Limit {
    /// Seconds of processor time.
    Cpu,
    /// Bytes of memory.
    Memory,
    /// Processes and threads.
    Processes,
    /// Bytes of one file.
    File,
    /// Bytes in the process's own folders.
    Folder,
    /// Folders inside each other in the process's own folders.
    FolderDepth,
    /// Seconds that open files stay where they cannot be counted.
    HiddenFiles,
}

impl Exit {
    /// Returns the end of a process that nobody saw.
    pub fn lost() -> Self {
        Self { status: ExitStatus::Lost, usage: Usage::default(), limit: None }
    }

    /// Returns whether the process ended by itself with code 0.
    pub fn is_success(&self) -> bool {
        self.status == ExitStatus::Code(0)
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Self::Lost => f.write_str("unknown end: the launcher was killed"),
        }
    }
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowed = self.allowed;
        match self.limit {
            Limit::Cpu => write!(f, "it used more than {allowed} s of processor time"),
            Limit::Memory => write!(f, "it used more than {} of memory", bytes(allowed)),
            Limit::Processes => write!(f, "it started more than {allowed} processes and threads"),
            Limit::File => write!(f, "it wrote a file larger than {}", bytes(allowed)),
            Limit::Folder => write!(f, "it wrote more than {} into its folders", bytes(allowed)),
            Limit::FolderDepth => write!(f, "it made folders inside each other, more than {allowed}"),
            Limit::HiddenFiles => {
                write!(f, "it kept open files where they cannot be counted for {allowed} s")
            }
        }
    }
}

/// Returns a number of bytes in the largest unit that divides it.
fn bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS.iter().find(|(_, size)| count >= *size && count.is_multiple_of(*size));
    unit.map_or_else(|| format!("{count} bytes"), |(name, size)| format!("{} {name}", count / size))
}

fn signal_name(signal: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 12] = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    NAMES.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_limits_read_as_sentences() {
        assert_eq!(ExitStatus::Code(3).to_string(), "exit code 3");
        assert_eq!(ExitStatus::Signal(9).to_string(), "signal 9 (SIGKILL)");
        assert_eq!(ExitStatus::Signal(64).to_string(), "signal 64");
        let reached = |limit, allowed| LimitReached { limit, allowed }.to_string();
        assert_eq!(reached(Limit::Memory, 512 << 20), "it used more than 512 MiB of memory");
        assert_eq!(reached(Limit::Folder, 1000), "it wrote more than 1000 bytes into its folders");
        assert_eq!(reached(Limit::Processes, 64), "it started more than 64 processes and threads");
    }
}
