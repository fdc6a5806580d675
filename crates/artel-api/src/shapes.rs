//! What schemas say beyond the types of fields: the form of texts that are parsed later, the words that a text may be, and
//! which fields go together. Made from the words and limits of the model, so that none is written a second time.

use artel_model::access::TeamId;
use artel_model::agent::AgentState;
use artel_model::catalog::{CREDENTIALS_PREFIX, Visibility};
use artel_model::limit::{
    AGENT_NAME_CHARS_MAX, AGENT_WORD_BYTES_MAX, CUSTOM_PATH_CHARS_MAX, CUSTOM_TEAMS_MAX,
    DESCRIPTION_CHARS_MAX, DISPLAY_NAME_CHARS_MAX, HUB_INCLUDE_PATHS_MAX, HUB_LOCATION_CHARS_MAX,
    HUB_PATH_CHARS_MAX, HUB_REFERENCE_CHARS_MAX, HUB_VARIABLE_CHARS_MAX, KEY_LABEL_CHARS_MAX, NAME_CHARS_MAX,
    SET_SKILLS_MAX,
};
use artel_model::message::{BROADCAST, SYSTEM};
use artel_model::name::SkillName;
use artel_model::run::{ExecutionStatus, RunState};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::openapi::SCHEMAS;

/// A semantic version; its numbers are smaller than 2^63.
const VERSION: &str = r"^(0|[1-9][0-9]{0,17})(\.(0|[1-9][0-9]{0,17})){2}(-(0|[1-9][0-9]{0,17}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]{0,17}|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$";
/// Base64 as it is written: padded, and without stray bits at its end.
const BASE64: &str = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";
/// A part of the path of a file: nothing that some system cannot have in a name.
const PATH_PART: &str = r#"[^/\\:*?"<>|.\s\u0000-\u001f\u007f-\u009f]([^/\\:*?"<>|.\s\u0000-\u001f\u007f-\u009f]|[. ][^/\\:*?"<>|.\s\u0000-\u001f\u007f-\u009f])*"#;
/// A place in a trace, as W3C writes it; no part of it is zero.
const TRACE_PARENT: &str = "^00-[0-9a-f]{31}[1-9a-f]-[0-9a-f]{15}[1-9a-f]-[0-9a-f]{2}$";
/// Something that can be seen.
const VISIBLE: &str = r"\S";
/// One line.
const ONE_LINE: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";

fn text(pattern: &str, min: usize, max: usize) -> Schema {
    json_schema!({"type": "string", "minLength": min, "maxLength": max, "pattern": pattern})
}

/// A word out of a list.
fn word(words: &[&str]) -> Schema {
    json_schema!({"type": "string", "enum": words})
}

/// Words out of a list, with commas between.
fn words<T: Copy>(all: &[T], as_str: fn(T) -> &'static str) -> Schema {
    let all: Vec<&str> = all.iter().map(|one| as_str(*one)).collect();
    let any = all.join("|");
    json_schema!({"type": "string", "pattern": format!("^({any})(,({any}))*$")})
}

/// Who sees something.
pub(crate) fn visibility(_: &mut SchemaGenerator) -> Schema {
    word(&Visibility::WORDS)
}

/// The teams that see something.
pub(crate) fn team_ids(generator: &mut SchemaGenerator) -> Schema {
    let team = generator.subschema_for::<TeamId>();
    json_schema!({"type": "array", "items": team, "maxItems": CUSTOM_TEAMS_MAX})
}

/// The teams that see something, with commas between.
pub(crate) fn team_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": ONE_LINE})
}

/// States of runs.
pub(crate) fn run_states(_: &mut SchemaGenerator) -> Schema {
    words(RunState::ALL, RunState::as_str)
}

/// States of agents.
pub(crate) fn agent_states(_: &mut SchemaGenerator) -> Schema {
    let all: Vec<&'static str> = AgentState::ALL.iter().map(|state| state.as_str()).collect();
    words(&all, |word| word)
}

/// Statuses of executions.
pub(crate) fn execution_statuses(_: &mut SchemaGenerator) -> Schema {
    words(ExecutionStatus::ALL, ExecutionStatus::as_str)
}

/// Where a page begins: the time and the id of the last item of the page before.
pub(crate) fn cursor(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": "^-?[0-9]{1,18}\\.[0-9a-f]{32}$"})
}

/// The version of a skill.
pub(crate) fn version(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": VERSION})
}

/// The version of a skill, or nothing.
pub(crate) fn version_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "null"], "pattern": VERSION})
}

/// Names of skills.
pub(crate) fn skill_names(generator: &mut SchemaGenerator) -> Schema {
    let name = generator.subschema_for::<SkillName>();
    json_schema!({"type": "array", "items": name, "maxItems": SET_SKILLS_MAX})
}

/// The name of a model, which is never taken for an option of a program.
pub(crate) fn model_name(_: &mut SchemaGenerator) -> Schema {
    text(r"^[^-\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$", 1, AGENT_WORD_BYTES_MAX)
}

/// Who sends a message: an agent or the system.
pub(crate) fn sender(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "anyOf": [{"format": "uuid"}, {"const": SYSTEM}]})
}

/// Who gets a message: an agent, or all of them.
pub(crate) fn recipient(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "anyOf": [{"format": "uuid"}, {"const": BROADCAST}]})
}

/// A place in a trace.
pub(crate) fn traceparent(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": TRACE_PARENT})
}

/// What people call a skill.
pub(crate) fn title(_: &mut SchemaGenerator) -> Schema {
    text(ONE_LINE, 0, DISPLAY_NAME_CHARS_MAX)
}

/// What a skill is for.
pub(crate) fn description(_: &mut SchemaGenerator) -> Schema {
    text(r"^[^\u0000]*[^\s\u0000][^\u0000]*$", 1, DESCRIPTION_CHARS_MAX)
}

/// Instructions.
pub(crate) fn instructions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "minLength": 1, "pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"})
}

/// Words of a person.
pub(crate) fn said(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "minLength": 1, "pattern": VISIBLE})
}

/// What an API key is for.
pub(crate) fn key_label(_: &mut SchemaGenerator) -> Schema {
    text(ONE_LINE, 0, KEY_LABEL_CHARS_MAX)
}

/// What people call an agent.
pub(crate) fn agent_name(_: &mut SchemaGenerator) -> Schema {
    text(
        r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$",
        1,
        AGENT_NAME_CHARS_MAX,
    )
}

/// The path of a file below the folder of a skill.
pub(crate) fn file_path(_: &mut SchemaGenerator) -> Schema {
    text(&format!("^{PATH_PART}(/{PATH_PART})*$"), 1, CUSTOM_PATH_CHARS_MAX)
}

/// Bytes in base64.
pub(crate) fn base64(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "contentEncoding": "base64", "pattern": BASE64})
}

/// Further fields of the frontmatter of a skill: texts, numbers, true and false.
pub(crate) fn metadata(_: &mut SchemaGenerator) -> Schema {
    let names = text(
        r"^[^\s\u0000-\u001f\u007f-\u009f]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?$",
        1,
        NAME_CHARS_MAX,
    );
    json_schema!({
        "type": "object",
        "propertyNames": names,
        "additionalProperties": true,
    })
}

/// Folders of a hub.
pub(crate) fn folders(_: &mut SchemaGenerator) -> Schema {
    let folder =
        text(r"^[^/\\\u0000-\u001f\u007f-\u009f][^\\\u0000-\u001f\u007f-\u009f]*$", 1, HUB_PATH_CHARS_MAX);
    json_schema!({"type": "array", "items": folder, "maxItems": HUB_INCLUDE_PATHS_MAX})
}

/// Where a hub is.
pub(crate) fn location(_: &mut SchemaGenerator) -> Schema {
    text("^[!-,.-~][!-~]*$", 1, HUB_LOCATION_CHARS_MAX)
}

/// A branch, a tag or a commit.
pub(crate) fn reference(_: &mut SchemaGenerator) -> Schema {
    let part = "[A-Za-z0-9_+@#=]([A-Za-z0-9_+@#=-]|[.][A-Za-z0-9_+@#=-])*";
    text(&format!("^{part}(/{part})*$"), 1, HUB_REFERENCE_CHARS_MAX)
}

/// A branch, a tag or a commit; empty for the usual branch.
pub(crate) fn reference_or_empty(generator: &mut SchemaGenerator) -> Schema {
    let reference = reference(generator);
    json_schema!({"anyOf": [{"type": "string", "maxLength": 0}, reference]})
}

/// The name of the variable with a token.
pub(crate) fn credentials_ref(_: &mut SchemaGenerator) -> Schema {
    text(&format!("^{CREDENTIALS_PREFIX}[A-Z0-9_]+$"), 1, HUB_VARIABLE_CHARS_MAX)
}

/// The name of the variable with a token; empty for none.
pub(crate) fn credentials_ref_or_empty(generator: &mut SchemaGenerator) -> Schema {
    let named = credentials_ref(generator);
    json_schema!({"anyOf": [{"type": "string", "maxLength": 0}, named]})
}

/// Requires that one of several sets of conditions holds.
fn one_of(schema: &mut Schema, choices: &[Value]) {
    let all = schema.ensure_object().entry("allOf").or_insert_with(|| json!([]));
    if let Some(all) = all.as_array_mut() {
        all.push(json!({"oneOf": choices}));
    }
}

/// A field that is there, and is not `null`.
fn given(name: &str, kind: &str) -> Value {
    json!({"required": [name], "properties": {name: {"type": kind}}})
}

/// A file has one content.
pub(crate) fn text_or_base64(schema: &mut Schema) {
    one_of(schema, &[given("text", "string"), given("base64", "string")]);
}

/// Teams belong to the visibility `team`, and only there.
pub(crate) fn teams_with_visibility(schema: &mut Schema) {
    one_of(
        schema,
        &[
            json!({"properties": {"visibility": {"enum": ["global", "personal"]}, "team_ids": {"maxItems": 0}}}),
            json!({
                "properties": {"visibility": {"const": "team"}, "team_ids": {"minItems": 1}},
                "required": ["visibility", "team_ids"],
            }),
        ],
    );
}

/// A skill with what goes with it, or a plan alone.
pub(crate) fn skill_or_plan(schema: &mut Schema) {
    let only_with_skill = json!({"version": false, "script": false, "skill": false, "params": {"maxProperties": 0}, "chain": {"const": false}});
    let mut plan = given("plan", "object");
    if let (Some(properties), Some(others)) =
        (plan["properties"].as_object_mut(), only_with_skill.as_object())
    {
        properties.extend(others.clone());
    }
    let mut skill = given("skill", "string");
    skill["properties"]["plan"] = json!(false);
    skill["properties"]["chain"] = json!({"const": false});
    let mut chain = given("skill", "string");
    chain["required"] = json!(["skill", "chain"]);
    chain["properties"]["chain"] = json!({"const": true});
    for name in ["plan", "version", "script"] {
        chain["properties"][name] = json!(false);
    }
    let name = json!({"$ref": format!("#{SCHEMAS}/SkillName")});
    chain["properties"]["params"] =
        json!({"propertyNames": name, "additionalProperties": {"type": "object"}});
    one_of(schema, &[skill, chain, plan]);
}

/// A message says from whom it is, what it says, and where it goes, each under one of two names.
pub(crate) fn message(schema: &mut Schema) {
    schema.ensure_object().insert("required".to_owned(), json!(["message_type"]));
    one_of(schema, &[given("sender_id", "string"), given("from_agent_id", "string")]);
    one_of(schema, &[given("payload", "object"), given("content", "object")]);
    one_of(schema, &addresses(&["event", "request", "error"], &["response"]));
}

/// An event is about a topic.
pub(crate) fn published_event(schema: &mut Schema) {
    let object = schema.ensure_object();
    object.insert("required".to_owned(), json!(["topic"]));
    let example = json!({"sender_id": EXAMPLE_AGENT, "topic": "kitchen.free", "payload": {"since": "noon"}});
    object.insert("examples".to_owned(), json!([example]));
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("recipient_id");
        properties.remove("to_agent_id");
        properties.insert(
            "message_type".to_owned(),
            json!({"enum": ["event", "request", "error"], "default": "event"}),
        );
    }
    replace_addresses(object, &[given("topic", "string")]);
}

/// A request that is waited for goes to an agent or to who listens to a topic.
pub(crate) fn waiting_request(schema: &mut Schema) {
    let object = schema.ensure_object();
    object.remove("required");
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("message_type".to_owned(), json!({"const": "request", "default": "request"}));
        // The answer comes to a mailbox, and only an agent has one.
        for name in ["sender_id", "from_agent_id"] {
            properties.insert(name.to_owned(), json!({"type": "string", "format": "uuid"}));
        }
    }
    let example = json!({
        "sender_id": EXAMPLE_AGENT, "recipient_id": "0d9f0f5e-8a34-4e0b-8b0e-2f7c9f5f4c22", "payload": {"text": "is the kitchen free?"},
    });
    object.insert("examples".to_owned(), json!([example]));
    replace_addresses(object, &addresses(&["request"], &[]));
}

/// The agent that speaks in examples.
const EXAMPLE_AGENT: &str = "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11";

/// Where messages of these kinds go: about a topic, to an agent or to all of them; those of the second kinds answer an
/// agent.
fn addresses(kinds: &[&str], answers: &[&str]) -> Vec<Value> {
    let of = |mut choice: Value, kinds: &[&str]| {
        choice["properties"]["message_type"] = json!({"enum": kinds});
        for other in ["topic", "recipient_id", "to_agent_id"] {
            if choice["required"][0] != other {
                choice["properties"][other] = json!({"type": "null"});
            }
        }
        choice
    };
    let mut choices = vec![of(given("topic", "string"), kinds)];
    for name in ["recipient_id", "to_agent_id"] {
        let mut to_agent = given(name, "string");
        to_agent["properties"][name]["format"] = json!("uuid");
        choices.push(of(to_agent.clone(), kinds));
        let mut to_all = given(name, "string");
        to_all["properties"][name]["const"] = json!(BROADCAST);
        if answers.is_empty() {
            continue;
        }
        choices.push(of(to_all, &[kinds, &[BROADCAST]].concat()));
        let mut answer = of(to_agent, answers);
        answer["required"] = json!([name, "correlation_id"]);
        answer["properties"]["correlation_id"] = json!({"type": "string"});
        choices.push(answer);
    }
    choices
}

fn replace_addresses(object: &mut Map<String, Value>, choices: &[Value]) {
    if let Some(last) = object.get_mut("allOf").and_then(Value::as_array_mut).and_then(|all| all.last_mut()) {
        *last = json!({"oneOf": choices});
    }
}

/// Makes a shared schema out of that of another type.
pub(crate) fn derived<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    name: &str,
    change: fn(&mut Schema),
) -> Schema {
    let mut schema = T::json_schema(generator);
    change(&mut schema);
    generator.definitions_mut().insert(name.to_owned(), schema.to_value());
    json_schema!({"$ref": format!("#{SCHEMAS}/{name}")})
}

/// `label` is another name of `name`; parameters belong to a skill.
pub(crate) fn agent(schema: &mut Schema) {
    let no_label = json!({"name": {"properties": {"label": {"type": "null"}}}});
    schema.ensure_object().insert("dependentSchemas".to_owned(), no_label);
    let nothing = json!({
        "properties": {
            "skill": {"type": "null"},
            "params": {"type": ["object", "null"], "maxProperties": 0},
            "chain": {"enum": [false, null]},
        },
    });
    one_of(schema, &[given("skill", "string"), nothing]);
}
