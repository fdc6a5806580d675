//! Which documents there are, and the schema of each.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::manifest::ManifestDocument;
use crate::agent::AgentDocument;
use crate::message::MessageDocument;
use crate::plan::PlanDocument;
use crate::protocol::{ToolEvent, ToolRequest};
use crate::run::{ExecutionRecord, ResultDocument};

/// A document that is a contract with the outside.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DocumentKind {
    /// A plan, as people and planners write it.
    Plan,
    /// What came of a plan.
    Result,
    /// What a script says: one line of its stdout.
    Event,
    /// What a script is told on its stdin.
    Request,
    /// The record of one skill that was run.
    Execution,
    /// A skill's manifest: `skill.json`.
    Manifest,
    /// An agent, as it is shown.
    Agent,
    /// A message, as it is shown.
    Message,
}

impl DocumentKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Plan,
        Self::Result,
        Self::Event,
        Self::Request,
        Self::Execution,
        Self::Manifest,
        Self::Agent,
        Self::Message,
    ];

    /// Returns the word that files and addresses use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Result => "result",
            Self::Event => "event",
            Self::Request => "request",
            Self::Execution => "execution",
            Self::Manifest => "manifest",
            Self::Agent => "agent",
            Self::Message => "message",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Plan => "artel plan",
            Self::Result => "artel plan result",
            Self::Event => "artel tool event",
            Self::Request => "artel tool request",
            Self::Execution => "artel execution record",
            Self::Manifest => "artel skill manifest",
            Self::Agent => "artel agent",
            Self::Message => "artel message",
        }
    }

    /// Returns the JSON Schema of such documents (2020-12).
    pub fn schema(self) -> Value {
        let mut schema = match self {
            Self::Plan => read::<PlanDocument>(),
            Self::Result => written::<ResultDocument>(),
            Self::Event => read::<ToolEvent>(),
            Self::Request => written::<ToolRequest>(),
            Self::Execution => written::<ExecutionRecord>(),
            Self::Manifest => ManifestDocument::schema(),
            Self::Agent => written::<AgentDocument>(),
            Self::Message => written::<MessageDocument>(),
        };
        schema["$id"] = format!("urn:artel:schema:{}", self.as_str()).into();
        schema["title"] = self.title().into();
        schema
    }
}

/// The schema of what artel reads: what has a default may be missing.
pub(super) fn read<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

/// The schema of what artel writes: what is always written is there.
fn written<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::{Quote, Schema};

    #[track_caller]
    fn check(kind: DocumentKind, document: &Value, is_good: bool) {
        let violations = Schema::parse(kind.schema()).unwrap().violations(document, Quote::Values);
        assert_eq!(violations.is_empty(), is_good, "{document}: {violations:#?}");
    }

    #[test]
    fn every_schema_says_what_it_is() {
        for kind in DocumentKind::ALL {
            let schema = kind.schema();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            assert_eq!(schema["$id"], format!("urn:artel:schema:{}", kind.as_str()));
            assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{kind:?}");
            assert!(Schema::parse(schema).is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn events_are_those_of_the_protocol() {
        let good = [
            json!({"version": "0", "type": "log", "level": "info", "message": "hello", "more": 1}),
            json!({"version": "0", "type": "state_patch", "patch": {"a": null}}),
            json!({"version": "0", "type": "asset", "assetId": "a", "kind": "image", "mediaType": "image/png", "path": "a.png"}),
            json!({"version": "0", "type": "ui_event", "event": "navigation.complete", "payload": {"x": 1}}),
            json!({"version": "0", "type": "error", "errorCode": "E", "errorMessage": "no"}),
            json!({"version": "0", "type": "done", "ok": true, "output": {}}),
        ];
        good.iter().for_each(|event| check(DocumentKind::Event, event, true));
        let bad = [
            json!({"type": "done", "ok": true}),
            json!({"version": 0, "type": "done", "ok": true}),
            json!({"version": "0", "type": "finished", "ok": true}),
            json!({"version": "0", "type": "log", "level": "loud", "message": "hello"}),
            json!({"version": "0", "type": "done", "ok": true, "output": []}),
            json!([]),
        ];
        bad.iter().for_each(|event| check(DocumentKind::Event, event, false));
    }

    #[test]
    fn manifests_follow_the_rules_of_the_fields() {
        let good = [
            json!({"name": "demo", "description": "Shows.", "$schema": "x"}),
            json!({"parameters_schema": {"type": "object"}, "returnsSchema": true, "maxRetries": 5}),
            json!({"error_policy": {"on_failure": "fallback", "fallback": {"skill": "other"}}}),
            json!({"errorPolicy": {"onFailure": "fallback", "fallback": "partial"}, "metadata": {"x_y": 1}}),
            json!({"dependencies": ["a", "b@^1.2", "c@>=1, <3"], "scripts": [{"path": "scripts/run.sh"}]}),
            json!({"steps": [{"id": "a", "skill": "b", "input": {"x": "${request.y}"}, "approval": true}]}),
        ];
        good.iter().for_each(|manifest| check(DocumentKind::Manifest, manifest, true));
        let bad = [
            json!({"name": "Demo"}),
            json!({"name": "a--b"}),
            json!({"name": null}),
            json!({"description": ""}),
            json!({"version": "1.0"}),
            json!({"colour": "red"}),
            json!({"priority": 101}),
            json!({"timeout": 0}),
            json!({"maxRetries": 6}),
            json!({"tags": ["x".repeat(31)]}),
            json!({"dependencies": ["No"]}),
            json!({"scripts": [{"path": "../run.sh"}]}),
            json!({"scripts": [{"path": "/run.sh"}]}),
            json!({"scripts": [{"path": "a/../run.sh"}]}),
            json!({"scripts": [{"name": "run"}]}),
            json!({"steps": [{"id": "a"}]}),
            json!({"steps": [{"id": "a", "skill": "b", "approved": true}]}),
            json!({"error_policy": {"max_retries": 1}}),
            json!({"error_policy": {"on_failure": "panic"}}),
            json!({"compatibility_rules": [{"type": "forbids", "skill": "b"}]}),
            json!({"output_contract": {"schema": {}}}),
            json!({"parameters_schema": "object"}),
        ];
        bad.iter().for_each(|manifest| check(DocumentKind::Manifest, manifest, false));
    }
}
