//! Composites become steps of the plan they are in.

use serde_json::{Value, json};

use super::world::{World, composite, document, fallback, refused, resolved, shape};
use crate::composite::{ErrorPolicy, Fallback};
use crate::limit::{COMPOSITE_DEPTH_MAX, PLAN_TOOLS_MAX};
use crate::plan::{Approval, ErrorRule, Importance, Plan, RetryRule, Stand, Work, resolve_value};
use crate::schema::Schema;

const FETCH: &[&str] = &[
    r#"go: move = {"location": "${request.place}"}"#,
    r#"look: detect ? = {"near": "${go.output.position}"}"#,
    r#"hold: grasp ! = {"thing": "${look.output.objects.0}"}"#,
];

fn fetch(on_failure: ErrorPolicy) -> World {
    World::usual().with(composite("fetch", FETCH, on_failure))
}

fn one(world: &World) -> Plan {
    resolved(json!([{"toolId": "f", "skill": "fetch", "input": {"place": "x"}}]), world)
}

#[track_caller]
fn check(skills: &[(&str, &[&str])], expected: &[&str]) {
    let world = skills
        .iter()
        .fold(World::usual(), |world, (name, steps)| world.with(composite(name, steps, ErrorPolicy::Abort)));
    refused(&document(json!([{"toolId": "t", "skill": skills[0].0}])), &world, expected);
}

#[test]
fn a_composite_gathers_its_steps() {
    let plan = resolved(
        json!([
            {"toolId": "after", "skill": "grasp", "dependencies": ["f"], "input": {"x": "${f.output.hold.ok}"}},
            {"toolId": "f", "skill": "fetch", "input": {"place": "${first.output.x}"}, "dependencies": ["first"], "required": false},
            {"toolId": "first", "skill": "grasp"},
        ]),
        &fetch(ErrorPolicy::Abort),
    );
    assert_eq!(
        shape(&plan),
        [
            "after grasp/run < f=f",
            "f [fetch] < go=f/go, look=f/look, hold=f/hold, first=first",
            "f/go move/run < first",
            "f/look detect/run < go=f/go",
            "f/hold grasp/run < look=f/look",
            "first grasp/run",
        ]
    );
    let scopes: Vec<_> = plan.steps().iter().map(|step| step.scope).collect();
    assert_eq!(scopes, [None, None, Some(1), Some(1), Some(1), None]);
    let importance: Vec<_> = plan.steps()[1..5].iter().map(|step| step.importance).collect();
    let (required, optional) = (Importance::Required, Importance::Optional);
    assert_eq!(importance, [optional, required, optional, required]);
    let asked: Vec<_> = plan.steps().iter().map(|step| step.approval == Approval::Required).collect();
    assert_eq!(asked, [false, false, false, false, true, false]);
    // What the steps retry is what their skills say, not what the plan says of its tools.
    assert_eq!(plan.steps()[2].retry, RetryRule { max_retries: 2, backoff_ms: 50 });
    assert_eq!(plan.steps()[2].timeout_ms, 7000);
    assert_eq!(
        Value::Object(plan.steps()[2].input.clone()),
        json!({"location": "${request.place}", "speed": 1})
    );
}

#[test]
fn steps_that_say_what_they_wait_for_run_beside_each_other() {
    let fan = composite(
        "fan",
        &["a: grasp <", "b: grasp <", "join: grasp < b a b", "last: grasp"],
        ErrorPolicy::Abort,
    );
    let plan = resolved(
        json!([{"toolId": "t", "skill": "fan", "dependencies": ["u"]}, {"toolId": "u", "skill": "grasp"}]),
        &World::usual().with(fan),
    );
    assert_eq!(
        shape(&plan),
        [
            "t [fan] < a=t/a, b=t/b, join=t/join, last=t/last, u=u",
            "t/a grasp/run < u",
            "t/b grasp/run < u",
            "t/join grasp/run < b=t/b, a=t/a",
            "t/last grasp/run < join=t/join",
            "u grasp/run",
        ]
    );
    let stands: Vec<_> = plan.steps().iter().map(|step| step.stand).collect();
    let (alone, beside) = (Stand::Alone, Stand::Beside);
    assert_eq!(stands, [alone, beside, beside, beside, alone, alone]);
}

#[test]
fn composites_may_be_inside_each_other() {
    let world = fetch(ErrorPolicy::Abort).with(composite(
        "tidy-up",
        &[
            r#"one: fetch ! = {"place": "${request.where}"}"#,
            r#"two: fetch = {"place": "${one.output.go.x}"}"#,
        ],
        ErrorPolicy::Abort,
    ));
    let tool = json!([{"toolId": "t", "skill": "tidy-up", "input": {"where": "x"}, "dependencies": ["u"], "timeoutMs": 9},
                      {"toolId": "u", "skill": "grasp"}]);
    let plan = resolved(tool, &world);
    assert_eq!(
        shape(&plan)[..6],
        [
            "t [tidy-up] < one=t/one, two=t/two, u=u",
            "t/one [fetch] < go=t/one/go, look=t/one/look, hold=t/one/hold, u",
            "t/one/go move/run < u",
            "t/one/look detect/run < go=t/one/go",
            "t/one/hold grasp/run < look=t/one/look",
            "t/two [fetch] < go=t/two/go, look=t/two/look, hold=t/two/hold, one=t/one",
        ]
    );
    assert_eq!(shape(&plan)[6], "t/two/go move/run < t/one");
    // Who must say yes to a composite is asked before its first step.
    assert_eq!(plan.steps()[1].approval, Approval::None);
    assert_eq!(plan.steps()[2].approval, Approval::Required);
    assert_eq!(plan.steps()[2].timeout_ms, 9);
}

#[test]
fn what_happens_after_a_failure_is_up_to_the_composite() {
    let rule = |plan: &Plan| match &plan.steps()[0].work {
        Work::Gather { on_failure, .. } => *on_failure,
        Work::Script(_) => panic!("a composite gathers"),
    };
    let retry = one(&fetch(ErrorPolicy::Retry { max_retries: 4 }));
    assert_eq!(rule(&retry), ErrorRule::Abort);
    assert_eq!(retry.steps()[1].retry, RetryRule { max_retries: 4, backoff_ms: 50 });
    assert_eq!(retry.steps()[2].retry, RetryRule { max_retries: 4, backoff_ms: 100 });
    let partial = one(&fetch(ErrorPolicy::Fallback { max_retries: 1, fallback: Fallback::Partial }));
    assert_eq!(rule(&partial), ErrorRule::Partial);
    assert_eq!(partial.steps()[1].retry.max_retries, 1);
    assert_eq!(partial.steps()[1].fallback, None);
    let other = one(&fetch(fallback(0, "move", json!({"location": "${request.place}"}))));
    assert_eq!(rule(&other), ErrorRule::Abort);
    assert_eq!(other.steps()[0].fallback, None);
    for step in &other.steps()[1..] {
        let stands_in = step.fallback.as_ref().unwrap();
        assert_eq!((stands_in.target.skill.as_str(), stands_in.timeout_ms), ("move", 7000));
        assert_eq!(
            Value::Object(stands_in.input.clone()),
            json!({"location": "${request.place}", "speed": 1})
        );
    }
}

#[test]
fn a_fallback_is_checked_like_a_step() {
    let tool = document(json!([{"toolId": "f", "skill": "fetch", "input": {"place": "x"}}]));
    let check = |on_failure, expected: &[&str]| refused(&tool, &fetch(on_failure), expected);
    check(
        fallback(0, "fetch", json!({})),
        &[
            "fallback_is_composite /tools/0: the fallback of `fetch`: `fetch` is itself made of steps, which a fallback cannot be",
        ],
    );
    check(
        fallback(0, "move", json!({"location": 5, "speed": "${request.nothing}"})),
        &[
            "invalid_reference /tools/0: the fallback of `fetch`: `${request.nothing}` is not among the parameters that were given",
            "invalid_input /tools/0: the fallback of `fetch`: `/location`: 5 is not of type \"string\"",
        ],
    );
    check(
        fallback(0, "zz", json!({})),
        &["unknown_skill /tools/0: the fallback of `fetch`: there is no skill `zz`"],
    );
    check(
        fallback(0, "grasp", json!({"x": "${go.output} ${"})),
        &[
            "invalid_composite /tools/0/skill: `fetch@1.0.0` cannot run: its fallback may only use `${request.FIELD}`, not `${go.output}`",
            "invalid_composite /tools/0/skill: `fetch@1.0.0` cannot run: its fallback: `${` is not a reference: write `${request.FIELD}` or `${STEP.output.FIELD}`",
        ],
    );
}

#[test]
fn what_is_wrong_inside_is_told_at_the_tool() {
    check(
        &[(
            "bad",
            &["a: zz", "b: off", r#"c: move = {"location": 1}"#, r#"d: grasp = {"x": "${request.y}"}"#],
        )],
        &[
            "unknown_skill /tools/0: step `a` of `bad`: there is no skill `zz`",
            "skill_disabled /tools/0: step `b` of `bad`: skill `off` is disabled",
            "invalid_input /tools/0: step `c` of `bad`: `/location`: 1 is not of type \"string\"",
            "invalid_reference /tools/0: step `d` of `bad`: `${request.y}` is not among the parameters that were given",
        ],
    );
    check(
        &[("bad", &["a: grasp < b", "b: grasp < a", "b: grasp <", "c: grasp < x"])],
        &[
            "invalid_composite /tools/0/skill: `bad@1.0.0` cannot run: two of its steps are called `b`",
            "invalid_composite /tools/0/skill: `bad@1.0.0` cannot run: step `c` waits for `x`, which is no step of it",
            "invalid_composite /tools/0/skill: `bad@1.0.0` cannot run: its steps wait for each other: a \u{2192} b \u{2192} a",
        ],
    );
    check(
        &[("outer", &["a: inner"]), ("inner", &["b: outer", "c: grasp"])],
        &[
            "composite_in_itself /tools/0: step `a` of `outer`: step `b` of `inner`: a composite is one of its own steps: outer \u{2192} inner \u{2192} outer",
        ],
    );
}

#[test]
fn known_parameters_are_checked_down_to_the_steps() {
    let world = fetch(ErrorPolicy::Abort);
    refused(
        &document(json!([{"toolId": "f", "skill": "fetch", "input": {"place": 7}}])),
        &world,
        &["invalid_input /tools/0: step `go` of `fetch`: `/location`: 7 is not of type \"string\""],
    );
    let mut fetch = composite("fetch", FETCH, ErrorPolicy::Abort);
    let schema = json!({"properties": {"place": {"default": "home"}, "x": {"type": "integer"}}});
    fetch.interface.parameters = Schema::parse(schema).unwrap();
    let world = World::usual().with(fetch);
    let plan = resolved(json!([{"toolId": "f", "skill": "fetch"}]), &world);
    assert_eq!(Value::Object(plan.steps()[0].input.clone()), json!({"place": "home"}));
    refused(
        &document(json!([{"toolId": "f", "skill": "fetch", "input": {"x": "y"}}])),
        &world,
        &["invalid_input /tools/0/input/x: \"y\" is not of type \"integer\""],
    );
}

#[test]
fn composites_do_not_grow_without_end() {
    let mut world = World::usual().with(composite("level-0", &["a: grasp"], ErrorPolicy::Abort));
    for level in 1..=COMPOSITE_DEPTH_MAX {
        let step = format!("a: level-{}", level - 1);
        world = world.with(composite(&format!("level-{level}"), &[&step], ErrorPolicy::Abort));
    }
    let deepest = |level: usize| document(json!([{"toolId": "t", "skill": format!("level-{level}")}]));
    assert!(resolve_value(&deepest(COMPOSITE_DEPTH_MAX - 1), &world).is_ok());
    let problems = resolve_value(&deepest(COMPOSITE_DEPTH_MAX), &world).unwrap_err();
    assert!(problems[0].message.ends_with("more than 8 composites are inside each other"));

    let ten: Vec<String> = (0..10).map(|step| format!("s{step}: wide-0")).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    let mut world = World::usual().with(composite("wide-0", &["a: grasp"], ErrorPolicy::Abort));
    for level in 1..=5 {
        let steps: Vec<String> =
            ten.iter().map(|step| step.replace("wide-0", &format!("wide-{}", level - 1))).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        world = world.with(composite(&format!("wide-{level}"), &steps, ErrorPolicy::Abort));
    }
    let message = format!(
        "too_many_tools : the plan has more than {PLAN_TOOLS_MAX} steps, those of composites included"
    );
    refused(&document(json!([{"toolId": "t", "skill": "wide-5"}])), &world, &[&message]);
}

#[test]
fn inputs_and_needs_do_not_grow_without_end() {
    let big = format!(r#"a: grasp = {{"x": "{}"}}"#, "y".repeat(900_000));
    let world = World::usual().with(composite("big", &[&big], ErrorPolicy::Abort));
    let tools: Vec<Value> =
        (0..100).map(|place| json!({"toolId": place.to_string(), "skill": "big"})).collect();
    refused(
        &document(json!(tools)),
        &world,
        &["plan_too_large : the inputs of all steps have more than 67108864 bytes"],
    );
    let roots: Vec<String> = (0..900).map(|step| format!("s{step}: grasp <")).collect();
    let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
    let world = World::usual().with(composite("roots", &roots, ErrorPolicy::Abort));
    let mut tools: Vec<Value> =
        (0..1200).map(|place| json!({"toolId": place.to_string(), "skill": "grasp"})).collect();
    let all: Vec<String> = (0..1200).map(|place: usize| place.to_string()).collect();
    tools.push(json!({"toolId": "r", "skill": "roots", "dependencies": all}));
    refused(
        &document(json!(tools)),
        &world,
        &["too_many_dependencies : the plan has more than 1000000 dependencies"],
    );
}

#[test]
fn a_tool_cannot_have_the_id_of_a_step() {
    let tools = json!([{"toolId": "f", "skill": "fetch", "input": {"place": "x"}}, {"toolId": "f/go", "skill": "grasp"}]);
    refused(
        &document(tools),
        &fetch(ErrorPolicy::Abort),
        &["duplicate_tool_id /tools: `f/go` is both a tool and a step of a composite"],
    );
}
