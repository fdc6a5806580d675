//! Names that are checked once, where text enters: of skills, scripts and steps.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::NAME_CHARS_MAX;

/// The name of a skill: 1 to 64 lower-case letters, digits and single hyphens, none of them at the ends.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = NAME_CHARS_MAX, "pattern" = SkillName::PATTERN))]
pub struct SkillName(String);

/// Why a text is not a skill's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NameError {
    /// There is nothing.
    #[error("the name is empty")]
    Empty,
    /// More than [`NAME_CHARS_MAX`] characters.
    #[error("the name has {chars} characters, at most {NAME_CHARS_MAX} are allowed")]
    TooLong {
        /// How many it has.
        chars: usize,
    },
    /// A character outside the rule.
    #[error("`{0}` is not allowed in a name: use lower-case letters a-z, digits and hyphens")]
    Character(char),
    /// A hyphen at an end.
    #[error("a name cannot start or end with a hyphen")]
    HyphenAtEnd,
    /// Two hyphens in a row.
    #[error("a name cannot have two hyphens in a row")]
    DoubleHyphen,
}

impl SkillName {
    /// What a name looks like, as a JSON Schema says it; the length is said apart.
    pub const PATTERN: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the nearest valid name to `text`, for hints and lenient loading.
    pub fn slug(text: &str) -> Option<Self> {
        let mut slug = String::new();
        for character in text.trim().chars().flat_map(char::to_lowercase) {
            match character {
                'a'..='z' | '0'..='9' => slug.push(character),
                '\'' => {}
                _ if slug.ends_with('-') || slug.is_empty() => {}
                _ => slug.push('-'),
            }
        }
        slug.truncate(NAME_CHARS_MAX);
        slug.trim_end_matches('-').parse().ok()
    }
}

impl FromStr for SkillName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let chars = text.chars().count();
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if chars > NAME_CHARS_MAX {
            return Err(NameError::TooLong { chars });
        }
        if let Some(bad) = text.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) {
            return Err(NameError::Character(bad));
        }
        if text.starts_with('-') || text.ends_with('-') {
            return Err(NameError::HyphenAtEnd);
        }
        if text.contains("--") {
            return Err(NameError::DoubleHyphen);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a script or of a step: 1 to 64 letters, digits, hyphens, underscores and dots, not starting with a dot.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = NAME_CHARS_MAX, "pattern" = LocalName::PATTERN))]
pub struct LocalName(String);

/// Why a text cannot name a script or a step.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a usable name: use 1 to 64 letters, digits, `-`, `_` and `.`, not starting with a dot")]
pub struct LocalNameError(String);

impl LocalName {
    /// What a name looks like, as a JSON Schema says it; the length is said apart.
    pub const PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$";

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LocalName {
    type Err = LocalNameError;

    fn from_str(text: &str) -> Result<Self, LocalNameError> {
        let characters_fit = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if text.is_empty() || text.len() > NAME_CHARS_MAX || text.starts_with('.') || !characters_fit {
            return Err(LocalNameError(text.chars().take(NAME_CHARS_MAX).collect()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for LocalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! text_in_documents {
    ($($name:ident, $error:ident;)*) => {
        $(
            impl From<$name> for String {
                fn from(name: $name) -> Self {
                    name.0
                }
            }

            impl TryFrom<String> for $name {
                type Error = $error;

                fn try_from(text: String) -> Result<Self, $error> {
                    text.parse()
                }
            }
        )*
    };
}

text_in_documents! {
    SkillName, NameError;
    LocalName, LocalNameError;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(), NameError>) {
        assert_eq!(text.parse::<SkillName>().map(|_| ()), expected, "{text}");
    }

    #[test]
    fn skill_names_follow_the_rule() {
        check("a", Ok(()));
        check("pdf-2-text", Ok(()));
        check(&"a".repeat(64), Ok(()));
        check("", Err(NameError::Empty));
        check(&"a".repeat(65), Err(NameError::TooLong { chars: 65 }));
        check("Pdf", Err(NameError::Character('P')));
        check("a b", Err(NameError::Character(' ')));
        check("caf\u{e9}", Err(NameError::Character('\u{e9}')));
        check("-a", Err(NameError::HyphenAtEnd));
        check("a-", Err(NameError::HyphenAtEnd));
        check("a--b", Err(NameError::DoubleHyphen));
    }

    #[test]
    fn slugs_are_what_a_person_would_write() {
        let slug = |text| SkillName::slug(text).map(|name| name.to_string());
        assert_eq!(slug("My Cool Skill!").as_deref(), Some("my-cool-skill"));
        assert_eq!(slug("data_loader").as_deref(), Some("data-loader"));
        assert_eq!(slug("What's new").as_deref(), Some("whats-new"));
        assert_eq!(slug("--x--").as_deref(), Some("x"));
        assert_eq!(slug("\u{4f60}\u{597d}"), None);
    }

    #[test]
    fn local_names_cannot_be_paths() {
        assert!("run".parse::<LocalName>().is_ok());
        assert!("step_1.b".parse::<LocalName>().is_ok());
        for bad in ["", ".", "..", "a/b", "a b", ".hidden"] {
            assert!(bad.parse::<LocalName>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_slug_is_always_a_name(text in ".{0,200}") {
            if let Some(name) = SkillName::slug(&text) {
                prop_assert!(name.as_str().parse::<SkillName>().is_ok());
            }
        }

        #[test]
        fn a_name_is_its_own_slug(text in "[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,4}") {
            let name: SkillName = text.parse().unwrap();
            prop_assert_eq!(SkillName::slug(&text), Some(name));
        }
    }
}
