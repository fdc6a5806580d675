//! Finds secrets that were left in files, going by the shapes that services give their keys.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::collector::Collector;
use super::piece::Piece;
use super::rules::files;
use artel_model::catalog::Severity;

/// The shapes of keys. A word in front of each says where looking is worth it.
const SHAPES: &[(&str, &str, &str)] = &[
    ("AKIA", r"\bAKIA[0-9A-Z]{16}\b", "an AWS key"),
    ("gh", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b", "a GitHub token"),
    ("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{50,}\b", "a GitHub token"),
    ("sk-", r"\bsk-(ant-|proj-)?[A-Za-z0-9_-]{32,}\b", "a model provider's key"),
    ("sk_live_", r"\b[sr]k_live_[A-Za-z0-9]{20,}\b", "a Stripe key"),
    ("xox", r"\bxox[abprs]-[0-9]{8,}-[A-Za-z0-9-]{10,}\b", "a Slack token"),
    ("AIza", r"\bAIza[0-9A-Za-z_-]{35}\b", "a Google key"),
    ("PRIVATE KEY", r"-----BEGIN ([A-Z]+ )?PRIVATE KEY-----\s*[A-Za-z0-9+/=\s]{200,}", "a private key"),
    ("glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}\b", "a GitLab token"),
    ("npm_", r"\bnpm_[A-Za-z0-9]{36}\b", "an npm token"),
];

static REGEXES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compile = |(_, shape, _): &(&str, &str, &str)| {
        Regex::new(&format!("(?-u){shape}")).expect("a test uses every shape")
    };
    SHAPES.iter().map(compile).collect()
});

/// Reports secrets in a text.
pub(super) fn check(piece: &Piece<'_>, collector: &mut Collector) {
    for (index, (word, _, what)) in SHAPES.iter().enumerate() {
        if !piece.text.contains(word) {
            continue;
        }
        for found in REGEXES[index].find_iter(piece.text.as_bytes()).take(5) {
            let text = String::from_utf8_lossy(found.as_bytes());
            if !is_placeholder(&text) {
                let line = piece.line_at(found.start());
                let begin: String = text.chars().take(6).collect();
                let mut shown = piece.clone();
                // The secret itself is not shown.
                shown.text = "";
                collector.report_as(
                    &shown,
                    &files::SECRET,
                    Severity::High,
                    line,
                    format!("{what}: {begin}..."),
                );
            }
        }
    }
}

/// Says whether a key is only an example: it says so, or repeats itself too much to be random.
fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words = [
        "example",
        "xxxx",
        "your",
        "placeholder",
        "abcdef",
        "123456",
        "0000",
        "test",
        "dummy",
        "fake",
        "redacted",
        "....",
    ];
    let mut letters: Vec<char> = lower.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    words.iter().any(|word| lower.contains(word)) || letters.len() < 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        assert_eq!(REGEXES.len(), SHAPES.len());
    }
}
