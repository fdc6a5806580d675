//! Prompts: the instructions of skills that a person may call by name.

use artel_app::OperationError;
use artel_catalog::shared::{Entry, View};
use artel_model::limit::MCP_RESULT_BYTES_MAX;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};

use super::uri::SkillUri;

/// The argument of every prompt.
pub(super) const ARGUMENTS: &str = "arguments";
/// Where instructions want what a person said.
const PLACE: &str = "$ARGUMENTS";

/// Returns the skills that a person may call, by name; of too many, the first by priority. The others can be had by name.
pub(super) fn offered(view: &View, skills_max: Option<usize>) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = view.entries().filter(|entry| is_offered(entry)).collect();
    let priority = |entry: &Entry| entry.loaded.skill.as_ref().map(|skill| skill.about.priority);
    entries.sort_by(|one, other| priority(other).cmp(&priority(one)).then_with(|| one.name.cmp(&other.name)));
    entries.truncate(skills_max.unwrap_or(usize::MAX));
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries
}

fn is_offered(entry: &Entry) -> bool {
    let by_user = entry.loaded.skill.as_ref().is_some_and(|skill| skill.invocation.by_user);
    by_user && !entry.content().trim().is_empty()
}

/// Returns a skill as a prompt.
pub(super) fn prompt(entry: &Entry) -> Prompt {
    let argument = PromptArgument::new(ARGUMENTS)
        .with_description("What the skill is to be used for, in words.")
        .with_required(false);
    Prompt::new(entry.name.to_string(), Some(entry.description.clone()), Some(vec![argument]))
        .with_title(&entry.title)
}

/// Returns the instructions of a skill as a message, with what a person said.
pub(super) fn message(
    view: &View,
    name: &str,
    said: Option<&str>,
) -> Result<GetPromptResult, OperationError> {
    let entry = name.parse().ok().and_then(|name| view.by_name(&name)).filter(|entry| is_offered(entry));
    let entry = entry.ok_or_else(|| OperationError::not_found("prompt"))?;
    let content = entry.content();
    let text = match said.map(str::trim).filter(|said| !said.is_empty()) {
        Some(said) if content.contains(PLACE) => content.replace(PLACE, said),
        Some(said) => format!("{}\n\n{said}", content.trim_end()),
        None => content.replace(PLACE, ""),
    };
    if text.len() > MCP_RESULT_BYTES_MAX {
        let uri = SkillUri::of(&entry.name, "SKILL.md");
        let message = format!(
            "The prompt is larger than {MCP_RESULT_BYTES_MAX} bytes; read {uri} with read_skill instead."
        );
        return Err(OperationError::unprocessable("too_large", message));
    }
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
        .with_description(entry.description.clone()))
}
