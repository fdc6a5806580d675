//! The Skills extension of the protocol (`io.modelcontextprotocol/skills`): `skills/list` and `skills/get`, with the
//! frontmatter of each skill as it was written and a digest of every file, so that hosts can check what they read.

use artel_app::operations::read_skill_file;
use artel_app::{App, OperationError};
use artel_catalog::frontmatter;
use artel_catalog::shared::{Entry, View};
use artel_model::limit::{MCP_SKILL_BYTES_MAX, MCP_SKILL_FILES_MAX};
use rmcp::ErrorData;
use rmcp::model::{CustomRequest, CustomResult, JsonObject};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::refusal;
use super::cursor;
use super::resources::MAIN;
use super::uri::SkillUri;

/// The name of the extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/skills";
/// Lists skills.
pub(super) const LIST: &str = "skills/list";
/// Returns one skill.
pub(super) const GET: &str = "skills/get";

#[derive(Debug, Default, Deserialize)]
struct ListParams {
    cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct GetParams {
    uri: String,
}

/// Returns a page of the skills that somebody sees.
pub(super) async fn list(app: &App, view: &View, request: &CustomRequest) -> Result<CustomResult, ErrorData> {
    let params: Option<ListParams> = request.params_as().map_err(|error| malformed(&error))?;
    let after = cursor::decode(params.and_then(|params| params.cursor).as_deref())?;
    let mut entries: Vec<&Entry> = view.entries().filter(|entry| is_published(entry)).collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let rest = entries
        .into_iter()
        .filter(|entry| after.as_ref().is_none_or(|after| entry.name.as_str() > after.as_str()));
    let (page, next) = cursor::page(rest, |entry| entry.name.to_string());
    let mut skills = Vec::with_capacity(page.len());
    for entry in page {
        // A file that changed under us or cannot be read verbatim hides one skill, not the others.
        skills.extend(skill(app, entry).await.ok().flatten());
    }
    let mut result = json!({"resultType": "complete", "skills": skills, "ttlMs": 0, "cacheScope": "private"});
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    Ok(CustomResult::new(result))
}

/// Returns the skill whose `SKILL.md` has that address.
pub(super) async fn get(app: &App, view: &View, request: &CustomRequest) -> Result<CustomResult, ErrorData> {
    let params: Option<GetParams> = request.params_as().map_err(|error| malformed(&error))?;
    let unknown = || ErrorData::invalid_params("there is no such skill", Some(json!({"error": "not_found"})));
    let params = params.ok_or_else(|| ErrorData::invalid_params("`uri` is missing", None))?;
    let address = SkillUri::parse(&params.uri).filter(|address| address.path == MAIN).ok_or_else(unknown)?;
    let entry = view.by_name(&address.skill).filter(|entry| is_published(entry)).ok_or_else(unknown)?;
    let skill = skill(app, entry).await.map_err(|error| refusal(&error))?.ok_or_else(unknown)?;
    let result = json!({"resultType": "complete", "skill": skill, "ttlMs": 0, "cacheScope": "private"});
    Ok(CustomResult::new(result))
}

/// A skill without a `SKILL.md`, or beyond what every host must take, is none for this extension.
fn is_published(entry: &Entry) -> bool {
    let bytes: u64 = entry.files.iter().map(|file| file.size).sum();
    entry.file(MAIN).is_some() && entry.files.len() <= MCP_SKILL_FILES_MAX && bytes <= MCP_SKILL_BYTES_MAX
}

/// Returns the entry of a skill; nothing when its frontmatter does not say what the extension wants.
async fn skill(app: &App, entry: &Entry) -> Result<Option<Value>, OperationError> {
    let (_, content) = read_skill_file(app, entry, MAIN).await?;
    let fields = std::str::from_utf8(&content).ok().and_then(frontmatter);
    let Some(fields) = fields.filter(|fields| is_complete(fields, entry)) else { return Ok(None) };
    let resources = entry.files.iter().map(|file| {
        let uri = SkillUri::of(&entry.name, file.path.as_str());
        json!({"uri": uri, "digest": file.hash.to_string(), "size": file.size})
    });
    Ok(Some(json!({
        "uri": SkillUri::of(&entry.name, MAIN),
        "frontmatter": fields,
        "resources": resources.collect::<Vec<Value>>(),
    })))
}

fn is_complete(fields: &Map<String, Value>, entry: &Entry) -> bool {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    text("name") == Some(entry.name.as_str()) && text("description").is_some()
}

fn malformed(error: &serde_json::Error) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}

/// Returns what the extension can do here.
pub(super) fn settings() -> JsonObject {
    JsonObject::from_iter([("directoryRead".to_owned(), json!(false))])
}
