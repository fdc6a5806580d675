//! Accepts connections: a cap on how many there are, limits on how slowly a client may take part, encryption if there is a
//! certificate, and an end that loses no request.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit};
use hyper::Request;
use hyper::body::{Body as _, Incoming};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::body_budget::BodyBudget;
use crate::config::ServerConfig;
use crate::connections::{Admission, Connected, ConnectionCaps, Connections, Waiting};
use crate::envelope::enveloped;
use crate::http::Http;
use crate::patience::{ReadOrLose, Tardy, TimedBody};
use crate::route::router;
use crate::tls::{Encryption, ServedCertificate, TlsError};

/// Connections that the system holds until they are accepted; whoever comes beyond them tries again a second later.
const WAITING_MAX: u32 = 4096;
/// How long to wait before accepting again when the machine has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Why the server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is taken, or is not ours.
    #[error("cannot listen at {address}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot encrypt connections")]
    Tls(#[source] TlsError),
}

/// Where connections come in; they wait until somebody serves them.
pub struct Entrance {
    listener: TcpListener,
    address: SocketAddr,
    encryption: Option<Encryption>,
}

impl Entrance {
    /// Begins to listen.
    #[expect(clippy::unused_async, reason = "it needs the runtime of whoever waits for it")]
    pub async fn open(config: &ServerConfig) -> Result<Self, ListenError> {
        let address = config.listen;
        let encryption = config.certificate.as_ref().map(Encryption::new).transpose();
        let encryption = encryption.map_err(ListenError::Tls)?;
        let failed = |source| ListenError::Bind { address, source };
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let socket = socket.map_err(failed)?;
        // A server that was just stopped must not keep the next one out.
        socket.set_reuseaddr(true).map_err(failed)?;
        socket.bind(address).map_err(failed)?;
        let listener = socket.listen(WAITING_MAX).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, encryption })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A server that listens.
pub struct Server {
    entrance: Entrance,
    http: Http,
}

impl Server {
    /// Begins to listen; connections wait until [`Server::run`].
    pub async fn bind(http: Http) -> Result<Self, ListenError> {
        let entrance = Entrance::open(http.config()).await?;
        Ok(Self::behind(entrance, http))
    }

    /// Serves whoever comes in there.
    pub fn behind(entrance: Entrance, http: Http) -> Self {
        Self { entrance, http }
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.entrance.address()
    }

    /// Returns the certificate that connections are encrypted with; nothing when they are not.
    pub fn certificate(&self) -> Option<ServedCertificate> {
        self.entrance.encryption.as_ref().map(Encryption::served)
    }

    /// Serves until `stopped` is over; then accepts nothing more and lets what is under way end.
    pub async fn run(self, stopped: impl Future<Output = ()>) {
        let Self { entrance: Entrance { listener, encryption, .. }, http } = self;
        let (cut, cut_off) = watch::channel(());
        let bodies = BodyBudget::new(http.config().bodies_bytes_max);
        let door = Arc::new(Door { router: router(&http), http: http.clone(), encryption, bodies, cut_off });
        let graceful = GracefulShutdown::new();
        let connections = connections(&http);
        let mut hall = Hall { connections, waiting: VecDeque::new() };
        let mut stopped = std::pin::pin!(stopped);
        loop {
            let (stream, address, connected) = tokio::select! {
                accepted = hall.accept(&listener) => accepted,
                () = &mut stopped => break,
            };
            let (door, watcher) = (door.clone(), graceful.watcher());
            tokio::spawn(async move { door.serve(stream, address, &connected, watcher).await });
        }
        drop(hall);
        drop(listener);
        http.close_streams();
        if tokio::time::timeout(http.config().closing_grace, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests were still under way when the server stopped");
        }
        // Whoever is still connected had their time.
        drop(cut);
    }
}

fn connections(http: &Http) -> Connections {
    let config = http.config();
    let caps =
        ConnectionCaps { all: config.connections_max, of_one_address: config.connections_per_address_max };
    let http = http.clone();
    Connections::new(caps, move |peer| {
        http.live().trusted_proxies.iter().any(|network| network.contains(peer))
    })
}

/// Where connections wait for a place.
struct Hall {
    connections: Connections,
    waiting: VecDeque<(Waiting, TcpStream, SocketAddr)>,
}

impl Hall {
    /// Returns the next connection that has a place; one for which there is none is closed.
    async fn accept(&mut self, listener: &TcpListener) -> (TcpStream, SocketAddr, Connected) {
        loop {
            if let Some(index) = self.connections.next(self.waiting.iter().map(|(waiting, ..)| waiting))
                && let Some((waiting, stream, address)) = self.waiting.remove(index)
            {
                return (stream, address, waiting.place());
            }
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.connections.freed(), if !self.waiting.is_empty() => continue,
            };
            match accepted {
                Ok((stream, address)) => match self.connections.admit(address.ip()) {
                    Admission::Admitted(connected) => return (stream, address, connected),
                    Admission::Waits(waiting) => self.waiting.push_back((waiting, stream, address)),
                    Admission::Refused => {
                        tracing::debug!(%address, "there is no room for another connection from there");
                    }
                },
                Err(error) => {
                    // Out of descriptors, or the client went away: others are served meanwhile.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// What every connection goes through.
struct Door {
    router: Router,
    http: Http,
    encryption: Option<Encryption>,
    bodies: Arc<BodyBudget>,
    /// Closed when the server is over.
    cut_off: watch::Receiver<()>,
}

impl Door {
    async fn serve(&self, stream: TcpStream, address: SocketAddr, connected: &Connected, watcher: Watcher) {
        // Answers are small; waiting to fill a packet only costs time.
        let _ = stream.set_nodelay(true);
        self.http.meters().connections.increment(1);
        let mut cut_off = self.cut_off.clone();
        tokio::select! {
            () = self.speak(stream, address, connected, watcher) => {}
            () = connected.given_away() => {}
            _ = cut_off.changed() => {}
        }
        self.http.meters().connections.decrement(1);
    }

    async fn speak(&self, stream: TcpStream, address: SocketAddr, connected: &Connected, watcher: Watcher) {
        let Some(encryption) = &self.encryption else {
            return self.answer(stream, address, connected, watcher).await;
        };
        let greeted =
            tokio::time::timeout(self.http.config().header_timeout, encryption.accept(stream)).await;
        match greeted {
            Ok(Ok(stream)) => self.answer(stream, address, connected, watcher).await,
            Ok(Err(error)) => tracing::debug!(%error, %address, "a connection could not be encrypted"),
            Err(_) => tracing::debug!(%address, "a client was too slow to greet"),
        }
    }

    async fn answer<T>(&self, stream: T, address: SocketAddr, connected: &Connected, watcher: Watcher)
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let config = self.http.config();
        let service = hyper::service::service_fn(|request: Request<Incoming>| {
            let request = self.prepared(request, address);
            let (router, under_way) = (self.router.clone(), connected.begin());
            async move {
                let response = enveloped(&self.http, router, request).await;
                Ok::<_, Infallible>(response.map(|body| under_way.until_sent(body)))
            }
        });
        let stream = TokioIo::new(ReadOrLose::new(stream, config.write_timeout));
        let connection = builder(config).serve_connection(stream, service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, %address, "a connection ended badly");
        }
    }

    fn prepared(&self, request: Request<Incoming>, address: SocketAddr) -> Request<Body> {
        let config = self.http.config();
        let mut request = if request.body().is_end_stream() {
            request.map(|_| Body::empty())
        } else {
            let (tardy, share) = (Tardy::default(), self.bodies.share());
            let watched = (tardy.clone(), share.clone());
            let timed = |body| TimedBody::new(body, config.body_bytes_max, config.body_timeout, watched);
            let mut request = request.map(|body| Body::new(timed(body)));
            request.extensions_mut().insert(tardy);
            request.extensions_mut().insert(share);
            request
        };
        DefaultBodyLimit::max(config.body_bytes_max).apply(&mut request);
        request.extensions_mut().insert(ConnectInfo(address));
        request
    }
}

fn builder(config: &ServerConfig) -> hyper::server::conn::http1::Builder {
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(config.header_timeout)
        .max_buf_size(config.header_bytes_max.max(ServerConfig::HEADER_BYTES_MIN))
        .half_close(true);
    builder
}
