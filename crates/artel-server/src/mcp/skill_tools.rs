//! Skills that can be run, as tools of their own: a client that knows nothing of skills can use them all the same.

use std::sync::Arc;

use artel_api::runs::RunRequest;
use artel_app::operations::is_runnable;
use artel_catalog::shared::{Entry, View};
use artel_model::limit::{MCP_SKILL_TOOLS_MAX, MCP_TOOL_SCHEMA_BYTES_MAX};
use artel_model::name::SkillName;
use artel_model::skill::{Reach, Skill};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::answer::size;

/// Returns the skills that are offered as tools, by name. A model is confused by too many, so that only the first by
/// priority are; the others are found by searching.
pub(super) fn offered(view: &View, skills_max: Option<usize>) -> Vec<&Entry> {
    let mut entries: Vec<(&Entry, &Skill)> =
        view.entries().filter_map(|entry| Some((entry, offerable(entry)?))).collect();
    entries.sort_by(|(_, one), (_, other)| {
        other.about.priority.cmp(&one.about.priority).then_with(|| one.name.cmp(&other.name))
    });
    entries.truncate(skills_max.unwrap_or(usize::MAX).min(MCP_SKILL_TOOLS_MAX));
    let mut entries: Vec<&Entry> = entries.into_iter().map(|(entry, _)| entry).collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries
}

/// Returns the skill that a tool is, also when it is not among those that are listed.
pub(super) fn named<'a>(view: &'a View, tool: &str) -> Option<&'a Entry> {
    let name: SkillName = tool.parse().ok()?;
    view.by_name(&name).filter(|entry| offerable(entry).is_some())
}

/// A tool is chosen by a model, which not every skill wants.
fn offerable(entry: &Entry) -> Option<&Skill> {
    let skill = entry.loaded.skill.as_deref()?;
    (is_runnable(entry) && skill.invocation.by_model).then_some(skill)
}

/// Returns a skill as a tool. The name of a skill is always one that a tool may have.
pub(super) fn tool(entry: &Entry) -> Option<Tool> {
    let skill = entry.loaded.skill.as_deref()?;
    let annotations = ToolAnnotations::with_title(&entry.title)
        .idempotent(skill.attempts.idempotent)
        .open_world(skill.reach() != Reach::Contained);
    let meta = json!({"artel/skill": entry.id.to_string(), "artel/content_hash": entry.content_hash});
    let tool = Tool::new(entry.name.to_string(), entry.description.clone(), parameters(skill))
        .with_title(&entry.title)
        .with_annotations(annotations);
    Some(tool.with_meta(MetaObject(object(meta))))
}

/// Returns the schema of the parameters; the protocol wants it to say that they are an object.
fn parameters(skill: &Skill) -> Arc<JsonObject> {
    let script = skill.entrypoint.as_ref().and_then(|name| skill.script(name));
    let own = script.and_then(|script| script.parameters_schema.as_ref());
    let document = own.unwrap_or(&skill.interface.parameters).document();
    // A schema that fills a model's head is checked when the skill runs, and not shown.
    let shown = document.as_object().filter(|_| size(document) <= MCP_TOOL_SCHEMA_BYTES_MAX);
    let mut schema = shown.cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Arc::new(schema)
}

/// Returns what calling the tool asks for.
pub(super) fn request(entry: &Entry, params: Map<String, Value>) -> RunRequest {
    RunRequest {
        skill: Some(entry.name.clone()),
        version: None,
        script: None,
        params,
        chain: false,
        plan: None,
        timeout_ms: None,
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            JsonObject::new()
        }
    }
}
