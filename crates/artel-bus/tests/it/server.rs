//! Where tests get a Redis: from `ARTEL_TEST_REDIS` if that is set, otherwise they start their own. Every bus has keys of
//! its own there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use artel_bus::{BusConfig, KeyPrefix, RedisBus, RedisBusConfig};
use uuid::Uuid;

const SCRIPT: &str = include_str!("../../../../xtask/servers/redis.sh");

/// A Redis, and a prefix that nobody else uses there.
pub(crate) struct Place {
    url: String,
    pub(crate) prefix: KeyPrefix,
    _own: Option<OwnServer>,
}

impl Place {
    #[expect(clippy::disallowed_methods, reason = "the one setting of these tests")]
    pub(crate) fn any() -> Self {
        match std::env::var("ARTEL_TEST_REDIS") {
            Ok(url) => Self { url, prefix: fresh_prefix(), _own: None },
            Err(_) => {
                let own = OwnServer::start();
                Self { url: own.url.clone(), prefix: fresh_prefix(), _own: Some(own) }
            }
        }
    }

    /// Makes a place on a server that somebody else looks after.
    pub(crate) fn at(url: &str) -> Self {
        Self { url: url.to_owned(), prefix: fresh_prefix(), _own: None }
    }

    /// Makes the same place reachable at another address.
    pub(crate) fn through(self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn config(&self, bus: BusConfig) -> RedisBusConfig {
        let mut config = RedisBusConfig::new(&self.url, Uuid::new_v4(), bus);
        config.prefix = self.prefix.clone();
        config
    }

    /// Returns one more bus that hears what the others of this place say.
    pub(crate) async fn bus(&self, bus: BusConfig) -> RedisBus {
        RedisBus::connect(self.config(bus)).await.expect("Redis is there")
    }
}

fn fresh_prefix() -> KeyPrefix {
    format!("test-{}", Uuid::new_v4().simple()).parse().expect("a prefix")
}

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

    /// Returns where its socket is.
    pub(crate) fn socket(&self) -> &str {
        self.url.trim_start_matches("redis+unix://")
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
