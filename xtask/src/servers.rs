//! Servers that tests need, each started from a script in `xtask/servers/` and stopped when its `Server` is dropped.
//!
//! A script serves until its standard input ends. The system closes that pipe when we end, however we end, so a failed
//! step or Ctrl-C leaves no server behind. Tests read the address from an environment variable; a test that is run
//! without it starts a server of its own from the same script.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::shell::program_in;

/// A kind of server.
struct Kind {
    name: &'static str,
    script: &'static str,
    /// Where tests look for its address.
    variable: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "PostgreSQL",
        script: include_str!("../servers/postgres.sh"),
        variable: "ARTEL_TEST_POSTGRES",
    },
    Kind { name: "Redis", script: include_str!("../servers/redis.sh"), variable: "ARTEL_TEST_REDIS" },
];

/// The servers that tests need.
pub(crate) struct Servers(Vec<Server>);

impl Servers {
    /// Starts all of them, except those whose address is given in the environment already.
    pub(crate) fn start(root: &Path) -> Result<Self> {
        let missing = KINDS.iter().filter(|kind| std::env::var_os(kind.variable).is_none());
        missing.map(|kind| Server::start(root, kind)).collect::<Result<_>>().map(Self)
    }

    /// Tells a command where they are.
    pub(crate) fn tell(&self, command: &mut Command) {
        for server in &self.0 {
            command.env(server.variable, &server.address);
        }
    }
}

struct Server {
    variable: &'static str,
    address: String,
    script: Child,
}

impl Server {
    fn start(root: &Path, kind: &Kind) -> Result<Self> {
        let mut command = program_in(root, "sh", &["-c", kind.script]);
        // In a process group of its own, Ctrl-C ends us and not the script, which still has to clean up.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().with_context(|| format!("cannot start {}", kind.name))?;
        let mut address = String::new();
        if let Some(output) = script.stdout.take() {
            BufReader::new(output).read_line(&mut address)?;
        }
        let server = Self { variable: kind.variable, address: address.trim_end().to_owned(), script };
        if !server.address.contains("://") {
            bail!("cannot start {}: {}", kind.name, server.address);
        }
        println!("{} is at {}", kind.name, server.address);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        if let Err(error) = self.script.wait() {
            println!("cannot wait until the server at {} has ended: {error}", self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(script: &'static str) -> Kind {
        Kind { name: "Echo", script, variable: "ECHO" }
    }

    #[test]
    fn a_server_ends_with_its_guard() {
        let server = Server::start(Path::new("/"), &kind("echo echo://here; cat >/dev/null")).unwrap();
        assert_eq!(server.address, "echo://here");
        let process = format!("/proc/{}", server.script.id());
        assert!(Path::new(&process).exists());
        drop(server);
        assert!(!Path::new(&process).exists());
    }

    #[test]
    fn a_server_that_does_not_start_says_why() {
        let failed = Server::start(Path::new("/"), &kind("echo error: no disk; exit 1"));
        assert_eq!(failed.err().map(|error| error.to_string()).unwrap(), "cannot start Echo: error: no disk");
    }
}
