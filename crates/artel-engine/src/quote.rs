//! Texts of people and skills inside our sentences: on one line, and short. Pure.

use artel_catalog::one_line;

/// Returns a text on one line and without marks that cannot be seen, at most so many characters long.
pub(crate) fn quote(text: &str, chars_max: usize) -> String {
    // Looking at a little more than is shown is enough, however long the text is.
    let start: String = text.chars().take(2 * chars_max + 1).collect();
    let line = one_line(&start).replace('`', "'");
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_short_and_on_one_line() {
        assert_eq!(quote("  fetch\nthe `cup`\u{202e} ", 50), "fetch the 'cup'");
        assert_eq!(quote("fetch the cup", 9), "fetch the...");
        assert_eq!(quote("\u{1f680}\u{1f680}\u{1f680}", 2), "\u{1f680}\u{1f680}...");
        assert_eq!(quote("", 9), "");
    }
}
