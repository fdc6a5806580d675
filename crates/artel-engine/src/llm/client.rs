//! The connection to an endpoint: one request, one bounded reply. The only part that uses the network.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, NoProxy, Proxy, Response, StatusCode, Url, redirect};
use rustls::crypto::CryptoProvider;
use serde_json::Value;

use super::config::{ApiKey, LlmConfig, LlmConfigError, LlmProtocol};
use super::conversation::{Conversation, Reply};
use super::error::LlmError;
use super::{anthropic, openai};
use crate::error_text::error_text;
use crate::quote::quote;

/// The version of Anthropic's protocol.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Bytes of a reply.
const REPLY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of a refusal that are read.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;
/// Characters of a refusal that are shown.
const REFUSAL_CHARS_MAX: usize = 300;

/// Bytes of a key that is looked for in what models say.
const SECRET_BYTES_MIN: usize = 12;

/// Talks to one endpoint.
#[derive(Debug)]
pub struct LlmClient {
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
    config: LlmConfig,
}

impl LlmClient {
    /// Makes a client; nothing is sent before it is asked something.
    pub fn new(config: LlmConfig) -> Result<Self, LlmConfigError> {
        let endpoint = config.endpoint()?;
        let mut own = HeaderMap::new();
        for (name, value) in headers(config.protocol, config.api_key.as_ref()) {
            let mut value = HeaderValue::from_str(&value).map_err(|_| LlmConfigError::Key)?;
            value.set_sensitive(true);
            own.insert(HeaderName::from_static(name), value);
        }
        Ok(Self { client: client(&config, &endpoint)?, endpoint, headers: own, config })
    }

    /// Returns what it was made of.
    pub fn config(&self) -> &LlmConfig {
        &self.config
    }

    /// Sends a conversation and returns what the model says next.
    pub async fn converse(&self, conversation: &Conversation) -> Result<Reply, LlmError> {
        let model = conversation.model.as_deref().unwrap_or(&self.config.model);
        let body = match self.config.protocol {
            LlmProtocol::OpenAi => openai::body(model, conversation),
            LlmProtocol::Anthropic => anthropic::body(model, self.config.output_tokens_max, conversation),
        };
        self.post(&body).await
    }

    /// Sends a request in the words of the endpoint's protocol, and returns what the model says.
    pub(crate) async fn post(&self, body: &Value) -> Result<Reply, LlmError> {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        let sent = request.json(body).send().await;
        let response = sent.map_err(|error| LlmError::Unreachable { why: self.told(error) })?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(status, response).await);
        }
        let bytes = self.read(response).await?;
        let answer = serde_json::from_slice(&self.without_key(bytes))
            .map_err(|error| LlmError::protocol(format!("it is no JSON: {error}")))?;
        match self.config.protocol {
            LlmProtocol::OpenAi => openai::reply(&answer),
            LlmProtocol::Anthropic => anthropic::reply(&answer),
        }
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
        let retry_after = retry_after(response.headers());
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
        LlmError::Refused { status: status.as_u16(), message, retry_after }
    }

    /// The address may be long, and is known.
    fn told(&self, error: reqwest::Error) -> String {
        self.hide_key(&error_text(&error.without_url()))
    }

    /// What a model says is kept, so an endpoint that gives the key back does not get it kept. A short key is a word that
    /// endpoints get that want none, and may stand anywhere.
    fn without_key(&self, bytes: Vec<u8>) -> Vec<u8> {
        let key = self.config.api_key.as_ref().filter(|key| key.reveal().len() >= SECRET_BYTES_MIN);
        match (key, str::from_utf8(&bytes)) {
            (Some(key), Ok(text)) => key.hide_in(text).into_bytes(),
            (Some(_) | None, Ok(_) | Err(_)) => bytes,
        }
    }

    fn hide_key(&self, text: &str) -> String {
        self.config.api_key.as_ref().map_or_else(|| text.to_owned(), |key: &ApiKey| key.hide_in(text))
    }
}

/// Returns the headers of a request; the key is in one of them.
fn headers(protocol: LlmProtocol, key: Option<&ApiKey>) -> Vec<(&'static str, String)> {
    match protocol {
        LlmProtocol::OpenAi => {
            key.map(|key| ("authorization", format!("Bearer {}", key.reveal()))).into_iter().collect()
        }
        LlmProtocol::Anthropic => {
            let key = key.map(|key| ("x-api-key", key.reveal().to_owned()));
            let version = ("anthropic-version", ANTHROPIC_VERSION.to_owned());
            std::iter::once(version).chain(key).collect()
        }
    }
}

/// Returns what the endpoint says about an error; both protocols say it alike.
fn error_message(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|body| {
        let places = ["/error/message", "/error", "/message", "/detail"];
        places.iter().find_map(|place| body.pointer(place)?.as_str())
    });
    message.unwrap_or(body).to_owned()
}

/// Returns how long the endpoint wants to be left alone. A date would need a clock, and is not used by models' endpoints.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|millis| millis / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Redirections are not followed, because the key would go with them; proxies come from the configuration alone.
fn client(config: &LlmConfig, endpoint: &Url) -> Result<Client, LlmConfigError> {
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
    if let Some(proxy) = &config.proxy {
        let direct = config.no_proxy.as_deref().and_then(NoProxy::from_string);
        builder = builder.proxy(Proxy::all(proxy).map_err(LlmConfigError::Client)?.no_proxy(direct));
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
