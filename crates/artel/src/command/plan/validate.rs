//! `artel plan validate`.

use artel_catalog::Keep;
use artel_model::plan::{PlanProblem, read_plan_text, resolve_text};
use serde_json::json;

use super::read::{read_plan, refusal};
use crate::backend::Backend;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::Tone;
use crate::runtime::{Shelf, wait_for};

pub(crate) fn validate(context: Context<'_>, file: &str) -> Result<(), Failure> {
    let text = read_plan(file)?;
    let checked = match context.remote()? {
        None => check_on_shelf(context, &text)?,
        Some(client) => wait_for(check(&Backend::Remote(client), &text))?,
    };
    let output = context.output;
    let problems = checked.as_ref().err().cloned().unwrap_or_default();
    if output.json {
        output.document(&json!({"valid": problems.is_empty(), "problems": problems}));
    } else {
        output.problems(&problems);
    }
    match checked {
        Ok(tools) => {
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

/// How many tools a plan has, or everything that is wrong with it.
type Checked = Result<usize, Vec<PlanProblem>>;

fn check_on_shelf(context: Context<'_>, text: &str) -> Result<Checked, Failure> {
    let shelf = wait_for(Shelf::open(context, Keep::Descriptions))?;
    let checked = resolve_text(text, &*shelf.skills);
    Ok(checked.map(|plan| plan.steps().iter().filter(|step| step.scope.is_none()).count()))
}

/// Checks a plan. What only the text shows is found before it is sent.
pub(super) async fn check(backend: &Backend, text: &str) -> Result<Checked, Failure> {
    let (plan, twice) = match read_plan_text(text) {
        Ok(read) => read,
        Err(problems) => return Ok(Err(problems)),
    };
    let check = backend.check_plan(&plan).await?;
    let problems: Vec<PlanProblem> = twice.into_iter().chain(check.problems).collect();
    Ok(if problems.is_empty() { Ok(check.tools.unwrap_or_default()) } else { Err(problems) })
}
