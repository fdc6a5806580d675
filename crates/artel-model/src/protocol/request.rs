//! What a script is told: one JSON object on its stdin.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a script is told.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRequest {
    /// The request that this invocation belongs to: the plan's `requestId`.
    #[schemars(with = "uuid::Uuid")]
    pub request_id: crate::id::PlanId,
    /// The tool: `<skill>/<script>`.
    pub tool: String,
    /// What to do.
    pub operation: Operation,
    /// The input, with references replaced.
    pub input: Map<String, Value>,
    /// The skill's settings.
    pub config: Map<String, Value>,
    /// The run's state.
    pub state: Map<String, Value>,
    /// What the tools that this one depends on gave; `null` for an optional one that failed.
    pub dependencies: BTreeMap<String, Option<DependencyResult>>,
}

/// What a script is asked to do.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Its work; the only operation there is.
    #[default]
    Run,
}

/// What a tool gave to those that depend on it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DependencyResult {
    /// Whether it completed.
    pub ok: bool,
    /// Its output.
    pub output: Map<String, Value>,
}

impl ToolRequest {
    /// Returns the bytes for stdin.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("every key is text");
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fields_are_those_of_the_protocol() {
        let output = Map::from_iter([("x".to_owned(), json!(1))]);
        let request = ToolRequest {
            request_id: "123e4567-e89b-42d3-a456-426614174000".parse().unwrap(),
            tool: "navigate/run".to_owned(),
            operation: Operation::Run,
            input: Map::from_iter([("to".to_owned(), json!("kitchen"))]),
            config: Map::new(),
            state: Map::new(),
            dependencies: BTreeMap::from([
                ("detect-1".to_owned(), Some(DependencyResult { ok: true, output })),
                ("maybe".to_owned(), None),
            ]),
        };
        let expected = json!({
            "requestId": "123e4567-e89b-42d3-a456-426614174000", "tool": "navigate/run", "operation": "run",
            "input": {"to": "kitchen"}, "config": {}, "state": {},
            "dependencies": {"detect-1": {"ok": true, "output": {"x": 1}}, "maybe": null},
        });
        let bytes = request.to_bytes();
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), expected);
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(serde_json::from_slice::<ToolRequest>(&bytes).unwrap(), request);
    }
}
