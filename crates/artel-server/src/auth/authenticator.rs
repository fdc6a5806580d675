//! From the headers of a request to a principal.
//!
//! What is cheap to check is checked first, and lets its sender in whatever others at the same address do. Only what
//! fails counts against the address. Because the slow hash of a key is dear, an address that failed too often waits for it
//! in a queue of its own, one at a time: wrong credentials are slowed down, right ones behind the same address are still let
//! in. A key that does not exist waits there as well, so that no time tells which keys there are.

use std::sync::Arc;

use artel_app::{KeyRing, KeyText, Lane, OperationError, Owners, Stores};
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
    /// they have left, and not for `admin` when they are no administrators any more.
    pub fn with_oidc(self, config: OidcConfig) -> Result<Self, OidcConfigError> {
        let owners = Owners { people: self.people.clone(), admin_teams: config.admin_teams.clone() };
        let oidc = Some((OidcVerifier::new(config)?, SignIns::new(self.people.clone())));
        self.keys.know_owners(owners);
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
            // An unknown key costs the same as a known one with a wrong secret, so that the time tells no caller which
            // keys there are.
            Err(_) => self.keys.prove(&key, Lane::Suspect, now).await,
        };
        found.map_err(OperationError::from)
    }
}

#[cfg(test)]
mod tests {
    use artel_model::catalog::ApiKey;
    use artel_store::{KeyStore as _, MemoryStore};
    use axum::http::HeaderValue;

    use super::*;
    use crate::config::ServerConfig;

    /// Returns what a key is answered that is presented from an address which failed too often, while the only turn of
    /// such addresses is taken.
    async fn answered(authenticator: &Authenticator, limits: &Limits, key: &KeyText) -> (u16, String) {
        let address = ClientAddress([192, 0, 2, 7].into());
        let now = Timestamp::from_millis(1_000);
        while limits.refusals.take(&address.neighbourhood(), now).is_ok() {}
        let mut headers = HeaderMap::new();
        headers.insert("x-artel-key", HeaderValue::from_str(&key.reveal()).unwrap());
        let refused = authenticator.authenticate(&headers, address, limits, now).await.unwrap_err();
        (refused.kind.status(), format!("{refused:?}"))
    }

    #[tokio::test(start_paused = true)]
    async fn above_the_limit_an_unknown_key_waits_like_one_with_a_wrong_secret() {
        let store = Arc::new(MemoryStore::new());
        let keys = KeyRing::new(store.clone());
        let (admin, people) = (RoleToken::of_hash(hash_of("x")), store.clone());
        let authenticator = Authenticator { admin, metrics: None, keys, oidc: None, people };
        let (known, unknown) = (KeyText::fresh(), KeyText::fresh());
        let row = ApiKey {
            key_id: known.id().to_owned(),
            key_hash: "of another secret".to_owned(),
            label: String::new(),
            owner_user_id: "ann".parse().unwrap(),
            team_ids: [].into(),
            scopes: [].into(),
            created_at: Timestamp::from_millis(0),
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
        };
        assert!(store.create_key(&row, 10).await.unwrap());
        // One a minute, so that who is refused at once is told to come back much later than who waited.
        let limits = Limits::new(&ServerConfig { refused_per_minute: 1, ..ServerConfig::default() });
        let turn = authenticator.keys.suspect_turn().await;
        let both = [
            answered(&authenticator, &limits, &known).await,
            answered(&authenticator, &limits, &unknown).await,
        ];
        assert_eq!(both[0], both[1]);
        assert_eq!(both[0].0, 429);
        assert!(both[0].1.contains("Some(1)"), "it waited for the turn: {}", both[0].1);
        drop(turn);
        // With a turn, both are hashed and refused alike.
        let one = answered(&authenticator, &limits, &known).await;
        assert_eq!(one, answered(&authenticator, &limits, &unknown).await);
        assert_eq!(one.0, 429);
    }
}
