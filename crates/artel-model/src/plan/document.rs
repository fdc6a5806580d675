//! Plan JSON: the document that people, planners and models write. Knows nothing of which skills there are.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::problem::PlanProblem;
use super::read::Reading;
use super::resolved::PlanMetadata;
use crate::id::{PlanId, StepId};
use crate::name::{LocalName, NameError, SkillName};
use crate::version::{Version, WrittenVersion};

/// A plan: tools to run once, and what waits for what. Keys that start with `$` are ignored.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Plan", extend("patternProperties" = {"^\\$": true}))]
pub struct PlanDocument {
    /// The plan's id.
    #[schemars(with = "uuid::Uuid")]
    pub request_id: PlanId,
    /// What its author says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    pub narrative: Option<String>,
    /// The tools; there may be none.
    #[schemars(extend("maxItems" = 10_000))]
    pub tools: Vec<ToolInvocation>,
    /// Whether tools that allow it may run at the same time.
    #[schemars(default)]
    pub parallel: bool,
    /// Skills that the plan must not use.
    #[schemars(default)]
    pub disabled_skills: Vec<SkillName>,
    /// How the plan came to be.
    #[schemars(default = "PlanMetadata::first")]
    pub metadata: PlanMetadata,
}

/// One tool of a plan: a script by its path, or a skill and perhaps one of its scripts.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("patternProperties" = {"^\\$": true}, "oneOf" = [{"required": ["toolPath"]}, {"required": ["skill"]}]))]
pub struct ToolInvocation {
    /// Its name in the plan.
    pub tool_id: StepId,
    /// The path of a script that belongs to a skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, length(min = 1))]
    pub tool_path: Option<String>,
    /// The skill to run, as `name` or `name@version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "Option<String>")]
    pub skill: Option<SkillChoice>,
    /// The script of that skill; what the skill runs by itself when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    pub script: Option<LocalName>,
    /// Its input; strings may hold `${toolId.output.path}`.
    #[schemars(default)]
    pub input: Map<String, Value>,
    /// The tools it waits for.
    #[schemars(default)]
    pub dependencies: Vec<StepId>,
    /// Whether its failure fails the plan.
    #[schemars(default = "yes")]
    pub required: bool,
    /// Whether others may run beside it when the plan is parallel.
    #[schemars(default)]
    pub r#async: bool,
    /// How often it is tried again.
    #[schemars(default)]
    pub retry_policy: RetryPolicy,
    /// Milliseconds one attempt may take; what the script or its skill says when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, range(min = 1, max = 3_600_000))]
    pub timeout_ms: Option<u64>,
}

/// How often a tool is tried again, and after how long.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("patternProperties" = {"^\\$": true}))]
pub struct RetryPolicy {
    /// Retries after the first try.
    #[schemars(default = "RetryPolicy::max_retries_default", range(min = 0, max = 10))]
    pub max_retries: u32,
    /// Milliseconds before the first retry; each further one waits twice as long.
    #[schemars(default = "RetryPolicy::backoff_ms_default")]
    pub backoff_ms: u64,
}

/// A skill as a plan names it: `name`, or `name@version`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillChoice {
    /// The skill.
    pub name: SkillName,
    /// Its version; the usual one when absent.
    pub version: Option<Version>,
}

/// Why a text names no skill.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SkillChoiceError {
    /// The part before `@` is no name.
    #[error("`{text}` is not a skill's name: {why}")]
    Name {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: NameError,
    },
    /// The part after `@` is no version.
    #[error("`{0}` is not a version: write for example `1.2.0`")]
    Version(String),
}

impl PlanDocument {
    /// Reads a document; what is wrong with its shape is told all at once.
    pub fn parse(value: &Value) -> Result<Self, Vec<PlanProblem>> {
        Reading::of_value(value).into_document()
    }

    /// Reads a document from text.
    pub fn parse_text(text: &str) -> Result<Self, Vec<PlanProblem>> {
        Reading::of_text(text).into_document()
    }

    /// Returns the JSON Schema of plan documents.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }
}

/// Whoever reads it so is not told everything that is wrong: for documents that artel itself wrote.
impl<'de> Deserialize<'de> for PlanDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::parse(&value).map_err(|problems| match problems.first() {
            Some(problem) => D::Error::custom(problem),
            None => D::Error::custom("no plan"),
        })
    }
}

impl PlanMetadata {
    /// Returns the metadata of a plan that does not say where it comes from.
    pub fn first() -> Self {
        Self { generation_attempt: 1, parent_plan_id: None }
    }
}

impl RetryPolicy {
    fn max_retries_default() -> u32 {
        Self::default().max_retries
    }

    fn backoff_ms_default() -> u64 {
        Self::default().backoff_ms
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_retries: 3, backoff_ms: 100 }
    }
}

fn yes() -> bool {
    true
}

impl FromStr for SkillChoice {
    type Err = SkillChoiceError;

    fn from_str(text: &str) -> Result<Self, SkillChoiceError> {
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let name = name.parse().map_err(|why| SkillChoiceError::Name { text: cut(name), why })?;
        let version = version.map(|version| match WrittenVersion::parse(version) {
            Some(written) => Ok(written.into_version()),
            None => Err(SkillChoiceError::Version(cut(version))),
        });
        Ok(Self { name, version: version.transpose()? })
    }
}

fn cut(text: &str) -> String {
    text.chars().take(100).collect()
}

impl fmt::Display for SkillChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}@{version}", self.name),
            None => self.name.fmt(f),
        }
    }
}

impl Serialize for SkillChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn skills_may_be_named_with_their_version() {
        let check = |text: &str, expected: &str| {
            let written = text.parse::<SkillChoice>();
            assert_eq!(written.map_or_else(|error| error.to_string(), |choice| choice.to_string()), expected);
        };
        check("navigate", "navigate");
        check("navigate@1.2.0", "navigate@1.2.0");
        check("navigate@1.2", "navigate@1.2.0");
        check("navigate@", "`` is not a version: write for example `1.2.0`");
        check("navigate@^1", "`^1` is not a version: write for example `1.2.0`");
        check("@1.0.0", "`` is not a skill's name: the name is empty");
    }

    #[test]
    fn the_schema_fits_what_is_read() {
        let schema = crate::schema::Schema::parse(PlanDocument::json_schema()).unwrap();
        let fits = |value: &Value| schema.violations(value, crate::schema::Quote::Values).is_empty();
        let id = "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c";
        let good = json!({"requestId": id, "$schema": "x", "tools": [{
            "toolId": "a", "skill": "x", "input": {"y": 1}, "retryPolicy": {"maxRetries": 2}, "$comment": 1,
        }]});
        assert!(fits(&good), "{:?}", schema.violations(&good, crate::schema::Quote::Values));
        assert!(PlanDocument::parse(&good).is_ok());
        for bad in [
            json!({"tools": []}),
            json!({"requestId": id, "tools": [], "tool": 1}),
            json!({"requestId": id, "tools": [{"toolId": "a"}]}),
            json!({"requestId": id, "tools": [{"toolId": "a", "skill": "x", "toolPath": "y"}]}),
            json!({"requestId": id, "tools": [{"toolId": "", "skill": "x"}]}),
            json!({"requestId": id, "tools": [{"toolId": "a", "skill": "x", "timeoutMs": 0}]}),
            json!({"requestId": id, "tools": [{"toolId": "a", "skill": "x", "retryPolicy": {"maxRetries": 11}}]}),
            json!({"requestId": id, "tools": [], "metadata": {"generationAttempt": 0}}),
        ] {
            assert!(!fits(&bad), "{bad}");
            assert!(PlanDocument::parse(&bad).is_err(), "{bad}");
        }
    }
}
