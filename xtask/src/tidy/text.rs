//! What every text file keeps to: whitespace, and no marks of unfinished work.

use super::problem::Problem;

/// Words that mark unfinished code; written in halves, so that this file may be checked like every other.
const UNFINISHED: [&str; 2] = [concat!("FIX", "ME"), concat!("X", "XX")];

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
    if path.ends_with(".rs") && UNFINISHED.iter().any(|word| holds_word(line, word)) {
        problems.push(Problem::new(path, number, "unfinished", "finish it, or leave it out"));
    }
    problems
}

fn holds_word(line: &str, word: &str) -> bool {
    let edge = |neighbour: Option<char>| neighbour.is_none_or(|character| !character.is_alphanumeric());
    line.match_indices(word)
        .any(|(at, _)| edge(line[..at].chars().next_back()) && edge(line[at + word.len()..].chars().next()))
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
}
