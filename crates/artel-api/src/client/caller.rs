//! One request, one answer.

use std::sync::Arc;
use std::time::Duration;

use crate::ErrorBody;
use artel_model::limit::CLIENT_ANSWER_BYTES_MAX;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url, redirect};
use rustls::crypto::CryptoProvider;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::credential::ServerToken;
use super::error::ClientError;
use super::events::Events;
use super::lines::Lines;
use super::path::ApiPath;
use super::server_url::ServerUrl;

/// How long to wait until somebody takes the call.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may be silent. Some calls wait for an agent's answer, for ten minutes at most.
const SILENCE_MAX: Duration = Duration::from_secs(660);
/// Characters of a strange answer that are shown.
const STRANGE_CHARS_SHOWN: usize = 200;

/// Whom to call, and as who.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server.
    pub server: ServerUrl,
    /// What to show to be let in; most endpoints need something.
    pub token: Option<ServerToken>,
}

/// A client of one server. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    server: ServerUrl,
    token: Option<HeaderValue>,
    http: reqwest::Client,
}

impl Client {
    /// Makes a client; nothing is sent yet.
    pub fn new(config: ClientConfig) -> Result<Self, ClientError> {
        let ClientConfig { server, token } = config;
        let unusable = |source: Box<dyn std::error::Error + Send + Sync>| ClientError::Unusable {
            server: server.to_string(),
            source,
        };
        let http = http(&server).map_err(unusable)?;
        let header = |token: ServerToken| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.secret()))
                .expect("a token holds only what a header can");
            value.set_sensitive(true);
            value
        };
        Ok(Self { server, token: token.map(header), http })
    }

    /// Returns whom it calls.
    pub fn server(&self) -> &ServerUrl {
        &self.server
    }

    /// Reads something.
    pub async fn get<T: DeserializeOwned>(&self, path: &ApiPath) -> Result<T, ClientError> {
        self.answer(self.request(Method::GET, self.url(path))).await
    }

    /// Reads something that a query describes.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        path: &ApiPath,
        query: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.answer(self.request(Method::GET, self.asked(path, query)?)).await
    }

    /// Reads a file.
    pub async fn bytes(&self, path: &ApiPath, bytes_max: usize) -> Result<Vec<u8>, ClientError> {
        let response = self.send(self.request(Method::GET, self.url(path))).await?;
        self.collect(response, bytes_max).await
    }

    /// Sends a document and reads bytes.
    pub async fn post_for_bytes(
        &self,
        path: &ApiPath,
        body: &impl Serialize,
        bytes_max: usize,
    ) -> Result<Vec<u8>, ClientError> {
        let response = self.send(self.request(Method::POST, self.url(path)).json(body)).await?;
        self.collect(response, bytes_max).await
    }

    /// Makes or starts something. A key makes sure that it is started once, however often it is sent.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &ApiPath,
        body: &impl Serialize,
        key: Option<&str>,
    ) -> Result<T, ClientError> {
        self.answer(keyed(self.request(Method::POST, self.url(path)).json(body), key)).await
    }

    /// Makes or starts something in a way that a query describes.
    pub async fn post_asking<T: DeserializeOwned>(
        &self,
        path: &ApiPath,
        query: &impl Serialize,
        body: &impl Serialize,
        key: Option<&str>,
    ) -> Result<T, ClientError> {
        self.answer(keyed(self.request(Method::POST, self.asked(path, query)?).json(body), key)).await
    }

    /// Tells something that needs no document.
    pub async fn tell<T: DeserializeOwned>(&self, path: &ApiPath) -> Result<T, ClientError> {
        self.answer(self.request(Method::POST, self.url(path))).await
    }

    /// Tells something that a query describes.
    pub async fn tell_with<T: DeserializeOwned>(
        &self,
        path: &ApiPath,
        query: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.answer(self.request(Method::POST, self.asked(path, query)?)).await
    }

    /// Replaces something.
    pub async fn put<T: DeserializeOwned>(
        &self,
        path: &ApiPath,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.answer(self.request(Method::PUT, self.url(path)).json(body)).await
    }

    /// Changes a part of something.
    pub async fn patch<T: DeserializeOwned>(
        &self,
        path: &ApiPath,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.answer(self.request(Method::PATCH, self.url(path)).json(body)).await
    }

    /// Removes something.
    pub async fn delete(&self, path: &ApiPath) -> Result<(), ClientError> {
        self.send(self.request(Method::DELETE, self.url(path))).await.map(drop)
    }

    /// Opens a stream of events, after the one with that id.
    pub async fn events(
        &self,
        path: &ApiPath,
        query: &impl Serialize,
        after: Option<String>,
    ) -> Result<Events, ClientError> {
        Events::open(self.clone(), self.asked(path, query)?, after).await
    }

    /// Starts something that tells of itself line by line.
    pub async fn post_for_lines(
        &self,
        path: &ApiPath,
        body: &impl Serialize,
        media: &'static str,
    ) -> Result<Lines, ClientError> {
        let request = self.request(Method::POST, self.url(path)).header(ACCEPT, media).json(body);
        Ok(Lines::of(self.clone(), self.send(request).await?))
    }

    pub(crate) async fn open_stream(&self, url: Url, after: Option<&str>) -> Result<Response, ClientError> {
        let mut request = self.request(Method::GET, url).header(ACCEPT, "text/event-stream");
        if let Some(id) = after {
            request = request.header("Last-Event-ID", id);
        }
        self.send(request).await
    }

    pub(crate) fn url(&self, path: &ApiPath) -> Url {
        self.server.at(path.as_str())
    }

    fn asked(&self, path: &ApiPath, query: &impl Serialize) -> Result<Url, ClientError> {
        let request = self.http.get(self.url(path)).query(query);
        request.build().map(|request| request.url().clone()).map_err(|source| ClientError::Unusable {
            server: self.server.to_string(),
            source: source.into(),
        })
    }

    pub(crate) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, token.clone()),
            None => request,
        }
    }

    async fn answer<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let response = self.send(request).await?;
        let status = response.status().as_u16();
        let bytes = self.collect(response, CLIENT_ANSWER_BYTES_MAX).await?;
        // What is done without a word is done.
        let bytes: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
        serde_json::from_slice(bytes).map_err(|error| self.garbled(status, &error.to_string()))
    }

    /// Sends a request, and turns a refusal into an error.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(|source| self.unreachable(source))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let bytes = self.collect(response, CLIENT_ANSWER_BYTES_MAX).await?;
        match serde_json::from_slice::<ErrorBody>(&bytes) {
            Ok(body) => Err(ClientError::Refused { status: status.as_u16(), body: Box::new(body) }),
            Err(_) => {
                let text = String::from_utf8_lossy(&bytes);
                let shown: String =
                    text.chars().filter(|c| !c.is_control()).take(STRANGE_CHARS_SHOWN).collect();
                Err(self.garbled(status.as_u16(), &format!("`{shown}`")))
            }
        }
    }

    pub(crate) async fn collect(
        &self,
        mut response: Response,
        bytes_max: usize,
    ) -> Result<Vec<u8>, ClientError> {
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|source| self.unreachable(source))? {
            if bytes.len() + piece.len() > bytes_max {
                return Err(self.too_large(bytes_max));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    pub(crate) fn unreachable(&self, source: reqwest::Error) -> ClientError {
        ClientError::Unreachable { server: self.server.to_string(), source: source.without_url() }
    }

    pub(crate) fn too_large(&self, bytes_max: usize) -> ClientError {
        ClientError::TooLarge { server: self.server.to_string(), bytes_max }
    }

    pub(crate) fn garbled(&self, status: u16, what: &str) -> ClientError {
        ClientError::Garbled { server: self.server.to_string(), status, what: what.to_owned() }
    }
}

fn keyed(request: RequestBuilder, key: Option<&str>) -> RequestBuilder {
    match key {
        Some(key) => request.header("Idempotency-Key", key),
        None => request,
    }
}

/// Redirections are not followed, because the token would go with them.
fn http(server: &ServerUrl) -> Result<reqwest::Client, Box<dyn std::error::Error + Send + Sync>> {
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(SILENCE_MAX)
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    if server.is_encrypted() {
        // Whoever was first has chosen; it is the same everywhere in artel.
        let _ = CryptoProvider::install_default((*provider).clone());
    } else {
        // A server without encryption must also be reached from a machine that has no certificates at all.
        let trusting_nobody = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(trusting_nobody);
    }
    Ok(builder.build()?)
}
