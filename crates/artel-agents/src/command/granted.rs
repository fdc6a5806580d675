//! How much of one tool of a client the rules grant and refuse. Clients call their tools by names of their own, so a tool may
//! go by several names: it is refused when one of them is, and granted when one of them is.

use artel_model::tool::{Glob, ToolPattern};

use super::rules::EffectiveRules;

/// How much of a tool is meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Extent {
    /// Nothing of it.
    Nothing,
    /// All of it.
    All,
    /// What it is called with decides.
    Parts(Vec<Part>),
}

/// What a tool may be called with.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Part {
    /// This text, or it and a space and more.
    Prefix(String),
    /// This text only.
    Exact(String),
    /// Texts in which `*` stands for anything.
    Glob(String),
}

impl EffectiveRules {
    /// Returns how much of a tool is allowed, by any of its names.
    pub(super) fn granted(&self, names: &[&str]) -> Extent {
        let own = names.iter().filter_map(|name| name.parse::<ToolPattern>().ok());
        let meant = own.flat_map(|own| self.allowed.iter().flat_map(move |pattern| pattern.intersect(&own)));
        extent(meant.map(|pattern| pattern.to_string()))
    }

    /// Returns how much of a tool is forbidden, by any of its names, whatever their case.
    pub(super) fn refused(&self, names: &[&str]) -> Extent {
        let texts = self.forbidden.iter().map(ToString::to_string);
        extent(texts.filter(|text| {
            let name = Glob::new(split(text).0);
            names.iter().any(|tool| name.matches_any_case(tool))
        }))
    }

    /// Says whether a tool may be called with anything.
    pub(super) fn wholly(&self, names: &[&str]) -> bool {
        self.granted(names) == Extent::All && self.refused(names) == Extent::Nothing
    }
}

fn extent(texts: impl Iterator<Item = String>) -> Extent {
    let mut parts = Vec::new();
    for text in texts {
        match split(&text).1 {
            None => return Extent::All,
            Some(argument) => parts.push(part(argument)),
        }
    }
    parts.sort();
    parts.dedup();
    if parts.is_empty() { Extent::Nothing } else { Extent::Parts(parts) }
}

/// Splits a pattern as it is written into the name and the argument.
fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')),
        None => (text, None),
    }
}

fn part(argument: &str) -> Part {
    match argument.strip_suffix(":*") {
        Some(prefix) if !prefix.contains('*') => Part::Prefix(prefix.to_owned()),
        Some(_) | None if argument.contains('*') => Part::Glob(argument.to_owned()),
        Some(_) | None => Part::Exact(argument.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn rules(allowed: &[&str], forbidden: &[&str]) -> EffectiveRules {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        EffectiveRules { allowed: parse(allowed), forbidden: parse(forbidden) }
    }

    #[test]
    fn a_tool_is_meant_by_name_star_and_argument() {
        let given = rules(&["Bash(git:*)", "Bash(npm run *)", "Bash(ls)", "W*"], &["bash(rm:*)"]);
        let parts = vec![
            Part::Prefix("git".to_owned()),
            Part::Exact("ls".to_owned()),
            Part::Glob("npm run *".to_owned()),
        ];
        assert_eq!(given.granted(&["Bash"]), Extent::Parts(parts));
        assert_eq!(given.granted(&["Write"]), Extent::All);
        assert_eq!(given.granted(&["Read"]), Extent::Nothing);
        assert_eq!(given.refused(&["Bash"]), Extent::Parts(vec![Part::Prefix("rm".to_owned())]));
        assert!(given.wholly(&["Write"]) && !given.wholly(&["Bash"]));
    }

    #[test]
    fn one_name_is_enough_to_grant_and_to_refuse() {
        let given = rules(&["write", "edit"], &["EDIT"]);
        assert!(given.wholly(&["Write", "write"]));
        assert!(!given.wholly(&["Write"]));
        assert_eq!(given.refused(&["Edit", "edit"]), Extent::All);
    }
}
