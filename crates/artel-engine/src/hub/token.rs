//! Tokens for hubs: where they come from is the caller's to say; nobody sees them but the hub.

use std::fmt;

use artel_catalog::hub::{CredentialsRef, harmless};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Who is meant where only the password counts.
const ANY_USER: &str = "x-access-token";

/// Gives the values of variables. Only those of hubs are asked for.
pub trait HubSecrets: Send + Sync {
    /// Returns the value of the variable; nothing when it is not set.
    fn secret(&self, variable: &CredentialsRef) -> Option<HubToken>;
}

/// A token. It is never shown.
#[derive(Clone, Eq, PartialEq)]
pub struct HubToken(String);

impl HubToken {
    /// Takes a token; nothing when the text is empty or could not be sent.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_fine = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
        is_fine.then(|| Self(text.to_owned()))
    }

    /// Returns the header for an API.
    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns the header for git, which knows users and passwords: `user:password` is taken as both.
    pub(super) fn basic(&self) -> String {
        format!("Basic {}", self.encoded())
    }

    fn encoded(&self) -> String {
        let pair = if self.0.contains(':') { self.0.clone() } else { format!("{ANY_USER}:{}", self.0) };
        STANDARD.encode(pair)
    }

    /// Makes a text fit to be kept and shown.
    pub(super) fn hide_in(token: Option<&Self>, text: &str) -> String {
        match token {
            None => harmless(text, &[]),
            Some(token) => {
                let password = token.0.split_once(':').map_or("", |(_, password)| password);
                harmless(text, &[&token.0, &token.encoded(), password])
            }
        }
    }
}

impl fmt::Debug for HubToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HubToken(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_hidden_in_every_form() {
        let token = HubToken::new(" s3cret ").unwrap();
        let text = format!("{} {} said no", token.bearer(), token.basic());
        assert_eq!(HubToken::hide_in(Some(&token), &text), "Bearer [hidden] Basic [hidden] said no");
        assert_eq!(format!("{token:?}"), "HubToken(hidden)");
        let pair = HubToken::new("ann:pass").unwrap();
        assert_eq!(pair.basic(), "Basic YW5uOnBhc3M=");
        assert_eq!(HubToken::hide_in(Some(&pair), "pass ann:pass"), "[hidden] [hidden]");
        assert!(HubToken::new("a\nb").is_none() && HubToken::new("  ").is_none());
    }
}
