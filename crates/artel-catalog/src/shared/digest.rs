//! One hash over several things, so that no two lists of things can be mistaken for each other.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// A hash in the making. Every text goes in with its length.
#[derive(Clone, Default)]
pub(super) struct Digest(Sha256);

/// A finished hash.
pub(super) type Hash = [u8; 32];

impl Digest {
    /// Starts a hash of things of that kind.
    pub(super) fn of(kind: &str) -> Self {
        Self::default().text(kind)
    }

    #[must_use]
    pub(super) fn number(mut self, number: u64) -> Self {
        self.0.update(number.to_be_bytes());
        self
    }

    #[must_use]
    pub(super) fn text(mut self, text: &str) -> Self {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text);
        self
    }

    #[must_use]
    pub(super) fn texts<'a>(self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let texts: Vec<&str> = texts.into_iter().collect();
        texts.iter().fold(self.number(texts.len() as u64), |digest, text| digest.text(text))
    }

    #[must_use]
    pub(super) fn hash(mut self, hash: &Hash) -> Self {
        self.0.update(hash);
        self
    }

    /// The order of an object's members says nothing, so they go in by their keys.
    #[must_use]
    pub(super) fn members(self, members: &Map<String, Value>) -> Self {
        let mut members: Vec<(&String, &Value)> = members.iter().collect();
        members.sort_by_key(|(key, _)| *key);
        let digest = self.text("object").number(members.len() as u64);
        members.into_iter().fold(digest, |digest, (key, value)| digest.text(key).value(value))
    }

    #[must_use]
    fn value(self, value: &Value) -> Self {
        match value {
            Value::Object(members) => self.members(members),
            Value::Array(items) => {
                items.iter().fold(self.text("array").number(items.len() as u64), Self::value)
            }
            Value::String(text) => self.text("string").text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.text("other").text(&value.to_string()),
        }
    }

    pub(super) fn finish(self) -> Hash {
        self.0.finalize().into()
    }
}

/// Writes a hash as people and headers know it.
pub(super) fn hex(hash: &Hash) -> String {
    use std::fmt::Write as _;
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_cannot_be_mistaken_for_each_other() {
        let of = |texts: &[&str]| Digest::of("x").texts(texts.iter().copied()).finish();
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["a", "b"]));
        assert_ne!(Digest::of("x").finish(), Digest::of("y").finish());
    }

    #[test]
    fn the_order_of_members_says_nothing() {
        let of = |value: Value| Digest::of("x").value(&value).finish();
        assert_eq!(of(json!({"a": 1, "b": [1, 2]})), of(json!({"b": [1, 2], "a": 1})));
        assert_ne!(of(json!({"a": [1, 2]})), of(json!({"a": [2, 1]})));
        assert_ne!(of(json!({"a": "1"})), of(json!({"a": 1})));
        assert_ne!(of(json!(null)), of(json!("null")));
    }
}
