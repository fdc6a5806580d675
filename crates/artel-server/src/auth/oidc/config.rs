//! What an operator says about the identity provider.

use std::collections::BTreeSet;
use std::net::IpAddr;

use artel_model::access::TeamId;
use reqwest::Url;

/// Which identity provider is believed, and what its tokens mean here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OidcConfig {
    /// Who signs the tokens: exactly what they say in `iss`.
    pub issuer: String,
    /// For whom tokens must be meant: one of these is in `aud`.
    pub audiences: BTreeSet<String>,
    /// The claim that names the user's teams. If there is none of that name, its dots lead into objects.
    pub teams_claim: String,
    /// The teams whose members may do everything.
    pub admin_teams: BTreeSet<TeamId>,
}

impl OidcConfig {
    /// The claim in which most providers name groups.
    pub const TEAMS_CLAIM: &'static str = "groups";

    /// Makes a configuration without administrators.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            audiences: [audience.into()].into(),
            teams_claim: Self::TEAMS_CLAIM.to_owned(),
            admin_teams: BTreeSet::new(),
        }
    }

    /// Returns where the provider describes itself.
    pub(super) fn discovery(&self) -> Result<Url, OidcConfigError> {
        if self.audiences.is_empty() || self.audiences.iter().any(String::is_empty) {
            // A token for anybody is a token that another service was given, and could use here.
            return Err(OidcConfigError::Audience);
        }
        let address = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        safe_address(&address).ok_or_else(|| OidcConfigError::Issuer { issuer: self.issuer.clone() })
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OidcConfigError {
    /// The issuer is no address, or one at which anybody could answer.
    #[error("the issuer `{issuer}` is no https address (http only for this machine itself)")]
    Issuer {
        /// What was said.
        issuer: String,
    },
    /// Nobody is named for whom tokens must be meant.
    #[error("the audience of tokens must be named")]
    Audience,
    /// The connection cannot be made.
    #[error("cannot prepare the connection to the identity provider")]
    Client(#[source] reqwest::Error),
    /// The connection cannot be encrypted.
    #[error("cannot prepare the encryption of the connection to the identity provider: {why}")]
    Encryption {
        /// Why not.
        why: String,
    },
}

/// Reads an address at which nobody but the one who is meant can answer: https, or this machine itself.
pub(super) fn safe_address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_own = || {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let is_safe = url.scheme() == "https" || url.scheme() == "http" && is_own();
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    (is_safe && is_plain).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_where_nobody_else_can_answer() {
        let is_good = |issuer: &str| OidcConfig::new(issuer, "artel").discovery().is_ok();
        for good in [
            "https://example.okta.com/oauth2/default",
            "https://a.org/",
            "http://127.0.0.1:1",
            "http://[::1]:1",
        ] {
            assert!(is_good(good), "{good}");
        }
        for bad in [
            "",
            "example.org",
            "http://example.org",
            "ftp://a.org",
            "https://user:word@a.org",
            "http://127.0.0.1.evil.org",
        ] {
            assert!(!is_good(bad), "{bad}");
        }
        let url = OidcConfig::new("https://a.org/realm/", "artel").discovery().unwrap();
        assert_eq!(url.as_str(), "https://a.org/realm/.well-known/openid-configuration");
    }

    #[test]
    fn tokens_must_be_meant_for_somebody() {
        assert!(matches!(OidcConfig::new("https://a.org", "").discovery(), Err(OidcConfigError::Audience)));
        let nobody = OidcConfig { audiences: BTreeSet::new(), ..OidcConfig::new("https://a.org", "x") };
        assert!(matches!(nobody.discovery(), Err(OidcConfigError::Audience)));
    }
}
