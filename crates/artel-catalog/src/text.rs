//! Bytes of a file as text that can be trusted: UTF-8, without NUL, without a byte order mark.

use std::borrow::Cow;

use artel_model::diagnostic::{Code, Position};

/// A file's text.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) content: String,
    /// Whether a byte order mark stood in front of it.
    pub(crate) had_byte_order_mark: bool,
}

/// Why bytes are no text, and where.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct NotText {
    pub(crate) code: Code,
    pub(crate) position: Position,
    pub(crate) message: &'static str,
}

/// Decodes the bytes of a text file.
pub(crate) fn decode(mut bytes: Vec<u8>) -> Result<Text, NotText> {
    let had_byte_order_mark = bytes.starts_with(b"\xef\xbb\xbf");
    if had_byte_order_mark {
        bytes.drain(..3);
    }
    let content = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        NotText { code: Code::NotUtf8, position: end_of(&before), message: "the file is not UTF-8" }
    })?;
    // Most files hold none. A loop that cannot end early looks at many bytes at once.
    let least = content.bytes().fold(u8::MAX, u8::min);
    let nul = if least == 0 { content.find('\0') } else { None };
    match nul {
        Some(at) => {
            let position = end_of(&content[..at]);
            Err(NotText { code: Code::NulByte, position, message: "the file holds a NUL byte" })
        }
        None => Ok(Text { content, had_byte_order_mark }),
    }
}

/// Says whether a text holds only what can be seen of ASCII, and spaces.
pub(crate) fn is_plain_ascii(text: &str) -> bool {
    // A loop that cannot end early looks at many bytes at once.
    !text.bytes().fold(false, |odd, byte| odd | !matches!(byte, b' '..=b'~'))
}

/// Makes a text that nobody vouches for harmless to a terminal and to who reads it: control characters, and marks that
/// turn or hide text, are replaced; a tab becomes a space.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain_ascii(text) {
        return Cow::Borrowed(text);
    }
    let show = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() || is_invisible(c) => '\u{fffd}',
        c => c,
    };
    Cow::Owned(text.chars().map(show).collect())
}

/// Says whether a character is a mark that turns, joins or hides text.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the place right after `text`.
pub(crate) fn end_of(text: &str) -> Position {
    let line = text.matches('\n').count() + 1;
    let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: small(line), column: small(column) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, (Code, u32, u32)>) {
        let actual = decode(bytes.to_vec());
        let actual = actual.as_ref().map(|text| text.content.as_str());
        assert_eq!(actual.map_err(|bad| (bad.code, bad.position.line, bad.position.column)), expected);
    }

    #[test]
    fn only_text_is_taken() {
        check(b"plain", Ok("plain"));
        check(b"\xef\xbb\xbfmarked", Ok("marked"));
        check(b"one\n\xc3\xa9\xff", Err((Code::NotUtf8, 2, 2)));
        check(b"a\n\nb\0", Err((Code::NulByte, 3, 2)));
    }

    #[test]
    fn what_drives_a_terminal_or_misleads_a_reader_is_replaced() {
        for (text, expected) in [
            ("plain  text ", "plain  text "),
            ("caf\u{e9}", "caf\u{e9}"),
            ("a\tb\nc", "a b\u{fffd}c"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "\u{fffd}[31mred\u{fffd}]0;title\u{fffd}"),
            ("\u{9b}31m", "\u{fffd}31m"),
            ("a\u{202e}b\u{200b}", "a\u{fffd}b\u{fffd}"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }
}
