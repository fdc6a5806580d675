//! What a client shows to be let in.

use std::fmt;

/// An administrator's token, an API key or a token of an issuer. It is never printed.
#[derive(Clone, Eq, PartialEq)]
pub struct ServerToken(String);

impl ServerToken {
    /// Takes a token as it was given; nothing when it holds what no header can.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_plain.then(|| Self(text.to_owned()))
    }

    /// Returns the token itself: for a request, or to be hashed. Never to be printed.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerToken(hidden)")
    }
}
