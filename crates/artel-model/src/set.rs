//! Whether a set of skills can be given to one agent together. Never stops at the first problem.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::limit::{SET_SKILLS_MAX, SET_WARNINGS_MAX};
use crate::name::SkillName;
use crate::rule::Wants;
use crate::skill::Skill;
use crate::tool::Forbidden;

/// What is to be said about a set of skills.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct SetReport {
    /// Whether the set can be used.
    pub valid: bool,
    /// Why it cannot.
    pub errors: Vec<SetError>,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

/// One reason why a set of skills cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct SetError {
    /// The typed code.
    pub code: SetErrorCode,
    /// For a person.
    pub message: String,
    /// The skill it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}

/// The typed codes of a refused set.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SetErrorCode {
    /// A name that no skill has (V001).
    UnknownSkill,
    /// A required companion is missing (V002).
    MissingRequired,
    /// Two skills that exclude each other (V003).
    IncompatibleSkills,
    /// More than [`SET_SKILLS_MAX`] skills.
    TooManySkills,
}

/// Checks the skills called `names`, as `find` knows them.
///
/// V001: every name exists. V002: what is required is there. V003: what excludes each other is not. V004: forbidden beats
/// allowed, also inside one skill. V005: a skill that allows nothing is valid. V006: duplicates count once.
pub fn validate_set<'a>(names: &[String], find: impl Fn(&str) -> Option<&'a Skill>) -> SetReport {
    let mut report = SetReport::default();
    if names.len() > SET_SKILLS_MAX {
        let message =
            format!("{} skills were given, at most {SET_SKILLS_MAX} can be used together", names.len());
        report.errors.push(SetError { code: SetErrorCode::TooManySkills, message, skill: None });
        return report;
    }
    let mut skills: Vec<&Skill> = Vec::new();
    let mut unknown: Vec<&String> = Vec::new();
    let (mut known_names, mut unknown_names) = (BTreeSet::new(), BTreeSet::new());
    for name in names {
        match find(name) {
            Some(skill) if known_names.insert(&skill.name) => skills.push(skill),
            None if unknown_names.insert(name) => unknown.push(name),
            Some(_) | None => {}
        }
    }
    report.errors.extend(unknown.into_iter().map(|name| SetError {
        code: SetErrorCode::UnknownSkill,
        message: format!("there is no skill `{name}`"),
        skill: Some(name.clone()),
    }));
    companions(&skills, &mut report.errors);
    report.warnings = warnings(&skills);
    report.valid = report.errors.is_empty();
    report
}

fn companions(skills: &[&Skill], errors: &mut Vec<SetError>) {
    let names: BTreeSet<&SkillName> = skills.iter().map(|skill| &skill.name).collect();
    let present = |name: &SkillName| names.contains(name);
    let mut excluded: BTreeSet<(&SkillName, &SkillName)> = BTreeSet::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    for skill in skills {
        for rule in skill.rules.companions() {
            let because = rule.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let (code, message) = match rule.wants {
                Wants::Present if !present(rule.skill) => (
                    SetErrorCode::MissingRequired,
                    format!("`{}` requires `{}`, which is not in the set{because}", skill.name, rule.skill),
                ),
                Wants::Absent if present(rule.skill) && skill.name != *rule.skill => {
                    if excluded.contains(&(rule.skill, &skill.name)) {
                        continue;
                    }
                    excluded.insert((&skill.name, rule.skill));
                    (
                        SetErrorCode::IncompatibleSkills,
                        format!("`{}` cannot be used together with `{}`{because}", skill.name, rule.skill),
                    )
                }
                Wants::Present | Wants::Absent => continue,
            };
            if told.insert(message.clone()) {
                errors.push(SetError { code, message, skill: Some(skill.name.to_string()) });
            }
        }
    }
}

fn warnings(skills: &[&Skill]) -> Vec<String> {
    let outside = skills.iter().flat_map(|skill| {
        skill.rules.protocol_outside_allowed().into_iter().map(|(step, tool)| {
            let step = &skill.rules.execution_protocol[step];
            format!("`{}` has the protocol step \"{step}\", but may not use `{tool}`", skill.name)
        })
    });
    let patterns = skills
        .iter()
        .enumerate()
        .flat_map(|(place, skill)| skill.rules.forbidden_tools.iter().map(move |pattern| (pattern, place)));
    let forbidden = Forbidden::new(patterns);
    let allowed =
        || skills.iter().flat_map(|skill| skill.rules.allowed_tools.iter().map(move |tool| (skill, tool)));
    let contradictions = allowed().flat_map(|(skill, tool)| {
        let places: BTreeSet<usize> = forbidden.leaving_nothing_of(tool).collect();
        places.into_iter().map(move |place| {
            let other = &skills[place].name;
            format!("`{tool}` is allowed by `{}` but forbidden by `{other}`: it stays forbidden", skill.name)
        })
    });
    let mut warnings: Vec<String> = outside.chain(contradictions).take(SET_WARNINGS_MAX).collect();
    if warnings.len() == SET_WARNINGS_MAX {
        warnings.push(format!("only the first {SET_WARNINGS_MAX} warnings are told"));
    }
    if allowed().all(|(_, tool)| forbidden.leaving_nothing_of(tool).next().is_some()) {
        warnings.push("no tool is allowed: an agent with these skills can call nothing".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rule::{CompatibilityKind, CompatibilityRule, ComposabilityKind, ComposabilityRule};
    use crate::version::Version;

    /// A skill that allows one tool, with rules written `+other` (requires) and `-other` (excludes).
    fn skill(name: &str, rules: &str) -> Skill {
        let mut skill = Skill::new(name.parse().unwrap(), Version::new(1, 0, 0), "Does it.".to_owned());
        skill.rules.allowed_tools = vec![format!("{name}-tool").parse().unwrap()];
        for (index, rule) in rules.split_whitespace().enumerate() {
            let (wanted, other) = (rule.starts_with('+'), rule[1..].parse().unwrap());
            let reason = Some("because".to_owned());
            if index % 2 == 0 {
                let kind = if wanted { CompatibilityKind::Requires } else { CompatibilityKind::Incompatible };
                skill.rules.compatibility_rules.push(CompatibilityRule { kind, skill: other, reason });
            } else {
                let kind = if wanted { ComposabilityKind::Requires } else { ComposabilityKind::Forbids };
                skill.rules.composability_rules.push(ComposabilityRule { kind, skill: other, reason });
            }
        }
        skill
    }

    #[track_caller]
    fn check(catalog: &[Skill], names: &[&str], expected: Value) {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let report = validate_set(&names, |name| catalog.iter().find(|skill| skill.name.as_str() == name));
        assert_eq!(serde_json::to_value(report).unwrap(), expected);
    }

    #[test]
    fn a_good_set_says_nothing_else() {
        let catalog = [skill("a", "+b"), skill("b", "+a")];
        check(&catalog, &["a", "b", "a"], json!({"valid": true, "errors": [], "warnings": []}));
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let catalog = [skill("a", "+x -b"), skill("b", "-a +y")];
        check(
            &catalog,
            &["nope", "a", "b", "nope"],
            json!({
                "valid": false,
                "errors": [
                    {"code": "UNKNOWN_SKILL", "message": "there is no skill `nope`", "skill": "nope"},
                    {
                        "code": "MISSING_REQUIRED",
                        "message": "`a` requires `x`, which is not in the set: because",
                        "skill": "a"
                    },
                    {
                        "code": "INCOMPATIBLE_SKILLS",
                        "message": "`a` cannot be used together with `b`: because",
                        "skill": "a"
                    },
                    {
                        "code": "MISSING_REQUIRED",
                        "message": "`b` requires `y`, which is not in the set: because",
                        "skill": "b"
                    },
                ],
                "warnings": [],
            }),
        );
    }

    #[test]
    fn an_empty_effective_set_is_valid_but_odd() {
        let mut empty = skill("a", "");
        empty.rules.allowed_tools.clear();
        check(
            &[empty],
            &["a"],
            json!({
                "valid": true,
                "errors": [],
                "warnings": ["no tool is allowed: an agent with these skills can call nothing"],
            }),
        );
    }

    #[test]
    fn a_tool_allowed_here_and_forbidden_there_is_odd() {
        let mut strict = skill("b", "");
        strict.rules.forbidden_tools = vec!["a-*".parse().unwrap()];
        check(
            &[skill("a", ""), strict],
            &["a", "b"],
            json!({
                "valid": true,
                "errors": [],
                "warnings": ["`a-tool` is allowed by `a` but forbidden by `b`: it stays forbidden"],
            }),
        );
    }
}
