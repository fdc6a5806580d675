//! What a skill says about tools and about other skills, and what is odd about it.

use serde::Serialize;

use crate::name::SkillName;
use crate::schema::Schema;
use crate::tool::{ToolCall, ToolPattern};

/// The rules of one skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rules {
    /// Tools it permits.
    pub allowed_tools: Vec<ToolPattern>,
    /// Tools it forbids, whatever any skill permits.
    pub forbidden_tools: Vec<ToolPattern>,
    /// The steps to follow, in order.
    pub execution_protocol: Vec<String>,
    /// What must hold before it runs.
    pub preconditions: Vec<String>,
    /// What holds after it ran.
    pub postconditions: Vec<String>,
    /// What its output looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_contract: Option<OutputContract>,
    /// Which skills it works with.
    pub compatibility_rules: Vec<CompatibilityRule>,
    /// Which skills it combines with.
    pub composability_rules: Vec<ComposabilityRule>,
}

/// The promised shape of a skill's output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputContract {
    /// A name for the type of output.
    #[serde(rename = "type")]
    pub kind: String,
    /// The schema it is checked against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
}

/// A rule on which skills a skill works with.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct CompatibilityRule {
    /// The kind of rule.
    #[serde(rename = "type")]
    pub kind: CompatibilityKind,
    /// The other skill.
    pub skill: SkillName,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The kinds of compatibility rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompatibilityKind {
    /// The other skill must be present.
    Requires,
    /// The other skill must not be present.
    Incompatible,
}

/// A rule on which skills a skill combines with.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ComposabilityRule {
    /// The kind of rule.
    #[serde(rename = "type")]
    pub kind: ComposabilityKind,
    /// The other skill.
    pub skill: SkillName,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The kinds of composability rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ComposabilityKind {
    /// The other skill must be present.
    Requires,
    /// The other skill must not be present.
    Forbids,
}

/// What either kind of rule asks of another skill.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wants {
    /// That it is present.
    Present,
    /// That it is absent.
    Absent,
}

impl CompatibilityRule {
    /// Returns what the rule asks of the other skill.
    pub fn wants(&self) -> Wants {
        match self.kind {
            CompatibilityKind::Requires => Wants::Present,
            CompatibilityKind::Incompatible => Wants::Absent,
        }
    }
}

impl ComposabilityRule {
    /// Returns what the rule asks of the other skill.
    pub fn wants(&self) -> Wants {
        match self.kind {
            ComposabilityKind::Requires => Wants::Present,
            ComposabilityKind::Forbids => Wants::Absent,
        }
    }
}

/// One rule about another skill, of either kind.
#[derive(Clone, Copy, Debug)]
pub struct Companion<'a> {
    /// What is asked.
    pub wants: Wants,
    /// Of which skill.
    pub skill: &'a SkillName,
    /// Why.
    pub reason: Option<&'a str>,
}

impl Rules {
    /// Returns what both lists of rules ask of other skills, in order.
    pub fn companions(&self) -> impl Iterator<Item = Companion<'_>> {
        let compatibility = self.compatibility_rules.iter().map(|rule| Companion {
            wants: rule.wants(),
            skill: &rule.skill,
            reason: rule.reason.as_deref(),
        });
        let composability = self.composability_rules.iter().map(|rule| Companion {
            wants: rule.wants(),
            skill: &rule.skill,
            reason: rule.reason.as_deref(),
        });
        compatibility.chain(composability)
    }

    /// Returns the allowed tools that are also forbidden, as indexes into `allowed_tools`.
    pub fn allowed_and_forbidden(&self) -> Vec<usize> {
        let forbidden =
            |tool: &ToolPattern| self.forbidden_tools.iter().any(|pattern| pattern.forbids_all(tool));
        self.allowed_tools
            .iter()
            .enumerate()
            .filter(|(_, tool)| forbidden(tool))
            .map(|(index, _)| index)
            .collect()
    }

    /// Returns the steps of the protocol that name a tool which is not allowed, with the tool.
    pub fn protocol_outside_allowed(&self) -> Vec<(usize, ToolCall)> {
        let known: Vec<&str> = self
            .allowed_tools
            .iter()
            .chain(&self.forbidden_tools)
            .filter_map(ToolPattern::exact_name)
            .collect();
        let mut found = Vec::new();
        for (index, step) in self.execution_protocol.iter().enumerate() {
            let named = tools_named(step, &known).into_iter().filter(|tool| {
                !self.allowed_tools.iter().any(|pattern| pattern.allows(tool))
                    || self.forbidden_tools.iter().any(|pattern| pattern.forbids(tool))
            });
            found.extend(named.map(|tool| (index, tool)));
        }
        found
    }
}

/// Returns the tools that a step of a protocol names: what it quotes in backticks, and known tools that it is or calls.
///
/// Plain words are not taken for tools: "write the summary" does not call `write`.
fn tools_named(step: &str, known: &[&str]) -> Vec<ToolCall> {
    let quoted = step.split('`').skip(1).step_by(2);
    let called =
        known.iter().copied().filter(|tool| step.trim() == *tool || step.contains(&format!("{tool}(")));
    let mut tools: Vec<ToolCall> = quoted.chain(called).filter_map(|text| text.parse().ok()).collect();
    tools.sort();
    tools.dedup();
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allowed: &[&str], forbidden: &[&str], protocol: &[&str]) -> Rules {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Rules {
            allowed_tools: parse(allowed),
            forbidden_tools: parse(forbidden),
            execution_protocol: protocol.iter().map(ToString::to_string).collect(),
            ..Rules::default()
        }
    }

    #[track_caller]
    fn check_protocol(rules: &Rules, expected: &[(usize, &str)]) {
        let found = rules.protocol_outside_allowed();
        let found: Vec<_> = found.iter().map(|(step, tool)| (*step, tool.to_string())).collect();
        let expected: Vec<_> = expected.iter().map(|(step, tool)| (*step, tool.to_string())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_protocol_that_names_a_foreign_tool_is_odd() {
        check_protocol(
            &rules(&["Read"], &["write"], &["Read", "write", "then `Bash(ls)`"]),
            &[(1, "write"), (2, "Bash(ls)")],
        );
        check_protocol(&rules(&["Read"], &["write"], &["write the summary", "analyze-task"]), &[]);
        check_protocol(
            &rules(&["solid.*"], &["solid.boolean"], &["call solid.boolean(a, b)"]),
            &[(0, "solid.boolean")],
        );
    }

    #[test]
    fn a_tool_in_both_lists_is_odd() {
        assert_eq!(rules(&["a", "b.c"], &["b.*"], &[]).allowed_and_forbidden(), [1]);
        assert_eq!(rules(&["b.*"], &["b.c"], &[]).allowed_and_forbidden(), [0; 0]);
    }
}
