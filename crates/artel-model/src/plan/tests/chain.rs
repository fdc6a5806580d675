//! Plans for one skill, alone and with all it depends on.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::world::{PLAN_ID, World, bare, composite, object, script, shape, texts};
use crate::composite::ErrorPolicy;
use crate::plan::{ChainRequest, Plan, PlanProblem, RetryRule, SkillRequest, chain_plan, skill_plan};
use crate::skill::Skill;

fn run(skill: &str, script: Option<&str>, params: Value) -> Result<Plan, Vec<PlanProblem>> {
    let script = script.map(|script| script.parse().unwrap());
    let request = SkillRequest {
        id: PLAN_ID.parse().unwrap(),
        skill: &skill.parse().unwrap(),
        script: script.as_ref(),
        params: object(params),
    };
    let fan = composite("fan", &["a: grasp <", "b: grasp <"], ErrorPolicy::Abort);
    skill_plan(request, &World::usual().with(fan))
}

fn needing(mut skill: Skill, dependencies: &[&str]) -> Skill {
    skill.dependencies = dependencies.iter().map(|text| text.parse().unwrap()).collect();
    skill
}

fn chain(skills: Vec<Skill>, skill: &str, params: Value) -> Result<Plan, Vec<PlanProblem>> {
    let world = World::new(skills);
    let params: BTreeMap<_, _> =
        object(params).into_iter().map(|(name, params)| (name.parse().unwrap(), object(params))).collect();
    let request = ChainRequest { id: PLAN_ID.parse().unwrap(), skill: &skill.parse().unwrap(), params };
    chain_plan(&request, &world.registry(), &world)
}

#[test]
fn a_skill_runs_as_a_plan_of_its_own() {
    let plan = run("move", None, json!({"location": "${HOME} $${x}"})).unwrap();
    assert_eq!(shape(&plan), ["move move/run"]);
    assert_eq!(plan.id().to_string(), PLAN_ID);
    assert_eq!(plan.steps()[0].retry, RetryRule { max_retries: 2, backoff_ms: 50 });
    // Parameters are no references, whatever they look like.
    assert_eq!(plan.steps()[0].input["location"], "$${HOME} $$${x}");
    assert_eq!(
        shape(&run("detect@1.0.0", Some("quick"), json!({"area": 1})).unwrap()),
        ["detect detect/quick"]
    );
    assert_eq!(
        shape(&run("fan", None, json!({})).unwrap()),
        ["fan [fan] < a=fan/a, b=fan/b", "fan/a grasp/run", "fan/b grasp/run"]
    );
}

#[test]
fn what_is_wrong_with_a_skill_is_told() {
    let check = |skill: &str, params: Value, expected: &[&str]| {
        assert_eq!(texts(&run(skill, None, params).unwrap_err()), expected);
    };
    check(
        "move",
        json!({"speed": "x"}),
        &[
            "invalid_input /params/speed: \"x\" is not of type \"number\"",
            "invalid_input /params: \"location\" is a required property",
        ],
    );
    check("zz", json!({}), &["unknown_skill /skill: there is no skill `zz`"]);
    check("advice", json!({}), &["no_entrypoint /skill: skill `advice` has nothing to run"]);
}

#[test]
fn a_chain_runs_dependencies_first() {
    let skills = || {
        vec![
            script("navigate", &["run"]),
            needing(script("detect", &["run"]), &["navigate"]),
            needing(script("grasp", &["run"]), &["detect"]),
        ]
    };
    let params = json!({"navigate": {"location": "kitchen"}, "grasp": {"thing": "${detect.output.objects.0}", "at": "${navigate.output.x}"}});
    let plan = chain(skills(), "grasp", params).unwrap();
    assert_eq!(
        shape(&plan),
        ["navigate navigate/run", "detect detect/run < navigate=navigate", "grasp grasp/run < detect=detect"]
    );
    assert_eq!(plan.steps()[0].input["location"], "kitchen");
    assert!(plan.steps()[1].input.is_empty());
    let wrong = json!({"detect": {"x": "${grasp.output.y}"}, "other": {}});
    assert_eq!(
        texts(&chain(skills(), "grasp", wrong).unwrap_err()),
        [
            "unknown_skill /params/other: `other` does not run in this chain",
            "reference_not_a_dependency /params/detect/x: `${grasp.output.y}` names a tool that `detect` does not wait for",
        ]
    );
}

#[test]
fn what_only_holds_instructions_is_left_out() {
    let skills = vec![
        script("navigate", &["run"]),
        needing(bare("manners"), &["navigate"]),
        needing(script("grasp", &["run"]), &["manners"]),
        needing(bare("advice"), &["grasp"]),
    ];
    let plan = chain(skills.clone(), "grasp", json!({})).unwrap();
    assert_eq!(shape(&plan), ["navigate navigate/run", "grasp grasp/run < navigate"]);
    let problems = chain(skills, "advice", json!({})).unwrap_err();
    assert_eq!(texts(&problems), ["no_entrypoint /skill: skill `advice` has nothing to run"]);
}

#[test]
fn two_versions_of_a_skill_are_told_apart() {
    let old = script("b", &["run"]);
    let new = Skill { version: "2.0.0".parse().unwrap(), ..script("b", &["run"]) };
    let skills = vec![
        old,
        new,
        needing(script("c", &["run"]), &["b@^1"]),
        needing(script("a", &["run"]), &["c", "b"]),
    ];
    let plan = chain(skills, "a", json!({"b": {"x": 1}})).unwrap();
    assert_eq!(
        shape(&plan),
        ["b@1.0.0 b/run", "c c/run < b=b@1.0.0", "b@2.0.0 b/run", "a a/run < c=c, b=b@2.0.0"]
    );
}

#[test]
fn a_chain_that_does_not_work_out_is_refused() {
    let check = |skills: Vec<Skill>, expected: &str| {
        assert_eq!(texts(&chain(skills, "a", json!({})).unwrap_err()), [expected]);
    };
    let a = |needs: &[&str]| needing(script("a", &["run"]), needs);
    check(vec![], "unknown_skill : there is no skill `a`");
    check(vec![a(&["b"])], "unresolved_chain : `a` depends on `b`, which does not exist");
    check(
        vec![a(&["off"]), script("off", &["run"])],
        "skill_disabled : `a` depends on `off`, which is disabled",
    );
    check(
        vec![a(&["b"]), needing(script("b", &["run"]), &["a"])],
        "cycle : circular dependency: a \u{2192} b \u{2192} a",
    );
    check(
        vec![a(&["broken"]), script("broken", &["run"])],
        "skill_unhealthy /skill: skill `broken` failed too often and is not run",
    );
}
