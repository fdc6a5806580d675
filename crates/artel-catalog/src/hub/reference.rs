//! What is said about a hub beside its location: a branch, folders to look in, the name of a variable; and what a hub's
//! content is called. Each is checked where text enters.

use std::fmt;
use std::str::FromStr;

pub use artel_model::catalog::CREDENTIALS_PREFIX;
use artel_model::limit::{HUB_REFERENCE_CHARS_MAX, HUB_VARIABLE_CHARS_MAX};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::path::{PathProblem, check_path};

/// A branch, a tag or a commit.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct GitReference(String);

/// A text that is no branch, tag or commit.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`ref` is not the name of a branch or a tag, nor a commit")]
pub struct NoReference;

impl GitReference {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the commit, where the text is one in full.
    pub fn commit(&self) -> Option<Revision> {
        self.0.parse().ok()
    }
}

impl FromStr for GitReference {
    type Err = NoReference;

    fn from_str(text: &str) -> Result<Self, NoReference> {
        let is_fine = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'-' | b'.' | b'_' | b'/' | b'+' | b'@' | b'#' | b'=')
        };
        let is_part = |part: &str| {
            !part.is_empty()
                && !part.starts_with(['.', '-'])
                && !part.ends_with('.')
                && !part.ends_with(".lock")
        };
        let is_reference = text.len() <= HUB_REFERENCE_CHARS_MAX
            && text != "@"
            && text.bytes().all(is_fine)
            && text.split('/').all(is_part)
            && !text.contains("..");
        if is_reference { Ok(Self(text.to_owned())) } else { Err(NoReference) }
    }
}

/// A folder of a hub to look in.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct IncludePath(Utf8PathBuf);

impl IncludePath {
    /// Returns the path; empty for the whole hub.
    pub fn path(&self) -> &Utf8Path {
        &self.0
    }

    /// Says whether something of a hub lies there.
    pub fn holds(&self, path: &Utf8Path) -> bool {
        path.starts_with(&self.0)
    }
}

impl FromStr for IncludePath {
    type Err = PathProblem;

    fn from_str(text: &str) -> Result<Self, PathProblem> {
        if matches!(text, "." | "./") {
            return Ok(Self(Utf8PathBuf::new()));
        }
        check_path(text.strip_suffix('/').unwrap_or(text).as_bytes()).map(Self)
    }
}

/// The name of the environment variable that holds a hub's token.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct CredentialsRef(String);

/// A text that cannot name a hub's token. It is not repeated: it may be the token.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`credentials_ref` is the name of an environment variable: `{CREDENTIALS_PREFIX}` followed by A-Z, 0-9 and `_`"
)]
pub struct NoCredentialsRef;

impl CredentialsRef {
    /// Returns the name of the variable.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CredentialsRef {
    type Err = NoCredentialsRef;

    fn from_str(text: &str) -> Result<Self, NoCredentialsRef> {
        let is_fine = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let own = text.strip_prefix(CREDENTIALS_PREFIX).ok_or(NoCredentialsRef)?;
        if own.is_empty() || text.len() > HUB_VARIABLE_CHARS_MAX || !own.bytes().all(is_fine) {
            return Err(NoCredentialsRef);
        }
        Ok(Self(text.to_owned()))
    }
}

/// What a hub's content is called: a commit, or the digest of an index. 40 to 64 hexadecimal digits.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
pub struct Revision(String);

/// A text that is no revision.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a revision has 40 to 64 hexadecimal digits")]
pub struct NoRevision;

impl Revision {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Names content by the SHA-256 of something.
    pub fn of_digest(digest: [u8; 32]) -> Self {
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl FromStr for Revision {
    type Err = NoRevision;

    fn from_str(text: &str) -> Result<Self, NoRevision> {
        let is_hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hexadecimal && matches!(text.len(), 40 | 64) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(NoRevision)
        }
    }
}

impl TryFrom<String> for Revision {
    type Error = NoRevision;

    fn try_from(text: String) -> Result<Self, NoRevision> {
        text.parse()
    }
}

impl From<Revision> for String {
    fn from(revision: Revision) -> Self {
        revision.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_names_that_git_would_take() {
        for text in ["main", "feature/x-1", "v1.0", "refs/heads/main", "a@b", &"0".repeat(40)] {
            assert_eq!(text.parse::<GitReference>().unwrap().as_str(), text);
        }
        for text in [
            "",
            "-x",
            "a..b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "@",
            "a/",
            "/a",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.",
            "a/-b",
            "a\n",
            "\u{e9}",
            "@{u}",
            &"x".repeat(201),
        ] {
            assert!(text.parse::<GitReference>().is_err(), "{text:?}");
        }
        assert!("main".parse::<GitReference>().unwrap().commit().is_none());
        let commit = "A".repeat(40).parse::<GitReference>().unwrap().commit().unwrap();
        assert_eq!(commit.as_str(), "a".repeat(40));
    }

    #[test]
    fn tokens_are_named_by_variables_of_our_own() {
        assert_eq!(
            "ARTEL_HUB_TOKEN_A1_B".parse::<CredentialsRef>().unwrap().as_str(),
            "ARTEL_HUB_TOKEN_A1_B"
        );
        for text in [
            "",
            "ARTEL_HUB_TOKEN_",
            "ARTEL_HUB_TOKEN_a",
            "GITHUB_TOKEN",
            "ghp_secret",
            "ARTEL_HUB_TOKEN_A=B",
            "XARTEL_HUB_TOKEN_A",
            "ARTEL_HUB_TOKEN_A\n",
        ] {
            let error = text.parse::<CredentialsRef>().unwrap_err();
            assert!(
                text.is_empty() || !error.to_string().contains(text) || text == "ARTEL_HUB_TOKEN_",
                "{error}"
            );
        }
    }

    #[test]
    fn folders_to_look_in_stay_inside() {
        let path = |text: &str| text.parse::<IncludePath>().map(|path| path.path().to_string());
        assert_eq!(path("skills/pdf/"), Ok("skills/pdf".to_owned()));
        assert_eq!(path("."), Ok(String::new()));
        for text in ["", "/etc", "../x", "a/../b", "a\\b", "a\0b"] {
            assert!(path(text).is_err(), "{text:?}");
        }
        let include: IncludePath = "skills".parse().unwrap();
        assert!(include.holds("skills/pdf".into()) && include.holds("skills".into()));
        assert!(!include.holds("skills-2/pdf".into()));
    }
}
