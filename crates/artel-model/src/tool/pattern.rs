//! Patterns over tool calls.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::call::{ToolCall, ToolCallError, check_name, is_name_character, split_argument};
use super::glob::Glob;
use crate::limit::{TOOL_INTERSECTION_MAX, TOOL_NAME_BYTES_MAX, TOOL_STARS_MAX};

/// Which tool calls are meant: `navigate/run`, `entity.create_*`, `Bash(git:*)`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ToolPattern {
    name: Glob,
    argument: Argument,
}

/// What a pattern asks of the argument of a call.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Argument {
    /// Nothing: any argument, known or not.
    Any,
    /// `(git:*)`: exactly `git`, or `git` followed by a space and more.
    Prefix(String),
    /// `(npm run *)`: the whole argument matches.
    Whole(Glob),
}

/// Why a text is not a tool pattern.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ToolPatternError {
    /// It does not name a tool.
    #[error("not a tool's name")]
    Tool(#[source] ToolCallError),
    /// More than [`TOOL_STARS_MAX`] wildcards.
    #[error("a pattern has at most {TOOL_STARS_MAX} wildcards")]
    Stars,
    /// An argument longer than [`TOOL_NAME_BYTES_MAX`].
    #[error("the argument of a pattern has at most {TOOL_NAME_BYTES_MAX} bytes")]
    ArgumentLength,
}

/// Characters by which one command line becomes several commands, or something else than it looks.
const SHELL_OPERATORS: &[char] = &[';', '&', '|', '<', '>', '$', '`', '(', ')', '{', '}', '\n', '\r'];

impl ToolPattern {
    /// Says whether a policy that allows this pattern allows `call`.
    ///
    /// Narrow on purpose: a pattern over arguments needs a known argument, and one with a wildcard never matches a
    /// command line that holds shell operators (`git status; rm -rf ~` is not a `git` command).
    pub fn allows(&self, call: &ToolCall) -> bool {
        self.name.matches(call.name())
            && match (&self.argument, call.argument()) {
                (Argument::Any, _) => true,
                (Argument::Prefix(_) | Argument::Whole(_), None) => false,
                (Argument::Prefix(prefix), Some(text)) => {
                    !text.contains(SHELL_OPERATORS) && has_word(prefix, text)
                }
                (Argument::Whole(glob), Some(text)) => {
                    (glob.is_exact() || !text.contains(SHELL_OPERATORS)) && glob.matches(text)
                }
            }
    }

    /// Says whether a policy that forbids this pattern forbids `call`.
    ///
    /// Wide on purpose: what belongs to a forbidden skill is forbidden with it (`bad` means `bad/alt` and `bad@1.0` too), an
    /// unknown argument may be a forbidden one, every part of a compound command counts, and a tool that differs only by
    /// case is the same. Arguments keep their case: `git branch -d` is not `git branch -D`.
    pub fn forbids(&self, call: &ToolCall) -> bool {
        names_around(call.name()).iter().any(|name| self.name.matches_any_case(name))
            && match (&self.argument, call.argument()) {
                (Argument::Any, _) | (Argument::Prefix(_) | Argument::Whole(_), None) => true,
                (Argument::Prefix(prefix), Some(text)) => {
                    let prefix = unquoted(prefix);
                    text.split(SHELL_OPERATORS).any(|part| has_word(&prefix, &unquoted(part)))
                }
                (Argument::Whole(glob), Some(text)) => {
                    let plain = Glob::new(&unquoted(glob.as_str()));
                    glob.matches(text)
                        || text.split(SHELL_OPERATORS).any(|part| plain.matches(&unquoted(part)))
                }
            }
    }

    /// Says whether every call that `other` means is meant by this pattern too.
    pub fn covers(&self, other: &Self) -> bool {
        self.name.covers(&other.name) && self.argument.covers(&other.argument)
    }

    /// Says whether a policy that forbids this pattern leaves nothing of `other`: as [`Self::covers`], whatever the case of
    /// the tool's name, and with all that belongs to a forbidden skill.
    pub fn forbids_all(&self, other: &Self) -> bool {
        let name = other.name.as_str();
        let around = name.match_indices(['/', '@']).map(|(place, _)| &name[..place]);
        let mut names = around.chain([name]).filter(|name| !name.is_empty());
        names.any(|name| self.name.covers_any_case(&Glob::new(name))) && self.argument.covers(&other.argument)
    }

    /// Returns what the name of every meant tool begins with.
    pub(super) fn name_head(&self) -> &str {
        self.name.head()
    }

    /// Returns patterns that mean the calls both patterns mean, never more.
    pub fn intersect(&self, other: &Self) -> Vec<Self> {
        let names = self.name.intersect(&other.name, TOOL_INTERSECTION_MAX);
        let arguments = self.argument.intersect(&other.argument);
        names
            .iter()
            .flat_map(|name| {
                arguments.iter().map(|argument| Self { name: name.clone(), argument: argument.clone() })
            })
            .take(TOOL_INTERSECTION_MAX)
            .collect()
    }

    /// Returns the tool's name when the pattern means one tool only.
    pub fn exact_name(&self) -> Option<&str> {
        self.name.is_exact().then(|| self.name.as_str())
    }
}

impl Argument {
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (_, Self::Any) => false,
            (Self::Prefix(a), Self::Prefix(b)) => has_word(a, b),
            (a, b) => b.globs().iter().all(|glob| a.globs().iter().any(|wider| wider.covers(glob))),
        }
    }

    fn intersect(&self, other: &Self) -> Vec<Self> {
        if self.covers(other) {
            return vec![other.clone()];
        }
        if other.covers(self) {
            return vec![self.clone()];
        }
        let mut found = Vec::new();
        for a in self.globs() {
            for b in other.globs() {
                found.extend(a.intersect(&b, TOOL_INTERSECTION_MAX).into_iter().map(Self::Whole));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn globs(&self) -> Vec<Glob> {
        match self {
            Self::Any => vec![Glob::new("*")],
            Self::Prefix(prefix) => vec![Glob::new(prefix), Glob::new(&format!("{prefix} *"))],
            Self::Whole(glob) => vec![glob.clone()],
        }
    }
}

/// Returns a tool's name and those of all that it belongs to: of `bad@1.0/alt` also `bad/alt`, `bad@1.0` and `bad`.
fn names_around(name: &str) -> Vec<String> {
    if !name.contains(['/', '@']) {
        return vec![name.to_owned()];
    }
    let plain = |part: &str| match part.split_once('@') {
        Some((skill, _)) if !skill.is_empty() => skill.to_owned(),
        Some(_) | None => part.to_owned(),
    };
    let unversioned = name.split('/').map(plain).collect::<Vec<_>>().join("/");
    let around = |name: &str| -> Vec<String> {
        let parts = name.match_indices('/').map(|(place, _)| name[..place].to_owned());
        parts.chain([name.to_owned()]).filter(|name| !name.is_empty()).collect()
    };
    [around(name), around(&unversioned)].concat()
}

/// Writes a command as a shell would see its words: without quotes and backslashes, one space between words.
fn unquoted(command: &str) -> String {
    let plain = command.replace(['"', '\'', '\\'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says whether `text` is `prefix`, or starts with it as whole words.
fn has_word(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

impl FromStr for ToolPattern {
    type Err = ToolPatternError;

    fn from_str(text: &str) -> Result<Self, ToolPatternError> {
        let (name, argument) = split_argument(text.trim()).map_err(ToolPatternError::Tool)?;
        check_name(name, |c| c == '*' || is_name_character(c)).map_err(ToolPatternError::Tool)?;
        if argument.is_some_and(|argument| argument.len() > TOOL_NAME_BYTES_MAX) {
            return Err(ToolPatternError::ArgumentLength);
        }
        if text.matches('*').count() > TOOL_STARS_MAX {
            return Err(ToolPatternError::Stars);
        }
        // Folded and trimmed first, so that a pattern means the same after it was written and read again.
        let argument = argument.map(|text| Glob::new(text.trim()));
        let argument = match argument.as_ref().map(Glob::as_str) {
            None | Some("*" | ":*") => Argument::Any,
            Some(text) => match text.strip_suffix(":*").map(str::trim_end) {
                Some(prefix) if !prefix.contains('*') && !prefix.is_empty() => {
                    Argument::Prefix(prefix.to_owned())
                }
                Some(_) | None => Argument::Whole(Glob::new(text)),
            },
        };
        Ok(Self { name: Glob::new(name), argument })
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Argument::Any => self.name.fmt(f),
            Argument::Prefix(prefix) => write!(f, "{}({prefix}:*)", self.name),
            Argument::Whole(glob) => write!(f, "{}({glob})", self.name),
        }
    }
}

impl Serialize for ToolPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, call: &str, allows: bool, forbids: bool) {
        let (pattern, call): (ToolPattern, ToolCall) = (pattern.parse().unwrap(), call.parse().unwrap());
        assert_eq!(
            (pattern.allows(&call), pattern.forbids(&call)),
            (allows, forbids),
            "{pattern} and {call}"
        );
    }

    #[test]
    fn names_match_exactly_or_by_star() {
        check("write", "write", true, true);
        // A skill's name allows the script that the skill runs by itself, which is called by that name too; it forbids all.
        check("write", "write/run", false, true);
        check("entity.create_*", "entity.create_line", true, true);
        check("entity.create_*", "entity.delete", false, false);
        check("navigate/*", "navigate/run", true, true);
        check("Bash", "Bash(rm -rf /)", true, true);
    }

    #[test]
    fn forbidding_does_not_look_at_the_case_of_a_name() {
        check("write", "Write", false, true);
        check("Write", "wRITE", false, true);
        check("Entity.Create_*", "entity.create_line", false, true);
        check("bash(rm:*)", "Bash(rm x)", false, true);
        check("Bash(git branch -D:*)", "Bash(git branch -d x)", false, false);
        let wide = |a: &str, b: &str| {
            let (a, b): (ToolPattern, ToolPattern) = (a.parse().unwrap(), b.parse().unwrap());
            (a.covers(&b), a.forbids_all(&b))
        };
        assert_eq!(wide("write", "Write"), (false, true));
        assert_eq!(wide("A*", "ab*"), (false, true));
        assert_eq!(wide("a*", "B*"), (false, false));
    }

    #[test]
    fn forbidding_a_skill_forbids_all_of_it() {
        for call in
            ["bad", "Bad", "bad/alt", "BAD/alt", "bad/alt/deeper", "bad@1.0", "bad@1.0/alt", "bad/alt@2"]
        {
            check("bad", call, call == "bad", true);
        }
        for call in ["badly", "badly/alt", "good/bad", "good", "@bad/alt", "ba", "ba/d"] {
            check("bad", call, false, false);
        }
        check("bad/alt", "bad/run", false, false);
        check("bad/alt", "bad@1.0/alt", false, true);
        check("bad@1.0", "bad@1.0/alt", false, true);
        check("bad@1.0", "bad@2.0/alt", false, false);
        check("b*", "bad/alt", true, true);
        let all = |a: &str, b: &str| a.parse::<ToolPattern>().unwrap().forbids_all(&b.parse().unwrap());
        for allowed in ["bad", "bad/*", "BAD/alt", "bad@1.0", "bad@1.0/alt"] {
            assert!(all("bad", allowed), "{allowed}");
        }
        assert!(!all("bad", "b*") && !all("bad", "*/alt") && !all("bad/alt", "bad/*"));
    }

    #[test]
    fn a_prefix_means_whole_words_of_one_command() {
        check("Bash(git:*)", "Bash(git)", true, true);
        check("Bash(git:*)", "Bash(git status)", true, true);
        check("Bash(git:*)", "Bash(gitk)", false, false);
        check("Bash(git:*)", "Bash(git status; rm -rf ~)", false, true);
        check("Bash(rm:*)", "Bash(ls && rm -rf ~)", false, true);
        check("Bash(rm:*)", "Bash(echo $(rm x))", false, true);
        check("Bash(rm:*)", "Bash(rm\t-rf x)", false, true);
        check("Bash(git push:*)", "Bash(git  'push' origin)", false, true);
        check("Bash(npm run *)", "Bash(npm run build)", true, true);
        check("Bash(a;b)", "Bash(a;b)", true, true);
        check("Bash( rm :**)", "Bash( rm x)", true, true);
    }

    #[test]
    fn an_unknown_argument_is_not_allowed_and_is_forbidden() {
        check("Bash(git:*)", "Bash", false, true);
        check("Bash(*)", "Bash", true, true);
    }

    #[test]
    fn patterns_are_printed_as_they_were_written() {
        for text in ["write", "a.*", "Bash(git:*)", "Bash(npm run *)", "Read(src/*)"] {
            assert_eq!(text.parse::<ToolPattern>().unwrap().to_string(), text);
        }
        assert_eq!("Bash(:*)".parse::<ToolPattern>().unwrap().to_string(), "Bash");
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for bad in ["", "Bash(git", "a b", "(x)", "*********a", "*a*a*a*a*a*a*a*a*a"] {
            assert!(bad.parse::<ToolPattern>().is_err(), "{bad}");
        }
    }

    fn pattern() -> impl Strategy<Value = ToolPattern> {
        "[ab*]{1,4}(\\([ab *]{0,4}\\)|\\([ab]{1,2}:\\*\\))?"
            .prop_filter_map("a pattern", |text| text.parse().ok())
    }

    fn in_upper_case(call: &ToolCall) -> ToolCall {
        let argument = call.argument().map(|text| format!("({text})")).unwrap_or_default();
        format!("{}{argument}", call.name().to_ascii_uppercase()).parse().unwrap()
    }

    fn call() -> impl Strategy<Value = ToolCall> {
        "[ab]{1,4}(\\([ab ]{0,5}\\))?".prop_filter_map("a call", |text| text.parse().ok())
    }

    proptest! {
        #[test]
        fn what_a_pattern_allows_it_can_forbid_in_any_case(pattern in pattern(), call in call()) {
            if pattern.allows(&call) {
                let shouted = in_upper_case(&call);
                prop_assert!(pattern.forbids(&call) && pattern.forbids(&shouted), "{} {}", pattern, shouted);
            }
        }

        #[test]
        fn what_is_forbidden_as_a_whole_is_forbidden_call_by_call(a in pattern(), b in pattern(), call in call()) {
            if a.forbids_all(&b) && b.allows(&call) {
                prop_assert!(a.forbids(&call), "{} forbids {} but not {}", a, b, call);
            }
        }

        #[test]
        fn an_intersection_allows_what_both_allow(a in pattern(), b in pattern(), call in call()) {
            let both = a.allows(&call) && b.allows(&call);
            prop_assert_eq!(a.intersect(&b).iter().any(|pattern| pattern.allows(&call)), both);
        }

        #[test]
        fn a_covered_pattern_allows_no_more(a in pattern(), b in pattern(), call in call()) {
            if a.covers(&b) && b.allows(&call) {
                prop_assert!(a.allows(&call), "{} covers {} but does not allow {}", a, b, call);
            }
        }

        #[test]
        fn parsing_never_panics(text in ".{0,300}") {
            let _ = text.parse::<ToolPattern>();
            let _ = text.parse::<ToolCall>();
        }
    }
}
