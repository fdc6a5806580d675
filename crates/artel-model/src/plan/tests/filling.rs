//! References are filled in from what came out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::world::{World, composite, object, resolved};
use crate::composite::ErrorPolicy;
use crate::id::StepId;
use crate::limit::PLAN_INPUT_BYTES_MAX;
use crate::plan::{Plan, Scope, StepOutput, fill, fill_step};

/// Outputs by the names of steps; `null` is a step that did not complete.
struct Outputs {
    request: Option<Map<String, Value>>,
    outputs: BTreeMap<&'static str, Value>,
}

impl Scope for Outputs {
    fn has_step(&self, name: &str) -> bool {
        self.outputs.contains_key(name)
    }

    fn output(&self, step: &StepId) -> Option<StepOutput<'_>> {
        Some(self.outputs.get(step.as_str())?.as_object().map_or(StepOutput::Null, StepOutput::Output))
    }

    fn request(&self) -> Option<&Map<String, Value>> {
        self.request.as_ref()
    }
}

fn scope() -> Outputs {
    let outputs = [
        ("look", json!({"objects": ["cup", {"name": "jar"}], "count": 2, "text": "a \"b\"", "none": null})),
        ("v1.2 go", json!({"x": 1.5})),
        ("lost", json!(null)),
    ];
    let request = object(json!({"place": "kitchen", "deep": {"er": [true]}}));
    Outputs { request: Some(request), outputs: BTreeMap::from(outputs) }
}

#[track_caller]
fn check(text: &str, expected: Value) {
    let filled = fill(&object(json!({"a": [text]})), &scope()).unwrap();
    assert_eq!(filled["a"][0], expected, "{text}");
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    let error = fill(&object(json!({"a": {"b/c": text}})), &scope()).unwrap_err();
    assert_eq!(error.to_string(), format!("`/a/b~1c` of the input: {expected}"));
}

#[test]
fn a_whole_reference_keeps_its_type() {
    check("${look.output.count}", json!(2));
    check("${look.output.objects}", json!(["cup", {"name": "jar"}]));
    check("${look.output.objects.1.name}", json!("jar"));
    check("${v1.2 go.output}", json!({"x": 1.5}));
    check("${request.deep.er.0}", json!(true));
    check("${look.output.none}", json!(null));
}

#[test]
fn inside_a_text_values_are_put_as_they_are() {
    check("in ${request.place}: ${look.output.text}", json!("in kitchen: a \"b\""));
    check("${look.output.count}${look.output.count}", json!("22"));
    check(" ${look.output.objects}", json!(" [\"cup\",{\"name\":\"jar\"}]"));
    check("${look.output.none}!", json!("null!"));
    check("$${look.output} is ${v1.2 go.output}", json!("${look.output} is {\"x\":1.5}"));
    check("$${", json!("${"));
    check("no $ref {at} all", json!("no $ref {at} all"));
}

#[test]
fn what_was_optional_and_failed_is_null() {
    check("${lost.output}", json!(null));
    check("${lost.output.a.0.b}", json!(null));
    check("found ${lost.output.x}", json!("found null"));
    check("${look.output.none.below}", json!(null));
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    fails(
        "${look.output.nothing}",
        "`${look.output.nothing}`: there is no `nothing`, only count, none, objects, text",
    );
    fails("${look.output.objects.2}", "`${look.output.objects.2}`: there is no `2`, only a list of 2");
    fails("${look.output.objects.1.x.y}", "`${look.output.objects.1.x.y}`: there is no `x`, only name");
    fails(
        "${look.output.count.x}",
        "`${look.output.count.x}`: there is no `x`, only a value that has no parts",
    );
    fails("at ${request.place.x}", "`${request.place.x}`: there is no `x`, only a value that has no parts");
    fails("${who.output}", "`${who.output}` names nothing there is");
    fails("${who}", "`${who}` is not a reference");
    fails("${who", "`${who` is not a reference");
    let many = (0..30).map(|key| (format!("k{key:02}"), json!(1))).collect();
    let scope = Outputs { request: Some(many), outputs: BTreeMap::new() };
    let error = fill(&object(json!({"a": "${request.x}"})), &scope).unwrap_err().to_string();
    assert!(error.ends_with("k18, k19 and 10 more"), "{error}");
}

#[test]
fn what_is_filled_in_stays_bounded() {
    let big = "x".repeat(PLAN_INPUT_BYTES_MAX / 2);
    let scope = Outputs { request: None, outputs: BTreeMap::from([("big", json!({"x": big}))]) };
    assert!(fill(&object(json!({"a": "${big.output.x}"})), &scope).is_ok());
    for twice in [
        json!({"a": "${big.output.x}", "b": "${big.output}"}),
        json!({"a": "1", "b": "${big.output.x}${big.output.x}"}),
        json!({"a": "1", "b": "${big.output} ${big.output}"}),
    ] {
        let error = fill(&object(twice), &scope).unwrap_err();
        assert_eq!(error.to_string(), "`/b` of the input: filled in, it has more than 1048576 bytes");
    }
}

fn nested() -> Plan {
    let inner = composite(
        "inner",
        &[r#"a: grasp = {"x": "${request.v}"}"#, r#"b: grasp = {"y": "${a.output.z}", "r": "${request.v}"}"#],
        ErrorPolicy::Abort,
    );
    let outer = composite(
        "outer",
        &[r#"a: grasp = {"q": "${request.w}"}"#, r#"in: inner = {"v": "<${a.output.z}>"}"#],
        ErrorPolicy::Abort,
    );
    let tools = json!([
        {"toolId": "t", "skill": "outer", "input": {"w": "${u.output.z}"}, "dependencies": ["u"]},
        {"toolId": "u", "skill": "grasp"},
    ]);
    resolved(tools, &World::usual().with(inner).with(outer))
}

#[test]
fn steps_see_what_is_beside_them() {
    let plan = nested();
    let outputs: BTreeMap<&str, Map<String, Value>> =
        ["u", "t/a", "t/in/a"].map(|id| (id, object(json!({"z": format!("of {id}")})))).into();
    let outputs = |step: usize| outputs.get(plan.steps()[step].id.as_str());
    let check = |id: &str, expected: Value| {
        let step = plan.index_of(&id.parse().unwrap()).unwrap();
        let filled = fill_step(&plan, step, &plan.steps()[step].input, &outputs).unwrap();
        assert_eq!(Value::Object(filled), expected, "{id}");
    };
    check("t", json!({"w": "of u"}));
    check("t/a", json!({"q": "of u"}));
    check("t/in", json!({"v": "<of t/a>"}));
    check("t/in/a", json!({"x": "<of t/a>"}));
    check("t/in/b", json!({"y": "of t/in/a", "r": "<of t/a>"}));
}

#[test]
fn an_error_in_the_request_says_whose_it_is() {
    let plan = nested();
    let empty = Map::new();
    let outputs = |_: usize| Some(&empty);
    let step = plan.index_of(&"t/in/a".parse().unwrap()).unwrap();
    let error = fill_step(&plan, step, &plan.steps()[step].input, &outputs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/w` of the input of `t`: `${u.output.z}`: there is no `z`, only an empty object"
    );
}

#[test]
fn steps_of_a_composite_cannot_be_seen_from_outside() {
    let plan = nested();
    let nothing = |_: usize| None;
    let input = object(json!({"x": "${t/a.output}"}));
    let error = fill_step(&plan, 0, &input, &nothing).unwrap_err();
    assert_eq!(error.to_string(), "`/x` of the input: `${t/a.output}` names nothing there is");
}
