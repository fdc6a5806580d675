//! Resources: every file of every skill that the caller sees, as `skill://<name>/<path>`.

use artel_app::operations::read_skill_file;
use artel_app::{App, OperationError};
use artel_catalog::shared::{Entry, EntryFile, View};
use artel_model::access::Principal;
use artel_model::limit::MCP_RESOURCE_BYTES_MAX;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{JsonObject, MetaObject, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::reading::{find, seen};
use super::uri::SkillUri;

/// The file that defines a skill for most clients.
pub(super) const MAIN: &str = "SKILL.md";
const DIGEST: &str = "artel/digest";

/// Returns all files after that address, by skill and path.
pub(super) fn after<'a>(
    view: &'a View,
    key: Option<&str>,
) -> impl Iterator<Item = (&'a Entry, &'a EntryFile)> + use<'a> {
    let mut entries: Vec<&Entry> = view.entries().collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let after = key.and_then(SkillUri::parse);
    let first = after.as_ref().map_or(0, |after| entries.partition_point(|entry| entry.name < after.skill));
    let files =
        entries.into_iter().skip(first).flat_map(|entry| entry.files.iter().map(move |file| (entry, file)));
    files.skip_while(move |(entry, file)| {
        after
            .as_ref()
            .is_some_and(|after| entry.name == after.skill && file.path.as_str() <= after.path.as_str())
    })
}

/// Returns the key of a file in the list.
pub(super) fn key((entry, file): &(&Entry, &EntryFile)) -> String {
    SkillUri::of(&entry.name, file.path.as_str())
}

/// Returns a file as a resource.
pub(super) fn resource(entry: &Entry, file: &EntryFile) -> Resource {
    let uri = SkillUri::of(&entry.name, file.path.as_str());
    let resource = if file.path == MAIN {
        Resource::new(uri, entry.name.to_string())
            .with_title(&entry.title)
            .with_description(&entry.description)
    } else {
        Resource::new(uri, format!("{}/{}", entry.name, file.path))
    };
    resource.with_mime_type(media_type(file.path.as_str())).with_size(file.size).with_meta(digest(file))
}

fn digest(file: &EntryFile) -> MetaObject {
    MetaObject(JsonObject::from_iter([(DIGEST.to_owned(), json!(file.hash.to_string()))]))
}

/// Returns how addresses are made.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("skill://{name}/{+path}", "skill-file")
        .with_title("A file of a skill")
        .with_description("The file of a skill; SKILL.md holds its instructions. search_skills finds names.")
}

/// Reads a resource.
pub(super) async fn read(
    app: &App,
    caller: &Principal,
    uri: &str,
) -> Result<ResourceContents, OperationError> {
    let unknown = || OperationError::not_found("resource");
    let address = SkillUri::parse(uri).ok_or_else(unknown)?;
    let view = seen(app, caller)?;
    let entry = find(&view, &address.skill).map_err(|_| unknown())?;
    let file = entry.file(&address.path).ok_or_else(unknown)?;
    if file.size > MCP_RESOURCE_BYTES_MAX {
        let message = format!(
            "The file has {} bytes, more than {MCP_RESOURCE_BYTES_MAX}; read it in parts with read_skill_file.",
            file.size
        );
        return Err(OperationError::unprocessable("too_large", message));
    }
    let (file, content) = read_skill_file(app, entry, &address.path).await?;
    let contents = match String::from_utf8(content) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.into_bytes()), uri),
    };
    Ok(contents.with_mime_type(media_type(&address.path)).with_meta(digest(&file)))
}

/// Guesses what a file is by its name: clients show it by that, and nobody acts on it here.
fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        Some("yaml" | "yml") => "application/yaml",
        Some("html" | "htm") => "text/html",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("svg") => "image/svg+xml",
        Some("pdf") => "application/pdf",
        Some("zip" | "gz" | "tar" | "wasm" | "bin" | "exe") => "application/octet-stream",
        Some(_) | None => "text/plain",
    }
}
