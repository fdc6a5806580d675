//! The path of an endpoint, with its names filled in.

use std::fmt::{Display, Write as _};

/// A path below the server's address. What is filled in can never become a path of its own.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ApiPath(String);

impl ApiPath {
    /// Begins with a fixed path, like `/api/runs`.
    pub fn new(fixed: &'static str) -> Self {
        Self(fixed.to_owned())
    }

    /// Goes on with a name: everything but letters, digits and `-._~` is escaped, slashes too.
    #[must_use]
    pub fn name(mut self, name: impl Display) -> Self {
        self.0.push('/');
        push_escaped(&mut self.0, &name.to_string(), "");
        self
    }

    /// Goes on with the path of a file, whose slashes stay what they are.
    #[must_use]
    pub fn file(mut self, path: &str) -> Self {
        self.0.push('/');
        push_escaped(&mut self.0, path, "/");
        self
    }

    /// Goes on with a fixed word, like `events`.
    #[must_use]
    pub fn then(mut self, fixed: &'static str) -> Self {
        self.0.push('/');
        self.0.push_str(fixed);
        self
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn push_escaped(path: &mut String, text: &str, kept: &str) {
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || "-._~".contains(character) || kept.contains(character) {
            path.push(character);
            continue;
        }
        let mut bytes = [0; 4];
        for byte in character.encode_utf8(&mut bytes).bytes() {
            write!(path, "%{byte:02X}").expect("writing to a string does not fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        let path = ApiPath::new("/api/skills").name("default/navigate").then("files").file("a b/ü.md");
        assert_eq!(path.as_str(), "/api/skills/default%2Fnavigate/files/a%20b/%C3%BC.md");
    }
}
