//! The events that a script writes, one JSON object a line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The only version there is; written as `"0"`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum ProtocolVersion {
    /// Version "0".
    #[default]
    #[serde(rename = "0")]
    Zero,
}

/// How much a log line matters.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// For who looks for a mistake.
    Debug,
    /// What happens.
    Info,
    /// What may be wrong.
    Warn,
    /// What is wrong.
    Error,
}

/// What a script says. Unknown fields are ignored.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ToolEvent {
    /// Something to show; never an error.
    Log {
        /// The protocol's version.
        version: ProtocolVersion,
        /// The request it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// When, as the script says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
        /// How much it matters.
        level: LogLevel,
        /// The text.
        message: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fields: Option<Map<String, Value>>,
    },
    /// A change of the run's state, merged deeply.
    StatePatch {
        /// The protocol's version.
        version: ProtocolVersion,
        /// The request it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// When, as the script says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
        /// The change.
        patch: Map<String, Value>,
    },
    /// A file that the script made.
    Asset {
        /// The protocol's version.
        version: ProtocolVersion,
        /// The request it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// When, as the script says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
        /// Its name, unique in the invocation.
        asset_id: String,
        /// What kind of thing it is.
        kind: String,
        /// Its MIME type.
        media_type: String,
        /// Where it lies, in a folder that the script may write.
        path: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Map<String, Value>>,
    },
    /// Something for the person in front of the screen.
    UiEvent {
        /// The protocol's version.
        version: ProtocolVersion,
        /// The request it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// When, as the script says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
        /// What happened, for example `navigation.complete`.
        event: String,
        /// What belongs to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<Value>,
    },
    /// Something went wrong; the invocation goes on.
    Error {
        /// The protocol's version.
        version: ProtocolVersion,
        /// The request it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// When, as the script says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
        /// What kind of error.
        error_code: String,
        /// What is wrong.
        error_message: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
    /// The end of the invocation; exactly one.
    Done {
        /// The protocol's version.
        version: ProtocolVersion,
        /// The request it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        /// When, as the script says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
        /// Whether the script did what it should.
        ok: bool,
        /// What it did, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// Its result; the merged patches when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Map<String, Value>>,
    },
}
