//! What an agent may call: composed from the rules of its skills. Forbidden always wins.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use crate::limit::TOOL_INTERSECTION_MAX;
use crate::name::SkillName;
use crate::skill::Skill;
use crate::tool::{Forbidden, ToolCall, ToolPattern};

/// How the allowed tools of several skills are put together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ComposeMode {
    /// What any skill allows.
    Union,
    /// What every skill allows.
    Strict,
}

/// A tool pattern and the skills that brought it in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grant {
    /// The tools that are meant.
    pub pattern: ToolPattern,
    /// The skills that say so, in the order they were given.
    pub skills: Vec<SkillName>,
}

/// The effective permissions and protocol of a set of skills.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ComposedSkill {
    /// The skills that were composed, duplicates dropped.
    pub skills: Vec<SkillName>,
    /// What may be called.
    #[serde(serialize_with = "patterns")]
    pub allowed_tools: Vec<Grant>,
    /// What may not, whatever is allowed.
    #[serde(serialize_with = "patterns")]
    pub forbidden_tools: Vec<Grant>,
    /// The steps of all protocols, first occurrence kept.
    pub execution_protocol: Vec<String>,
}

/// The answer of a policy to one call.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// It may be made.
    Allowed {
        /// The pattern that allows it.
        pattern: ToolPattern,
        /// The skills that brought the pattern in.
        skills: Vec<SkillName>,
    },
    /// A skill forbids it.
    Forbidden {
        /// The pattern that forbids it.
        pattern: ToolPattern,
        /// The skills that brought the pattern in.
        skills: Vec<SkillName>,
    },
    /// No skill allows it.
    NotAllowed,
}

impl Decision {
    /// Returns the typed code of a refusal.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Allowed { .. } => None,
            Self::Forbidden { .. } => Some("TOOL_FORBIDDEN"),
            Self::NotAllowed => Some("TOOL_NOT_ALLOWED"),
        }
    }
}

/// Composes the rules of `skills`; each skill counts once, at its first place.
///
/// Larger sets than [`crate::limit::SET_SKILLS_MAX`] are refused by [`crate::set::validate_set`].
pub fn compose(skills: &[&Skill], mode: ComposeMode) -> ComposedSkill {
    let mut known: BTreeSet<&SkillName> = BTreeSet::new();
    let distinct: Vec<&Skill> = skills.iter().copied().filter(|skill| known.insert(&skill.name)).collect();
    let forbidden = union(&distinct, |skill| &skill.rules.forbidden_tools);
    let mut allowed = match mode {
        ComposeMode::Union => union(&distinct, |skill| &skill.rules.allowed_tools),
        ComposeMode::Strict => intersection(&distinct),
    };
    let all_forbidden = Forbidden::new(forbidden.iter().map(|grant| (&grant.pattern, ())));
    allowed.retain(|grant| all_forbidden.leaving_nothing_of(&grant.pattern).next().is_none());
    let mut told: BTreeSet<&String> = BTreeSet::new();
    let steps = distinct.iter().flat_map(|skill| &skill.rules.execution_protocol);
    let protocol = steps.filter(|step| told.insert(step)).cloned().collect();
    ComposedSkill {
        skills: distinct.iter().map(|skill| skill.name.clone()).collect(),
        allowed_tools: allowed,
        forbidden_tools: forbidden,
        execution_protocol: protocol,
    }
}

impl ComposedSkill {
    /// Decides whether `call` may be made.
    pub fn check(&self, call: &ToolCall) -> Decision {
        if let Some(grant) = self.forbidden_tools.iter().find(|grant| grant.pattern.forbids(call)) {
            return Decision::Forbidden { pattern: grant.pattern.clone(), skills: grant.skills.clone() };
        }
        match self.allowed_tools.iter().find(|grant| grant.pattern.allows(call)) {
            Some(grant) => Decision::Allowed { pattern: grant.pattern.clone(), skills: grant.skills.clone() },
            None => Decision::NotAllowed,
        }
    }
}

fn union<'a>(skills: &[&'a Skill], list: impl Fn(&'a Skill) -> &'a [ToolPattern]) -> Vec<Grant> {
    let mut grants: Vec<Grant> = Vec::new();
    let mut places: BTreeMap<&ToolPattern, usize> = BTreeMap::new();
    for skill in skills {
        for pattern in list(skill) {
            let place = *places.entry(pattern).or_insert_with(|| {
                grants.push(Grant { pattern: pattern.clone(), skills: Vec::new() });
                grants.len() - 1
            });
            // Each skill comes once, so only its own repetition can be there already.
            if grants[place].skills.last() != Some(&skill.name) {
                grants[place].skills.push(skill.name.clone());
            }
        }
    }
    grants
}

fn intersection(skills: &[&Skill]) -> Vec<Grant> {
    let Some((first, rest)) = skills.split_first() else { return Vec::new() };
    let mut grants = union(&[first], |skill| &skill.rules.allowed_tools);
    for skill in rest {
        let mut narrowed = Vec::new();
        for grant in &grants {
            for pattern in skill.rules.allowed_tools.iter().flat_map(|other| grant.pattern.intersect(other)) {
                if narrowed.len() < TOOL_INTERSECTION_MAX {
                    let mut origin = grant.skills.clone();
                    origin.push(skill.name.clone());
                    add(&mut narrowed, pattern, &origin);
                }
            }
        }
        grants = narrowed;
    }
    grants
}

fn add(grants: &mut Vec<Grant>, pattern: ToolPattern, skills: &[SkillName]) {
    let at = grants.iter().position(|grant| grant.pattern == pattern).unwrap_or_else(|| {
        grants.push(Grant { pattern, skills: Vec::new() });
        grants.len() - 1
    });
    for skill in skills {
        if !grants[at].skills.contains(skill) {
            grants[at].skills.push(skill.clone());
        }
    }
}

fn patterns<S: Serializer>(grants: &[Grant], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(grants.iter().map(|grant| &grant.pattern))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::rule::Rules;
    use crate::version::Version;

    fn skill(name: &str, allowed: &[&str], forbidden: &[&str], protocol: &[&str]) -> Skill {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Skill {
            rules: Rules {
                allowed_tools: parse(allowed),
                forbidden_tools: parse(forbidden),
                execution_protocol: protocol.iter().map(ToString::to_string).collect(),
                ..Rules::default()
            },
            ..Skill::new(name.parse().unwrap(), Version::new(1, 0, 0), "Does it.".to_owned())
        }
    }

    fn coding_skills() -> [Skill; 2] {
        [
            skill(
                "specification-engine",
                &["specKit"],
                &[],
                &["analyze-task", "generate-spec", "validate-spec"],
            ),
            skill(
                "opencode-implementer",
                &["opencode-executor"],
                &["write", "edit"],
                &["read-spec", "implement", "verify"],
            ),
        ]
    }

    #[test]
    fn the_two_coding_skills_compose_as_promised() {
        let [first, second] = &coding_skills();
        let composed = compose(&[first, second], ComposeMode::Union);
        assert_eq!(
            serde_json::to_value(&composed).unwrap(),
            json!({
                "skills": ["specification-engine", "opencode-implementer"],
                "allowed_tools": ["specKit", "opencode-executor"],
                "forbidden_tools": ["write", "edit"],
                "execution_protocol": [
                    "analyze-task", "generate-spec", "validate-spec", "read-spec", "implement", "verify"
                ],
            })
        );
    }

    #[test]
    fn strict_is_the_intersection() {
        let a = skill("a", &["Read", "Bash(git:*)", "solid.*"], &[], &[]);
        let b = skill("b", &["Read", "Bash", "*.extrude"], &["Read"], &[]);
        let composed = compose(&[&a, &b], ComposeMode::Strict);
        let names: Vec<_> = composed.allowed_tools.iter().map(|grant| grant.pattern.to_string()).collect();
        assert_eq!(names, ["Bash(git:*)", "solid.*.extrude", "solid.extrude"]);
        assert_eq!(composed.check(&"solid.extrude".parse().unwrap()).code(), None);
        assert_eq!(composed.check(&"solid.revolve".parse().unwrap()).code(), Some("TOOL_NOT_ALLOWED"));
        assert_eq!(composed.check(&"Read".parse().unwrap()).code(), Some("TOOL_FORBIDDEN"));
    }

    #[test]
    fn nothing_composes_to_nothing() {
        for mode in [ComposeMode::Union, ComposeMode::Strict] {
            let composed = compose(&[], mode);
            assert_eq!(composed.check(&"Read".parse().unwrap()), Decision::NotAllowed);
        }
    }

    #[test]
    fn a_decision_names_who_decided() {
        let a = skill("a", &["write"], &[], &[]);
        let b = skill("b", &["Read"], &["write"], &[]);
        let composed = compose(&[&a, &b, &a], ComposeMode::Union);
        assert_eq!(composed.skills.len(), 2);
        let decision = composed.check(&"write".parse().unwrap());
        assert_eq!(
            decision,
            Decision::Forbidden { pattern: "write".parse().unwrap(), skills: vec!["b".parse().unwrap()] }
        );
    }

    fn any_skills() -> impl Strategy<Value = Vec<Skill>> {
        let tools = || prop::collection::vec("[ab]\\*?(\\([ab]:\\*\\))?|\\*|[abc]{1,2}", 0..4);
        prop::collection::vec((tools(), tools()), 0..5).prop_map(|rules| {
            rules
                .iter()
                .enumerate()
                .map(|(index, (allowed, forbidden))| {
                    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
                    let forbidden: Vec<&str> = forbidden.iter().map(String::as_str).collect();
                    skill(&format!("s{index}"), &allowed, &forbidden, &[])
                })
                .collect()
        })
    }

    fn any_call() -> impl Strategy<Value = ToolCall> {
        "[abc]{1,3}(\\([abc ]{0,3}\\))?".prop_filter_map("a call", |text| text.parse().ok())
    }

    fn set(grants: &[Grant]) -> std::collections::BTreeSet<String> {
        grants.iter().map(|grant| grant.pattern.to_string()).collect()
    }

    proptest! {
        #[test]
        fn the_order_of_skills_does_not_change_permissions(
            (skills, shuffled) in any_skills()
                .prop_flat_map(|skills| (Just(skills.clone()), Just(skills).prop_shuffle())),
            call in any_call(),
        ) {
            for mode in [ComposeMode::Union, ComposeMode::Strict] {
                let one = compose(&skills.iter().collect::<Vec<_>>(), mode);
                let other = compose(&shuffled.iter().collect::<Vec<_>>(), mode);
                prop_assert_eq!(one.check(&call).code(), other.check(&call).code());
                prop_assert_eq!(set(&one.forbidden_tools), set(&other.forbidden_tools));
                if mode == ComposeMode::Union {
                    prop_assert_eq!(set(&one.allowed_tools), set(&other.allowed_tools));
                }
            }
        }

        #[test]
        fn what_any_skill_forbids_never_passes(skills in any_skills(), call in any_call()) {
            let forbidden = skills.iter().flat_map(|skill| &skill.rules.forbidden_tools).any(|p| p.forbids(&call));
            let allowed_by = |skill: &Skill| skill.rules.allowed_tools.iter().any(|pattern| pattern.allows(&call));
            let union = compose(&skills.iter().collect::<Vec<_>>(), ComposeMode::Union).check(&call);
            let strict = compose(&skills.iter().collect::<Vec<_>>(), ComposeMode::Strict).check(&call);
            prop_assert_eq!(union.code().is_none(), !forbidden && skills.iter().any(allowed_by));
            prop_assert_eq!(
                strict.code().is_none(),
                !forbidden && !skills.is_empty() && skills.iter().all(allowed_by)
            );
        }
    }
}
