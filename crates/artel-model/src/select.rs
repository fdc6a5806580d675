//! Choosing skills for a task: the best matches, with the companions they require, without those they exclude.

use serde::{Serialize, Serializer};

use crate::limit::SELECT_MAX;
use crate::name::SkillName;
use crate::rule::Wants;
use crate::skill::{Reach, Skill};

/// The skills that every coding task gets.
pub const CODING_SKILLS: [&str; 2] = ["specification-engine", "opencode-implementer"];

/// How much a task may put at risk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Risk {
    /// Nothing much.
    Low,
    /// The usual.
    Medium,
    /// A lot: skills that reach beyond their folder are not chosen.
    High,
}

/// A skill that fits the task by its words.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// How well it fits; higher is better.
    pub score: f32,
    /// Why it fits.
    pub reason: String,
}

/// A chosen skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Selected {
    /// The skill.
    pub name: SkillName,
    /// How well it fits; nothing for a companion, which is there because another skill requires it.
    #[serde(serialize_with = "rounded")]
    pub score: Option<f32>,
    /// Why it was chosen.
    pub reason: String,
}

/// A skill that fits but was not chosen.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Rejected {
    /// The skill.
    pub name: SkillName,
    /// Why not.
    pub reason: String,
}

/// The outcome of a selection. The chosen set always validates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Selection {
    /// The chosen skills, best first, companions after the skill that requires them.
    pub selected: Vec<Selected>,
    /// The candidates that were left out.
    pub rejected: Vec<Rejected>,
}

/// Chooses at most `limit` skills among `candidates`, which come best first. `find` knows every skill there is.
pub fn select<'a>(
    candidates: &[Candidate<'a>],
    risk: Risk,
    limit: usize,
    find: impl Fn(&SkillName) -> Option<&'a Skill>,
) -> Selection {
    let limit = limit.min(SELECT_MAX);
    let mut selection = Selection::default();
    let mut chosen: Vec<&Skill> = Vec::new();
    for candidate in candidates {
        if chosen.len() == limit {
            break;
        }
        if chosen.iter().any(|skill| skill.name == candidate.skill.name) {
            continue;
        }
        match with_companions(candidate.skill, &chosen, risk, &find) {
            Ok(group) if chosen.len() + group.len() > limit => {
                let reason = format!("it needs {} skills, more than there is room for", group.len());
                selection.rejected.push(Rejected { name: candidate.skill.name.clone(), reason });
            }
            Ok(group) => {
                for skill in group {
                    selection.selected.push(selected(skill, candidate));
                    chosen.push(skill);
                }
            }
            Err(reason) => selection.rejected.push(Rejected { name: candidate.skill.name.clone(), reason }),
        }
    }
    selection
}

fn selected(skill: &Skill, candidate: &Candidate<'_>) -> Selected {
    if skill.name == candidate.skill.name {
        Selected { name: skill.name.clone(), score: Some(candidate.score), reason: candidate.reason.clone() }
    } else {
        let reason = format!("required by {}", candidate.skill.name);
        Selected { name: skill.name.clone(), score: None, reason }
    }
}

/// Returns a skill and what it requires beyond `chosen`, or why they cannot all be taken.
fn with_companions<'a>(
    skill: &'a Skill,
    chosen: &[&'a Skill],
    risk: Risk,
    find: &impl Fn(&SkillName) -> Option<&'a Skill>,
) -> Result<Vec<&'a Skill>, String> {
    let mut group = vec![skill];
    let mut next = 0;
    while next < group.len() {
        let current = group[next];
        next += 1;
        if risk == Risk::High {
            match current.reach() {
                Reach::Contained => {}
                Reach::Network => {
                    return Err(format!("{} asks for the network, too much at high risk", current.name));
                }
                Reach::WritesOutside => {
                    return Err(format!("{} writes beyond its folder, too much at high risk", current.name));
                }
            }
        }
        for rule in current.rules.companions().filter(|rule| rule.wants == Wants::Present) {
            let is_there = group.iter().chain(chosen).any(|other| other.name == *rule.skill);
            if !is_there {
                let missing = || format!("{} requires {}, which does not exist", current.name, rule.skill);
                group.push(find(rule.skill).ok_or_else(missing)?);
            }
        }
    }
    for (one, other) in pairs(&group, chosen) {
        let excludes = |a: &Skill, b: &Skill| {
            a.rules.companions().any(|rule| rule.wants == Wants::Absent && *rule.skill == b.name)
        };
        if excludes(one, other) || excludes(other, one) {
            return Err(format!("{} cannot be used together with {}", one.name, other.name));
        }
    }
    Ok(group)
}

/// Every pair inside `group`, and between `group` and `chosen`.
fn pairs<'s, 'a>(
    group: &'s [&'a Skill],
    chosen: &'s [&'a Skill],
) -> impl Iterator<Item = (&'a Skill, &'a Skill)> + 's {
    group.iter().enumerate().flat_map(move |(index, one)| {
        group[index + 1..].iter().chain(chosen).map(move |other| (*one, *other))
    })
}

#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn rounded<S: Serializer>(score: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
    match score {
        Some(score) => serializer.serialize_f64((f64::from(*score) * 1000.0).round() / 1000.0),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rule::{CompatibilityKind, CompatibilityRule};
    use crate::set::validate_set;
    use crate::version::Version;

    /// A skill with rules written `+other` (requires) and `-other` (excludes), and `!` for wanting the network.
    fn skill(name: &str, rules: &str) -> Skill {
        let mut skill = Skill::new(name.parse().unwrap(), Version::new(1, 0, 0), "Does it.".to_owned());
        for rule in rules.split_whitespace() {
            let kind = match &rule[..1] {
                "+" => CompatibilityKind::Requires,
                "-" => CompatibilityKind::Incompatible,
                _ => {
                    skill.sandbox.network = true;
                    continue;
                }
            };
            let other = rule[1..].parse().unwrap();
            skill.rules.compatibility_rules.push(CompatibilityRule { kind, skill: other, reason: None });
        }
        skill
    }

    fn choose(catalog: &[Skill], risk: Risk, limit: usize) -> Selection {
        let candidates: Vec<_> =
            catalog.iter().map(|skill| Candidate { skill, score: 1.0, reason: "fits".to_owned() }).collect();
        select(&candidates, risk, limit, |name| catalog.iter().find(|skill| skill.name == *name))
    }

    #[track_caller]
    fn check(catalog: &[Skill], risk: Risk, limit: usize, expected: &[&str]) {
        let selection = choose(catalog, risk, limit);
        let names: Vec<_> = selection.selected.iter().map(|selected| selected.name.as_str()).collect();
        assert_eq!(names, expected, "{:?}", selection.rejected);
    }

    #[test]
    fn companions_come_along_and_enemies_stay_out() {
        check(&[skill("a", "+c"), skill("b", "-a"), skill("c", "")], Risk::Low, 5, &["a", "c"]);
        check(
            &[skill("a", "+c"), skill("b", ""), skill("c", "+d"), skill("d", "")],
            Risk::Low,
            2,
            &["b", "d"],
        );
        check(&[skill("a", "+nope"), skill("b", "")], Risk::Low, 5, &["b"]);
    }

    #[test]
    fn high_risk_drops_what_reaches_far() {
        let catalog = [skill("a", "!"), skill("b", "+a"), skill("c", "")];
        check(&catalog, Risk::High, 5, &["c"]);
        check(&catalog, Risk::Medium, 5, &["a", "b", "c"]);
    }

    proptest! {
        #[test]
        fn a_selection_always_validates(
            rules in prop::collection::vec("([+-][a-f] ){0,3}", 6), limit in 0_usize..8,
        ) {
            let names = ["a", "b", "c", "d", "e", "f"];
            let catalog: Vec<Skill> = names.iter().zip(&rules).map(|(name, rules)| skill(name, rules)).collect();
            let selection = choose(&catalog, Risk::Low, limit);
            prop_assert!(selection.selected.len() <= limit);
            let names: Vec<String> = selection.selected.iter().map(|selected| selected.name.to_string()).collect();
            let report = validate_set(&names, |name| catalog.iter().find(|skill| skill.name.as_str() == name));
            prop_assert!(report.valid, "{:?}", report.errors);
        }
    }
}
