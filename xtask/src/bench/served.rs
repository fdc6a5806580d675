//! A server that is measured: the program itself, on loopback, with a data folder of its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that serves until this is dropped.
pub(super) struct Served {
    child: Child,
    /// Where it listens, as in `127.0.0.1:7420`.
    pub(super) address: String,
    started: Instant,
}

/// What a server answered.
pub(super) struct Answer {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// What a process holds, in bytes.
pub(super) struct Memory {
    pub(super) resident: u64,
    /// Without what belongs to files, such as the program itself.
    pub(super) own: u64,
}

impl Served {
    /// Starts a program that prints a line with its address, and waits for the line.
    pub(super) fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child =
            command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let output = child.stdout.take().context("its output was asked for")?;
        let mut served = Self { child, address: String::new(), started };
        for line in BufReader::new(output).lines() {
            if let Some(address) = address_in(&line?) {
                served.address = address.to_owned();
                return Ok(served);
            }
        }
        bail!("{:?} does not serve", command.get_program())
    }

    /// Returns how long it took from the start of the program until a first request is answered.
    pub(super) fn first_answer(&self) -> Result<Duration> {
        self.get("/healthz", &[])?;
        Ok(self.started.elapsed())
    }

    /// Asks for something on a connection of its own.
    pub(super) fn get(&self, path: &str, headers: &[&str]) -> Result<Answer> {
        let mut stream = TcpStream::connect(&self.address).context("cannot connect")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let address = &self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n")?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).context("it does not answer")?;
        let end =
            bytes.windows(4).position(|four| four == b"\r\n\r\n").context("it answers something else")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        if !head.starts_with("HTTP/1.1 200 ") {
            bail!("{path}: {}", head.lines().next().unwrap_or_default());
        }
        Ok(Answer { head, body: bytes.split_off(end + 4) })
    }

    /// Returns what it holds at this moment.
    pub(super) fn memory(&self) -> Result<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.context("cannot read its memory from `/proc`")?;
        let bytes = |name| kibibytes(&status, name).context("`/proc` does not say its memory");
        Ok(Memory { resident: bytes("VmRSS:")? * 1024, own: bytes("RssAnon:")? * 1024 })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // What it has written is safe without a farewell.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Returns a header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(found, _)| *found == name).map(|(_, value)| value)
    }
}

/// Writes a program's configuration with which nobody is told that they ask too often.
pub(super) fn without_limits(folder: &Path) -> Result<std::path::PathBuf> {
    let path = folder.join("artel.toml");
    fs::write(&path, "[server]\nrequests_per_second = 1000000\nrequest_burst = 1000000\n")
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(path)
}

fn address_in(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("http://")?;
    rest.split(['/', '?', ' ']).next()
}

fn kibibytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_what_is_printed() {
        assert_eq!(address_in("Open http://127.0.0.1:7420/?token=x"), Some("127.0.0.1:7420"));
        assert_eq!(address_in("http://127.0.0.1:80"), Some("127.0.0.1:80"));
        assert_eq!(address_in("stopping"), None);
    }

    #[test]
    fn headers_and_memory_are_read() {
        let answer = Answer { head: "HTTP/1.1 200 OK\r\netag: \"a\"\r\n".to_owned(), body: Vec::new() };
        assert_eq!((answer.header("etag"), answer.header("vary")), (Some("\"a\""), None));
        assert_eq!(kibibytes("VmRSS:\t   12 kB\nRssAnon:\t 3 kB\n", "RssAnon:"), Some(3));
    }
}
