//! artel running in the background, heard line by line.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::session::Session;

/// How long anything may take before a test gives up; nothing waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// artel in the background. Lines of its stderr tell where it is.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    heard: Vec<String>,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    pub(crate) fn start(session: &Session, arguments: &[&str]) -> Self {
        let mut child = session
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr, heard: Vec::new() }
    }

    /// Waits for a line that holds a text, and returns it.
    pub(crate) fn hear(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let count = self.stderr.read_line(&mut line).unwrap();
            assert!(count > 0, "it ended before it said `{text}`: {}", self.heard.concat());
            self.heard.push(line.clone());
            if line.contains(text) {
                return line.trim_end().to_owned();
            }
        }
    }

    /// Waits until it says which run it is.
    pub(crate) fn run_id(&mut self) -> String {
        self.hear("run ").strip_prefix("run ").unwrap().to_owned()
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, signal: &str) {
        send_signal(signal, self.child.id());
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let status = self.child.wait().unwrap();
        Ended { status, stdout, stderr: self.heard.concat() + &rest }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process, by its name.
#[expect(clippy::disallowed_methods, reason = "the test presses Ctrl-C")]
pub(crate) fn send_signal(signal: &str, process: u32) {
    let signal = [format!("-{signal}"), process.to_string()];
    assert!(std::process::Command::new("kill").args(signal).status().unwrap().success());
}

/// Asks again until the answer is yes.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "a test that waits gives up some day")]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it never came to this: {what}");
        std::thread::yield_now();
    }
}
