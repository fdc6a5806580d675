//! What every text file keeps to: whitespace, and words that have no place in the repository.

use super::problem::Problem;

/// A word that must not stand in a file, and why.
struct Word {
    /// In capitals it is meant exactly so, in small letters in any case.
    text: &'static str,
    rule: &'static str,
    message: &'static str,
    /// `.rs` for code only, `""` for every text file.
    extension: &'static str,
}

// Written in halves, so that this file may be checked like every other.
const WORDS: &[Word] = &[
    Word {
        text: concat!("FIX", "ME"),
        rule: "unfinished",
        message: "finish it, or leave it out",
        extension: ".rs",
    },
    Word {
        text: concat!("X", "XX"),
        rule: "unfinished",
        message: "finish it, or leave it out",
        extension: ".rs",
    },
    Word { text: concat!("seed", " 0"), rule: "private", message: PRIVATE, extension: "" },
    Word { text: concat!("seed", " 1"), rule: "private", message: PRIVATE, extension: "" },
    Word { text: concat!("seed", " 2"), rule: "private", message: PRIVATE, extension: "" },
    Word { text: concat!("seed", " 3"), rule: "private", message: PRIVATE, extension: "" },
    Word { text: concat!("seed", " 4"), rule: "private", message: PRIVATE, extension: "" },
];
const PRIVATE: &str = "the repository speaks only of itself; name the document or the rule";
/// A folder of the machine where the project is developed.
const PRIVATE_FOLDER: &str = concat!("/wo", "rk/");

/// Returns the problems of one text file.
pub(crate) fn check(path: &str, text: &str) -> Vec<Problem> {
    let mut problems: Vec<Problem> = text
        .split_terminator('\n')
        .enumerate()
        .flat_map(|(index, line)| check_line(path, index + 1, line))
        .collect();
    if !text.is_empty() && !text.ends_with('\n') {
        let last = text.lines().count();
        problems.push(Problem::new(path, last, "whitespace", "the last line has no newline"));
    }
    if path.ends_with(".rs") && !text.starts_with("//!") {
        problems.push(Problem::new(
            path,
            1,
            "file-doc",
            "open with `//!`: what it is for, what it must not know",
        ));
    }
    problems
}

fn check_line(path: &str, number: usize, line: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if line.ends_with(char::is_whitespace) {
        problems.push(Problem::new(path, number, "whitespace", "whitespace at the end of the line"));
    }
    if path.ends_with(".rs") && line.contains('\t') {
        problems.push(Problem::new(
            path,
            number,
            "whitespace",
            "a tab; indent with spaces, write `\\t` in a string",
        ));
    }
    let lower = line.to_ascii_lowercase();
    for word in WORDS.iter().filter(|word| path.ends_with(word.extension)) {
        let exact = word.text.starts_with(char::is_uppercase);
        if holds_word(if exact { line } else { &lower }, word.text) {
            problems.push(Problem::new(path, number, word.rule, word.message));
        }
    }
    if lower.match_indices(PRIVATE_FOLDER).any(|(at, _)| starts_a_path(&lower[..at])) {
        problems.push(Problem::new(path, number, "private", PRIVATE));
    }
    problems
}

fn holds_word(line: &str, word: &str) -> bool {
    let edge = |neighbour: Option<char>| neighbour.is_none_or(|character| !character.is_alphanumeric());
    line.match_indices(word)
        .any(|(at, _)| edge(line[..at].chars().next_back()) && edge(line[at + word.len()..].chars().next()))
}

/// An absolute path starts after a space, a quote or a bracket; inside of a longer path it is someone else's folder.
fn starts_a_path(before: &str) -> bool {
    !before
        .ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | '-' | '.' | '~' | '}' | '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[(usize, &str)]) {
        let problems = check(path, text);
        let found: Vec<(usize, &str)> = problems.iter().map(|problem| (problem.line, problem.rule)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn whitespace_is_clean() {
        check_text("a.md", "fine\n\n- x\n", &[]);
        check_text("a.md", "two  \nlast", &[(1, "whitespace"), (2, "whitespace")]);
        check_text("a.sh", "if x; then\n\techo\nfi\n", &[]);
        check_text("a.rs", "//! Doc.\n\tfn a() {}\n", &[(2, "whitespace")]);
        check_text("a.json", "{}\r\n", &[(1, "whitespace")]);
    }

    #[test]
    fn rust_files_open_with_their_purpose() {
        check_text("a.rs", "//! Doc.\n", &[]);
        check_text("a.rs", "// Doc.\nfn a() {}\n", &[(1, "file-doc")]);
        check_text("a.py", "import os\n", &[]);
    }

    #[test]
    fn unfinished_work_is_found_in_comments() {
        let later = concat!("//! A.\n// FIX", "ME: later\n");
        check_text("a.rs", later, &[(2, "unfinished")]);
        check_text("a.rs", concat!("//! A.\n// X", "XX\n"), &[(2, "unfinished")]);
        check_text("a.rs", concat!("//! A.\n// mktemp.X", "XXXXX\n"), &[]);
        check_text("a.rs", concat!("//! A.\n// outcomes: \"x", "xx\"\n"), &[]);
    }

    #[test]
    fn private_places_are_not_named() {
        check_text("a.md", concat!("see Se", "ed 1, part 8\n"), &[(1, "private")]);
        check_text("a.md", concat!("random se", "ed 42\n"), &[]);
        check_text("a.md", concat!("open `/wo", "rk/main`\n"), &[(1, "private")]);
        check_text("a.md", concat!("open ~/wo", "rk/main or https://a.org/wo", "rk/x\n"), &[]);
    }
}
