//! `artel skill prompt`.

use artel_catalog::{Keep, PromptBudget, prompt};
use serde_json::json;

use super::context::Context;
use crate::cli::PromptArgs;
use crate::failure::Failure;

pub(crate) fn run(context: Context<'_>, args: &PromptArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    let skills_max = match args.max {
        Some(number) => (number > 0).then_some(number),
        None => context.config.prompt_skills_max.value,
    };
    let budget = PromptBudget { skills_max, chars_max: args.budget };
    let prompt = prompt(&catalog.enabled(), args.format, budget);
    if context.output.json {
        context.output.document(&json!({
            "prompt": prompt.text,
            "listed": prompt.listed,
            "shortened": prompt.shortened,
            "left_out": prompt.left_out,
        }));
    } else {
        context.output.data(&prompt.text);
    }
    if prompt.left_out > 0 || prompt.shortened > 0 {
        let (left_out, shortened) = (prompt.left_out, prompt.shortened);
        context.output.talk(&format!("{left_out} skills left out, {shortened} descriptions shortened"));
    }
    Ok(())
}
