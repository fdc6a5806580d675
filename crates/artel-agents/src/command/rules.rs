//! A layered policy as two plain lists, for clients that know nothing of layers. Never wider than the policy.

use std::collections::BTreeSet;

use artel_model::agent::{Layer, LayerGrant, Policy};
use artel_model::tool::ToolPattern;

/// Patterns that are made of the layers of a policy; what is more is left out, so that the lists are never too wide.
const PATTERNS_MAX: usize = 1000;

/// What a policy allows and forbids, without its layers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EffectiveRules {
    /// What every layer allows, sorted; nothing in it is forbidden as a whole.
    pub allowed: Vec<ToolPattern>,
    /// What any layer forbids, sorted.
    pub forbidden: Vec<ToolPattern>,
}

impl EffectiveRules {
    /// Returns what a policy comes to: what all layers allow, and what any of them forbids.
    pub fn of(policy: &Policy) -> Self {
        let forbidden: BTreeSet<ToolPattern> =
            policy.layers().iter().flat_map(|layer| patterns(&layer.forbidden)).collect();
        let mut layers = policy.layers().iter();
        let first: BTreeSet<ToolPattern> =
            layers.next().map(|layer| patterns(&layer.allowed).collect()).unwrap_or_default();
        let all = layers.fold(first, |allowed, layer| intersection(&allowed, layer));
        let is_left = |pattern: &ToolPattern| !forbidden.iter().any(|other| other.forbids_all(pattern));
        let left: Vec<ToolPattern> = all.into_iter().filter(is_left).collect();
        Self { allowed: without_covered(&left), forbidden: forbidden.into_iter().collect() }
    }
}

fn patterns(grants: &[LayerGrant]) -> impl Iterator<Item = ToolPattern> {
    grants.iter().map(|grant| grant.pattern.clone())
}

fn intersection(allowed: &BTreeSet<ToolPattern>, layer: &Layer) -> BTreeSet<ToolPattern> {
    let both = allowed
        .iter()
        .flat_map(|pattern| layer.allowed.iter().flat_map(|grant| pattern.intersect(&grant.pattern)));
    let mut found = BTreeSet::new();
    for pattern in both {
        if found.len() >= PATTERNS_MAX {
            break;
        }
        found.insert(pattern);
    }
    found
}

/// Leaves out what another pattern means too.
fn without_covered(patterns: &[ToolPattern]) -> Vec<ToolPattern> {
    let mut kept: Vec<ToolPattern> = Vec::new();
    for (index, pattern) in patterns.iter().enumerate() {
        let later = patterns[index + 1..].iter().any(|other| other.covers(pattern));
        if !later && !kept.iter().any(|other| other.covers(pattern)) {
            kept.push(pattern.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use artel_model::id::AgentId;
    use artel_model::tool::ToolCall;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn layer(allowed: &[String], forbidden: &[String]) -> Layer {
        let parse = |texts: &[String]| -> Vec<ToolPattern> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        Layer::configured(&parse(allowed), &parse(forbidden))
    }

    fn policy(layers: &[(Vec<String>, Vec<String>)]) -> Policy {
        let mut policy: Option<Policy> = None;
        for (allowed, forbidden) in layers {
            let parent = policy.as_ref().map(|policy| (AgentId(Uuid::nil()), policy));
            policy = Some(Policy::attenuate(parent, vec![layer(allowed, forbidden)]));
        }
        policy.unwrap_or_default()
    }

    #[track_caller]
    fn check(layers: &[(&[&str], &[&str])], allowed: &[&str], forbidden: &[&str]) {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let layers: Vec<_> =
            layers.iter().map(|(allowed, forbidden)| (owned(allowed), owned(forbidden))).collect();
        let rules = EffectiveRules::of(&policy(&layers));
        let shown = |patterns: &[ToolPattern]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!((shown(&rules.allowed), shown(&rules.forbidden)), (owned(allowed), owned(forbidden)));
    }

    #[test]
    fn layers_become_two_lists() {
        check(&[], &[], &[]);
        check(&[(&["Read", "Bash(git:*)"], &["Write"])], &["Bash(git:*)", "Read"], &["Write"]);
        check(&[(&["*"], &[]), (&["Read"], &["write"])], &["Read"], &["write"]);
        check(
            &[(&["Bash(git:*)"], &["Bash(git push:*)"]), (&["Bash"], &[])],
            &["Bash(git:*)"],
            &["Bash(git push:*)"],
        );
        check(&[(&["Read"], &[]), (&["Write"], &[])], &[], &[]);
        check(&[(&["*", "Read"], &[])], &["*"], &[]);
        check(&[(&["Read", "write"], &["WRITE"])], &["Read"], &["WRITE"]);
        check(&[(&["Read"], &[]), (&[], &[])], &[], &[]);
    }

    fn any_layers() -> impl Strategy<Value = Vec<(Vec<String>, Vec<String>)>> {
        let tools = || prop::collection::vec("[ab]\\*?(\\([ab]:\\*\\))?|\\*|[abc]{1,2}", 0..4);
        prop::collection::vec((tools(), tools()), 0..4)
    }

    proptest! {
        #[test]
        fn the_lists_say_what_the_layers_say(layers in any_layers(), call in "[abc]{1,3}(\\([abc ]{0,3}\\))?") {
            let Ok(call) = call.parse::<ToolCall>() else { return Ok(()) };
            let policy = policy(&layers);
            let rules = EffectiveRules::of(&policy);
            let allows = rules.allowed.iter().any(|pattern| pattern.allows(&call))
                && !rules.forbidden.iter().any(|pattern| pattern.forbids(&call));
            prop_assert_eq!(allows, policy.allows(&[call]));
        }
    }
}
