//! Requests to spawn, from JSON: what is understood, and everything that is not at once.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::world::object;
use crate::agent::{CommandLine, DriverKind, SpawnErrorCode, SpawnRequest, Thinking};
use crate::limit::{
    AGENT_CHILDREN_MAX, AGENT_METADATA_BYTES_MAX, AGENT_METADATA_KEYS_MAX, AGENT_NAME_CHARS_MAX,
    AGENT_TASK_BYTES_MAX, PARAMS_BYTES_MAX, TIMEOUT_S_MAX,
};

/// Every field of a request.
pub(super) const FIELDS: &[&str] = &[
    "task",
    "skills",
    "skill",
    "params",
    "chain",
    "plan",
    "command",
    "client",
    "role",
    "workspace_id",
    "label",
    "name",
    "model",
    "thinking",
    "parent",
    "driver",
    "timeout",
    "metadata",
    "max_children",
];

/// Reads a request and returns the fields that are wrong with it, in the order they are told.
fn wrong(request: Value) -> Vec<String> {
    let Err(errors) = SpawnRequest::read(&object(request)) else { return Vec::new() };
    assert!(!errors.is_empty());
    let field = |message: &str| message.split('`').nth(1).unwrap().to_owned();
    errors
        .iter()
        .map(|error| {
            assert_eq!((error.code, &error.skill), (SpawnErrorCode::InvalidRequest, &None));
            field(&error.message)
        })
        .collect()
}

#[track_caller]
fn check(request: Value, expected: &[&str]) {
    assert_eq!(wrong(request), expected);
}

#[test]
fn everything_that_can_be_said_is_understood() {
    let parent = "00000000-0000-0000-0000-000000000007";
    let request = SpawnRequest::read(&object(json!({
        "task": "sort the mail", "skills": ["reader", "writer"], "role": "designer", "label": "Sorter",
        "workspace_id": "ws", "model": "m-1", "thinking": "xhigh", "parent": parent, "driver": "command",
        "client": "codex", "command": ["codex", "{task}"], "timeout": 5, "metadata": {"a": 1}, "max_children": 2,
    })))
    .unwrap();
    let expected = SpawnRequest {
        task: Some("sort the mail".to_owned()),
        skills: Some(vec!["reader".to_owned(), "writer".to_owned()]),
        command: Some(CommandLine {
            client: Some("codex".to_owned()),
            command: vec!["codex".to_owned(), "{task}".to_owned()],
        }),
        role: Some("designer".parse().unwrap()),
        workspace_id: Some("ws".to_owned()),
        name: Some("Sorter".to_owned()),
        model: Some("m-1".to_owned()),
        thinking: Some(Thinking::Xhigh),
        parent: Some(parent.parse().unwrap()),
        driver: Some(DriverKind::Command),
        timeout_s: Some(5),
        metadata: object(json!({"a": 1})),
        max_children: Some(2),
        ..SpawnRequest::default()
    };
    assert_eq!(request, expected);
    let request = object(json!({"skill": "reader", "params": {"a": 1}, "chain": true, "name": "n"}));
    let request = SpawnRequest::read(&request).unwrap();
    assert_eq!((request.skill.unwrap().as_str(), request.chain), ("reader", true));
}

#[test]
fn skills_are_a_list_of_texts_or_not_there_at_all() {
    let skills = |request: Value| SpawnRequest::read(&object(request)).unwrap().skills;
    assert_eq!(skills(json!({})), None);
    assert_eq!(skills(json!({"skills": []})), Some(vec![]));
    assert_eq!(skills(json!({"skills": ["x", "x"]})), Some(vec!["x".to_owned(), "x".to_owned()]));
    let others = [
        json!(null),
        json!("x"),
        json!([1]),
        json!(["x", null]),
        json!([["x"]]),
        json!({"0": "x"}),
        json!(false),
    ];
    for other in others {
        check(json!({"skills": other}), &["skills"]);
    }
}

#[test]
fn null_is_as_good_as_nothing_elsewhere() {
    // No list of skills is not the same as nothing said about them.
    let fields = FIELDS.iter().filter(|field| **field != "skills");
    let request: Map<String, Value> = fields.map(|field| ((*field).to_owned(), Value::Null)).collect();
    assert_eq!(SpawnRequest::read(&request), Ok(SpawnRequest::default()));
}

#[test]
fn every_field_has_a_kind() {
    for field in
        ["task", "skill", "role", "workspace_id", "label", "name", "model", "thinking", "parent", "driver"]
    {
        check(json!({field: 1}), &[field]);
        check(json!({field: ""}), &[field]);
    }
    for field in ["params", "metadata", "plan", "chain", "command", "timeout", "max_children", "client"] {
        check(json!({field: [{}]}), &[field]);
    }
    check(json!({"thinking": "High"}), &["thinking"]);
    check(json!({"driver": "magic"}), &["driver"]);
    check(json!({"skill": "../etc"}), &["skill"]);
    check(json!({"role": "a b"}), &["role"]);
    check(json!({"name": "two\nlines"}), &["name"]);
    check(json!({"Skills": ["x"]}), &["Skills"]);
}

#[test]
fn numbers_and_lengths_have_limits() {
    let keys = |count: usize| -> Value { (0..count).map(|key| (format!("k{key}"), json!(1))).collect() };
    let text = |bytes: usize| "x".repeat(bytes);
    let name = |chars: usize| "\u{e9}".repeat(chars);
    check(json!({"metadata": keys(AGENT_METADATA_KEYS_MAX)}), &[]);
    check(json!({"metadata": keys(AGENT_METADATA_KEYS_MAX + 1)}), &["metadata"]);
    check(json!({"metadata": {"a": text(AGENT_METADATA_BYTES_MAX - 8)}}), &[]);
    check(json!({"metadata": {"a": text(AGENT_METADATA_BYTES_MAX - 7)}}), &["metadata"]);
    check(json!({"skill": "a", "params": {"a": text(PARAMS_BYTES_MAX)}}), &["params"]);
    check(json!({"name": name(AGENT_NAME_CHARS_MAX)}), &[]);
    check(json!({"name": name(AGENT_NAME_CHARS_MAX + 1)}), &["name"]);
    check(json!({"task": text(AGENT_TASK_BYTES_MAX)}), &[]);
    check(json!({"task": text(AGENT_TASK_BYTES_MAX + 1)}), &["task"]);
    check(json!({"timeout": 1, "max_children": 0}), &[]);
    check(json!({"timeout": TIMEOUT_S_MAX, "max_children": AGENT_CHILDREN_MAX}), &[]);
    for timeout in [json!(0), json!(TIMEOUT_S_MAX + 1), json!(-1), json!(1.5), json!("5")] {
        check(json!({"timeout": timeout}), &["timeout"]);
    }
    check(json!({"max_children": AGENT_CHILDREN_MAX + 1}), &["max_children"]);
}

#[test]
fn a_model_is_never_an_option() {
    for model in ["m-1", "provider/model:tag", "m --yes"] {
        check(json!({"model": model}), &[]);
    }
    for model in ["-m", "--dangerously-skip-permissions", " --yes", "m\n--yes", "m\0"] {
        check(json!({"model": model}), &["model"]);
    }
}

#[test]
fn what_goes_with_a_skill_needs_one() {
    check(json!({"params": {"a": 1}, "chain": true}), &["params", "chain"]);
    check(json!({"params": {}, "chain": false}), &[]);
    check(json!({"skill": 1, "params": {"a": 1}}), &["skill"]);
}

#[test]
fn everything_wrong_is_told_at_once() {
    let request =
        json!({"mode": "free", "tools": [], "skills": "all", "name": "a", "label": "b", "timeout": 0});
    check(request, &["mode", "tools", "skills", "label", "timeout"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{0,2}", inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_but_a_list_of_texts_is_taken_for_skills(value in any_json()) {
        let texts: Option<Vec<String>> = serde_json::from_value(value.clone()).ok().flatten();
        match SpawnRequest::read(&object(json!({"skills": value}))) {
            Ok(request) => {
                prop_assert!(request.skills.is_some(), "what is given is never taken for nothing");
                prop_assert_eq!(request.skills, texts);
            }
            Err(errors) => {
                prop_assert_eq!(texts, None);
                prop_assert_eq!(errors.len(), 1);
            }
        }
    }

    #[test]
    fn any_value_in_any_field_is_read_or_refused(
        fields in prop::collection::btree_map("skills|skill|task|driver|plan|params|metadata|timeout|[a-z]{4}", any_json(), 0..5),
    ) {
        let document: Map<String, Value> = fields.into_iter().collect();
        if let Ok(request) = SpawnRequest::read(&document) {
            prop_assert_eq!(request.skills.is_some(), document.contains_key("skills"));
        }
    }
}
