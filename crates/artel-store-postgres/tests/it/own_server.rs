//! A PostgreSQL server that a test starts for itself. Knows nothing of the store.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SCRIPT: &str = include_str!("../../../../xtask/servers/postgres.sh");

/// The last of the settings with which the script starts a server; a later one counts more.
const LAST_SETTING: &str = "-c shared_buffers=64MB";

/// A server of the test's own, which ends with it.
pub(crate) struct OwnServer {
    pub(crate) url: String,
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl OwnServer {
    /// Starts a server with further settings, as `-c name=value`; returns what it said when it did not start.
    #[expect(clippy::disallowed_methods, reason = "tests start what they need")]
    pub(crate) fn start_with(settings: &str) -> Result<Self, String> {
        assert!(SCRIPT.contains(LAST_SETTING));
        let script = SCRIPT.replacen(LAST_SETTING, &format!("{LAST_SETTING} {settings}"), 1);
        let mut command = Command::new("sh");
        // In a process group of its own it outlives a test that is killed, and so removes what is left.
        command.args(["-c", &script]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("sh starts");
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut server = Self { url: String::new(), child, orders, answers };
        server.url = server.answer();
        if server.url.starts_with("postgres://") { Ok(server) } else { Err(server.url.clone()) }
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the server answers");
        line.trim_end().to_owned()
    }

    /// Gives an order, `restart`, `stop` or `start`, and waits until it is done. The server stops as if it crashed.
    pub(crate) fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().expect("the server runs"), "{order}").expect("the server listens");
        assert_eq!(self.answer(), "done", "{order}");
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.orders = None;
        drop(self.child.wait());
    }
}
