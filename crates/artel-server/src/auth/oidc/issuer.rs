//! The identity provider's keys: fetched from where it says, kept while it is away, fetched again when a token names one
//! that is not known. The only part that uses the network.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use artel_model::limit::IDENTITY_ANSWER_BYTES_MAX;
use artel_model::time::Timestamp;
use reqwest::{Client, Url, redirect};
use rustls::crypto::CryptoProvider;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::config::{OidcConfig, OidcConfigError, safe_address};
use super::jwk::KeySet;

/// How long one answer of the provider may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the provider is left alone after it was asked for keys that turned out to be unknown or the same.
const ASK_AGAIN_MS: u64 = 30_000;
/// How long it is left alone while there are no keys at all.
const ASK_FIRST_AGAIN_MS: u64 = 2_000;
/// How old keys may be before they are fetched again beside the work: a key that the provider took back must go.
const FRESH_MS: u64 = 10 * 60_000;

/// Keys, and when they were fetched.
pub(super) struct Fetched {
    pub(super) keys: KeySet,
    at: Timestamp,
}

/// Where the keys come from.
pub(super) struct Issuer {
    name: String,
    discovery: Url,
    client: Client,
    fetched: ArcSwapOption<Fetched>,
    /// When it was last asked. Whoever asks holds the lock, so all others wait for the same answer.
    asked_at: Mutex<Option<Timestamp>>,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("cannot reach the identity provider")]
    Unreachable(#[source] reqwest::Error),
    #[error("the identity provider answers with status {0}")]
    Status(u16),
    #[error("the answer of the identity provider has more than {IDENTITY_ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the answer of the identity provider cannot be read")]
    Unreadable(#[source] serde_json::Error),
    #[error("the identity provider says that it is another one than the configured issuer")]
    OtherIssuer,
    #[error("the address of the identity provider's keys is not safe")]
    Address,
    #[error("the identity provider has no key that can be used")]
    NoKeys,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    pub(super) fn new(config: &OidcConfig) -> Result<Self, OidcConfigError> {
        let discovery = config.discovery()?;
        Ok(Self {
            name: config.issuer.clone(),
            client: client(&discovery)?,
            discovery,
            fetched: ArcSwapOption::empty(),
            asked_at: Mutex::new(None),
        })
    }

    /// Returns the keys, fetching them if there are none; nothing when they cannot be had.
    pub(super) async fn keys(self: &Arc<Self>, now: Timestamp) -> Option<Arc<Fetched>> {
        let Some(fetched) = self.fetched.load_full() else { return self.newer_than(None, now).await };
        if now.millis_since(fetched.at) >= FRESH_MS && self.asked_at.try_lock().is_ok() {
            let (issuer, known) = (self.clone(), fetched.at);
            tokio::spawn(async move { issuer.newer_than(Some(known), now).await });
        }
        Some(fetched)
    }

    /// Returns keys that were fetched after those that somebody knows, if the provider may be asked again; otherwise
    /// the same ones. Of many who ask at once, one does it for all.
    pub(super) async fn newer(&self, known: &Fetched, now: Timestamp) -> Option<Arc<Fetched>> {
        self.newer_than(Some(known.at), now).await
    }

    async fn newer_than(&self, known: Option<Timestamp>, now: Timestamp) -> Option<Arc<Fetched>> {
        let mut asked_at = self.asked_at.lock().await;
        let fetched = self.fetched.load_full();
        let pause_ms = if fetched.is_some() { ASK_AGAIN_MS } else { ASK_FIRST_AGAIN_MS };
        let is_newer = fetched.as_ref().map(|fetched| fetched.at) != known;
        if is_newer || asked_at.is_some_and(|asked_at| now.millis_since(asked_at) < pause_ms) {
            return fetched;
        }
        *asked_at = Some(now);
        match self.fetch().await {
            Ok(keys) => {
                tracing::debug!(
                    issuer = self.name,
                    keys = keys.len(),
                    "fetched the identity provider's keys"
                );
                self.fetched.store(Some(Arc::new(Fetched { keys, at: now })));
            }
            Err(error) => {
                // The keys that are known go on being good: the provider is away, not changed.
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, issuer = self.name, "cannot fetch the identity provider's keys");
            }
        }
        self.fetched.load_full()
    }

    async fn fetch(&self) -> Result<KeySet, FetchError> {
        let described = self.get(self.discovery.clone()).await?;
        let described: Discovery = serde_json::from_slice(&described).map_err(FetchError::Unreadable)?;
        if described.issuer != self.name {
            return Err(FetchError::OtherIssuer);
        }
        let address = safe_address(&described.jwks_uri).ok_or(FetchError::Address)?;
        if self.discovery.scheme() == "https" && address.scheme() != "https" {
            return Err(FetchError::Address);
        }
        let keys = KeySet::read(&self.get(address).await?).map_err(FetchError::Unreadable)?;
        if keys.len() == 0 { Err(FetchError::NoKeys) } else { Ok(keys) }
    }

    /// Asks the provider as a token would, and returns how many keys it has and what time it has.
    pub(super) async fn probe(&self) -> Result<(usize, Option<String>), FetchError> {
        let keys = self.fetch().await?.len();
        let unreachable = |error: reqwest::Error| FetchError::Unreachable(error.without_url());
        let answer = self.client.get(self.discovery.clone()).send().await.map_err(unreachable)?;
        let date = answer.headers().get(reqwest::header::DATE).and_then(|date| date.to_str().ok());
        Ok((keys, date.map(str::to_owned)))
    }

    async fn get(&self, address: Url) -> Result<Vec<u8>, FetchError> {
        let unreachable = |error: reqwest::Error| FetchError::Unreachable(error.without_url());
        let mut response = self.client.get(address).send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > IDENTITY_ANSWER_BYTES_MAX {
                return Err(FetchError::TooLarge);
            }
        }
        Ok(bytes)
    }
}

/// Redirections are not followed: the keys come from where the provider says, and from nowhere else.
fn client(discovery: &Url) -> Result<Client, OidcConfigError> {
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .timeout(ANSWER_TIMEOUT)
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
    let provider = rustls::crypto::ring::default_provider();
    if discovery.scheme() == "https" {
        // Whoever was first has chosen; it is the same everywhere in artel.
        let _ = CryptoProvider::install_default(provider);
    } else {
        // A provider on this machine must also work where there are no certificates at all.
        let trusting_nobody = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| OidcConfigError::Encryption { why: error.to_string() })?
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(trusting_nobody);
    }
    builder.build().map_err(OidcConfigError::Client)
}
