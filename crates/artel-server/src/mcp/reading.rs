//! Reading the catalog: finding skills, and handing out instructions and files in parts.

use std::sync::Arc;

use artel_app::operations::{is_runnable, read_skill_file, served};
use artel_app::{App, OperationError};
use artel_catalog::shared::{Entry, ListQuery, Page, View};
use artel_model::access::Principal;
use artel_model::catalog::{ActivatedBy, OfferedBy};
use artel_model::limit::{
    MCP_FILES_LISTED_MAX, MCP_SEARCH_ITEMS, MCP_SEARCH_ITEMS_MAX, MCP_TEXT_BYTES_MAX,
    MCP_TOOL_SCHEMA_BYTES_MAX,
};
use artel_model::name::SkillName;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::CallToolResult;
use serde_json::json;

use super::answer;
use super::arguments::{
    FilePart, FoundSkill, FoundSkills, ReadSkill, ReadSkillFile, SearchSkills, SkillText, SkillTextFile,
};

/// Finds skills.
pub(super) async fn search(
    app: &App,
    caller: &Principal,
    asked: SearchSkills,
) -> Result<CallToolResult, OperationError> {
    let (_, view) = served(app, caller)?;
    let size = asked.page_size.map_or(MCP_SEARCH_ITEMS, |size| size as usize);
    if size > MCP_SEARCH_ITEMS_MAX {
        let message = format!("`page_size` is at most {MCP_SEARCH_ITEMS_MAX}");
        return Err(OperationError::bad_request("invalid_arguments", message));
    }
    let page = Page::new(asked.page.unwrap_or(1), size)
        .map_err(|error| OperationError::bad_request("invalid_arguments", error.to_string()))?;
    let query =
        ListQuery { words: asked.query, page, source: None, who: None, scan_status: None, tags: asked.tags };
    app.trail().searched(caller, OfferedBy::McpSearch, &view, &query);
    // Searching many skills takes a while, and others are to be answered meanwhile.
    let found = tokio::task::spawn_blocking(move || found(&view, &query)).await;
    Ok(answer::document(
        &found.map_err(|_| OperationError::unavailable("interrupted", "the request was interrupted"))?,
    ))
}

fn found(view: &View, query: &ListQuery) -> FoundSkills {
    let listing = view.list(query);
    FoundSkills {
        skills: listing.items.iter().map(|item| found_skill(item.entry)).collect(),
        total: listing.total,
        page: listing.page.number(),
        has_more: listing.has_more,
    }
}

fn found_skill(entry: &Entry) -> FoundSkill {
    FoundSkill {
        name: entry.name.to_string(),
        title: entry.title.clone(),
        description: entry.description.clone(),
        tags: entry.tags().to_vec(),
        source: entry.source(),
        scan_status: entry.scan.status,
        runnable: is_runnable(entry),
    }
}

/// Returns what somebody sees, to look for a skill by name in it.
pub(super) fn seen(app: &App, caller: &Principal) -> Result<Arc<View>, OperationError> {
    served(app, caller).map(|(_, view)| view)
}

/// Returns the skill that a name means here.
pub(super) fn find<'a>(view: &'a View, name: &SkillName) -> Result<&'a Entry, OperationError> {
    view.by_name(name).ok_or_else(|| OperationError::not_found("skill"))
}

/// Returns a skill with its instructions.
pub(super) fn read_skill(
    app: &App,
    caller: &Principal,
    asked: &ReadSkill,
) -> Result<CallToolResult, OperationError> {
    let view = seen(app, caller)?;
    let entry = find(&view, &asked.skill)?;
    app.trail().activated(caller, ActivatedBy::McpRead, entry);
    let (content, next_offset) = text_part(entry.content(), asked.offset);
    let mut readable = content.to_owned();
    if let Some(next) = next_offset {
        readable.push_str(&format!("\n\n[There is more: call read_skill again with offset {next}.]"));
    }
    let skill = entry.loaded.skill.as_deref();
    let parameters = skill.filter(|_| is_runnable(entry)).map(|skill| skill.interface.parameters.document());
    let text = SkillText {
        name: entry.name.to_string(),
        title: entry.title.clone(),
        description: entry.description.clone(),
        version: skill.map(|skill| skill.version.to_string()),
        content_hash: entry.content_hash.clone(),
        scan_status: entry.scan.status,
        runnable: is_runnable(entry),
        parameters: parameters.filter(|schema| answer::size(schema) <= MCP_TOOL_SCHEMA_BYTES_MAX).cloned(),
        files: entry.files.iter().take(MCP_FILES_LISTED_MAX).map(listed).collect(),
        files_left_out: entry.files.len().saturating_sub(MCP_FILES_LISTED_MAX),
        content: content.to_owned(),
        next_offset,
    };
    Ok(answer::text(readable, json!(text)))
}

fn listed(file: &artel_catalog::shared::EntryFile) -> SkillTextFile {
    SkillTextFile { path: file.path.to_string(), size: file.size, digest: file.hash.to_string() }
}

/// Returns a part of a text that is not too long, and where the next one begins.
fn text_part(text: &str, offset: u64) -> (&str, Option<u64>) {
    let offset =
        usize::try_from(offset).map_or(text.len(), |offset| text.floor_char_boundary(offset.min(text.len())));
    let end = text.floor_char_boundary((offset + MCP_TEXT_BYTES_MAX).min(text.len()));
    (&text[offset..end], (end < text.len()).then_some(end as u64))
}

/// Returns a file of a skill, or a part of it.
pub(super) async fn read_file(
    app: &App,
    caller: &Principal,
    asked: &ReadSkillFile,
) -> Result<CallToolResult, OperationError> {
    let view = seen(app, caller)?;
    let entry = find(&view, &asked.skill)?;
    let (file, content) = read_skill_file(app, entry, &asked.path).await?;
    let part = file_part(&file, &content, asked.offset);
    let mut readable = part.text.clone().unwrap_or_else(|| {
        format!(
            "[{} is not text; bytes from {} on are in `base64` of the structured answer.]",
            part.path, part.offset
        )
    });
    if let Some(next) = part.next_offset {
        readable.push_str(&format!("\n\n[There is more: call read_skill_file again with offset {next}.]"));
    }
    Ok(answer::text(readable, json!(part)))
}

fn file_part(file: &artel_catalog::shared::EntryFile, content: &[u8], offset: u64) -> FilePart {
    let (text, base64, offset, next_offset) = match std::str::from_utf8(content) {
        Ok(whole) => {
            let (part, next) = text_part(whole, offset);
            let end = next.unwrap_or(whole.len() as u64);
            (Some(part.to_owned()), None, end - part.len() as u64, next)
        }
        Err(_) => {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
            let end = (start + MCP_TEXT_BYTES_MAX).min(content.len());
            let next = (end < content.len()).then_some(end as u64);
            (None, Some(BASE64_STANDARD.encode(&content[start..end])), start as u64, next)
        }
    };
    FilePart {
        path: file.path.to_string(),
        size: file.size,
        digest: file.hash.to_string(),
        offset,
        text,
        base64,
        next_offset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_make_the_whole() {
        let text = "aü€".repeat(MCP_TEXT_BYTES_MAX / 2);
        let (mut whole, mut offset) = (String::new(), Some(0));
        while let Some(at) = offset {
            let (part, next) = text_part(&text, at);
            assert!(part.len() <= MCP_TEXT_BYTES_MAX && !part.is_empty());
            whole.push_str(part);
            offset = next;
        }
        assert_eq!(whole, text);
        assert_eq!(text_part("abc", 99), ("", None));
    }
}
