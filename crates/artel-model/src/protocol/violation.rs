//! What a script did against the tool protocol, in words that let its author find the place. Knows nothing of how it was
//! noticed.

use std::fmt;

use crate::limit::{
    EVENT_BYTES_PER_ATTEMPT_MAX, EVENT_LINE_BYTES_MAX, EVENTS_PER_ATTEMPT_MAX, OFFENDING_TEXT_CHARS_MAX,
};

/// Something that a script did against the tool protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// The line of stdout, from 1; nothing when it is not about a line.
    pub line: Option<u64>,
    /// What is wrong.
    pub kind: ViolationKind,
    /// The line's text, cut short and safe to print.
    pub text: Option<String>,
}

/// What can be wrong.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ViolationKind {
    /// Bytes that are no UTF-8.
    #[error("is not UTF-8 (byte {column})")]
    NotUtf8 {
        /// The first bad byte, from 1.
        column: usize,
    },
    /// A mark that JSON does not have.
    #[error("starts with a byte order mark, which JSON does not have")]
    ByteOrderMark,
    /// Text that is no JSON.
    #[error("is not JSON: {problem} (column {column})")]
    NotJson {
        /// What the parser says.
        problem: String,
        /// Where, in bytes from 1.
        column: usize,
    },
    /// JSON that is no object.
    #[error("must be a JSON object, not {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// A field that every event, or every event of this type, has.
    #[error("is {event} without `{field}`")]
    MissingField {
        /// The event, as in "a `log` event".
        event: String,
        /// The field.
        field: &'static str,
    },
    /// A field whose value cannot be.
    #[error("is {event} whose `{field}` must be {expected}, not {found}")]
    WrongField {
        /// The event, as in "a `log` event".
        event: String,
        /// The field.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A type that this version does not have.
    #[error(
        "is an event of the unknown type {found}; types are log, state_patch, asset, ui_event, error, done"
    )]
    UnknownType {
        /// The type.
        found: String,
    },
    /// An end after the end.
    #[error("is a second `done` event; the first was on line {first}")]
    SecondDone {
        /// The line of the first.
        first: u64,
    },
    /// No end.
    #[error("the script ended without a `done` event")]
    NoDone,
    /// A name that another asset has.
    #[error("is a second asset called {id}")]
    DuplicateAsset {
        /// The name, quoted.
        id: String,
    },
    /// A file that cannot be kept.
    #[error("is an asset that cannot be kept: {problem}")]
    BadAsset {
        /// Why.
        problem: String,
    },
    /// More than a line may have.
    #[error("is longer than {EVENT_LINE_BYTES_MAX} bytes")]
    LineTooLong,
    /// More than an attempt may say.
    #[error("is event number {}; {EVENTS_PER_ATTEMPT_MAX} are allowed", EVENTS_PER_ATTEMPT_MAX + 1)]
    TooManyEvents,
    /// More than an attempt may write.
    #[error("goes beyond {EVENT_BYTES_PER_ATTEMPT_MAX} bytes of output")]
    TooManyBytes,
}

impl Violation {
    /// Makes a violation by a line.
    pub fn at(line: u64, kind: ViolationKind, text: &[u8]) -> Self {
        Self { line: Some(line), kind, text: Some(quote(text)) }
    }

    /// Makes a violation by the output as a whole.
    pub fn whole(kind: ViolationKind) -> Self {
        Self { line: None, kind, text: None }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} {}", self.kind)?,
            None => write!(f, "{}", self.kind)?,
        }
        match &self.text {
            Some(text) if !text.is_empty() => write!(f, ": {text}"),
            Some(_) | None => Ok(()),
        }
    }
}

/// Returns the beginning of a text, at most [`OFFENDING_TEXT_CHARS_MAX`] characters, with everything escaped that would
/// not show or would change how the rest shows.
pub fn quote(text: &[u8]) -> String {
    // A character has at most four bytes, so that is enough to see whether something is left out.
    let seen = &text[..text.len().min((OFFENDING_TEXT_CHARS_MAX + 1) * 4)];
    let lossy = String::from_utf8_lossy(seen);
    let mut quoted = String::with_capacity(seen.len());
    for (index, character) in lossy.chars().enumerate() {
        if index == OFFENDING_TEXT_CHARS_MAX {
            quoted.push_str("...");
            break;
        }
        if is_hidden(character) {
            quoted.extend(character.escape_default());
        } else {
            quoted.push(character);
        }
    }
    quoted
}

/// Returns whether a character does not show, or changes how others show.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_show_everything() {
        assert_eq!(quote(b"plain \"text\""), "plain \"text\"");
        assert_eq!(quote(b"a\x1b[31m\tb\0\r"), "a\\u{1b}[31m\\tb\\u{0}\\r");
        assert_eq!(quote("\u{202e}gnp".as_bytes()), "\\u{202e}gnp");
        assert_eq!(quote(b"\xff\xfe"), "\u{fffd}\u{fffd}");
        let long = "\u{e9}".repeat(OFFENDING_TEXT_CHARS_MAX);
        assert_eq!(quote(long.as_bytes()), long);
        assert_eq!(quote(format!("{long}x").as_bytes()), format!("{long}..."));
    }

    #[test]
    fn violations_read_as_sentences() {
        let kind = ViolationKind::MissingField { event: "a `log` event".to_owned(), field: "level" };
        let violation = Violation::at(3, kind, b"{}");
        assert_eq!(violation.to_string(), "line 3 is a `log` event without `level`: {}");
        let none = Violation::whole(ViolationKind::NoDone);
        assert_eq!(none.to_string(), "the script ended without a `done` event");
    }
}
