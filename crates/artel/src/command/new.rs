//! `artel skill new`.

use artel_catalog::{ScaffoldError, scaffold};
use serde_json::json;

use super::context::Context;
use crate::cli::NewArgs;
use crate::failure::Failure;

pub(crate) fn run(context: Context<'_>, args: &NewArgs) -> Result<(), Failure> {
    // Paths are shown as a person would type them.
    let parent = args.parent.strip_prefix(".").unwrap_or(&args.parent);
    let files = scaffold(parent, &args.name, args.template).map_err(|error| match error {
        ScaffoldError::Exists(_) => {
            Failure::failed(error.to_string()).hint("choose another name, or remove it first")
        }
        ScaffoldError::Write { .. } => Failure::unavailable(&error),
    })?;
    let folder = parent.join(args.name.as_str());
    if context.output.json {
        context.output.document(&json!({"name": args.name, "folder": folder, "files": files}));
        return Ok(());
    }
    for file in &files {
        context.output.line(file.as_str());
    }
    context.output.talk("");
    context.output.talk(&format!("Next: edit {folder}/SKILL.md, then `artel skill validate {folder}`."));
    let is_searched = context.config.skills_dirs.value.iter().any(|dir| folder.starts_with(dir));
    if files.iter().any(|file| file.as_str().contains("/scripts/")) {
        let place = if parent.as_str().is_empty() { "." } else { parent.as_str() };
        let flag = if is_searched { String::new() } else { format!(" --skills {place}") };
        context.output.talk(&format!("`artel skill run {}{flag}` runs it.", args.name));
    }
    if !is_searched {
        context
            .output
            .talk("`artel skill list` finds it when it lies in a folder that is searched: `--in skills`.");
    }
    Ok(())
}
