//! From the headers of a request to a principal.
//!
//! What is cheap to check is checked first, and lets its sender in whatever others at the same address do. Only what
//! fails counts against the address; and because the slow hash of a key is dear, an address that failed too often does
//! not get one at all.

use std::sync::Arc;

use artel_model::access::{Principal, UserId};
use artel_model::time::Timestamp;
use axum::http::HeaderMap;

use super::address::ClientAddress;
use super::admin::{self, RoleToken, hash_of};
use super::key_ring::KeyRing;
use super::key_text::KeyText;
use super::oidc::{OidcConfig, OidcConfigError, OidcRefused, OidcVerifier};
use super::presented::Presented;
use super::slow_hash::Busy;
use crate::app::Stores;
use crate::error::ApiError;
use crate::limit::{Limits, TooMany};

/// When to come back if too many keys are waiting to be proved.
const BUSY_RETRY_SECONDS: u64 = 1;

/// Why nobody is let in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AuthRefused {
    /// The credential is missing, wrong, expired or revoked; nobody is told which.
    Unauthorized,
    /// There were too many attempts.
    TooMany {
        /// When to come back.
        retry_after_seconds: u64,
    },
    /// The identity provider cannot be asked.
    ProviderUnavailable,
}

impl From<AuthRefused> for ApiError {
    fn from(refused: AuthRefused) -> Self {
        match refused {
            AuthRefused::Unauthorized => Self::unauthorized(),
            AuthRefused::TooMany { retry_after_seconds } => Self::too_many(retry_after_seconds),
            AuthRefused::ProviderUnavailable => {
                let message = "The identity provider cannot be reached. Please try again later.";
                Self::unavailable("identity_provider_unavailable", message)
            }
        }
    }
}

impl From<TooMany> for AuthRefused {
    fn from(too_many: TooMany) -> Self {
        Self::TooMany { retry_after_seconds: too_many.retry_after_seconds }
    }
}

impl From<Busy> for AuthRefused {
    fn from(_: Busy) -> Self {
        Self::TooMany { retry_after_seconds: BUSY_RETRY_SECONDS }
    }
}

impl From<Busy> for ApiError {
    fn from(busy: Busy) -> Self {
        AuthRefused::from(busy).into()
    }
}

/// Knows who is calling.
pub struct Authenticator {
    admin: RoleToken,
    metrics: Option<RoleToken>,
    keys: Arc<KeyRing>,
    oidc: Option<OidcVerifier>,
}

impl Authenticator {
    /// Lets in whoever has the administrator's token: the one given, or else the one whose hash is kept, or else a
    /// fresh one, which is returned to be shown once.
    pub async fn open(
        stores: &Stores,
        given: Option<&str>,
        fresh: impl FnOnce() -> String,
    ) -> Result<(Self, Option<String>), artel_store::StoreError> {
        let (hash, shown) = match given {
            Some(given) => (hash_of(given), None),
            None => {
                let token = fresh();
                let hash = hash_of(&token);
                let kept = stores.keys.first_admin_token_hash(&hash).await?;
                let shown = (kept == hash).then_some(token);
                (kept, shown)
            }
        };
        let keys = Arc::new(KeyRing::new(stores.keys.clone()));
        Ok((Self { admin: RoleToken::of_hash(hash), metrics: None, keys, oidc: None }, shown))
    }

    /// Forgets the administrator's token that is kept: from then on `token` is it.
    pub async fn renew_admin_token(stores: &Stores, token: &str) -> Result<(), artel_store::StoreError> {
        stores.keys.set_admin_token_hash(&hash_of(token)).await
    }

    /// Lets in the users of an identity provider too.
    pub fn with_oidc(self, config: OidcConfig) -> Result<Self, OidcConfigError> {
        Ok(Self { oidc: Some(OidcVerifier::new(config)?), ..self })
    }

    /// Lets whoever has that token read the numbers about the process, and nothing else.
    #[must_use]
    pub fn with_metrics_token(self, token: &str) -> Self {
        Self { metrics: Some(RoleToken::of_hash(hash_of(token))), ..self }
    }

    /// Returns who proves API keys.
    pub(crate) fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// Returns who is calling from that address with these headers.
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        address: ClientAddress,
        limits: &Limits,
        now: Timestamp,
    ) -> Result<Principal, ApiError> {
        let from = address.neighbourhood();
        let found = match Presented::of(headers) {
            Some(Presented::Bearer(text)) => self.bearer(text, address, limits, now).await?,
            Some(Presented::Key(text)) => self.key(text, address, limits, now).await?,
            None => None,
        };
        if let Some(principal) = found {
            return Ok(principal);
        }
        limits.refusals.take(&from, now).map_err(AuthRefused::from)?;
        Err(AuthRefused::Unauthorized.into())
    }

    /// Returns why a request was refused, for the operator's log, and whose key it presented. The caller is not told.
    pub(crate) async fn why_refused(
        &self,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> (Option<UserId>, &'static str) {
        let text = match Presented::of(headers) {
            Some(Presented::Bearer(text) | Presented::Key(text)) => text,
            None if Presented::is_anything(headers) => {
                return (None, "more than one credential, or none that can be read");
            }
            None => return (None, "no credential"),
        };
        match KeyText::read(text) {
            Some(key) => self.keys.why_refused(&key, now).await,
            None if OidcVerifier::is_for(text) => (None, OidcVerifier::why_refused(text, now)),
            None => (None, "unknown token"),
        }
    }

    async fn bearer(
        &self,
        text: &str,
        address: ClientAddress,
        limits: &Limits,
        now: Timestamp,
    ) -> Result<Option<Principal>, ApiError> {
        if self.admin.is(text) {
            return Ok(Some(admin::administrator()));
        }
        if self.metrics.as_ref().is_some_and(|token| token.is(text)) {
            return Ok(Some(admin::metrics_reader()));
        }
        match &self.oidc {
            Some(oidc) if OidcVerifier::is_for(text) => match oidc.verify(text, now).await {
                Ok(principal) => Ok(Some(principal)),
                Err(OidcRefused::Token) => Ok(None),
                Err(OidcRefused::Unavailable) => Err(AuthRefused::ProviderUnavailable.into()),
            },
            Some(_) | None => self.key(text, address, limits, now).await,
        }
    }

    async fn key(
        &self,
        text: &str,
        address: ClientAddress,
        limits: &Limits,
        now: Timestamp,
    ) -> Result<Option<Principal>, ApiError> {
        let Some(key) = KeyText::read(text) else { return Ok(None) };
        if let Some(principal) = self.keys.known(&key, now).await? {
            return Ok(Some(principal));
        }
        let from = address.neighbourhood();
        limits.refusals.peek(&from, now).map_err(AuthRefused::from)?;
        let turn = self.keys.turn().await.map_err(AuthRefused::from)?;
        // Many requests with a key that was not used for a while come at once: the first proves it for all.
        if let Some(principal) = self.keys.known(&key, now).await? {
            return Ok(Some(principal));
        }
        // Counted before it is spent, so that many wrong keys at once do not all get their turn.
        limits.refusals.take(&from, now).map_err(AuthRefused::from)?;
        let found = self.keys.prove(&key, turn, now).await;
        // Whoever called this counts a failure.
        limits.refusals.give_back(&from, now);
        Ok(found?)
    }
}
