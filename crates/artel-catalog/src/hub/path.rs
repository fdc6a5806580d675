//! Paths inside a hub: nothing that leads out of a folder, hides in it or breaks a line is taken.

use artel_model::limit::HUB_PATH_CHARS_MAX;
use camino::{Utf8Path, Utf8PathBuf};

use crate::prompt::one_line;

/// Bytes of one part of a path; more than that no file system takes.
const PART_BYTES_MAX: usize = 255;
/// Parts of a path.
const PARTS_MAX: usize = 64;
/// Characters of a path in a message.
const SHOWN_CHARS_MAX: usize = 120;

/// Why a path is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PathProblem {
    /// It is not UTF-8.
    #[error("its path is not UTF-8")]
    NotUtf8,
    /// There is nothing.
    #[error("its path is empty")]
    Empty,
    /// It starts at the root.
    #[error("its path is absolute")]
    Absolute,
    /// It leads out of the folder.
    #[error("its path has `..`")]
    Climbs,
    /// It has a backslash or a control character.
    #[error("its path has a backslash or a control character")]
    Character,
    /// It lies in the folder of git itself.
    #[error("its path has a folder of git itself")]
    GitFolder,
    /// It is too long or too deep.
    #[error("its path is too long")]
    TooLong,
}

/// Checks a path below a folder, and returns it without `.` and empty parts.
pub(crate) fn check_path(raw: &[u8]) -> Result<Utf8PathBuf, PathProblem> {
    let text = std::str::from_utf8(raw).map_err(|_| PathProblem::NotUtf8)?;
    if text.len() > HUB_PATH_CHARS_MAX {
        return Err(PathProblem::TooLong);
    }
    if text.chars().any(|c| c.is_control() || c == '\\') {
        return Err(PathProblem::Character);
    }
    if text.starts_with('/') {
        return Err(PathProblem::Absolute);
    }
    let mut path = Utf8PathBuf::new();
    let mut parts = 0;
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        check_part(part)?;
        path.push(part);
        parts += 1;
    }
    match parts {
        0 => Err(PathProblem::Empty),
        1..=PARTS_MAX => Ok(path),
        _ => Err(PathProblem::TooLong),
    }
}

fn check_part(part: &str) -> Result<(), PathProblem> {
    // Windows and macOS take some names for `.git` that are not written so; nobody has a reason to use them.
    let plain = part.trim_end_matches(['.', ' ']);
    if part == ".." {
        Err(PathProblem::Climbs)
    } else if plain.eq_ignore_ascii_case(".git") || plain.eq_ignore_ascii_case("git~1") {
        Err(PathProblem::GitFolder)
    } else if part.len() > PART_BYTES_MAX {
        Err(PathProblem::TooLong)
    } else {
        Ok(())
    }
}

/// Returns a path as messages show it: on one line, and short.
pub(crate) fn shown(raw: &[u8]) -> String {
    let start = &raw[..raw.len().min(8 * SHOWN_CHARS_MAX)];
    let line = one_line(&String::from_utf8_lossy(start)).replace('`', "'");
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// Returns the path of a folder as people see it: the top of the hub is `.`.
pub(crate) fn shown_folder(path: &Utf8Path) -> String {
    if path.as_str().is_empty() { ".".to_owned() } else { shown(path.as_str().as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_where_they_belong() {
        for (raw, expected) in
            [("a", "a"), ("./a//b/.", "a/b"), ("a b/\u{e9}", "a b/\u{e9}"), ("..a/b..", "..a/b..")]
        {
            assert_eq!(check_path(raw.as_bytes()), Ok(Utf8PathBuf::from(expected)));
        }
        let long = "x".repeat(256);
        let deep = "x/".repeat(65);
        for (raw, expected) in [
            ("", PathProblem::Empty),
            ("./.", PathProblem::Empty),
            ("/etc/passwd", PathProblem::Absolute),
            ("a/../../b", PathProblem::Climbs),
            ("..", PathProblem::Climbs),
            ("a\\b", PathProblem::Character),
            ("a\nb", PathProblem::Character),
            ("a\0b", PathProblem::Character),
            (".git/hooks/post-checkout", PathProblem::GitFolder),
            ("a/.GIT/config", PathProblem::GitFolder),
            ("a/.git. /config", PathProblem::GitFolder),
            ("GIT~1/config", PathProblem::GitFolder),
            (long.as_str(), PathProblem::TooLong),
            (deep.as_str(), PathProblem::TooLong),
        ] {
            assert_eq!(check_path(raw.as_bytes()), Err(expected), "{raw:?}");
        }
        assert_eq!(check_path(b"a\xff"), Err(PathProblem::NotUtf8));
    }

    #[test]
    fn shown_paths_are_short_and_harmless() {
        assert_eq!(shown(b"a\n`b`\x1b[1m"), "a 'b' [1m");
        assert!(shown(&[b'x'; 5000]).chars().count() <= SHOWN_CHARS_MAX + 3);
        assert_eq!(shown_folder(Utf8Path::new("")), ".");
    }
}
