//! A tool as it is about to be called.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::limit::TOOL_NAME_BYTES_MAX;

/// A tool's name and, where the caller says it, what the tool is called with: `navigate/run`, `Bash(git status)`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ToolCall {
    name: String,
    argument: Option<String>,
}

/// Why a text does not name a tool.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ToolCallError {
    /// The name is empty or longer than [`TOOL_NAME_BYTES_MAX`].
    #[error("a tool's name has 1 to {TOOL_NAME_BYTES_MAX} bytes")]
    Length,
    /// A character that no tool's name has; look-alikes of plain letters are among them.
    #[error(
        "`{0}` cannot be in a tool's name: only visible ASCII without quotes, commas, parentheses and `*`"
    )]
    Character(char),
    /// An opening parenthesis without its closing one at the end.
    #[error("the argument of a tool must end with `)`")]
    Unclosed,
}

impl ToolCall {
    /// Returns the tool's name without its argument.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the tool is called with, when it is known.
    pub fn argument(&self) -> Option<&str> {
        self.argument.as_deref()
    }
}

impl FromStr for ToolCall {
    type Err = ToolCallError;

    fn from_str(text: &str) -> Result<Self, ToolCallError> {
        let (name, argument) = split_argument(text.trim())?;
        check_name(name, is_name_character)?;
        Ok(Self { name: name.to_owned(), argument: argument.map(|text| text.trim().to_owned()) })
    }
}

/// Splits `Bash(git status)` into its name and its argument.
pub(super) fn split_argument(text: &str) -> Result<(&str, Option<&str>), ToolCallError> {
    match text.split_once('(') {
        None => Ok((text, None)),
        Some((name, rest)) => {
            let argument = rest.strip_suffix(')').ok_or(ToolCallError::Unclosed)?;
            Ok((name, Some(argument)))
        }
    }
}

pub(super) fn check_name(name: &str, fits: impl Fn(char) -> bool) -> Result<(), ToolCallError> {
    if name.is_empty() || name.len() > TOOL_NAME_BYTES_MAX {
        return Err(ToolCallError::Length);
    }
    match name.chars().find(|&c| !fits(c)) {
        Some(bad) => Err(ToolCallError::Character(bad)),
        None => Ok(()),
    }
}

pub(super) fn is_name_character(c: char) -> bool {
    c.is_ascii_graphic() && !matches!(c, '(' | ')' | '*' | ',' | '"' | '\'' | '`')
}

impl fmt::Display for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(argument) => write!(f, "{}({argument})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_arguments_are_taken_apart() {
        let call: ToolCall = "Bash(git log (all))".parse().unwrap();
        assert_eq!((call.name(), call.argument()), ("Bash", Some("git log (all)")));
        let call: ToolCall = " solid.extrude ".parse().unwrap();
        assert_eq!((call.name(), call.argument()), ("solid.extrude", None));
    }

    #[test]
    fn a_name_that_could_be_mistaken_is_refused() {
        assert_eq!("".parse::<ToolCall>(), Err(ToolCallError::Length));
        assert_eq!("wr\u{456}te".parse::<ToolCall>(), Err(ToolCallError::Character('\u{456}')));
        assert_eq!("a*".parse::<ToolCall>(), Err(ToolCallError::Character('*')));
        assert_eq!("a b".parse::<ToolCall>(), Err(ToolCallError::Character(' ')));
        assert_eq!("Bash(ls".parse::<ToolCall>(), Err(ToolCallError::Unclosed));
    }
}
