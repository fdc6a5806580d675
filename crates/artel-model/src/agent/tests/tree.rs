//! Any tree of agents: nobody can do more than whoever is above, and nothing that was ever forbidden passes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{World, agent_id, patterns, skill};
use crate::agent::{AgentRecord, Layer, Parent, Policy, Role, ToolUse};
use crate::limit::AGENT_DEPTH_MAX;
use crate::policy::{ComposeMode, compose};
use crate::skill::Skill;
use crate::tool::{ToolCall, ToolPattern};

/// How one agent of a tree is spawned: below which earlier one, with which skills, in which role.
#[derive(Clone, Debug)]
struct Plan {
    parent: Option<prop::sample::Index>,
    skills: Option<Vec<usize>>,
    has_role: bool,
}

const SKILLS: usize = 5;

fn any_tools() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[abA]\\*?(\\([ab]:\\*\\))?|\\*|[abc]{1,2}(/[ab])?|[ab]\\.[*ab]", 0..4)
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn any_world() -> impl Strategy<Value = World> {
    let rules = || (any_tools(), any_tools());
    (prop::collection::vec(rules(), SKILLS), rules(), any_tools()).prop_map(|(skills, role, default)| {
        let made = |(number, (allowed, forbidden)): (usize, &(Vec<String>, Vec<String>))| {
            skill(&format!("s{number}"), &texts(allowed), &texts(forbidden))
        };
        World {
            skills: skills.iter().enumerate().map(made).collect(),
            roles: vec![Role {
                name: "role".parse().unwrap(),
                allowed: patterns(&texts(&role.0)),
                forbidden: patterns(&texts(&role.1)),
            }],
            default: Layer::configured(&patterns(&texts(&default)), &[]),
            viewer: None,
        }
    })
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let skills = prop::option::of(prop::collection::vec(0..SKILLS, 0..4));
    (prop::option::weighted(0.8, any::<prop::sample::Index>()), skills, any::<bool>())
        .prop_map(|(parent, skills, has_role)| Plan { parent, skills, has_role })
}

fn any_names() -> impl Strategy<Value = Vec<ToolCall>> {
    let call = "[abcABC]{1,2}([/.][ab])?(\\([abc ]{0,3}\\))?";
    prop::collection::vec(call.prop_filter_map("a call", |text| text.parse().ok()), 1..3)
}

/// Spawns a tree; what is too deep hangs from nothing.
fn grow(world: &World, plans: &[Plan]) -> Vec<(AgentRecord, Option<usize>)> {
    let mut tree: Vec<(AgentRecord, Option<usize>)> = Vec::new();
    for plan in plans {
        let above = plan.parent.filter(|_| !tree.is_empty()).map(|index| index.index(tree.len()));
        let above = above.filter(|&place| tree[place].0.spec.depth < AGENT_DEPTH_MAX);
        let mut request = json!({});
        if let Some(skills) = &plan.skills {
            request["skills"] = skills.iter().map(|number| format!("s{number}")).collect::<Value>();
        }
        if plan.has_role {
            request["role"] = json!("role");
        }
        let parent = above.map_or(Parent::None, |place| Parent::Agent(&tree[place].0));
        let record = world.spawn(tree.len() as u128 + 1, request, parent);
        tree.push((record, above));
    }
    tree
}

/// What the skills and roles of an agent and of everybody above it forbid.
fn forbidden_above<'w>(
    world: &'w World,
    tree: &[(AgentRecord, Option<usize>)],
    plans: &[Plan],
    place: usize,
) -> Vec<&'w ToolPattern> {
    let line = std::iter::successors(Some(place), |&place| tree[place].1);
    let of_skill = |&number: &usize| &world.skills[number];
    let skills =
        |place: usize| plans[place].skills.iter().flatten().map(of_skill).collect::<Vec<&'w Skill>>();
    line.flat_map(|place| {
        let is_in_force =
            plans[place].has_role && plans[place].skills.as_ref().is_none_or(|list| !list.is_empty());
        let role = is_in_force.then_some(&world.roles[0].forbidden);
        skills(place)
            .into_iter()
            .map(|skill| &skill.rules.forbidden_tools)
            .chain(role)
            .flatten()
            .collect::<Vec<_>>()
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nobody_can_do_more_than_whoever_is_above(
        world in any_world(),
        plans in prop::collection::vec(any_plan(), 1..8),
        calls in prop::collection::vec(any_names(), 1..8),
    ) {
        let tree = grow(&world, &plans);
        for (place, (record, above)) in tree.iter().enumerate() {
            let policy = &record.spec.policy;
            let forbidden = forbidden_above(&world, &tree, &plans, place);
            for names in &calls {
                if !policy.allows(names) {
                    continue;
                }
                if let Some(above) = above {
                    prop_assert!(tree[*above].0.spec.policy.allows(names), "more than its parent: {:?}", names);
                }
                let by = forbidden.iter().find(|pattern| names.iter().any(|name| pattern.forbids(name)));
                prop_assert!(by.is_none(), "{:?} is forbidden by {:?}", names, by);
                prop_assert!(plans[place].skills.as_ref().is_none_or(|list| !list.is_empty()));
            }
            let kept: Policy = serde_json::from_value(serde_json::to_value(policy).unwrap()).unwrap();
            prop_assert_eq!(&kept, policy);
        }
    }

    /// What is decided is exactly what the rules say: allowed by every layer under some name, forbidden by none.
    #[test]
    fn a_single_agent_may_do_what_its_skills_say(
        world in any_world(),
        chosen in prop::collection::vec(0..SKILLS, 1..4),
        call in any_names(),
    ) {
        let plan = Plan { parent: None, skills: Some(chosen.clone()), has_role: false };
        let tree = grow(&world, &[plan]);
        let rules = || chosen.iter().map(|&number| &world.skills[number].rules);
        let allowed = rules().flat_map(|rules| &rules.allowed_tools).any(|p| call.iter().any(|name| p.allows(name)));
        let forbidden = rules().flat_map(|rules| &rules.forbidden_tools).any(|p| call.iter().any(|name| p.forbids(name)));
        prop_assert_eq!(tree[0].0.spec.policy.allows(&call), allowed && !forbidden);
    }
}

/// Every name that a script of the skill `a` goes by: as a script, in a version, in another case.
fn any_part_of_a() -> impl Strategy<Value = ToolUse> {
    let name = "[aA](@[0-9]\\.[0-9])?(/[abAB](@[0-9])?)?(\\([ab ]{0,3}\\))?";
    let script = ("[ab]", any::<bool>()).prop_map(|(script, is_entrypoint)| {
        ToolUse::script(&"a".parse().unwrap(), &script.parse().unwrap(), is_entrypoint)
    });
    prop_oneof![
        name.prop_map(|text| ToolUse::named(&text).unwrap()),
        script,
        Just(ToolUse::skill(&"a".parse().unwrap())),
    ]
}

proptest! {
    /// Whatever else any layer says, above or below, nothing of a skill that one layer forbids is called.
    #[test]
    fn nothing_of_a_forbidden_skill_is_called(
        layers in prop::collection::vec((any_tools(), any_tools()), 1..4),
        forbidding in any::<prop::sample::Index>(),
        word in "[aA]",
        tool in any_part_of_a(),
    ) {
        let place = forbidding.index(layers.len());
        let mut policy = Policy::default();
        for (number, (allowed, forbidden)) in layers.iter().enumerate() {
            let mut forbidden = texts(forbidden);
            if number == place {
                forbidden.push(&word);
            }
            let own = Layer::configured(&patterns(&texts(allowed)), &patterns(&forbidden));
            let above = (number > 0).then_some((agent_id(1), &policy));
            policy = Policy::attenuate(above, vec![own]);
        }
        prop_assert!(policy.forbids(tool.names()), "{tool}");
    }

    /// The same for the rules of skills that are put together, in both modes.
    #[test]
    fn nothing_of_a_forbidden_skill_is_composed(
        rules in prop::collection::vec((any_tools(), any_tools()), 1..4), tool in any_part_of_a(), strict in any::<bool>(),
    ) {
        let made = |(number, (allowed, forbidden)): (usize, &(Vec<String>, Vec<String>))| {
            let mut forbidden = texts(forbidden);
            if number == 0 {
                forbidden.push("a");
            }
            skill(&format!("s{number}"), &texts(allowed), &forbidden)
        };
        let skills: Vec<Skill> = rules.iter().enumerate().map(made).collect();
        let skills: Vec<&Skill> = skills.iter().collect();
        let composed = compose(&skills, if strict { ComposeMode::Strict } else { ComposeMode::Union });
        for name in tool.names() {
            prop_assert_eq!(composed.check(name).code(), Some("TOOL_FORBIDDEN"));
        }
        let policy = Policy::attenuate(None, vec![Layer::given(&composed, None)]);
        prop_assert!(policy.forbids(tool.names()), "{tool}");
    }
}
