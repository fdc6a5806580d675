//! Redis and NATS as they are spoken: publishing, subscribing, and hearing what comes.

use std::fmt::Write as _;

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpStream, UnixStream};

use super::single::Listen;

/// More than a full window of messages, so that one call to the system reads many.
const BUFFER_BYTES: usize = 64 * 1024;

/// Which of them, and where it is.
#[derive(Clone)]
pub(crate) enum Broker {
    /// On a socket of the file system.
    Redis {
        /// Its path.
        socket: String,
    },
    /// On a port of this machine.
    Nats {
        /// Its address.
        address: String,
    },
}

type Input = BufReader<Box<dyn AsyncRead + Send + Unpin>>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

impl Broker {
    async fn connect(&self) -> (Input, Output) {
        let (input, output): (Box<dyn AsyncRead + Send + Unpin>, Output) = match self {
            Self::Redis { socket } => {
                let (input, output) = UnixStream::connect(socket).await.unwrap().into_split();
                (Box::new(input), Box::new(output))
            }
            Self::Nats { address } => {
                let stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let (input, output) = stream.into_split();
                (Box::new(input), Box::new(output))
            }
        };
        (BufReader::with_capacity(BUFFER_BYTES, input), output)
    }

    /// Connects to publish.
    pub(crate) async fn publisher(&self) -> Publisher {
        let (input, mut output) = self.connect().await;
        let hello: &[u8] = match self {
            // It would answer every message.
            Self::Redis { .. } => b"CLIENT REPLY OFF\r\n",
            Self::Nats { .. } => b"CONNECT {\"verbose\":false}\r\n",
        };
        output.write_all(hello).await.unwrap();
        Publisher { broker: self.clone(), output, waiting: Vec::new(), _input: input }
    }

    /// Connects to listen; when this returns, whatever is published is heard.
    pub(crate) async fn listener(&self, subject: &str) -> Listener {
        let (input, output) = self.connect().await;
        let mut listener =
            Listener { broker: self.clone(), input, output, line: Vec::new(), body: Vec::new() };
        match self {
            Self::Redis { .. } => {
                listener.write(&format!("SUBSCRIBE {subject}\r\n")).await;
                // An array of three: the word, the subject, the number of subscriptions.
                for _ in 0..6 {
                    listener.read_line().await;
                }
            }
            Self::Nats { .. } => {
                listener
                    .write(&format!("CONNECT {{\"verbose\":false}}\r\nSUB {subject} 1\r\nPING\r\n"))
                    .await;
                while listener.read_line().await != b"PONG\r\n" {}
            }
        }
        listener
    }
}

/// A connection that publishes.
pub(crate) struct Publisher {
    broker: Broker,
    output: Output,
    waiting: Vec<u8>,
    // NATS lets nobody go on who has closed one half.
    _input: Input,
}

impl Publisher {
    /// Adds a message to what is written next.
    pub(crate) fn add(&mut self, subject: &str, payload: &[u8]) {
        let mut head = String::new();
        let (name, body) = (subject.len(), payload.len());
        // Writing into a string cannot fail.
        let _ = match self.broker {
            Broker::Redis { .. } => {
                write!(head, "*3\r\n$7\r\nPUBLISH\r\n${name}\r\n{subject}\r\n${body}\r\n")
            }
            Broker::Nats { .. } => write!(head, "PUB {subject} {body}\r\n"),
        };
        self.waiting.extend_from_slice(head.as_bytes());
        self.waiting.extend_from_slice(payload);
        self.waiting.extend_from_slice(b"\r\n");
    }

    /// Writes what was added.
    pub(crate) async fn flush(&mut self) {
        self.output.write_all(&self.waiting).await.unwrap();
        self.waiting.clear();
    }
}

/// A connection that listens to one subject.
pub(crate) struct Listener {
    broker: Broker,
    input: Input,
    output: Output,
    line: Vec<u8>,
    body: Vec<u8>,
}

impl Listener {
    /// Says whether something that came has not been looked at.
    pub(crate) fn has_more(&self) -> bool {
        !self.input.buffer().is_empty()
    }

    async fn write(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).await.unwrap();
    }

    async fn read_line(&mut self) -> &[u8] {
        self.line.clear();
        self.input.read_until(b'\n', &mut self.line).await.unwrap();
        assert!(!self.line.is_empty(), "the server hangs up");
        &self.line
    }

    /// Reads up to the payload, and returns how long that is.
    async fn read_head(&mut self) -> usize {
        match self.broker {
            Broker::Redis { .. } => {
                // An array of three: the word `message`, the subject, the payload; each after a line with its length.
                for _ in 0..5 {
                    self.read_line().await;
                }
                number(&self.read_line().await[1..])
            }
            Broker::Nats { .. } => loop {
                let line = self.read_line().await;
                if line.starts_with(b"MSG ") {
                    break number(line.rsplit(|byte| *byte == b' ').next().unwrap());
                }
            },
        }
    }
}

impl Listen for Listener {
    async fn next(&mut self) {
        let bytes = self.read_head().await;
        self.body.resize(bytes + 2, 0);
        self.input.read_exact(&mut self.body).await.unwrap();
    }
}

fn number(line: &[u8]) -> usize {
    std::str::from_utf8(line).unwrap().trim_end().parse().unwrap()
}
