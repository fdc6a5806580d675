//! A Redis that a test starts for itself. Knows nothing of the bus.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SCRIPT: &str = include_str!("../../../../xtask/servers/redis.sh");

/// A server of the test's own, which ends with it.
pub(crate) struct OwnServer {
    pub(crate) url: String,
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl OwnServer {
    #[expect(clippy::disallowed_methods, reason = "tests start what they need")]
    pub(crate) fn start() -> Self {
        let mut command = Command::new("sh");
        // In a process group of its own it outlives a test that is killed, and so removes what is left.
        command.args(["-c", SCRIPT]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("sh starts");
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut server = Self { url: String::new(), child, orders, answers };
        server.url = server.answer();
        assert!(server.url.starts_with("redis+unix://"), "{}", server.url);
        server
    }

    /// Gives an order, `restart`, `stop`, `start` or `lose`, and waits until it is done.
    pub(crate) fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().expect("the server runs"), "{order}").expect("the server listens");
        assert_eq!(self.answer(), "done", "{order}");
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the server answers");
        line.trim_end().to_owned()
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.orders = None;
        drop(self.child.wait());
    }
}
