//! What holds for every request and every schema: planning never panics, and every plan can be run.

use artel_model::schema::Schema;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::PatternPlanner;
use crate::planner::testing::{ask_with, skill};

const WORDS: &[&str] = &[
    "move",
    "the",
    "box",
    "to",
    "from",
    "kitchen",
    "then",
    "and",
    "two",
    "7",
    "-3",
    "2d6",
    "\"a b\"",
    "${x.output}",
    "$${",
    "is",
    "because",
    "location=here",
    "it",
    "with",
    "speed",
    ",",
    ";",
    "1.",
    "\n",
    "alice's",
    "on",
    "of",
    "\u{130}'s",
    "'",
    "=",
    "a@b.example",
    "\u{201c}so\u{201d}",
];

const NAMES: &[&str] =
    &["location", "object_id", "speed", "key", "value", "reason", "subject", "verbose", "items", "from"];

fn property() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "string"})),
        Just(
            json!({"type": "string", "minLength": 3, "maxLength": 9, "description": "Where: kitchen or hall."})
        ),
        Just(json!({"type": "string", "pattern": "^[a-z]+$", "description": "What, for example 2d6+3."})),
        Just(json!({"enum": ["kitchen", "the box", 7, null]})),
        Just(json!({"type": "integer", "minimum": 0, "maximum": 5})),
        Just(json!({"type": ["number", "string"], "default": 2})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "array", "items": {"type": "string"}, "maxItems": 2})),
        Just(json!({"type": "object"})),
        Just(json!({})),
        Just(json!(true)),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let properties = prop::collection::btree_map(prop::sample::select(NAMES), property(), 0..5);
    (properties, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(properties, required, is_closed)| {
        let names: Vec<&str> = properties.keys().copied().collect();
        let count = if names.is_empty() { 0 } else { required.index(names.len() + 1) };
        let fields: Map<String, Value> =
            properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        json!({
            "type": "object",
            "properties": fields,
            "required": names[..count],
            "additionalProperties": !is_closed,
        })
    })
}

fn request() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(WORDS), 0..20).prop_map(|words| words.join(" "));
    prop_oneof![4 => words, 1 => any::<String>()]
}

proptest! {
    #[test]
    fn every_plan_can_be_run(text in request(), first in schema(), second in schema()) {
        prop_assume!(Schema::parse(first.clone()).is_ok() && Schema::parse(second.clone()).is_ok());
        let skills = vec![
            skill("move-box", "Move a box to a place, at a speed.", first),
            skill("alice", "Two verbose items and a reason.", second),
        ];
        let request = ask_with(&text, skills);
        // The planner itself would mend a plan that cannot be run, so what it starts from is checked.
        let composed = super::compose::compose(&request, &Default::default());
        prop_assert_eq!(request.check.problems(&composed), vec![], "{:?}", composed);
        prop_assert_eq!(PatternPlanner.compose(&request), composed);
    }
}
