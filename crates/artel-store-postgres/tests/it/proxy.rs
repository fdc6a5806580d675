//! A way to the server that breaks on demand, at the statement that holds a mark.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use crate::own_server::OwnServer;

/// What holds this breaks the way.
pub(crate) const MARK: &str = "break-here";

/// Where the way breaks, once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Break {
    /// The statement does not arrive.
    Before,
    /// The statement is done, and its answer does not arrive.
    After,
}

/// Returns the address of a way to the server that breaks at the first statement with the mark.
pub(crate) async fn breaking_way(server: &OwnServer, at: Break) -> String {
    let (_, folder) = server.url.split_once("host=").expect("the server listens on a socket");
    let socket = PathBuf::from(folder).join(".s.PGSQL.5432");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address: SocketAddr = listener.local_addr().expect("it is bound");
    let is_whole = Arc::new(AtomicBool::new(true));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&socket).await.expect("the server listens");
            tokio::spawn(forward(client, server, at, is_whole.clone()));
        }
    });
    format!("postgres://artel@{address}/postgres")
}

/// Carries bytes both ways until one side ends or the way breaks.
async fn forward(client: TcpStream, server: UnixStream, at: Break, is_whole: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let drops_answer = AtomicBool::new(false);
    let requests = async {
        while let Some(bytes) = piece(&mut from_client).await {
            if contains_mark(&bytes) && is_whole.swap(false, Ordering::SeqCst) {
                match at {
                    Break::Before => return,
                    Break::After => drops_answer.store(true, Ordering::SeqCst),
                }
            }
            if !pass(&mut to_server, &bytes).await {
                return;
            }
        }
    };
    let answers = async {
        while let Some(bytes) = piece(&mut from_server).await {
            // The server answers after it has committed.
            if drops_answer.load(Ordering::SeqCst) || !pass(&mut to_client, &bytes).await {
                return;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        () = answers => {}
    }
}

async fn piece(from: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 1 << 16];
    let length = from.read(&mut bytes).await.unwrap_or(0);
    bytes.truncate(length);
    (length > 0).then_some(bytes)
}

async fn pass(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> bool {
    to.write_all(bytes).await.is_ok()
}

fn contains_mark(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}
