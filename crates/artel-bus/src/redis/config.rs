//! Where Redis is, and how much of it is ours.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use artel_model::id::CorrelationId;
use uuid::Uuid;

use crate::bus::BusConfig;
use crate::limit::STREAM_LEN;

const PREFIX_DEFAULT: &str = "artel";
const PREFIX_CHARS_MAX: usize = 100;
const PUBLISH_WAIT: Duration = Duration::from_secs(2);
const HEARD_WAIT: Duration = Duration::from_secs(2);

/// Everything a bus through Redis needs to know.
#[derive(Clone)]
pub struct RedisBusConfig {
    /// Where Redis is: `redis://`, or `redis+unix://`. It may hold a password, so it is never shown.
    pub url: String,
    /// What the names of all our keys begin with. Every bus that is to hear the others has the same.
    pub prefix: KeyPrefix,
    /// Which bus this is: another one for every bus.
    pub instance: Uuid,
    /// About how many messages Redis keeps for those who read late.
    pub stream_len: usize,
    /// How long publishing and answering may take before Redis counts as away.
    pub publish_wait: Duration,
    /// How long a request waits for somebody, anywhere, to take it.
    pub heard_wait: Duration,
    /// What every bus needs to know.
    pub bus: BusConfig,
}

impl RedisBusConfig {
    /// Makes a configuration with the usual names and limits.
    pub fn new(url: impl Into<String>, instance: Uuid, bus: BusConfig) -> Self {
        let (prefix, stream_len) = (KeyPrefix::default(), STREAM_LEN);
        let (publish_wait, heard_wait) = (PUBLISH_WAIT, HEARD_WAIT);
        Self { url: url.into(), prefix, instance, stream_len, publish_wait, heard_wait, bus }
    }
}

impl fmt::Debug for RedisBusConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RedisBusConfig");
        text.field("prefix", &self.prefix).field("instance", &self.instance);
        text.field("stream_len", &self.stream_len).finish_non_exhaustive()
    }
}

/// What the names of keys in Redis begin with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyPrefix(String);

/// A text that no name of a key begins with.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{}` is no prefix of keys: letters, digits, `-` and `_`, at most {PREFIX_CHARS_MAX}", .0.escape_default())]
pub struct KeyPrefixError(String);

impl FromStr for KeyPrefix {
    type Err = KeyPrefixError;

    fn from_str(text: &str) -> Result<Self, KeyPrefixError> {
        let fits = (1..=PREFIX_CHARS_MAX).contains(&text.len())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if fits { Ok(Self(text.to_owned())) } else { Err(KeyPrefixError(text.to_owned())) }
    }
}

impl fmt::Display for KeyPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Default for KeyPrefix {
    fn default() -> Self {
        Self(PREFIX_DEFAULT.to_owned())
    }
}

/// The names of our keys. The braces keep them together where Redis is spread over many servers.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: KeyPrefix,
    /// The stream of everything that is published.
    pub(super) topics: String,
    /// The channel of rings.
    pub(super) wake: String,
    /// The stream of the answers to this bus.
    pub(super) replies: String,
}

impl Keys {
    pub(super) fn new(prefix: &KeyPrefix, instance: Uuid) -> Self {
        let topics = format!("{{{prefix}}}:topics");
        let wake = format!("{{{prefix}}}:wake");
        let replies = format!("{{{prefix}}}:replies:{instance}");
        Self { prefix: prefix.clone(), topics, wake, replies }
    }

    /// Returns the key that says where the answer to a request goes, as long as somebody waits for it.
    pub(super) fn wait(&self, correlation: CorrelationId) -> String {
        format!("{{{}}}:wait:{correlation}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_plain_word() {
        assert_eq!("team-1".parse::<KeyPrefix>().map(|prefix| prefix.to_string()), Ok("team-1".to_owned()));
        for bad in ["", "a b", "a}", "\u{e9}"] {
            assert_eq!(bad.parse::<KeyPrefix>(), Err(KeyPrefixError(bad.to_owned())));
        }
    }
}
