//! Pieces of text for people: what tools say made harmless, large numbers.

use artel_catalog::visible;

/// Characters of a text from a tool that are kept.
const SAID_CHARS_MAX: usize = 400;

/// Makes what a tool said one line that cannot drive a terminal or mislead a reader.
pub(super) fn harmless(text: &str) -> String {
    let text: String = text.chars().take(SAID_CHARS_MAX).collect();
    let text: String = without_escapes(&text)
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control())
        .collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    visible(&words.join(" ")).into_owned()
}

/// Leaves out sequences that tell a terminal to do something.
pub(super) fn without_escapes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let introducer = if c == '\u{1b}' { chars.next() } else { Some(c) };
        match (c, introducer) {
            ('\u{1b}', Some('[')) | ('\u{9b}', _) => {
                // Parameters, then one letter.
                chars.find(|c| ('@'..='~').contains(c));
            }
            ('\u{1b}', Some(']' | 'P' | 'X' | '^' | '_'))
            | ('\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}', _) => {
                // A text that ends with a bell, or with an escape and a backslash.
                if chars.find(|c| matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}')) == Some('\u{1b}') {
                    chars.next();
                }
            }
            ('\u{1b}', _) => {}
            (c, _) => kept.push(c),
        }
    }
    kept
}

/// Writes a number with commas between thousands.
pub(super) fn number(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_say_is_one_harmless_line() {
        for (text, expected) in [
            ("plain", "plain"),
            ("  two\n\tlines\r\n", "two lines"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[Hgone?", "gone?"),
            ("a\u{7}\u{8}\u{0}b", "ab"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}shown \u{1b}]8;;http://x\u{1b}\\link", "shown link"),
            ("\u{1b}7saved\u{1b}", "saved"),
            ("abc\u{202e}def", "abc\u{fffd}def"),
            ("caf\u{e9} \u{1f600}", "caf\u{e9} \u{1f600}"),
        ] {
            assert_eq!(harmless(text), expected, "{text:?}");
        }
        assert_eq!(harmless(&"x".repeat(10_000)).len(), SAID_CHARS_MAX);
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1000, 9431, 1_234_567].map(number), ["0", "999", "1,000", "9,431", "1,234,567"]);
    }
}
