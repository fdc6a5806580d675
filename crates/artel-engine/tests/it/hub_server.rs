//! Servers for the tests of hubs, on this machine: one that answers as it is told, and a real git server behind it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::io::Write as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::start::outside;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    /// The path, with the query.
    pub(crate) target: String,
    /// The headers, their names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A status, headers and a body.
    Said(u16, Vec<(String, String)>, Vec<u8>),
    /// Half of what was announced, and then nothing more, ever.
    Stall,
    /// Half of what was announced, and the end.
    BreakOff,
}

impl Answer {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::Said(200, Vec::new(), body.into())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::Said(status, Vec::new(), Vec::new())
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::Said(302, vec![("location".to_owned(), to.to_owned())], Vec::new())
    }
}

/// A server that keeps what it was asked.
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    /// Starts a server that answers by asking `answer`, which may take its time.
    pub(crate) async fn start(answer: impl Fn(&ReceivedRequest) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (asked.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, log.clone(), answer.clone()));
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut connection: TcpStream,
    log: Arc<Mutex<Vec<ReceivedRequest>>>,
    answer: Arc<impl Fn(&ReceivedRequest) -> Answer + Send + Sync + 'static>,
) {
    let Some(asked) = read(&mut connection).await else { return };
    log.lock().unwrap().push(asked.clone());
    let answer = tokio::task::spawn_blocking(move || answer(&asked)).await.unwrap();
    match answer {
        Answer::Said(status, headers, body) => {
            let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str("connection: close\r\n\r\n");
            let _ = connection.write_all(head.as_bytes()).await;
            let _ = connection.write_all(&body).await;
        }
        Answer::BreakOff | Answer::Stall => {
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf").await;
            if matches!(answer, Answer::Stall) {
                std::future::pending::<()>().await;
            }
        }
    }
}

async fn read(connection: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 * 1024];
    loop {
        if let Some(asked) = parse(&bytes) {
            return Some(asked);
        }
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn parse(bytes: &[u8]) -> Option<ReceivedRequest> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let header =
        |line: &str| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    let body = bytes[end + 4..].to_vec();
    (body.len() >= length).then_some(ReceivedRequest { method, target, headers, body })
}

/// A git repository with a working copy.
pub(crate) struct Repository {
    pub(crate) path: Utf8PathBuf,
}

impl Repository {
    pub(crate) fn new(path: Utf8PathBuf) -> Self {
        std::fs::create_dir_all(&path).unwrap();
        let repository = Self { path };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// Writes files and commits everything; returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, content) in files {
            let path = self.path.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "a change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.git_bytes(arguments, b"")).trim().to_owned()
    }

    pub(crate) fn git_bytes(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        run(outside("git").current_dir(&self.path).args(arguments), input)
    }

    /// Packs the commit as GitHub does.
    pub(crate) fn archive(&self, format: &str, prefix: &str) -> Vec<u8> {
        let (format, prefix) = (format!("--format={format}"), format!("--prefix={prefix}"));
        self.git_bytes(&["archive", &format, &prefix, "HEAD"], b"")
    }
}

fn run(command: &mut std::process::Command, input: &[u8]) -> Vec<u8> {
    let mut child = command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ann")
        .env("GIT_AUTHOR_EMAIL", "ann@example.com")
        .env("GIT_COMMITTER_NAME", "Ann")
        .env("GIT_COMMITTER_EMAIL", "ann@example.com")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Both pipes may fill, so one is served from elsewhere.
    let telling = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    telling.join().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Answers as a git server does: git's own program does the work, this only carries.
pub(crate) fn git_server(root: &Utf8Path, asked: &ReceivedRequest) -> Answer {
    let query = asked.target.split_once('?').map_or("", |(_, query)| query);
    let mut command = outside("git");
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &asked.method)
        .env("PATH_INFO", asked.path())
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", asked.header("content-type").unwrap_or_default())
        .env("CONTENT_LENGTH", asked.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", asked.header("content-encoding").unwrap_or_default())
        .env("GIT_PROTOCOL", asked.header("git-protocol").unwrap_or_default());
    let output = run(&mut command, &asked.body);
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers: Vec<(String, String)> = head.lines().filter_map(pair).collect();
    let status = headers.iter().find(|(name, _)| name == "Status");
    let status = status.map_or(200, |(_, value)| value.split(' ').next().unwrap().parse().unwrap());
    Answer::Said(status, headers, output[end + 4..].to_vec())
}
