//! Paths of files inside a skill: the one way each is written, and those that no skill may have.

use artel_model::limit::{CUSTOM_PATH_CHARS_MAX, SKILL_DEPTH_MAX};
use unicode_normalization::UnicodeNormalization;

use crate::text::is_invisible;

/// Why a path cannot be that of a skill's file.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PathError {
    /// There is nothing.
    #[error("the path is empty")]
    Empty,
    /// More characters than [`CUSTOM_PATH_CHARS_MAX`].
    #[error("the path has more than {CUSTOM_PATH_CHARS_MAX} characters")]
    TooLong,
    /// More levels than [`SKILL_DEPTH_MAX`].
    #[error("the path has more than {SKILL_DEPTH_MAX} levels")]
    TooDeep,
    /// It does not start at the skill's folder.
    #[error("the path must start at the skill's folder")]
    Absolute,
    /// It leads out of the folder.
    #[error("the path must not lead upwards with `..`")]
    Upwards,
    /// A character that not every system has in names, or that nobody sees.
    #[error("the path holds a character that is not allowed in names")]
    Character,
    /// A part that starts or ends with a space, or ends with a dot: some systems drop these.
    #[error("a part of the path starts or ends with a space, or ends with a dot")]
    Ends,
    /// A name that means a device on some systems.
    #[error("a part of the path is a name that some systems keep for devices")]
    Device,
    /// A file that says what a skill is: it is written from the fields, and a skill holds no other skill.
    #[error("`SKILL.md` and manifests are made from the fields; no file may be called like one")]
    SkillFile,
    /// A folder that is not part of what is published.
    #[error("files in `data`, `.git` and `__pycache__` are never part of a skill")]
    LeftOut,
}

/// Returns the one way in which a path is written: without `.` and double slashes, and composed as Unicode recommends.
pub fn skill_path(text: &str) -> Result<String, PathError> {
    if text.chars().count() > CUSTOM_PATH_CHARS_MAX {
        return Err(PathError::TooLong);
    }
    let text: String = text.nfc().collect();
    if text.starts_with('/') {
        return Err(PathError::Absolute);
    }
    if text.ends_with('/') {
        return Err(PathError::Empty);
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() {
        return Err(PathError::Empty);
    }
    if parts.len() > SKILL_DEPTH_MAX {
        return Err(PathError::TooDeep);
    }
    parts.iter().try_for_each(|part| check_part(part))?;
    let is_data = parts[0].eq_ignore_ascii_case("data");
    if is_data {
        return Err(PathError::LeftOut);
    }
    let path = parts.join("/");
    if path.chars().count() > CUSTOM_PATH_CHARS_MAX { Err(PathError::TooLong) } else { Ok(path) }
}

/// Returns what two paths have in common that some systems take for the same.
pub(super) fn folded(path: &str) -> String {
    path.chars().flat_map(char::to_lowercase).nfc().collect()
}

fn check_part(part: &str) -> Result<(), PathError> {
    let is_odd = |c: char| {
        c.is_control()
            || is_invisible(c)
            || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '\u{fffd}')
    };
    if part == ".." {
        Err(PathError::Upwards)
    } else if part.chars().any(is_odd) {
        Err(PathError::Character)
    } else if part.trim() != part || part.ends_with('.') {
        Err(PathError::Ends)
    } else if is_device(part) {
        Err(PathError::Device)
    } else if is_skill_file(part) {
        Err(PathError::SkillFile)
    } else if [".git", "__pycache__"].iter().any(|name| name.eq_ignore_ascii_case(part)) {
        Err(PathError::LeftOut)
    } else {
        Ok(())
    }
}

/// Also in other cases: a folder may be unpacked where these make no difference.
fn is_skill_file(part: &str) -> bool {
    ["skill.md", "skill.json", "skill.yaml", "skill.yml"].iter().any(|name| name.eq_ignore_ascii_case(part))
}

fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_numbered =
        |prefix: &str| stem.strip_prefix(prefix).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9']));
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || is_numbered("com") || is_numbered("lpt")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_written_in_one_way() {
        for (text, expected) in [
            ("scripts/run.sh", "scripts/run.sh"),
            ("./scripts//run.sh", "scripts/run.sh"),
            ("a/./b", "a/b"),
            ("cafe\u{301}.txt", "caf\u{e9}.txt"),
            (".hidden", ".hidden"),
            ("references/data/x.csv", "references/data/x.csv"),
            ("console.log", "console.log"),
            ("a b/c d.txt", "a b/c d.txt"),
        ] {
            assert_eq!(skill_path(text).as_deref(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn paths_that_no_skill_may_have() {
        use PathError::*;
        let deep = vec!["a"; SKILL_DEPTH_MAX + 1].join("/");
        let long = "x".repeat(CUSTOM_PATH_CHARS_MAX + 1);
        for (text, expected) in [
            ("", Empty),
            (".", Empty),
            ("./", Empty),
            ("a/", Empty),
            ("/etc/passwd", Absolute),
            ("//x", Absolute),
            ("../x", Upwards),
            ("a/../../x", Upwards),
            ("a/..", Upwards),
            ("a\\b", Character),
            ("C:x", Character),
            ("a\nb", Character),
            ("a\0b", Character),
            ("a\u{202e}b", Character),
            ("a?", Character),
            (" a", Ends),
            ("a /b", Ends),
            ("a.", Ends),
            ("...", Ends),
            ("nul", Device),
            ("a/CON.txt", Device),
            ("com1", Device),
            ("SKILL.md", SkillFile),
            ("./SKILL.md", SkillFile),
            ("skill.MD", SkillFile),
            ("inner/SKILL.md", SkillFile),
            ("skill.json", SkillFile),
            ("a/skill.yaml/x", SkillFile),
            ("data/x", LeftOut),
            (".git/hooks/pre-commit", LeftOut),
            ("a/__pycache__/x.pyc", LeftOut),
            (&deep, TooDeep),
            (&long, TooLong),
        ] {
            assert_eq!(skill_path(text), Err(expected), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_path_that_was_taken_stays_inside_and_as_it_is(text in "[a-zA-Z./\\\\ :\u{301}-]{0,24}|\\PC{0,12}") {
            if let Ok(path) = skill_path(&text) {
                prop_assert_eq!(skill_path(&path), Ok(path.clone()));
                prop_assert!(!path.starts_with('/') && path.split('/').all(|part| !matches!(part, "" | "." | "..")));
            }
        }
    }
}
