//! What can be wrong with a plan: every problem has a place, a stable code, a message and perhaps a hint.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::PLAN_PROBLEMS_MAX;

/// Problems for which a similar name is looked for; further ones say only what is wrong.
const HINTED_PROBLEMS_MAX: usize = 20;
/// Edits that may lie between a name and the one that was meant.
const EDITS_MAX: usize = 2;
/// Letters of a name that may have been meant.
const SIMILAR_CHARS_MAX: usize = 64;

/// Something wrong with a plan.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, thiserror::Error)]
#[error("{path}: {message}")]
pub struct PlanProblem {
    /// Where: a JSON Pointer into the document, empty for all of it.
    pub path: String,
    /// What kind of problem.
    pub code: PlanProblemCode,
    /// For a person.
    pub message: String,
    /// How it may be mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

macro_rules! codes {
    ($($name:ident = $text:literal, $about:literal;)*) => {
        /// The kinds of problems of a plan. Their names are stable.
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
        pub enum PlanProblemCode {
            $(#[doc = $about] #[serde(rename = $text)] $name,)*
        }

        impl PlanProblemCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the name that people and documents use.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Says in a sentence what is wrong.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }
        }
    };
}

codes! {
    InvalidJson = "invalid_json", "The text is not JSON.";
    PlanTooLarge = "plan_too_large", "The document has too many bytes.";
    TooDeep = "too_deep", "Values are nested too deeply.";
    DuplicateKey = "duplicate_key", "An object says the same key twice.";
    MissingField = "missing_field", "Something that must be there is not.";
    WrongType = "wrong_type", "A value has another type.";
    UnknownKey = "unknown_key", "A key that plans do not have.";
    ConflictingFields = "conflicting_fields", "Two fields that cannot stand together.";
    InvalidValue = "invalid_value", "A text that is no id, no name or no version.";
    OutOfRange = "out_of_range", "A number is too small or too large.";
    EmptyToolId = "empty_tool_id", "A tool's id is empty.";
    DuplicateToolId = "duplicate_tool_id", "Two tools have one id.";
    TooManyTools = "too_many_tools", "The plan has too many tools, the steps of composites included.";
    TooManyDependencies = "too_many_dependencies", "The plan has too many dependencies, those in composites included.";
    InputTooLarge = "input_too_large", "A tool's input has too many bytes.";
    UnknownDependency = "unknown_dependency", "A dependency names no tool of the plan.";
    SelfDependency = "self_dependency", "A tool waits for itself.";
    Cycle = "cycle", "Tools wait for each other.";
    UnknownSkill = "unknown_skill", "There is no such skill, or not in that version.";
    UnknownScript = "unknown_script", "The skill has no such script.";
    NoEntrypoint = "no_entrypoint", "The skill does not say what runs.";
    NotADiscoveredScript = "not_a_discovered_script", "The path leads to no script of a known skill.";
    NotExecutable = "not_executable", "The script may not be executed.";
    SkillDisabled = "skill_disabled", "The skill is switched off, or left out of the plan.";
    SkillUnhealthy = "skill_unhealthy", "The skill failed too often and must be enabled again.";
    SharingNotGranted = "sharing_not_granted", "The skill shares its data with every caller, which the operator has not granted.";
    InvalidInput = "invalid_input", "The input does not fit the schema.";
    InvalidReference = "invalid_reference", "A reference cannot be read, or names nothing there is.";
    ReferenceNotADependency = "reference_not_a_dependency", "A reference names a tool that is not waited for.";
    InvalidComposite = "invalid_composite", "The steps of a composite skill do not fit together.";
    CompositeInItself = "composite_in_itself", "A composite skill is one of its own steps.";
    CompositeTooDeep = "composite_too_deep", "Too many composites are inside each other.";
    FallbackIsComposite = "fallback_is_composite", "What stands in for a failed step is itself made of steps.";
    UnresolvedChain = "unresolved_chain", "What the skill depends on is missing, or needs it in turn.";
    MoreProblems = "more_problems", "There are more problems than are reported.";
}

/// Why a plan did not succeed, in one word.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// Tools wait for each other.
    CircularDependency,
    /// A required tool failed or was skipped.
    ToolFailure,
    /// Time was up.
    Timeout,
    /// A tool did not speak the protocol.
    ProtocolViolation,
    /// The plan cannot be run.
    InvalidPlan,
    /// Somebody ended it.
    Cancelled,
}

/// Returns what a plan with these problems failed for.
pub fn failure_reason(problems: &[PlanProblem]) -> FailureReason {
    let is_ring = |problem: &PlanProblem| {
        matches!(problem.code, PlanProblemCode::Cycle | PlanProblemCode::SelfDependency)
    };
    if problems.iter().any(is_ring) { FailureReason::CircularDependency } else { FailureReason::InvalidPlan }
}

impl PlanProblem {
    /// Makes a problem without a hint.
    pub fn new(path: impl Into<String>, code: PlanProblemCode, message: impl Into<String>) -> Self {
        Self { path: path.into(), code, message: message.into(), hint: None }
    }

    /// Adds how it may be mended.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for PlanProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The problems found so far, bounded.
#[derive(Debug, Default)]
pub(super) struct Problems {
    kept: Vec<PlanProblem>,
    left_out: usize,
    has_cycle: bool,
}

impl Problems {
    pub(super) fn push(&mut self, problem: PlanProblem) {
        // A ring decides what the whole plan failed for, so the first one is kept whatever came before it.
        let is_first_cycle = problem.code == PlanProblemCode::Cycle && !self.has_cycle;
        self.has_cycle |= is_first_cycle;
        if self.kept.len() < PLAN_PROBLEMS_MAX - 1 {
            self.kept.push(problem);
            return;
        }
        self.left_out += 1;
        if is_first_cycle {
            self.kept.pop();
            self.kept.push(problem);
        }
    }

    /// Says whether it is worth looking for what was meant: the first problems are what people read.
    pub(super) fn wants_hints(&self) -> bool {
        self.kept.len() < HINTED_PROBLEMS_MAX
    }

    pub(super) fn count(&self) -> usize {
        self.kept.len() + self.left_out
    }

    /// Returns `value` when there is no problem.
    pub(super) fn or<T>(mut self, value: T) -> Result<T, Vec<PlanProblem>> {
        if self.kept.is_empty() {
            return Ok(value);
        }
        if self.left_out > 0 {
            let message = format!("there are {} more problems", self.left_out);
            self.kept.push(PlanProblem::new("", PlanProblemCode::MoreProblems, message));
        }
        Err(self.kept)
    }
}

/// Returns the candidate that was probably meant by `text`: the first of those with the fewest edits.
pub(super) fn meant<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = text.chars().take(SIMILAR_CHARS_MAX + 1).flat_map(char::to_lowercase).collect();
    let edits_max = EDITS_MAX.min(letters.len().saturating_sub(1));
    let near = candidates.into_iter().filter_map(|candidate| {
        let other: Vec<char> = candidate.chars().flat_map(char::to_lowercase).collect();
        let edits = edits_within(&letters, &other, edits_max)?;
        (candidate != text).then_some((edits, candidate))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// Returns how many letters must be put in, taken out or replaced to get from one word to the other, if few.
fn edits_within(one: &[char], other: &[char], edits_max: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > edits_max || one.len().max(other.len()) > SIMILAR_CHARS_MAX {
        return None;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != against);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().filter(|edits| *edits <= edits_max)
}

/// Returns `did you mean …?` for a name that was probably meant.
pub(super) fn did_you_mean(meant: Option<&str>) -> Option<String> {
    meant.map(|meant| format!("did you mean `{meant}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(code: PlanProblemCode) -> PlanProblem {
        PlanProblem::new("", code, "x")
    }

    #[test]
    fn what_was_meant_is_near() {
        let keys = ["toolId", "toolPath", "input", "async"];
        assert_eq!(meant("toolid", keys), Some("toolId"));
        assert_eq!(meant("tool_id", keys), Some("toolId"));
        assert_eq!(meant("inputs", keys), Some("input"));
        assert_eq!(meant("wholly-else", keys), None);
        assert_eq!(meant("x", ["y"]), None);
        assert_eq!(meant("", keys), None);
        assert_eq!(meant("asinc", keys), Some("async"));
    }

    #[test]
    fn the_last_problem_says_how_many_are_missing() {
        let mut problems = Problems::default();
        for _ in 0..PLAN_PROBLEMS_MAX + 5 {
            problems.push(problem(PlanProblemCode::UnknownKey));
        }
        problems.push(problem(PlanProblemCode::Cycle));
        let told = problems.or(()).unwrap_err();
        assert_eq!(told.len(), PLAN_PROBLEMS_MAX);
        assert_eq!(told.last().unwrap().message, "there are 7 more problems");
        assert_eq!(failure_reason(&told), FailureReason::CircularDependency);
    }

    #[test]
    fn a_ring_decides_what_a_plan_failed_for() {
        let reason = |codes: &[PlanProblemCode]| {
            failure_reason(&codes.iter().map(|&code| problem(code)).collect::<Vec<_>>())
        };
        assert_eq!(reason(&[PlanProblemCode::UnknownKey]), FailureReason::InvalidPlan);
        assert_eq!(
            reason(&[PlanProblemCode::UnknownKey, PlanProblemCode::Cycle]),
            FailureReason::CircularDependency
        );
        assert_eq!(reason(&[PlanProblemCode::SelfDependency]), FailureReason::CircularDependency);
    }

    #[test]
    fn codes_are_written_as_they_are_called() {
        for &code in PlanProblemCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(code.about().ends_with('.'));
        }
    }
}
