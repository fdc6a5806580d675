//! What is read of a document, and what is said about one that cannot be.

use serde_json::{Value, json};

use super::world::{PLAN_ID, document, texts};
use crate::limit::{PLAN_INPUT_BYTES_MAX, PLAN_PROBLEMS_MAX, PLAN_TOOLS_MAX, STEP_ID_CHARS_MAX};
use crate::plan::{PlanDocument, PlanProblemCode};

#[track_caller]
fn check(value: &Value, expected: &[&str]) {
    let problems = PlanDocument::parse(value).err().unwrap_or_default();
    assert_eq!(texts(&problems), expected);
}

/// A tool that is fine but for some fields.
#[track_caller]
fn check_tool(fields: Value, expected: &[&str]) {
    let Value::Object(fields) = fields else { panic!("{fields} is no object") };
    let mut tool = json!({"toolId": "a", "skill": "move"});
    for (key, value) in fields {
        tool[key] = value;
    }
    check(&document(json!([tool])), expected);
}

#[test]
fn a_plan_has_defaults() {
    let plan = PlanDocument::parse(&document(json!([{"toolId": "a", "skill": "move"}]))).unwrap();
    assert!(!plan.parallel);
    assert_eq!((plan.metadata.generation_attempt, plan.metadata.parent_plan_id), (1, None));
    let tool = &plan.tools[0];
    assert_eq!((tool.required, tool.r#async, tool.timeout_ms), (true, false, None));
    assert_eq!((tool.retry_policy.max_retries, tool.retry_policy.backoff_ms), (3, 100));
    assert!(tool.input.is_empty() && tool.dependencies.is_empty());
    assert!(PlanDocument::parse(&document(json!([]))).unwrap().tools.is_empty());
}

#[test]
fn every_field_is_read() {
    let written = json!({
        "requestId": PLAN_ID, "narrative": "Two things.", "parallel": true, "disabledSkills": ["off"],
        "metadata": {"generationAttempt": 2, "parentPlanId": "00000000-0000-0000-0000-000000000001"},
        "tools": [
            {"toolId": "a b/c.d", "toolPath": "skills/move/run.sh", "input": {"x": [1, null]}, "dependencies": [],
             "required": false, "async": true, "retryPolicy": {"maxRetries": 0, "backoffMs": 7}, "timeoutMs": 5},
            {"toolId": "b", "skill": "detect@1.0.0", "script": "quick", "input": {}, "dependencies": ["a b/c.d"],
             "required": true, "async": false, "retryPolicy": {"maxRetries": 10, "backoffMs": 100}},
        ],
    });
    let plan = PlanDocument::parse(&written).unwrap();
    assert_eq!(serde_json::to_value(&plan).unwrap(), written);
}

#[test]
fn what_says_nothing_is_ignored() {
    check(&json!({"requestId": PLAN_ID, "tools": [], "$schema": 1, "narrative": null}), &[]);
    let nothing = json!({"toolPath": null, "script": null, "timeoutMs": null, "retryPolicy": null, "$x": 1});
    check_tool(nothing, &[]);
    check_tool(json!({"retryPolicy": {"maxRetries": 3.0, "$x": 1}}), &[]);
}

#[test]
fn a_plan_is_an_object_with_an_id_and_tools() {
    check(&json!([]), &["wrong_type : a plan is an object, not a list"]);
    check(&json!({}), &["missing_field : `requestId` is missing", "missing_field : `tools` is missing"]);
    check(
        &json!({"requestId": "x", "tools": {}, "parallel": 1, "narrative": 2, "disabledSkills": ["A b", 1]}),
        &[
            "invalid_value /requestId: `x` is not a UUID",
            "wrong_type /narrative: must be a text, not a number",
            "wrong_type /parallel: must be true or false, not a number",
            "wrong_type /disabledSkills/1: must be a text, not a number",
            "invalid_value /disabledSkills/0: `A b` is not a skill's name: `A` is not allowed in a name: use lower-case letters a-z, digits and hyphens",
            "wrong_type /tools: must be a list, not an object",
        ],
    );
    check(
        &json!({"requestId": PLAN_ID, "tools": [], "metadata": {"generationAttempt": 0, "parentPlanId": "1", "try": 1}}),
        &[
            "unknown_key /metadata/try: there is no field `try` here",
            "out_of_range /metadata/generationAttempt: must be a whole number from 1 to 4294967295, not 0",
            "invalid_value /metadata/parentPlanId: `1` is not a UUID",
        ],
    );
    check(
        &json!({"requestId": PLAN_ID, "tools": [], "metadata": {}}),
        &["missing_field /metadata: `generationAttempt` is missing"],
    );
}

#[test]
fn a_tool_says_what_runs_in_one_way() {
    let neither = document(json!([{"toolId": "a"}]));
    check(&neither, &["missing_field /tools/0: neither `toolPath` nor `skill` says what runs"]);
    check_tool(
        json!({"toolPath": "x"}),
        &["conflicting_fields /tools/0: `toolPath` and `skill` both say what runs"],
    );
    let script = document(json!([{"toolId": "a", "toolPath": "x", "script": "y"}]));
    check(&script, &["conflicting_fields /tools/0: `script` belongs to `skill`, not to `toolPath`"]);
    check_tool(
        json!({"skill": "move@x"}),
        &["invalid_value /tools/0/skill: `x` is not a version: write for example `1.2.0`"],
    );
    let empty = document(json!([{"toolId": "a", "toolPath": ""}, 7]));
    check(
        &empty,
        &[
            "invalid_value /tools/0/toolPath: the path is empty",
            "wrong_type /tools/1: must be an object, not a number",
        ],
    );
}

#[test]
fn ids_are_short_and_printable() {
    check_tool(json!({"toolId": ""}), &["empty_tool_id /tools/0/toolId: the id is empty"]);
    check_tool(json!({"toolId": 1}), &["wrong_type /tools/0/toolId: must be a text, not a number"]);
    check_tool(
        json!({"toolId": "x".repeat(STEP_ID_CHARS_MAX + 1), "dependencies": ["", "${"]}),
        &[
            "invalid_value /tools/0/toolId: the id has more than 200 characters",
            "empty_tool_id /tools/0/dependencies/0: the id is empty",
            "invalid_value /tools/0/dependencies/1: `$` is not allowed in an id",
        ],
    );
}

#[test]
fn numbers_are_whole_and_in_range() {
    for bad in [json!(-1), json!(11), json!(1.5), json!(1e300)] {
        let number = bad.to_string();
        check_tool(
            json!({"retryPolicy": {"maxRetries": bad}}),
            &[&format!(
                "out_of_range /tools/0/retryPolicy/maxRetries: must be a whole number from 0 to 10, not {number}"
            )],
        );
    }
    check_tool(
        json!({"retryPolicy": {"maxRetries": "3", "backoffMs": -1}}),
        &[
            "wrong_type /tools/0/retryPolicy/maxRetries: must be a whole number, not a text",
            "out_of_range /tools/0/retryPolicy/backoffMs: must be a whole number from 0 on, not -1",
        ],
    );
    check_tool(
        json!({"timeoutMs": 0}),
        &["out_of_range /tools/0/timeoutMs: must be a whole number from 1 to 3600000, not 0"],
    );
}

#[test]
fn unknown_keys_say_what_was_meant() {
    let problems =
        PlanDocument::parse(&document(json!([{"toolId": "a", "skill": "x", "inputs": {}, "a/b": 1}])));
    let problems = problems.unwrap_err();
    assert_eq!((problems[0].path.as_str(), problems[0].code), ("/tools/0/a~1b", PlanProblemCode::UnknownKey));
    assert!(problems[0].hint.as_deref().unwrap().starts_with("fields are: toolId, toolPath, "));
    assert_eq!(problems[1].hint.as_deref(), Some("did you mean `input`?"));
}

#[test]
fn too_much_is_refused() {
    let tool = |place: usize| json!({"toolId": place.to_string(), "skill": "move"});
    let tools: Vec<Value> = (0..=PLAN_TOOLS_MAX).map(tool).collect();
    check(
        &document(json!(tools)),
        &["too_many_tools /tools: the plan has 10001 tools, at most 10000 are allowed"],
    );
    check_tool(
        json!({"input": {"x": "y".repeat(PLAN_INPUT_BYTES_MAX)}}),
        &["input_too_large /tools/0/input: the input has more than 1048576 bytes"],
    );
    let deep = (0..130).fold(Value::Null, |inner, _| json!([inner]));
    check_tool(json!({"input": {"x": deep}}), &["too_deep : values are nested deeper than 128 levels"]);
    let many: Vec<Value> = (0..PLAN_PROBLEMS_MAX + 1).map(|_| json!(null)).collect();
    let problems = PlanDocument::parse(&document(json!(many))).unwrap_err();
    assert_eq!(problems.len(), PLAN_PROBLEMS_MAX);
    assert_eq!(problems.last().unwrap().message, "there are 2 more problems");
}

#[test]
fn text_is_read_by_the_letter() {
    let check = |text: &str, expected: &[&str]| {
        let problems = PlanDocument::parse_text(text).err().unwrap_or_default();
        assert_eq!(texts(&problems), expected);
    };
    check(&document(json!([])).to_string(), &[]);
    check("{", &["invalid_json : EOF while parsing an object at line 1 column 1"]);
    check(
        &format!(r#"{{"requestId": "{PLAN_ID}", "tools": [], "tools": [], "x": 1}}"#),
        &["duplicate_key /tools: `tools` stands here twice", "unknown_key /x: there is no field `x` here"],
    );
}
