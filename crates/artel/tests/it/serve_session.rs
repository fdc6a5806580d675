//! `artel serve` in the background, and a client that speaks as much HTTP as a test needs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::running::send_signal;
use crate::session::Session;

/// A server in the background.
pub(crate) struct Served {
    child: Child,
    /// Reads what it says: a server that nobody listens to would stand still.
    listener: Option<JoinHandle<String>>,
    /// Where it listens: an address and a port.
    pub(crate) address: String,
    /// The administrator's token, if it was printed.
    pub(crate) token: Option<String>,
}

impl Served {
    /// Starts a server on any free port, and waits until it says where it is.
    pub(crate) fn start(session: &Session, arguments: &[&str]) -> Self {
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let arguments: Vec<&str> = serve.iter().chain(arguments).copied().collect();
        let mut child = session
            .command(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let listener = std::thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("Open http://");
        let Some(url) = url else { panic!("it says `{line}`: {}", listener.join().unwrap()) };
        let (address, token) = match url.split_once("/?token=") {
            Some((address, token)) => (address.to_owned(), Some(token.to_owned())),
            None => (url.trim_end_matches('/').to_owned(), None),
        };
        Self { child, listener: Some(listener), address, token }
    }

    /// Asks for something, and returns the status and the body.
    pub(crate) fn get(&self, path: &str, token: &str) -> (u16, String) {
        self.call("GET", path, token, "", "")
    }

    /// Asks for something of a server that may have ended.
    pub(crate) fn try_get(&self, path: &str, token: &str) -> std::io::Result<(u16, String)> {
        self.try_call("GET", path, token, "", "")
    }

    fn call(&self, method: &str, path: &str, token: &str, head: &str, body: &str) -> (u16, String) {
        self.try_call(method, path, token, head, body).unwrap()
    }

    fn try_call(
        &self,
        method: &str,
        path: &str,
        token: &str,
        head: &str,
        body: &str,
    ) -> std::io::Result<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address)?;
        let address = &self.address;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n{head}\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let cut = || std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "no whole answer");
        let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(cut)?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok((status, body.to_owned()))
    }

    /// Sends something, and returns the status and the body.
    pub(crate) fn post(&self, path: &str, token: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let head = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
        self.call("POST", path, token, &head, body)
    }

    /// Asks for something that is there, and returns the document.
    #[track_caller]
    pub(crate) fn document(&self, path: &str, token: &str) -> Value {
        let (status, body) = self.get(path, token);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Returns the status of a request that anybody may make who is known.
    pub(crate) fn status(&self, token: &str) -> u16 {
        self.get("/api/skills", token).0
    }

    /// Returns the names of the skills that somebody sees.
    pub(crate) fn skills(&self, token: &str) -> Vec<String> {
        let document = self.document("/api/skills", token);
        let skills = document["skills"].as_array().unwrap_or_else(|| panic!("{document}"));
        skills.iter().map(|skill| skill["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the id of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns its exit code, if it has ended.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().and_then(|status| status.code())
    }

    /// Waits for its end, and returns its exit code.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Asks it to end, and returns its exit code and what it said.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        send_signal("TERM", self.child.id());
        let code = self.child.wait().unwrap().code();
        (code, self.listener.take().unwrap().join().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
