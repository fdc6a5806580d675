//! JSON-RPC as the real program speaks it.

use serde_json::{Value, json};

use crate::serve::Cad;

#[test]
fn malformed_lines_are_answered_as_the_standard_says() {
    let mut cad = Cad::start();
    let cases = [
        ("{\"jsonrpc\": \"2.0\", \"method\"", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("7", -32600, Value::Null),
        (r#"{"jsonrpc": "2.0", "id": 5}"#, -32600, json!(5)),
        (r#"{"jsonrpc": "2.0", "method": "entity.lst", "id": "a"}"#, -32601, json!("a")),
        (r#"{"jsonrpc": "2.0", "method": "entity.query", "id": 1}"#, -32602, json!(1)),
        (r#"{"jsonrpc": "2.0", "method": "entity.query", "params": ["x"], "id": 1}"#, -32602, json!(1)),
        (
            r#"{"jsonrpc": "2.0", "method": "entity.query", "params": {"entity_id": "x"}, "id": 1}"#,
            -32001,
            json!(1),
        ),
    ];
    for (line, code, id) in cases {
        cad.send(line);
        let answer = cad.receive();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
        assert_eq!(answer["jsonrpc"], json!("2.0"));
    }
    assert!(cad.end());
}

#[test]
fn notifications_are_done_and_not_answered() {
    let mut cad = Cad::start();
    cad.send(r#"{"jsonrpc": "2.0", "method": "workspace.create", "params": {"workspace_id": "quiet"}}"#);
    cad.send(r#"[{"jsonrpc": "2.0", "method": "nonsense"}]"#);
    let list = cad.call("workspace.list", json!({}));
    let names: Vec<&str> =
        list["workspaces"].as_array().unwrap().iter().filter_map(|w| w["workspace_id"].as_str()).collect();
    assert_eq!(names, ["main", "quiet"]);
}

#[test]
fn a_batch_is_answered_together() {
    let mut cad = Cad::start();
    cad.send(
        r#"[{"jsonrpc": "2.0", "method": "workspace.list", "id": 1}, 3,
            {"jsonrpc": "2.0", "method": "workspace.list"},
            {"jsonrpc": "2.0", "method": "no.such", "id": 2}]"#
            .replace('\n', " ")
            .as_str(),
    );
    let answers = cad.receive();
    let facts: Vec<(Value, Value)> =
        answers.as_array().unwrap().iter().map(|a| (a["id"].clone(), a["error"]["code"].clone())).collect();
    assert_eq!(facts, [(json!(1), Value::Null), (Value::Null, json!(-32600)), (json!(2), json!(-32601))]);
}

#[test]
fn every_method_is_described_with_an_example_that_it_accepts() {
    let mut cad = Cad::start();
    let document = cad.call("rpc.discover", json!({}));
    let methods = document["methods"].as_array().unwrap();
    assert!(methods.len() >= 8);
    for method in methods {
        let name = method["name"].as_str().unwrap();
        let names: Vec<&str> =
            method["params"].as_array().unwrap().iter().filter_map(|param| param["name"].as_str()).collect();
        assert!(!method["summary"].as_str().unwrap().is_empty() && names.contains(&"workspace_id"), "{name}");
        let example: serde_json::Map<String, Value> = method["examples"][0]["params"]
            .as_array()
            .unwrap()
            .iter()
            .map(|param| (param["name"].as_str().unwrap().to_owned(), param["value"].clone()))
            .collect();
        for param in
            method["params"].as_array().unwrap().iter().filter(|param| param["required"] == json!(true))
        {
            assert!(example.contains_key(param["name"].as_str().unwrap()), "{name}: {}", param["name"]);
        }
        // The entities that examples name are not there; anything but wrong parameters is fine.
        if let Err(error) = cad.try_call(name, Value::Object(example)) {
            assert!(error["code"] != json!(-32602) && error["code"] != json!(-32603), "{name}: {error}");
        }
    }
}

#[test]
fn a_dot_is_another_spelling_of_create() {
    let mut cad = Cad::start();
    let message = cad.refused("entity.create.nothing", json!({}), "METHOD_NOT_FOUND");
    assert!(
        message.starts_with("there is no method `entity.create.nothing`; there are entity."),
        "{message}"
    );
}
