//! The documentation is true: the tutorial works as it is written, and the reference is made from the schemas.
//! `ARTEL_UPDATE_DOCS=1` writes the reference anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::serve::Cad;

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn the_tutorial_works_as_it_is_written() {
    let text = std::fs::read_to_string(docs("cad.md")).unwrap();
    let mut cad = Cad::start();
    let mut count = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("artel-cad call ")) {
        let (method, params) = line.split_once(" --params ").unwrap_or((line, "'{}'"));
        let params: Value = serde_json::from_str(params.trim_matches('\'')).unwrap();
        let answer = cad.call(method, params);
        count += 1;
        if method == "solid.extrude" {
            assert_eq!((&answer["volume"], &answer["topology"]["face_count"]), (&json!(32640.0), &json!(8)));
        }
        if method == "solid.boolean" {
            assert_eq!(answer["topology"]["face_count"], json!(16));
        }
    }
    assert!(count > 15, "{count}");
    let line = cad.call("entity.query", json!({"entity_id": "base"}));
    assert!((line["length"].as_f64().unwrap() - 50.0).abs() < 1e-6);
}

#[test]
fn the_reference_is_up_to_date() {
    let mut cad = Cad::start();
    let expected = reference(&cad.call("rpc.discover", json!({})));
    let path = docs("cad-reference.md");
    if std::env::var_os("ARTEL_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "write it anew: ARTEL_UPDATE_DOCS=1 cargo nextest run -p artel-cad docs");
}

fn reference(document: &Value) -> String {
    let mut text = String::from(
        "# artel-cad: reference\n\nMade from the schemas of the methods; `rpc.discover` returns the same as OpenRPC. Lengths are \
         millimetres, angles degrees unless `angle_unit` says otherwise. Every method also takes `workspace_id` (default \
         `main`) and `agent_id`; methods that write take `idempotency_key`. [Designing with artel-cad](cad.md) is the \
         introduction.\n",
    );
    for method in document["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        let writes = if method["x-writes"] == json!(true) { "writes" } else { "reads" };
        let _ = write!(text, "\n## {name}\n\n{} ({writes})\n\n", method["summary"].as_str().unwrap());
        let params: Vec<&Value> = method["params"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|param| {
                !matches!(param["name"].as_str(), Some("workspace_id" | "agent_id" | "idempotency_key"))
            })
            .collect();
        if !params.is_empty() {
            text.push_str("| parameter | type | |\n|---|---|---|\n");
        }
        for param in params {
            let schema = &param["schema"];
            let needed = if param["required"] == json!(true) { "needed. " } else { "" };
            let about = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
            let _ = writeln!(
                text,
                "| `{}` | {} | {needed}{about} |",
                param["name"].as_str().unwrap(),
                kind(document, schema)
            );
        }
        let example: serde_json::Map<String, Value> = method["examples"][0]["params"]
            .as_array()
            .unwrap()
            .iter()
            .map(|param| (param["name"].as_str().unwrap().to_owned(), param["value"].clone()))
            .collect();
        let _ = write!(text, "\n```json\n{}\n```\n", Value::Object(example));
    }
    text
}

/// Returns what a schema takes, in a few words.
fn kind(document: &Value, schema: &Value) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap();
        return match name {
            "Vec3" => "point".to_owned(),
            _ => kind(document, &document["components"]["schemas"][name]),
        };
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(options) = schema[key].as_array() {
            let mut kinds: Vec<String> = options.iter().map(|option| kind(document, option)).collect();
            kinds.retain(|kind| kind != "null");
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> =
            words.iter().filter_map(|word| Some(format!("`{}`", word.as_str()?))).collect();
        return words.join(" or ");
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => format!("list of {}", kind(document, &schema["items"])),
        Value::String(word) => word.clone(),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str).filter(|word| *word != "null");
            words
                .map(|word| {
                    if word == "array" {
                        format!("list of {}", kind(document, &schema["items"]))
                    } else {
                        word.to_owned()
                    }
                })
                .collect::<Vec<_>>()
                .join(" or ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "anything".to_owned(),
    }
}
