//! Topics are dotted names; patterns of them say what a subscriber wants to hear.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::{TOPIC_CHARS_MAX, TOPIC_TOKENS_MAX};

/// What an event is about: `navigation.complete`.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = TOPIC_CHARS_MAX, "pattern" = topic_pattern("[A-Za-z0-9_-]+", "[A-Za-z0-9_-]+")))]
pub struct Topic(String);

/// Which topics are meant: `*` stands for one part, `>` at the end for one or more.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = TOPIC_CHARS_MAX, "pattern" = topic_pattern(r"([A-Za-z0-9_-]+|\*)", r"([A-Za-z0-9_-]+|\*|>)")))]
pub struct TopicPattern(String);

/// Why a text is no topic, or no pattern of topics.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TopicError {
    /// There is nothing, or nothing between two dots.
    #[error("`{0}` has an empty part: a topic looks like `navigation.complete`")]
    Empty(String),
    /// More than [`TOPIC_CHARS_MAX`] characters or [`TOPIC_TOKENS_MAX`] parts.
    #[error("a topic has at most {TOPIC_CHARS_MAX} characters and {TOPIC_TOKENS_MAX} parts")]
    TooLong,
    /// A character that no topic has.
    #[error("`{}` cannot be in a topic: only letters, digits, `-` and `_`, with dots between", .0.escape_default())]
    Character(char),
    /// `>` before the end.
    #[error("`>` can only be the last part of a pattern")]
    RestNotLast,
}

const ONE: &str = "*";
const REST: &str = ">";

/// Returns what topics look like, as a JSON Schema says it: parts of that form with dots between. The last part may be
/// another one.
fn topic_pattern(part: &str, last: &str) -> String {
    let further = TOPIC_TOKENS_MAX - 1;
    format!(r"^({part}\.){{0,{further}}}{last}$")
}

impl Topic {
    /// Returns the topic as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TopicPattern {
    /// Returns the pattern as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether a topic is meant.
    pub fn matches(&self, topic: &Topic) -> bool {
        let (mut wanted, mut found) = (self.0.split('.'), topic.0.split('.'));
        loop {
            match (wanted.next(), found.next()) {
                (None, None) | (Some(REST), Some(_)) => return true,
                (Some(ONE), Some(_)) => {}
                (Some(wanted), Some(found)) if wanted == found => {}
                (Some(_), Some(_) | None) | (None, Some(_)) => return false,
            }
        }
    }

    /// Returns the topic when only one is meant.
    pub fn exact(&self) -> Option<Topic> {
        let is_exact = !self.0.split('.').any(|part| part == ONE || part == REST);
        is_exact.then(|| Topic(self.0.clone()))
    }
}

fn check(text: &str, is_wildcard: impl Fn(&str) -> bool) -> Result<(), TopicError> {
    if text.chars().count() > TOPIC_CHARS_MAX || text.split('.').count() > TOPIC_TOKENS_MAX {
        return Err(TopicError::TooLong);
    }
    for part in text.split('.') {
        if part.is_empty() {
            return Err(TopicError::Empty(text.to_owned()));
        }
        if is_wildcard(part) {
            continue;
        }
        if let Some(bad) = part.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))) {
            return Err(TopicError::Character(bad));
        }
    }
    Ok(())
}

impl FromStr for Topic {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        check(text, |_| false)?;
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for TopicPattern {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        check(text, |part| part == ONE || part == REST)?;
        let is_rest_early = text.split('.').rev().skip(1).any(|part| part == REST);
        if is_rest_early { Err(TopicError::RestNotLast) } else { Ok(Self(text.to_owned())) }
    }
}

impl From<Topic> for TopicPattern {
    fn from(topic: Topic) -> Self {
        Self(topic.0)
    }
}

macro_rules! as_text {
    ($($name:ident)*) => {
        $(
            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(&self.0)
                }
            }

            impl TryFrom<String> for $name {
                type Error = TopicError;

                fn try_from(text: String) -> Result<Self, TopicError> {
                    text.parse()
                }
            }

            impl From<$name> for String {
                fn from(value: $name) -> Self {
                    value.0
                }
            }
        )*
    };
}

as_text!(Topic TopicPattern);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_matches(pattern: &str, topic: &str, expected: bool) {
        let (parsed, about) = (pattern.parse::<TopicPattern>().unwrap(), topic.parse::<Topic>().unwrap());
        assert_eq!(parsed.matches(&about), expected, "{pattern} {topic}");
    }

    #[test]
    fn one_star_is_one_part_and_an_arrow_is_the_rest() {
        check_matches("navigation.complete", "navigation.complete", true);
        check_matches("navigation.complete", "navigation", false);
        check_matches("navigation", "navigation.complete", false);
        check_matches("*.complete", "navigation.complete", true);
        check_matches("*", "navigation.complete", false);
        check_matches("navigation.>", "navigation.complete.now", true);
        check_matches("navigation.>", "navigation", false);
        check_matches(">", "a", true);
        check_matches("a.*.c", "a.b.c", true);
        check_matches("a.*.c", "a.b.d", false);
    }

    #[test]
    fn what_is_no_topic_is_refused() {
        assert_eq!("".parse::<Topic>(), Err(TopicError::Empty(String::new())));
        assert_eq!("a..b".parse::<Topic>(), Err(TopicError::Empty("a..b".to_owned())));
        assert_eq!("a.*".parse::<Topic>(), Err(TopicError::Character('*')));
        assert_eq!("a.\u{430}".parse::<Topic>(), Err(TopicError::Character('\u{430}')));
        assert_eq!("a".repeat(TOPIC_CHARS_MAX + 1).parse::<Topic>(), Err(TopicError::TooLong));
        assert_eq!("a.".repeat(TOPIC_TOKENS_MAX).parse::<Topic>(), Err(TopicError::TooLong));
        assert_eq!(">.a".parse::<TopicPattern>(), Err(TopicError::RestNotLast));
        assert_eq!("a*".parse::<TopicPattern>(), Err(TopicError::Character('*')));
    }

    #[test]
    fn only_a_pattern_without_wildcards_is_a_topic() {
        let exact = |text: &str| text.parse::<TopicPattern>().unwrap().exact().map(String::from);
        assert_eq!(exact("a.b"), Some("a.b".to_owned()));
        assert_eq!((exact("a.*"), exact("a.>")), (None, None));
    }

    proptest! {
        #[test]
        fn a_topic_matches_itself_and_everything_matches_the_rest(text in "[a-c]{1,2}(\\.[a-c]{1,2}){0,4}") {
            let topic: Topic = text.parse().unwrap();
            prop_assert!(TopicPattern::from(topic.clone()).matches(&topic));
            prop_assert!(">".parse::<TopicPattern>().unwrap().matches(&topic));
        }
    }
}
