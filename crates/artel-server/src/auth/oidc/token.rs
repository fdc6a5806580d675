//! A signed token (JWT) as text: its head, its claims, and what was signed. Believes nothing of it.

use artel_model::limit::IDENTITY_TOKEN_BYTES_MAX;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::jwk::Algorithm;

/// A token that nobody has checked.
pub(super) struct Token<'a> {
    /// How it says it was signed.
    pub(super) algorithm: Algorithm,
    /// With which key it says it was signed.
    pub(super) key_id: Option<String>,
    /// What was signed.
    pub(super) message: &'a [u8],
    /// By what.
    pub(super) signature: Vec<u8>,
    claims: &'a str,
}

#[derive(Deserialize)]
struct Head {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood; we understand none.
    crit: Option<Value>,
}

impl<'a> Token<'a> {
    /// Says whether a text looks like a token of an identity provider at all.
    pub(super) fn looks_like(text: &str) -> bool {
        text.bytes().filter(|byte| *byte == b'.').count() == 2
    }

    /// Reads a token; nothing when it is none, or signed in a way that is not accepted.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if text.len() > IDENTITY_TOKEN_BYTES_MAX {
            return None;
        }
        let (message, signature) = text.rsplit_once('.')?;
        let (head, claims) = message.split_once('.')?;
        let head: Head = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(head).ok()?).ok()?;
        if head.crit.is_some() {
            return None;
        }
        Some(Self {
            algorithm: Algorithm::of_token(&head.alg)?,
            key_id: head.kid,
            message: message.as_bytes(),
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
            claims,
        })
    }

    /// Returns what the token says; to be asked once the signature is checked.
    pub(super) fn claims(&self) -> Option<Map<String, Value>> {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(self.claims).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(head: &str) -> String {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.{}", part(head), part("{}"), part("signature"))
    }

    #[test]
    fn only_accepted_algorithms_are_read() {
        for algorithm in ["RS256", "ES256", "EdDSA", "Ed25519"] {
            assert!(Token::read(&token(&format!(r#"{{"alg":"{algorithm}"}}"#))).is_some(), "{algorithm}");
        }
        for algorithm in ["none", "None", "", "HS256", "HS512", "RS512", "PS256", "ES384", "rs256"] {
            assert!(Token::read(&token(&format!(r#"{{"alg":"{algorithm}"}}"#))).is_none(), "{algorithm}");
        }
    }

    #[test]
    fn what_is_no_token_is_not_read() {
        let good = token(r#"{"alg":"RS256"}"#);
        let long = format!("{}.{}.x", &good[..20], "a".repeat(IDENTITY_TOKEN_BYTES_MAX));
        let odd = [
            "",
            "..",
            "a.b",
            "a.b.c",
            &good.replace('.', "=."),
            &token(r#"{"alg":"RS256","crit":["b64"]}"#),
            &token(r#"{"alg":"RS256","alg":"none"}"#),
            &token(r#"{"alg":["RS256"]}"#),
            &token("[]"),
            &long,
        ];
        for text in odd {
            assert!(Token::read(text).is_none(), "{text}");
        }
    }
}
