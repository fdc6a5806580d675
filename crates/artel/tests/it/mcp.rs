//! `artel mcp`: a client that starts it, and speaks the protocol over its stdin and stdout.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::serve_session::Served;
use crate::session::Session;

/// A client that started `artel mcp`.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    pub(crate) fn start(session: &Session) -> Self {
        let mut child = session
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    pub(crate) fn say(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Asks, and returns the answer; every line must be a message of the protocol.
    pub(crate) fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "it ended before it answered {method}");
            let message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["jsonrpc"], json!("2.0"), "{line}");
            if message["id"] == json!(id) {
                return message["result"].clone();
            }
        }
    }

    /// Waits until it is told something.
    pub(crate) fn hear(&mut self, method: &str) {
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "it ended before it said {method}");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == json!(method) {
                return;
            }
        }
    }

    /// Goes away, and returns the exit code and what was said since.
    pub(crate) fn leave(mut self) -> (Option<i32>, String, String) {
        drop(self.stdin.take());
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stdout, stderr)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_client_finds_and_reads_skills_over_stdin_and_stdout() {
    let session = Session::new();
    session.write(
        "skills/make-tea/SKILL.md",
        "---\nname: make-tea\ndescription: Makes tea, when somebody asks for a hot drink.\n---\n\nBoil water first.\n",
    );
    let mut client = Client::start(&session);
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = client.ask(1, "initialize", &hello);
    assert_eq!(answer["serverInfo"]["name"], json!("artel"), "{answer}");
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let tools = client.ask(2, "tools/list", &json!({}));
    assert!(tools.to_string().contains("\"search_skills\""), "{tools}");
    let read = json!({"name": "read_skill", "arguments": {"skill": "make-tea"}});
    let read = client.ask(3, "tools/call", &read);
    assert!(read.to_string().contains("Boil water first."), "{read}");
    let (code, stdout, stderr) = client.leave();
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    assert!(Served::start(&session, &[]).token.is_some(), "it costs a server no token");
}

#[test]
fn whoever_starts_it_by_hand_is_told_what_it_is_for() {
    let session = Session::new();
    let (code, stdout, stderr) = Client::start(&session).leave();
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("hint: `artel mcp` is started by a client"), "{stderr}");
}
