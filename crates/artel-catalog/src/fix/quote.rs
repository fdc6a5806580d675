//! Quotes for values that YAML cannot read, and only for those.

use super::lines::parse;
use crate::document::{Budget, YamlErrorKind, parse_yaml};
use crate::read::repair;

/// More lines than this that might need quotes are not a slip.
const SUSPICIOUS_LINES_MAX: usize = 64;

/// A frontmatter that can be read, and the lines that were changed for it, from 1.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Quoted {
    pub(super) yaml: String,
    pub(super) lines: Vec<u32>,
}

/// What quoting can do for a frontmatter.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Quoting {
    /// It can be read as it is.
    NotNeeded,
    Done(Quoted),
    /// Quotes do not help.
    Unreadable,
    TooMuch,
}

/// Puts the fewest values in quotes that make the frontmatter readable. A list in brackets beside a value with a
/// colon, say, stays a list.
pub(super) fn quote(yaml: &str) -> Quoting {
    match parse_yaml(yaml, Budget::FRONTMATTER).map_err(|error| error.kind) {
        Ok(_) => return Quoting::NotNeeded,
        // What unfolds to too much must not become readable.
        Err(YamlErrorKind::Budget(_) | YamlErrorKind::SecondDocument) => return Quoting::Unreadable,
        Err(YamlErrorKind::Syntax(_) | YamlErrorKind::Key) => {}
    }
    let lines: Vec<&str> = yaml.split_inclusive('\n').collect();
    let mut chosen: Vec<Option<String>> =
        lines.iter().map(|line| repair(line).map(|repaired| repaired.yaml)).collect();
    let suspicious: Vec<usize> = (0..lines.len()).filter(|line| chosen[*line].is_some()).collect();
    if suspicious.len() > SUSPICIOUS_LINES_MAX {
        return Quoting::TooMuch;
    }
    if parse(&joined(&lines, &chosen)).is_none() {
        return Quoting::Unreadable;
    }
    for line in &suspicious {
        let quoted = chosen[*line].take();
        if parse(&joined(&lines, &chosen)).is_none() {
            chosen[*line] = quoted;
        }
    }
    let is_changed = |line: &usize| chosen[*line].is_some();
    let changed = suspicious.iter().copied().filter(is_changed);
    let changed = changed.map(|line| u32::try_from(line + 1).unwrap_or(u32::MAX)).collect();
    Quoting::Done(Quoted { yaml: joined(&lines, &chosen), lines: changed })
}

fn joined(lines: &[&str], chosen: &[Option<String>]) -> String {
    lines.iter().zip(chosen).map(|(line, quoted)| quoted.as_deref().unwrap_or(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: &str, lines: &[u32]) {
        let quoted = Quoted { yaml: expected.to_owned(), lines: lines.to_vec() };
        assert_eq!(quote(yaml), Quoting::Done(quoted));
    }

    #[test]
    fn only_what_cannot_be_read_is_quoted() {
        check("name: a\ndescription: Use when: x\n", "name: a\ndescription: \"Use when: x\"\n", &[2]);
        check("description: @here\r\n", "description: \"@here\"\r\n", &[1]);
        check(
            "description: a: b\ntags: [x, y]\nmetadata: {\"k\": 1}\n",
            "description: \"a: b\"\ntags: [x, y]\nmetadata: {\"k\": 1}\n",
            &[1],
        );
        check("a: b: c\nd: *e\n", "a: \"b: c\"\nd: \"*e\"\n", &[1, 2]);
    }

    #[test]
    fn the_rest_is_left() {
        assert_eq!(quote("a: 1\nb: [x]\n"), Quoting::NotNeeded);
        assert_eq!(quote("a:\n\tb: 1\n"), Quoting::Unreadable);
        assert_eq!(quote("a: b: c\n  goes on\n"), Quoting::Unreadable);
        assert_eq!(quote(&"a: b: c\n".repeat(SUSPICIOUS_LINES_MAX + 1)), Quoting::TooMuch);
    }
}
