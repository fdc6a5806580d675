//! Stands between a bus and its Redis, over TCP, and can cut the line or let it hang.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// What is said gets through.
    Open,
    /// Connections stay and nothing gets through.
    Hung,
    /// There are no connections.
    Cut,
}

pub(crate) struct Proxy {
    pub(crate) url: String,
    line: watch::Sender<Line>,
}

impl Proxy {
    pub(crate) async fn start(socket: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("redis://{}", listener.local_addr().expect("it is bound"));
        let (line, watched) = watch::channel(Line::Open);
        tokio::spawn(accept(listener, socket.to_owned(), watched));
        Self { url, line }
    }

    pub(crate) fn set(&self, line: Line) {
        self.line.send_replace(line);
    }
}

async fn accept(listener: TcpListener, socket: String, line: watch::Receiver<Line>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(carry(client, socket.clone(), line.clone()));
    }
}

/// A connection does not outlive the state of the line that it began in, except that it can hang first.
async fn carry(mut client: TcpStream, socket: String, mut line: watch::Receiver<Line>) {
    let began = *line.borrow_and_update();
    if began == Line::Open {
        let mut server = UnixStream::connect(&socket).await.expect("the server is there");
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => return,
            changed = line.changed() => if changed.is_err() { return },
        }
        if *line.borrow_and_update() == Line::Hung {
            drop(line.changed().await);
        }
    } else if began == Line::Hung {
        drop(line.changed().await);
    }
}
