//! The administrator's token that an operator sets: refused when it can be guessed. Knows nothing of how it is kept.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::limit::{ADMIN_TOKEN_CHARS_MAX, ADMIN_TOKEN_CHARS_MIN, ADMIN_TOKEN_DISTINCT_MIN};

/// Characters that must be left when everything that people use to write is taken out.
const UNUSUAL_CHARS_MIN: usize = 20;
/// Words that stand in tokens that people think up.
const WORDS: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "administrator",
    "changeme",
    "change",
    "default",
    "example",
    "letmein",
    "welcome",
    "secret",
    "server",
    "qwertz",
    "qwerty",
    "asdfgh",
    "zxcvbn",
    "abcdef",
    "123456",
    "654321",
    "admin",
    "artel",
    "token",
    "access",
    "hunter",
    "dragon",
    "monkey",
    "master",
    "public",
    "private",
    "correct",
    "horse",
    "battery",
    "staple",
    "please",
    "long",
    "enough",
    "super",
    "strong",
    "random",
    "login",
    "hello",
    "world",
    "root",
    "user",
    "test",
    "demo",
    "pass",
    "word",
    "this",
    "that",
    "here",
    "with",
    "from",
    "very",
    "really",
    "key",
    "the",
    "and",
    "for",
    "not",
    "of",
    "is",
    "my",
    "me",
];

/// A token that is hard to guess.
#[derive(Clone, Eq, PartialEq)]
pub struct AdminToken(String);

/// Why a text is no good as a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WeakToken {
    /// Too few characters.
    #[error("it has fewer than {ADMIN_TOKEN_CHARS_MIN} characters")]
    Short,
    /// Too many characters.
    #[error("it has more than {ADMIN_TOKEN_CHARS_MAX} characters")]
    Long,
    /// Something that cannot stand in a header.
    #[error("it holds a space, or a character that is no ASCII letter, digit or sign")]
    Character,
    /// The same few characters again and again.
    #[error("it has fewer than {ADMIN_TOKEN_DISTINCT_MIN} different characters")]
    FewCharacters,
    /// The same part again and again, or characters in their order.
    #[error("it repeats itself, or goes through characters in their order")]
    Pattern,
    /// Mostly words.
    #[error("it is made of common words")]
    Words,
}

impl AdminToken {
    /// Returns the token itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(..)")
    }
}

impl FromStr for AdminToken {
    type Err = WeakToken;

    fn from_str(text: &str) -> Result<Self, WeakToken> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(WeakToken::Character);
        }
        if text.len() < ADMIN_TOKEN_CHARS_MIN {
            return Err(WeakToken::Short);
        }
        if text.len() > ADMIN_TOKEN_CHARS_MAX {
            return Err(WeakToken::Long);
        }
        let lower = text.to_ascii_lowercase();
        if lower.bytes().collect::<BTreeSet<u8>>().len() < ADMIN_TOKEN_DISTINCT_MIN {
            return Err(WeakToken::FewCharacters);
        }
        if repeats(lower.as_bytes()) || runs(lower.as_bytes()) {
            return Err(WeakToken::Pattern);
        }
        if unusual_chars(lower) < UNUSUAL_CHARS_MIN {
            return Err(WeakToken::Words);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Says whether a text is a part of at most half its length, over and over.
fn repeats(text: &[u8]) -> bool {
    (1..=text.len() / 2).any(|period| text.iter().zip(&text[period..]).all(|(one, other)| one == other))
}

/// Says whether at least half of the characters follow from the one before: the same, the next or the one before it.
fn runs(text: &[u8]) -> bool {
    let follows = text.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 1).count();
    follows * 2 >= text.len()
}

/// Counts the letters and digits of a text that belong to no common word.
fn unusual_chars(mut lower: String) -> usize {
    for word in WORDS {
        lower = lower.replace(word, " ");
    }
    lower.chars().filter(char::is_ascii_alphanumeric).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<WeakToken>) {
        assert_eq!(text.parse::<AdminToken>().err(), expected, "{text}");
    }

    #[test]
    fn what_can_be_guessed_is_refused() {
        check("", Some(WeakToken::Short));
        check("secret", Some(WeakToken::Short));
        check("3f9ab1c27de84056b1f0c9d8e7a6542", Some(WeakToken::Short));
        check(&"3f9ab1c27de84056".repeat(17), Some(WeakToken::Long));
        check("3f9ab1c27de84056 3f9ab1c27de84056", Some(WeakToken::Character));
        check("3f9ab1c27de84056\n3f9ab1c27de840567", Some(WeakToken::Character));
        check("größe3f9ab1c27de84056b1f0c9d8e7a65", Some(WeakToken::Character));
        check(&"a".repeat(64), Some(WeakToken::FewCharacters));
        check(&"abAB01".repeat(8), Some(WeakToken::FewCharacters));
        check("3f9ab1c27de840563f9ab1c27de84056", Some(WeakToken::Pattern));
        check("0123456789abcdefghijklmnopqrstuvwxyz", Some(WeakToken::Pattern));
        check("zyxwvutsrqponmlkjihgfedcba9876543210", Some(WeakToken::Pattern));
        check("the-token-of-the-administrator-is-long", Some(WeakToken::Words));
        check("correct-horse-battery-staple-password", Some(WeakToken::Words));
        check("ChangeMe-ChangeThis-Admin-Token-2026!", Some(WeakToken::Words));
    }

    #[test]
    fn what_machines_make_is_taken() {
        // `openssl rand -hex 32`, `-hex 16`, `-base64 32`, a UUID, and what artel makes.
        check("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", None);
        check("5d41402abc4b2a76b9719d911017c592", None);
        check("q1Yk2mXo0r5b7T9dVwZ3sH8cJ4nL6gPfAeUiRtKyQxM=", None);
        check("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", None);
        check("Xk2PqL9vRt7WzNb4Hs8JcYd3MfGa6UeT1oQi5KxBwVnE", None);
        let token: AdminToken = "5d41402abc4b2a76b9719d911017c592".parse().unwrap();
        assert_eq!(format!("{token:?}"), "AdminToken(..)", "a token is not written into a log");
    }
}
