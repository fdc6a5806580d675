//! What the description shows is what the server takes and gives: every body and every answer has an example, every example
//! fits its own schema, and no body is refused because of its shape.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeSet;

use artel_model::schema::{Quote, Schema};
use serde_json::{Value, json};

use crate::place::{Place, TestSkill, done};

/// What is not sent, because it would leave this machine.
const ELSEWHERE: [&str; 3] = ["importSkill", "createHub", "crawlHub"];
/// Bodies that are shown where they are described: JSON-RPC is not ours to describe.
const WITHOUT_EXAMPLE: [&str; 1] = ["mcpSend"];
/// Answers without an example: they need a hub that can be reached.
const ANSWERS_WITHOUT: [&str; 2] = ["CrawlAnswer", "RescannedHub"];
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// One body that an operation shows.
struct Shown {
    operation: String,
    method: &'static str,
    path: String,
    schema: Value,
    examples: Vec<Value>,
}

/// Returns what a schema says, with its reference followed.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema)
}

fn shown(document: &Value) -> Vec<Shown> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in METHODS.iter().filter_map(|method| Some((*method, item.get(*method)?))) {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let id = operation["operationId"].as_str().unwrap().to_owned();
            if schema.is_null() || WITHOUT_EXAMPLE.contains(&id.as_str()) {
                continue;
            }
            let examples = resolved(document, schema)["examples"].as_array().cloned().unwrap_or_default();
            let (path, schema) = (path.clone(), schema.clone());
            all.push(Shown { operation: id, method, path, schema, examples });
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_fits_its_schema_and_is_taken_by_the_server() {
    let place = Place::open(&[TestSkill("navigate", json!({}), &done("{}"))]).await;
    let document = place.admin.get("/api/openapi.json").await.expect(200);
    let all = shown(&document);
    assert!(all.len() > 25, "{}", all.len());
    for Shown { operation, method, path, schema, examples } in all {
        assert!(!examples.is_empty(), "{operation} has no example");
        let whole = json!({"components": document["components"], "allOf": [schema]});
        let schema = Schema::parse(whole).unwrap();
        for example in examples {
            let wrong = schema.violations(&example, Quote::Values);
            assert!(wrong.is_empty(), "{operation}: {wrong:?}");
            if ELSEWHERE.contains(&operation.as_str()) {
                continue;
            }
            let path = path.replace("{name}", "navigate").replace(['{', '}'], "");
            let answer = place.admin.call(method, &path, &[], Some(&example)).await;
            assert!(![400, 415, 422].contains(&answer.status), "{operation}: {}", answer.text);
            assert!(answer.status < 500, "{operation}: {}", answer.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_an_example_that_fits() {
    let place = Place::open(&[]).await;
    let document = place.admin.get("/api/openapi.json").await.expect(200);
    let mut names = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in METHODS.iter().filter_map(|method| item.get(*method)) {
            let answers = operation["responses"].as_object().unwrap().iter();
            for (_, answer) in answers.filter(|(status, _)| status.starts_with('2')) {
                let schema = &answer["content"]["application/json"]["schema"]["$ref"];
                names.extend(schema.as_str().and_then(|reference| reference.rsplit('/').next()));
            }
        }
    }
    assert!(names.len() > 40, "{names:?}");
    for name in names.into_iter().filter(|name| !ANSWERS_WITHOUT.contains(name)) {
        let examples =
            document["components"]["schemas"][name]["examples"].as_array().cloned().unwrap_or_default();
        assert!(!examples.is_empty(), "{name} has no example");
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        let schema =
            Schema::parse(json!({"components": document["components"], "allOf": [reference]})).unwrap();
        for example in examples {
            let wrong = schema.violations(&example, Quote::Values);
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_enums_and_shared_schemas_have_names() {
    let place = Place::open(&[]).await;
    let document = place.admin.get("/api/openapi.json").await.expect(200);
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "{name} is a name that a program made");
        let choices = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_words = !choices.is_empty() && choices.iter().all(|choice| choice.get("const").is_some());
        assert!(!is_words, "{name} is a list of words, and no enum");
    }
    let words = |name: &str| schemas[name]["enum"].clone();
    assert_eq!(words("SourceKind"), json!(["default", "agent_skills", "hub"]));
    assert_eq!(words("HubKind"), json!(["github", "git", "well-known"]));
}
