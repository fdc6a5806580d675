//! How an API key is written: `artel_`, a part that may be shown, a dot, and a part that is secret.

use std::fmt;

use sha2::{Digest, Sha256};

use super::random::random_text;

/// What every key begins with, so that it is known for one wherever it turns up.
const PREFIX: &str = "artel_";
/// Characters of the part that may be shown.
const ID_CHARS: usize = 12;
/// Characters of the part that is secret: 190 bits.
const SECRET_CHARS: usize = 32;

/// A key in clear, as it is shown once and presented with every request.
#[derive(Clone)]
pub struct KeyText {
    id: String,
    secret: String,
}

impl KeyText {
    /// Makes a key that nobody had before.
    pub fn fresh() -> Self {
        Self { id: random_text(ID_CHARS), secret: random_text(SECRET_CHARS) }
    }

    /// Reads a key; nothing when the text cannot be one.
    pub fn read(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('.')?;
        let fits = |part: &str, chars: usize| {
            part.len() == chars && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let is_key = fits(id, ID_CHARS) && fits(secret, SECRET_CHARS);
        is_key.then(|| Self { id: id.to_owned(), secret: secret.to_owned() })
    }

    /// Returns the part that may be shown.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the part that is secret.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Returns the whole key, to be shown to whoever made it.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}.{}", self.id, self.secret)
    }

    /// Returns what the key is remembered by, which tells nothing about it.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.reveal()).into()
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}.…", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_shown() {
        let key = KeyText::fresh();
        let shown = key.reveal();
        assert_eq!(shown.len(), PREFIX.len() + ID_CHARS + 1 + SECRET_CHARS);
        let read = KeyText::read(&shown).unwrap();
        assert_eq!((read.id(), read.secret(), read.digest()), (key.id(), key.secret(), key.digest()));
        assert!(!format!("{key:?}").contains(key.secret()));
    }

    #[test]
    fn nothing_else_is_a_key() {
        let shown = KeyText::fresh().reveal();
        let wrong = [
            "",
            "artel_",
            "artel_.",
            &shown[1..],
            &shown[..shown.len() - 1],
            &format!("{shown}x"),
            &shown.replace('.', "_"),
            &shown.replace("artel", "ARTEL"),
            &format!("artel_{}.{}", "ä".repeat(6), "x".repeat(32)),
        ];
        for text in wrong {
            assert!(KeyText::read(text).is_none(), "{text}");
        }
    }
}
