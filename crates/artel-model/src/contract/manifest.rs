//! What may be written in `skill.json`. Reading it, with a place for everything that is wrong, belongs to the catalog;
//! here is its shape, for editors and for whoever writes manifests by program.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::kind::read;
use crate::data_scope::DataScope;
use crate::limit;

/// What may be written in `skill.json`, or as YAML in `skill.yaml`. `camelCase` means the same as `snake_case`; keys that
/// start with `$` are ignored. `name` and `description` may only be missing when a `SKILL.md` beside it gives them.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct ManifestDocument {
    /// Lower-case letters, digits and single hyphens, none at the ends; equal to the folder's name.
    #[schemars(regex(pattern = SKILL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub name: Option<String>,
    /// A semantic version; `0.0.0` when absent.
    #[schemars(regex(pattern = SEMANTIC_VERSION))]
    pub version: Option<String>,
    /// What the skill does and when to use it.
    #[schemars(regex(pattern = NOT_BLANK), length(min = 1, max = limit::DESCRIPTION_CHARS_MAX))]
    pub description: Option<String>,
    /// The name for people.
    #[schemars(length(max = limit::DISPLAY_NAME_CHARS_MAX))]
    pub display_name: Option<String>,
    /// Who made it.
    #[schemars(length(max = limit::AUTHOR_CHARS_MAX))]
    pub author: Option<String>,
    /// Under which terms it may be used.
    #[schemars(length(max = limit::DESCRIPTION_CHARS_MAX))]
    pub license: Option<String>,
    /// Where more is said about it.
    #[schemars(length(max = limit::DESCRIPTION_CHARS_MAX))]
    pub homepage: Option<String>,
    /// What it needs around it.
    #[schemars(length(max = limit::COMPATIBILITY_CHARS_MAX))]
    pub compatibility: Option<String>,
    /// Labels to find it by.
    #[schemars(length(max = limit::TAGS_MAX), inner(length(max = limit::TAG_CHARS_MAX)))]
    pub tags: Option<Vec<String>>,
    /// What it can do, in words of its own.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub capabilities: Option<Vec<String>>,
    /// Higher comes first in prompts.
    #[schemars(range(min = 0, max = limit::PRIORITY_MAX), extend("default" = 50))]
    pub priority: Option<u32>,
    /// JSON Schema of the parameters, 2020-12 unless its `$schema` says otherwise; any object when absent.
    pub parameters_schema: Option<AnySchema>,
    /// JSON Schema of the result.
    pub returns_schema: Option<AnySchema>,
    /// Seconds one attempt may take.
    #[schemars(range(min = 1, max = limit::TIMEOUT_S_MAX), extend("default" = 30))]
    pub timeout: Option<u32>,
    /// Retries after the first try.
    #[schemars(range(min = 0, max = limit::RETRIES_MAX), extend("default" = 0))]
    pub max_retries: Option<u32>,
    /// Milliseconds before the first retry; each further one waits twice as long.
    #[schemars(range(min = 0, max = limit::BACKOFF_MS_MAX), extend("default" = 100))]
    pub backoff_ms: Option<u32>,
    /// Whether an interrupted run may simply be repeated.
    #[schemars(extend("default" = false))]
    pub idempotent: Option<bool>,
    /// Skills it needs: `name`, or `name@requirement`, for example `detect@^1.2`.
    #[schemars(length(max = limit::LIST_ITEMS_MAX), inner(regex(pattern = DEPENDENCY)))]
    pub dependencies: Option<Vec<String>>,
    /// Its scripts; executable files in `scripts/` are added.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub scripts: Option<Vec<ScriptDocument>>,
    /// The script that runs by default; else the only one, `run` or `main`.
    #[schemars(regex(pattern = LOCAL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub entrypoint: Option<String>,
    /// The steps of a composite skill.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub steps: Option<Vec<StepDocument>>,
    /// What a composite skill does when a step fails.
    pub error_policy: Option<ErrorPolicyDocument>,
    /// Tools an agent may use with this skill, as patterns: `navigate/run`, `Bash(git:*)`.
    #[schemars(length(max = limit::LIST_ITEMS_MAX), inner(length(min = 1)))]
    pub allowed_tools: Option<Vec<String>>,
    /// Tools it may never use; these always win.
    #[schemars(length(max = limit::LIST_ITEMS_MAX), inner(length(min = 1)))]
    pub forbidden_tools: Option<Vec<String>>,
    /// What to do, step by step.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub execution_protocol: Option<Vec<String>>,
    /// What must hold before.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub preconditions: Option<Vec<String>>,
    /// What holds after.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub postconditions: Option<Vec<String>>,
    /// What comes out.
    pub output_contract: Option<OutputContractDocument>,
    /// Skills that must, or must not, be in the same set.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub compatibility_rules: Option<Vec<CompatibilityRuleDocument>>,
    /// Skills that this one is composed with, or never.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub composability_rules: Option<Vec<ComposabilityRuleDocument>>,
    /// What the scripts ask for beyond the default sandbox.
    pub sandbox: Option<SandboxDocument>,
    /// Who shares the data that its scripts keep; `shared` needs the operator's grant for this skill.
    #[schemars(extend("default" = "principal"))]
    pub data_scope: Option<DataScope>,
    /// Whether a model must not choose it by itself.
    #[schemars(extend("default" = false))]
    pub disable_model_invocation: Option<bool>,
    /// Whether a person may call it by name.
    #[schemars(extend("default" = true))]
    pub user_invocable: Option<bool>,
    /// Anything else.
    pub metadata: Option<Map<String, Value>>,
    /// When it was made; artel keeps this by itself, and ignores it here.
    pub created_at: Option<Value>,
    /// When it was changed; artel keeps this by itself, and ignores it here.
    pub updated_at: Option<Value>,
}

/// An executable file of a skill.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct ScriptDocument {
    /// Its name within the skill; the file's name without its ending when absent.
    #[schemars(regex(pattern = LOCAL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub name: Option<String>,
    /// Where it lies inside the skill's folder.
    #[schemars(regex(pattern = INSIDE_FOLDER), length(min = 1))]
    pub path: String,
    /// What it does.
    #[schemars(length(max = limit::DESCRIPTION_CHARS_MAX))]
    pub description: Option<String>,
    /// JSON Schema of its parameters; the skill's when absent.
    pub parameters_schema: Option<AnySchema>,
    /// JSON Schema of its result; the skill's when absent.
    pub returns_schema: Option<AnySchema>,
    /// Seconds one attempt may take; the skill's when absent.
    #[schemars(range(min = 1, max = limit::TIMEOUT_S_MAX))]
    pub timeout: Option<u32>,
}

/// One step of a composite skill.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct StepDocument {
    /// Its name among the steps.
    #[schemars(regex(pattern = LOCAL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub id: String,
    /// The skill it runs.
    #[schemars(regex(pattern = SKILL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub skill: String,
    /// The script of that skill; what it runs by itself when absent.
    #[schemars(regex(pattern = LOCAL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub script: Option<String>,
    /// Its input; strings may hold `${request.FIELD}` and `${STEP.output.FIELD}`.
    pub input: Option<Map<String, Value>>,
    /// The steps it waits for; the one before it when absent.
    #[schemars(length(max = limit::LIST_ITEMS_MAX), inner(regex(pattern = LOCAL_NAME)))]
    pub depends_on: Option<Vec<String>>,
    /// Whether its failure is that of the whole.
    #[schemars(extend("default" = true))]
    pub required: Option<bool>,
    /// Whether somebody must say yes before it starts.
    #[schemars(extend("default" = false))]
    pub approval: Option<bool>,
}

/// What a composite skill does when a step fails.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct ErrorPolicyDocument {
    /// What it does.
    pub on_failure: FailureWord,
    /// Retries of the step before that.
    #[schemars(range(min = 0, max = limit::RETRIES_MAX), extend("default" = 0))]
    pub max_retries: Option<u32>,
    /// What stands in for the step: another skill, or what was reached without it.
    pub fallback: Option<FallbackDocument>,
}

/// What a composite skill does when a step fails for good.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq)]
#[schemars(rename_all = "snake_case")]
pub enum FailureWord {
    /// Steps that have not started are skipped.
    Abort,
    /// The same, after retries.
    Retry,
    /// Something stands in for the step.
    Fallback,
}

/// What stands in for a step that failed.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(untagged)]
pub enum FallbackDocument {
    /// What was reached without it.
    Partial(PartialWord),
    /// Another skill.
    Skill(TargetDocument),
}

/// The word for going on with what was reached.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq)]
#[schemars(rename_all = "snake_case")]
pub enum PartialWord {
    /// Steps that do not need the failed one go on.
    Partial,
}

/// A skill that stands in for a step.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct TargetDocument {
    /// The skill.
    #[schemars(regex(pattern = SKILL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub skill: String,
    /// Its script; what it runs by itself when absent.
    #[schemars(regex(pattern = LOCAL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub script: Option<String>,
    /// Its input; strings may hold `${request.FIELD}`.
    pub input: Option<Map<String, Value>>,
}

/// What comes out of a skill.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct OutputContractDocument {
    /// What kind of thing.
    #[schemars(rename = "type", regex(pattern = NOT_BLANK))]
    pub kind: String,
    /// JSON Schema of it.
    pub schema: Option<AnySchema>,
}

/// A rule about another skill: what `K` says about it.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct CompanionRule<K> {
    /// What the rule says.
    #[schemars(rename = "type")]
    pub kind: K,
    /// The other skill.
    #[schemars(regex(pattern = SKILL_NAME), length(min = 1, max = limit::NAME_CHARS_MAX))]
    pub skill: String,
    /// Why.
    #[schemars(length(max = limit::DESCRIPTION_CHARS_MAX))]
    pub reason: Option<String>,
}

/// A rule about who is in the same set.
pub type CompatibilityRuleDocument = CompanionRule<CompatibilityWord>;
/// A rule about who is composed with whom.
pub type ComposabilityRuleDocument = CompanionRule<ComposabilityWord>;

/// What a compatibility rule says.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq)]
#[schemars(rename_all = "snake_case")]
pub enum CompatibilityWord {
    /// The other one must be there.
    Requires,
    /// It must not be there.
    Incompatible,
}

/// What a composability rule says.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq)]
#[schemars(rename_all = "snake_case")]
pub enum ComposabilityWord {
    /// The other one must be there.
    Requires,
    /// It must not be there.
    Forbids,
}

/// What a skill's scripts ask for beyond the default sandbox.
#[derive(Clone, Debug, JsonSchema, PartialEq)]
#[schemars(deny_unknown_fields, extend("patternProperties" = {"^\\$": true}))]
pub struct SandboxDocument {
    /// Whether they want the network.
    #[schemars(extend("default" = false))]
    pub network: Option<bool>,
    /// Folders they want to read.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub read: Option<Vec<String>>,
    /// Folders they want to write.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub write: Option<Vec<String>>,
    /// Environment variables they want to see.
    #[schemars(length(max = limit::LIST_ITEMS_MAX))]
    pub env: Option<Vec<String>>,
}

const SKILL_NAME: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
const LOCAL_NAME: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$";
const NOT_BLANK: &str = r"\S";
const DEPENDENCY: &str = r"^\s*[a-z0-9]+(-[a-z0-9]+)*\s*(@.*\S.*)?$";
/// Parts with slashes between them, none of which is `..`.
const INSIDE_FOLDER: &str = r"^(\.|\.?[^./\\][^/\\]*|\.\.[^/\\]+)(/+(\.|\.?[^./\\][^/\\]*|\.\.[^/\\]+))*/*$";
const SEMANTIC_VERSION: &str =
    r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$";

/// A JSON Schema that an author wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct AnySchema(pub Value);

impl JsonSchema for AnySchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnySchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["object", "boolean"]})
    }
}

impl ManifestDocument {
    /// Returns the JSON Schema of manifests.
    pub fn schema() -> Value {
        let mut schema = read::<Self>();
        without_null(&mut schema);
        in_both_spellings(&mut schema);
        if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
            definitions.values_mut().for_each(in_both_spellings);
        }
        schema
    }
}

/// A field may be missing, but `null` is no value for it.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    object.extend(only);
                }
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(values) => values.iter_mut().for_each(without_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Adds every property of an object in `camelCase` too. What is required is so in either spelling.
fn in_both_spellings(schema: &mut Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let other: Vec<(String, Value)> = properties
        .iter()
        .filter(|(name, _)| name.contains('_'))
        .map(|(name, property)| (camel(name), property.clone()))
        .collect();
    properties.extend(other);
    let Some(Value::Array(required)) = schema.get_mut("required") else { return };
    let (twice, once): (Vec<String>, Vec<String>) = required
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .partition(|name| name.contains('_'));
    *required = once.into_iter().map(Value::from).collect();
    let either =
        |name: &String| serde_json::json!({"anyOf": [{"required": [name]}, {"required": [camel(name)]}]});
    if !twice.is_empty() {
        schema["allOf"] = twice.iter().map(either).collect();
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        camel.extend(word.chars().take(1).map(|c| c.to_ascii_uppercase()));
        camel.extend(word.chars().skip(1));
    }
    camel
}
