//! What servers and programs said, made fit to be kept and shown: short, on one line, without secrets.

use artel_model::limit::HUB_MESSAGE_CHARS_MAX;

use crate::prompt::one_line;

/// What stands in the place of a secret.
const HIDDEN: &str = "[hidden]";

/// Returns a text on one line, of at most [`HUB_MESSAGE_CHARS_MAX`] characters, without the secrets and without user
/// names and passwords in URLs.
pub fn harmless(text: &str, secrets: &[&str]) -> String {
    let mut hidden = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        hidden = hidden.replace(secret, HIDDEN);
    }
    let line = without_users(&one_line(&hidden));
    match line.char_indices().nth(HUB_MESSAGE_CHARS_MAX - 3) {
        Some((end, _)) if line.chars().count() > HUB_MESSAGE_CHARS_MAX => format!("{}...", &line[..end]),
        Some(_) | None => line,
    }
}

/// Removes everything between `://` and `@` of every URL.
fn without_users(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"' | '`' | '?' | '#'));
        let (authority, following) = after.split_at(end.unwrap_or(after.len()));
        let host = authority.rfind('@').map_or(0, |user| user + 1);
        out.push_str(&authority[host..]);
        rest = following;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_short_and_hold_no_secrets() {
        let check = |text: &str, expected: &str| assert_eq!(harmless(text, &["s3cret", ""]), expected);
        check("fatal: s3cret\n was\trefused", "fatal: [hidden] was refused");
        check("https://ann:pass@host.example/a@b says no", "https://host.example/a@b says no");
        check("'https://t0ken@host.example' and ssh://git@h/x", "'https://host.example' and ssh://h/x");
        check("https://a:b@c@host/x", "https://host/x");
        check("://", "://");
        let long = harmless(&"\u{e9}".repeat(2000), &[]);
        assert_eq!(long.chars().count(), HUB_MESSAGE_CHARS_MAX);
        assert_eq!(harmless(&"x".repeat(500), &[]).len(), 500);
    }
}
