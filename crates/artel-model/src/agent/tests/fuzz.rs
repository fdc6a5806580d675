//! Random requests to spawn. `docs/fuzzing.md` says how to run this longer.

use serde_json::{Map, Value, json};

use super::reading::FIELDS;
use crate::agent::SpawnRequest;

/// How often the target runs in CI; `BOLERO_RANDOM_ITERATIONS` overrides it.
const ITERATIONS: usize = 5000;

/// Fields that are nearly known.
const MISSPELT: [&str; 2] = ["Skills", "skills "];

fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!([]),
        json!(["reader"]),
        json!([1, "a", null]),
        json!({"0": "reader"}),
        json!("reader"),
        json!("00000000-0000-0000-0000-000000000001"),
        json!("llm"),
        json!("high"),
        json!(true),
        json!(3),
        json!(-1),
        json!(1e300),
    ]
}

/// Fields and values in any combination, and texts of any kind: no panic, the same answer twice, every refusal says why,
/// and what stands under `skills` is understood exactly or refused.
#[test]
fn fuzz_spawn_request() {
    let values = values();
    let names = [FIELDS, &MISSPELT].concat();
    bolero::check!().with_iterations(ITERATIONS).with_type::<Vec<(u8, u8, String)>>().for_each(|fields| {
        let mut document: Map<String, Value> = Map::new();
        for (field, value, text) in fields {
            let field = names.get(usize::from(*field) % (names.len() + 1)).copied().unwrap_or(text);
            let value = values.get(usize::from(*value) % (values.len() + 2)).cloned();
            document.insert(field.to_owned(), value.unwrap_or_else(|| Value::from(text.as_str())));
        }
        let read = SpawnRequest::read(&document);
        assert_eq!(read, SpawnRequest::read(&document));
        match read {
            Ok(request) => {
                let skills = request.skills.map(|skills| json!(skills));
                assert_eq!(skills.as_ref(), document.get("skills"));
            }
            Err(errors) => {
                assert!(!errors.is_empty() && errors.iter().all(|error| !error.message.is_empty()))
            }
        }
    });
}
