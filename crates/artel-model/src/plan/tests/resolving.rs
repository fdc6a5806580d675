//! What a document becomes, and what is said about one that cannot run.

use serde_json::{Value, json};

use super::world::{PLAN_ID, World, document, refused, resolved, shape};
use crate::limit::PLAN_TOOLS_MAX;
use crate::plan::{
    Concurrency, FailureReason, Importance, RetryRule, Stand, Work, failure_reason, resolve_text,
    resolve_value,
};

#[track_caller]
fn check(tools: Value, expected: &[&str]) {
    refused(&document(tools), &World::usual(), expected);
}

#[test]
fn tools_become_exact_scripts() {
    let plan = resolved(
        json!([
            {"toolId": "go", "skill": "move", "input": {"location": "kitchen"}, "dependencies": ["look", "look"]},
            {"toolId": "look", "skill": "detect@1", "script": "quick", "input": {"area": 1}, "async": true,
             "required": false, "retryPolicy": {"maxRetries": 1}, "timeoutMs": 99},
            {"toolId": "hold", "toolPath": "skills/grasp/run.sh"},
        ]),
        &World::usual(),
    );
    assert_eq!(shape(&plan), ["go move/run < look=look", "look detect/quick", "hold grasp/run"]);
    assert_eq!(plan.order(), [1, 0, 2]);
    assert_eq!(plan.parts().concurrency, Concurrency::Sequential);
    let [go, look, hold] = plan.steps() else { panic!("three steps") };
    assert_eq!(go.retry, RetryRule { max_retries: 3, backoff_ms: 100 });
    assert_eq!((go.timeout_ms, go.importance, go.stand), (7000, Importance::Required, Stand::Alone));
    assert_eq!(Value::Object(go.input.clone()), json!({"location": "kitchen", "speed": 1}));
    assert_eq!(look.retry, RetryRule { max_retries: 1, backoff_ms: 100 });
    assert_eq!((look.timeout_ms, look.importance, look.stand), (99, Importance::Optional, Stand::Beside));
    let (Work::Script(look), Work::Script(hold)) = (&look.work, &hold.work) else { panic!("two scripts") };
    assert_eq!((look.tool_path.as_str(), look.idempotent), ("skills/quick.sh", true));
    assert_eq!(look.version.to_string(), "1.0.0");
    assert_eq!((hold.tool_path.as_str(), hold.idempotent), ("skills/grasp/run.sh", false));
    assert_eq!(hold.content_hash, "sha256:0");
}

#[test]
fn a_script_has_its_own_timeout() {
    let plan = resolved(
        json!([{"toolId": "a", "skill": "detect@1.0.0", "script": "quick", "input": {"area": 1}},
               {"toolId": "b", "skill": "grasp"}]),
        &World::usual(),
    );
    assert_eq!([plan.steps()[0].timeout_ms, plan.steps()[1].timeout_ms], [2000, 30_000]);
}

#[test]
fn only_known_skills_that_may_run_do() {
    check(
        json!([
            {"toolId": "1", "skill": "mover"},
            {"toolId": "2", "skill": "zzz"},
            {"toolId": "3", "skill": "move@3.0.0"},
            {"toolId": "4", "skill": "detect", "script": "slow"},
            {"toolId": "5", "skill": "many"},
            {"toolId": "6", "skill": "advice"},
            {"toolId": "7", "skill": "locked"},
            {"toolId": "8", "skill": "off"},
            {"toolId": "9", "skill": "broken"},
        ]),
        &[
            "unknown_skill /tools/0/skill: there is no skill `mover`",
            "unknown_skill /tools/1/skill: there is no skill `zzz`",
            "unknown_skill /tools/2/skill: there is no version 3.0.0 of skill `move`",
            "unknown_script /tools/3/script: skill `detect` has no script `slow`",
            "no_entrypoint /tools/4/skill: skill `many` does not say which of its scripts runs",
            "no_entrypoint /tools/5/skill: skill `advice` has nothing to run",
            "not_executable /tools/6/skill: script `run` of `locked` is not executable",
            "skill_disabled /tools/7/skill: skill `off` is disabled",
            "skill_unhealthy /tools/8/skill: skill `broken` failed too often and is not run",
        ],
    );
    let left_out = json!({"requestId": PLAN_ID, "disabledSkills": ["grasp"], "tools": [{"toolId": "a", "skill": "grasp"}]});
    refused(
        &left_out,
        &World::usual(),
        &["skill_disabled /tools/0/skill: skill `grasp` is among the plan's `disabledSkills`"],
    );
    let hints = resolve_value(
        &document(json!([{"toolId": "1", "skill": "mover"}, {"toolId": "2", "skill": "many"}])),
        &World::usual(),
    );
    let hints: Vec<_> = hints.unwrap_err().into_iter().map(|problem| problem.hint.unwrap()).collect();
    assert_eq!(hints, ["did you mean `many`?", "name one; scripts are: one, two"]);
}

#[test]
fn a_path_leads_to_a_script_of_a_skill_or_nowhere() {
    check(
        json!([
            {"toolId": "1", "toolPath": "/bin/sh"},
            {"toolId": "2", "toolPath": "skills/move/SKILL.md"},
            {"toolId": "3", "toolPath": "skills/nothing/run.sh"},
            {"toolId": "4", "toolPath": "skills/locked/run.sh"},
            {"toolId": "5", "toolPath": "skills/off/run.sh"},
            {"toolId": "6", "toolPath": "skills/broken/run.sh"},
        ]),
        &[
            "not_a_discovered_script /tools/0/toolPath: `/bin/sh` is outside all skills",
            "not_a_discovered_script /tools/1/toolPath: `skills/move/SKILL.md` is a file of a skill, but none of its scripts",
            "not_a_discovered_script /tools/2/toolPath: `skills/nothing/run.sh` does not exist",
            "not_executable /tools/3/toolPath: `skills/locked/run.sh` is not executable",
            "skill_disabled /tools/4/toolPath: skill `off` is disabled",
            "skill_unhealthy /tools/5/toolPath: skill `broken` failed too often and is not run",
        ],
    );
}

#[test]
fn inputs_are_checked_before_anything_runs() {
    check(
        json!([
            {"toolId": "a", "skill": "move", "input": {"location": 1, "speed": 9}},
            {"toolId": "b", "skill": "move", "input": {}},
            {"toolId": "c", "skill": "move", "dependencies": ["a"], "input": {"location": "${a.output.x}", "speed": "v${a.output.x}"}},
            {"toolId": "d", "skill": "move", "dependencies": ["a"], "input": {"location": "$${a}", "speed": "${a.output.x}"}},
        ]),
        &[
            "invalid_input /tools/0/input/location: 1 is not of type \"string\"",
            "invalid_input /tools/0/input/speed: 9 is greater than the maximum of 5",
            "invalid_input /tools/1/input: \"location\" is a required property",
            "invalid_input /tools/2/input/speed: \"v\" is not of type \"number\"",
        ],
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let text = json!({"requestId": 1, "tools": [
        {"toolId": "a", "skill": "move", "input": 7},
        {"toolId": "b", "skill": "nothing", "dependencies": ["a", "c", "x"], "input": {"x": "${a.output} ${z.output}"}},
        {"toolId": "c", "skill": "grasp", "dependencies": ["b"], "input": {"x": "${"}},
        {"toolId": "c", "skill": "grasp"},
    ]});
    refused(
        &text,
        &World::usual(),
        &[
            "wrong_type /requestId: must be a text, not a number",
            "wrong_type /tools/0/input: must be an object, not a number",
            "duplicate_tool_id /tools/3/toolId: `c` is the id of /tools/2 already",
            "unknown_dependency /tools/1/dependencies/2: there is no tool `x` in this plan",
            "cycle /tools/1/dependencies/1: tools wait for each other: b \u{2192} c \u{2192} b",
            "invalid_reference /tools/1/input/x: `${z.output}` names no tool of this plan",
            "invalid_reference /tools/2/input/x: `${` is not a reference",
            "unknown_skill /tools/1/skill: there is no skill `nothing`",
        ],
    );
}

#[test]
fn a_plan_of_rings_never_runs() {
    let ring = document(json!([
        {"toolId": "a", "skill": "grasp", "dependencies": ["b"]},
        {"toolId": "b", "skill": "grasp", "dependencies": ["a"]},
    ]));
    let problems = resolve_text(&ring.to_string(), &World::usual()).unwrap_err();
    assert_eq!(failure_reason(&problems), FailureReason::CircularDependency);
    let own = document(json!([{"toolId": "a", "skill": "grasp", "dependencies": ["a"]}]));
    let problems = resolve_value(&own, &World::usual()).unwrap_err();
    assert_eq!(failure_reason(&problems), FailureReason::CircularDependency);
}

#[test]
fn a_plan_may_have_as_many_tools_as_it_may() {
    let tool = |place: usize| {
        let dependencies: Vec<String> =
            (place.saturating_sub(3)..place).map(|before| before.to_string()).collect();
        json!({"toolId": place.to_string(), "skill": "move", "dependencies": dependencies,
               "input": {"location": if place == 0 { "x".to_owned() } else { "${0.output.x}".to_owned() }}})
    };
    let tools: Vec<Value> = (0..PLAN_TOOLS_MAX).map(tool).collect();
    let plan = resolved(json!(tools), &World::usual());
    assert_eq!(plan.steps().len(), PLAN_TOOLS_MAX);
    assert!(plan.order().iter().enumerate().all(|(position, &step)| position == step));
}
