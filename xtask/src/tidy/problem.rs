//! What a rule reports. Knows nothing about the rules.

use std::fmt;

/// One place in the repository that breaks one rule. Ordered by place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) rule: &'static str,
}

impl Problem {
    /// Returns a problem at a 1-based line of a file.
    pub(crate) fn new(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), rule }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} ({})", self.path, self.line, self.message, self.rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_place_message_rule() {
        let problem = Problem::new("a.rs", 3, "unwrap", "say what happens instead");
        assert_eq!(problem.to_string(), "a.rs:3: say what happens instead (unwrap)");
    }
}
