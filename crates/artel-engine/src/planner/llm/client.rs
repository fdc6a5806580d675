//! The connection to an endpoint: one request, one bounded reply. The only part of the planners that uses the network.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Proxy, Response, StatusCode, Url, redirect};
use rustls::crypto::CryptoProvider;
use serde_json::Value;

use super::config::{ApiKey, LlmConfig, LlmConfigError};
use super::error::LlmError;
use super::protocol::{ReplyFormat, Turn, body, error_message, headers, reply};
use crate::error_text::error_text;
use crate::planner::quote::quote;

/// Bytes of a reply.
const REPLY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of a refusal that are read.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;
/// Characters of a refusal that are shown.
const REFUSAL_CHARS_MAX: usize = 300;

/// Talks to one endpoint.
#[derive(Debug)]
pub(super) struct LlmClient {
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
    config: LlmConfig,
}

impl LlmClient {
    pub(super) fn new(config: LlmConfig) -> Result<Self, LlmConfigError> {
        let endpoint = config.endpoint()?;
        if config.model.trim().is_empty() {
            return Err(LlmConfigError::Model);
        }
        let mut own = HeaderMap::new();
        for (name, value) in headers(config.protocol, config.api_key.as_ref()) {
            let mut value = HeaderValue::from_str(&value).map_err(|_| LlmConfigError::Key)?;
            value.set_sensitive(true);
            own.insert(HeaderName::from_static(name), value);
        }
        Ok(Self { client: client(&config, &endpoint)?, endpoint, headers: own, config })
    }

    pub(super) fn config(&self) -> &LlmConfig {
        &self.config
    }

    /// Sends a conversation and returns what the model says next.
    pub(super) async fn ask(&self, turns: &[Turn]) -> Result<String, LlmError> {
        let answer = match self.send(turns, ReplyFormat::Told).await {
            Err(LlmError::Refused { status: 400 | 422, message }) if message.contains("response_format") => {
                self.send(turns, ReplyFormat::Untold).await?
            }
            answer => answer?,
        };
        reply(self.config.protocol, &answer)
    }

    async fn send(&self, turns: &[Turn], format: ReplyFormat) -> Result<Value, LlmError> {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        let sent = request.json(&body(&self.config, turns, format)).send().await;
        let response = sent.map_err(|error| LlmError::Unreachable { why: self.told(error) })?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(status, response).await);
        }
        let bytes = self.read(response).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| LlmError::Protocol { why: format!("it is no JSON: {error}") })
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, LlmError> {
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => return Ok(bytes),
                Err(error) => return Err(LlmError::BrokenOff { why: self.told(error) }),
            }
            if bytes.len() > REPLY_BYTES_MAX {
                return Err(LlmError::TooLarge { bytes_max: REPLY_BYTES_MAX });
            }
        }
    }

    /// What the endpoint says is shown, but never the key, which some endpoints quote.
    async fn refusal(&self, status: StatusCode, mut response: Response) -> LlmError {
        let mut bytes = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > REFUSAL_BYTES_MAX {
                break;
            }
        }
        bytes.truncate(REFUSAL_BYTES_MAX);
        let message = self.hide_key(&error_message(&String::from_utf8_lossy(&bytes)));
        let message = match quote(&message, REFUSAL_CHARS_MAX) {
            empty if empty.is_empty() => status.canonical_reason().unwrap_or("no reason").to_owned(),
            message => message,
        };
        LlmError::Refused { status: status.as_u16(), message }
    }

    /// The address may be long, and is known.
    fn told(&self, error: reqwest::Error) -> String {
        self.hide_key(&error_text(&error.without_url()))
    }

    fn hide_key(&self, text: &str) -> String {
        self.config.api_key.as_ref().map_or_else(|| text.to_owned(), |key: &ApiKey| key.hide_in(text))
    }
}

/// Redirections are not followed, because the key would go with them; proxies come from the configuration alone.
fn client(config: &LlmConfig, endpoint: &Url) -> Result<Client, LlmConfigError> {
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
    if let Some(proxy) = &config.proxy {
        builder = builder.proxy(Proxy::all(proxy).map_err(LlmConfigError::Client)?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    if endpoint.scheme() == "https" {
        // Whoever was first has chosen; it is the same everywhere in artel.
        let _ = CryptoProvider::install_default((*provider).clone());
    } else {
        // An endpoint without encryption must also work on a machine that has no certificates at all.
        let trusting_nobody = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| LlmConfigError::Encryption { why: error.to_string() })?
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(trusting_nobody);
    }
    builder.build().map_err(LlmConfigError::Client)
}
