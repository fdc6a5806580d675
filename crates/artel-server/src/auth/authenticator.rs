//! From the headers of a request to a principal.
//!
//! What is cheap to check is checked first, and lets its sender in whatever others at the same address do. Only what
//! fails counts against the address. Because the slow hash of a key is dear, an address that failed too often gets one only
//! for a key that exists, and waits for it in a queue of its own: wrong credentials are slowed down, right ones behind the
//! same address are still let in.

use std::sync::Arc;

use artel_app::{KeyRing, KeyText, Lane, OperationError, Stores};
use artel_model::access::{AdminToken, Principal, UserId};
use artel_model::time::Timestamp;
use artel_store::PersonStore;
use axum::http::HeaderMap;

use super::address::ClientAddress;
use super::admin::{self, RoleToken, hash_of};
use super::oidc::{OidcConfig, OidcConfigError, OidcRefused, OidcVerifier};
use super::presented::Presented;
use super::sign_ins::SignIns;
use crate::limit::{Limits, TooMany};

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

impl From<AuthRefused> for OperationError {
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

/// Knows who is calling.
pub struct Authenticator {
    admin: RoleToken,
    metrics: Option<RoleToken>,
    keys: KeyRing,
    oidc: Option<(OidcVerifier, SignIns)>,
    people: Arc<dyn PersonStore>,
}

impl Authenticator {
    /// Lets in whoever has the administrator's token: the one given, or else the one whose hash is kept, or else a
    /// fresh one, which is returned to be shown once.
    pub async fn open(
        stores: &Stores,
        given: Option<&AdminToken>,
        fresh: impl FnOnce() -> String,
    ) -> Result<(Self, Option<String>), artel_store::StoreError> {
        let (hash, shown) = match given {
            Some(given) => (hash_of(given.reveal()), None),
            None => {
                let token = fresh();
                let hash = hash_of(&token);
                let kept = stores.keys.first_admin_token_hash(&hash).await?;
                let shown = (kept == hash).then_some(token);
                (kept, shown)
            }
        };
        let keys = KeyRing::new(stores.keys.clone());
        let (admin, people) = (RoleToken::of_hash(hash), stores.people.clone());
        Ok((Self { admin, metrics: None, keys, oidc: None, people }, shown))
    }

    /// Forgets the administrator's token that is kept: from then on `token` is it.
    pub async fn renew_admin_token(stores: &Stores, token: &str) -> Result<(), artel_store::StoreError> {
        stores.keys.set_admin_token_hash(&hash_of(token)).await
    }

    /// Lets in the users of an identity provider too. From then on the keys of those whom it knows stand for no team that
    /// they have left.
    pub fn with_oidc(self, config: OidcConfig) -> Result<Self, OidcConfigError> {
        let oidc = Some((OidcVerifier::new(config)?, SignIns::new(self.people.clone())));
        self.keys.know_people(self.people.clone());
        Ok(Self { oidc, ..self })
    }

    /// Lets whoever has that token read the numbers about the process, and nothing else.
    #[must_use]
    pub fn with_metrics_token(self, token: &str) -> Self {
        Self { metrics: Some(RoleToken::of_hash(hash_of(token))), ..self }
    }

    /// Returns who proves API keys.
    pub fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// Returns who is calling from that address with these headers.
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        address: ClientAddress,
        limits: &Limits,
        now: Timestamp,
    ) -> Result<Principal, OperationError> {
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
    ) -> Result<Option<Principal>, OperationError> {
        if self.admin.is(text) {
            return Ok(Some(Principal::administrator()));
        }
        if self.metrics.as_ref().is_some_and(|token| token.is(text)) {
            return Ok(Some(admin::metrics_reader()));
        }
        match &self.oidc {
            Some((oidc, sign_ins)) if OidcVerifier::is_for(text) => match oidc.verify(text, now).await {
                Ok(sign_in) => {
                    sign_ins.note(&sign_in).await;
                    Ok(Some(sign_in.principal))
                }
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
    ) -> Result<Option<Principal>, OperationError> {
        let Some(key) = KeyText::read(text) else { return Ok(None) };
        if let Some(principal) = self.keys.known(&key, now).await? {
            return Ok(Some(principal));
        }
        let from = address.neighbourhood();
        // Counted before it is spent, so that many wrong keys at once do not all get their turn.
        let found = match limits.refusals.take(&from, now) {
            Ok(()) => {
                let found = self.keys.prove(&key, Lane::Usual, now).await;
                // The caller of this counts a failure.
                limits.refusals.give_back(&from, now);
                found
            }
            Err(too_many) if !self.keys.is_there(&key, now).await? => {
                return Err(AuthRefused::from(too_many).into());
            }
            Err(_) => self.keys.prove(&key, Lane::Suspect, now).await,
        };
        found.map_err(OperationError::from)
    }
}
