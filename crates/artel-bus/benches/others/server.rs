//! A server that a script runs, until its standard input ends: however the benchmark dies, no server outlives it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

const REDIS: &str = include_str!("../../../../xtask/servers/redis.sh");
const NATS: &str = include_str!("../../../../bench/messages/nats.sh");

/// A server that ends with the benchmark.
pub(crate) struct Server {
    /// Where it can be reached.
    pub(crate) url: String,
    script: Child,
}

impl Server {
    /// Starts Redis, or says why it cannot be run.
    pub(crate) fn redis() -> Result<Self, String> {
        Self::start(REDIS)
    }

    /// Starts NATS, or says why it cannot be run.
    pub(crate) fn nats() -> Result<Self, String> {
        Self::start(NATS)
    }

    fn start(script: &str) -> Result<Self, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let line = line.trim_end();
        // Dropping it waits for the script in either case.
        let server = Self { url: line.to_owned(), script };
        match line.strip_prefix("error: ") {
            None if line.contains("://") => Ok(server),
            None => Err("its script says nothing".to_owned()),
            Some(why) => Err(why.to_owned()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        self.script.wait().unwrap();
    }
}
