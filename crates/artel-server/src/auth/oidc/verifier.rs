//! From the text of a token to a principal.

use std::sync::Arc;

use artel_model::time::Timestamp;

use super::config::{OidcConfig, OidcConfigError};
use super::issuer::Issuer;
use super::person::{SignIn, person};
use super::token::Token;

/// Why a token makes nobody.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OidcRefused {
    /// It is not good.
    Token,
    /// Nobody knows: the identity provider's keys cannot be had.
    Unavailable,
}

/// What an identity provider answers when it is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OidcAnswer {
    /// Keys that tokens can be checked with.
    pub keys: usize,
    /// The provider's time, as HTTP writes it.
    pub date: Option<String>,
}

/// Asks an identity provider for its description and its keys; returns why they cannot be used otherwise.
pub async fn probe_oidc(config: &OidcConfig) -> Result<OidcAnswer, String> {
    let told = |error: &dyn std::error::Error| {
        std::iter::successors(Some(error), |error| error.source())
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": ")
    };
    let issuer = Issuer::new(config).map_err(|error| told(&error))?;
    let (keys, date) = issuer.probe().await.map_err(|error| told(&error))?;
    Ok(OidcAnswer { keys, date })
}

/// Checks the tokens of one identity provider.
pub(crate) struct OidcVerifier {
    config: OidcConfig,
    issuer: Arc<Issuer>,
}

impl OidcVerifier {
    /// Makes a verifier; nothing is fetched before the first token comes.
    pub(crate) fn new(config: OidcConfig) -> Result<Self, OidcConfigError> {
        let issuer = Arc::new(Issuer::new(&config)?);
        Ok(Self { config, issuer })
    }

    /// Says whether a text looks like a token of an identity provider at all.
    pub(crate) fn is_for(text: &str) -> bool {
        Token::looks_like(text)
    }

    /// Returns why a token was refused, for the operator's log. Nothing that it claims is believed.
    pub(crate) fn why_refused(text: &str, now: Timestamp) -> &'static str {
        let claims = Token::read(text).and_then(|token| token.claims());
        let ends = claims.and_then(|claims| claims.get("exp")?.as_f64());
        #[expect(clippy::cast_precision_loss, reason = "seconds are compared")]
        let is_over = ends.is_some_and(|ends| ends < now.as_millis() as f64 / 1000.0);
        if is_over { "expired token" } else { "wrong token" }
    }

    /// Returns who presents a token.
    pub(crate) async fn verify(&self, text: &str, now: Timestamp) -> Result<SignIn, OidcRefused> {
        let token = Token::read(text).ok_or(OidcRefused::Token)?;
        let key_id = token.key_id.as_deref();
        let mut fetched = self.issuer.keys(now).await.ok_or(OidcRefused::Unavailable)?;
        if fetched.keys.key(key_id, token.algorithm).is_none() {
            fetched = self.issuer.newer(&fetched, now).await.ok_or(OidcRefused::Unavailable)?;
        }
        let key = fetched.keys.key(key_id, token.algorithm).ok_or(OidcRefused::Token)?;
        if !key.signed(token.message, &token.signature) {
            return Err(OidcRefused::Token);
        }
        let claims = token.claims().ok_or(OidcRefused::Token)?;
        person(&claims, &self.config, now).ok_or(OidcRefused::Token)
    }
}
