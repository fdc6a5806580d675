//! `artel plan validate`.

use artel_catalog::Keep;
use artel_model::plan::resolve_text;
use serde_json::json;

use super::read::{read_plan, refusal};
use crate::command::Context;
use crate::failure::Failure;
use crate::output::Tone;
use crate::workshop::{Shelf, wait_for};

pub(crate) fn validate(context: Context<'_>, file: &str) -> Result<(), Failure> {
    let text = read_plan(file)?;
    let shelf = wait_for(Shelf::open(context, Keep::Descriptions))?;
    let output = context.output;
    let checked = resolve_text(&text, &*shelf.skills);
    let problems = checked.as_ref().err().cloned().unwrap_or_default();
    if output.json {
        output.document(&json!({"valid": problems.is_empty(), "problems": problems}));
    } else {
        output.problems(&problems);
    }
    match checked {
        Ok(plan) => {
            let tools = plan.steps().iter().filter(|step| step.scope.is_none()).count();
            if !output.json {
                let tools = if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") };
                output
                    .line(&format!("{}: {tools}, nothing is wrong with it", output.paint("ok", Tone::Good)));
            }
            Ok(())
        }
        Err(problems) => {
            let count = if problems.len() == 1 {
                "1 problem".to_owned()
            } else {
                format!("{} problems", problems.len())
            };
            output.talk(&count);
            Err(refusal(&problems))
        }
    }
}
