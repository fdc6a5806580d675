//! The one envelope that every error comes in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why something was not done.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ErrorBody {
    /// What kind of error, for programs.
    pub error: String,
    /// What happened and what to do, for a person.
    pub message: String,
    /// More, when there is more: for example every problem of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Which request it was, to find it in the server's log.
    pub request_id: String,
}
