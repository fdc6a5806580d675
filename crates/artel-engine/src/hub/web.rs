//! Asks servers for things: guarded, bounded, with few redirections, and with the token only where it belongs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use artel_catalog::hub::Host;
use artel_model::limit::HUB_REDIRECTS_MAX;
use camino::Utf8Path;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION};
use reqwest::{Client, ClientBuilder, NoProxy, Proxy, Response, StatusCode, Url, redirect};
use rustls::crypto::CryptoProvider;
use tokio::io::AsyncWriteExt as _;

use super::config::HubFetcherConfig;
use super::error::HubError;
use super::guard::{Guard, GuardedNames};
use super::token::HubToken;
use crate::error_text::error_text;

/// Bytes between two words about progress.
const PROGRESS_BYTES: u64 = 256 * 1024;

/// Asks servers. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Web {
    pub(super) guard: Arc<Guard>,
    /// For what is encrypted; why there is none, where there is none.
    secure: Result<Client, String>,
    /// For this machine itself.
    plain: Client,
    has_proxy: bool,
}

/// What to ask for.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) url: Url,
    pub(super) accept: &'static str,
    /// The content that is known.
    pub(super) known: Option<String>,
    pub(super) token: Option<HubToken>,
    pub(super) extra: Option<(&'static str, &'static str)>,
}

/// How many bytes a fetch may still transfer. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    left: Arc<AtomicU64>,
    bytes_max: u64,
}

impl Budget {
    pub(super) fn new(bytes_max: u64) -> Self {
        Self { left: Arc::new(AtomicU64::new(bytes_max)), bytes_max }
    }

    fn spend(&self, count: u64) -> Result<(), HubError> {
        let spent =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(count));
        spent.map(|_| ()).map_err(|_| HubError::TooLarge { bytes_max: self.bytes_max })
    }
}

impl Web {
    pub(super) fn new(config: &HubFetcherConfig) -> Result<Self, HubError> {
        let wrong = |what: &str| HubError::Machine(format!("the configured {what} is no URL of a host"));
        let host_of = |text: &str| Url::parse(text).ok()?.host_str()?.parse::<Host>().ok();
        let api = host_of(&config.github_api).ok_or_else(|| wrong("address of GitHub's API"))?;
        let proxy = match &config.proxy {
            Some(proxy) => Some(host_of(&proxy.url).ok_or_else(|| wrong("proxy"))?),
            None => None,
        };
        let guard = Arc::new(Guard::new(config.hosts.clone(), api, proxy));
        let secure = secure(config, &guard).map_err(|error| error_text(&error));
        let failed = |error: reqwest::Error| HubError::Machine(error_text(&error));
        Ok(Self {
            secure,
            plain: plain(&guard)?.build().map_err(failed)?,
            guard,
            has_proxy: config.proxy.is_some(),
        })
    }

    pub(super) fn has_proxy(&self) -> bool {
        self.has_proxy
    }

    /// Asks, and follows redirections. The token goes only to where it was meant for.
    pub(super) async fn get(&self, ask: &Ask) -> Result<Response, HubError> {
        let mut url = ask.url.clone();
        for _ in 0..=HUB_REDIRECTS_MAX {
            self.guard.check(&url)?;
            let is_meant = url.origin() == ask.url.origin();
            let headers = headers(ask, if is_meant { ask.token.as_ref() } else { None })?;
            let sent = self.client(&url)?.get(url.clone()).headers(headers).send().await;
            let response = sent.map_err(|error| unreachable(&url, error))?;
            let Some(next) = redirection(&response) else { return accepted(response) };
            url =
                url.join(&next).map_err(|_| HubError::Answer("it redirects to something that is no URL"))?;
        }
        Err(HubError::Redirects(HUB_REDIRECTS_MAX))
    }

    /// Reads an answer that is small.
    pub(super) async fn read(
        &self,
        mut response: Response,
        bytes_max: u64,
        budget: &Budget,
    ) -> Result<Vec<u8>, HubError> {
        let mut bytes = Vec::new();
        let url = response.url().clone();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&url, error))? {
            budget.spend(chunk.len() as u64)?;
            bytes.extend_from_slice(&chunk);
            if bytes.len() as u64 > bytes_max {
                return Err(HubError::TooLarge { bytes_max });
            }
        }
        Ok(bytes)
    }

    /// Writes an answer into a file, and says how far it has come.
    pub(super) async fn download(
        &self,
        mut response: Response,
        into: &Utf8Path,
        budget: &Budget,
        tell: impl Fn(u64),
    ) -> Result<(), HubError> {
        let failed = |source| HubError::Folder { path: into.to_owned(), source };
        let mut file = tokio::fs::File::create(into).await.map_err(failed)?;
        let url = response.url().clone();
        let (mut bytes, mut told) = (0, 0);
        tell(bytes);
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&url, error))? {
            budget.spend(chunk.len() as u64)?;
            file.write_all(&chunk).await.map_err(failed)?;
            bytes += chunk.len() as u64;
            if bytes - told >= PROGRESS_BYTES {
                told = bytes;
                tell(bytes);
            }
        }
        tell(bytes);
        file.flush().await.map_err(failed)
    }

    fn client(&self, url: &Url) -> Result<&Client, HubError> {
        match (url.scheme(), &self.secure) {
            ("http", _) => Ok(&self.plain),
            (_, Ok(client)) => Ok(client),
            (_, Err(why)) => Err(HubError::Machine(why.clone())),
        }
    }
}

fn headers(ask: &Ask, token: Option<&HubToken>) -> Result<HeaderMap, HubError> {
    let value = |text: &str| {
        HeaderValue::from_str(text).map_err(|_| HubError::Machine("a header cannot be sent".to_owned()))
    };
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(ask.accept));
    if let Some(known) = &ask.known {
        headers.insert(IF_NONE_MATCH, value(&format!("\"{known}\""))?);
    }
    if let Some((name, text)) = ask.extra {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(text));
    }
    if let Some(token) = token {
        let mut value = value(&token.bearer())?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

fn redirection(response: &Response) -> Option<String> {
    let is_one = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| is_one)?;
    location.to_str().ok().map(str::to_owned)
}

/// Returns an answer that can be used; says what is wrong with others, without repeating what they say.
fn accepted(response: Response) -> Result<Response, HubError> {
    let status = response.status();
    let host = response.url().host_str().unwrap_or_default().to_owned();
    let said = format!("status {} of {host}", status.as_u16());
    let is_used_up = response.headers().get("x-ratelimit-remaining").is_some_and(|left| left == "0");
    match status {
        StatusCode::OK | StatusCode::NOT_MODIFIED => Ok(response),
        StatusCode::TOO_MANY_REQUESTS => Err(HubError::RateLimit(said)),
        StatusCode::FORBIDDEN if is_used_up => Err(HubError::RateLimit(said)),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(HubError::Refused(said)),
        // GitHub says "unprocessable" to branches that are not there, and "conflict" to empty repositories.
        StatusCode::NOT_FOUND
        | StatusCode::GONE
        | StatusCode::UNPROCESSABLE_ENTITY
        | StatusCode::CONFLICT => Err(HubError::NotFound(said)),
        other => Err(HubError::Status { host, status: other.as_u16() }),
    }
}

/// The address may hold a token of its own, so only the host is named.
fn unreachable(url: &Url, error: reqwest::Error) -> HubError {
    let host = url.host_str().unwrap_or_default().to_owned();
    HubError::Unreachable { host, why: error_text(&error.without_url()) }
}

/// Redirections are followed by hand, since each of them has to be looked at.
fn common(guard: &Arc<Guard>) -> ClientBuilder {
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .dns_resolver(GuardedNames(guard.clone()))
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")))
}

fn secure(config: &HubFetcherConfig, guard: &Arc<Guard>) -> Result<Client, reqwest::Error> {
    // Whoever was first has chosen; it is the same everywhere in artel.
    let _ = CryptoProvider::install_default(rustls::crypto::ring::default_provider());
    let mut builder = common(guard).https_only(true);
    if let Some(proxy) = &config.proxy {
        let direct = proxy.no_proxy.as_deref().and_then(NoProxy::from_string);
        builder = builder.proxy(Proxy::all(&proxy.url)?.no_proxy(direct));
    }
    builder.build()
}

/// What is not encrypted must also work on a machine that has no certificates at all.
fn plain(guard: &Arc<Guard>) -> Result<ClientBuilder, HubError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trusting_nobody = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HubError::Machine(error.to_string()))?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(common(guard).tls_backend_preconfigured(trusting_nobody))
}
