//! How an attempt went, in the words of the documents.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How an attempt went.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AttemptReport {
    /// What came of it.
    pub outcome: AttemptOutcome,
    /// The files it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assets: Vec<AssetRecord>,
    /// The end of what it wrote to stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Events that came after `done` and were dropped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_events: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What came of an attempt.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// The script did what it should.
    Completed {
        /// Its output.
        output: Map<String, Value>,
        /// Its changes of the state, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        patches: Vec<Map<String, Value>>,
        /// What it did, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// It did not.
    Failed {
        /// Why.
        error: StepError,
        /// Whether another try may help.
        retry: Retry,
        /// Whose fault it is.
        #[serde(default, skip_serializing_if = "Fault::is_the_skills")]
        fault: Fault,
    },
}

/// Whose fault a failure is, as far as the health of the skill is concerned.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The skill's.
    #[default]
    Skill,
    /// The network's.
    Network,
    /// The caller's, the operator's, or that of the machine: it says nothing about the skill.
    Elsewhere,
}

impl Fault {
    /// Says whether the skill is to blame.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    fn is_the_skills(&self) -> bool {
        *self == Self::Skill
    }
}

/// Whether another try may help.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// It may.
    Useful,
    /// It cannot.
    Useless,
    /// The attempt was cut off by something else, such as the death of the launcher: the step is started again where that
    /// is safe, and that is no retry.
    Interrupted,
}

/// Why a step did not complete.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepError {
    /// What kind of error.
    #[serde(rename = "type")]
    pub kind: ErrorKind,
    /// For a person.
    pub message: String,
    /// The exit code of the process, when it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// The kinds of errors of a step.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum ErrorKind {
    /// The script failed.
    ToolExecutionFailed,
    /// Something it needs did not complete.
    DependencyFailed,
    /// It took too long.
    Timeout,
    /// It did not speak the tool protocol.
    ProtocolViolation,
    /// Somebody ended it.
    Cancelled,
    /// It was not allowed.
    PolicyDenied,
    /// It could not be started.
    SpawnFailed,
}

impl StepError {
    /// Makes an error without an exit code.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), exit_code: None }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A file that a script made, as it is kept.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AssetRecord {
    /// Its name in the invocation.
    pub asset_id: String,
    /// What kind of thing it is.
    pub kind: String,
    /// Its MIME type.
    pub media_type: String,
    /// The hash of its content, under which it is kept: `sha256:…`.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
    /// Where the script put it.
    pub path: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}
