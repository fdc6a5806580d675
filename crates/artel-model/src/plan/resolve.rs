//! A plan document becomes a plan: every tool an exact script, everything checked, before the first process starts.

use serde_json::Value;

use super::document::{PlanDocument, ToolInvocation};
use super::expand::{Added, Builder, Place, RetryWish, Wanted};
use super::links::{Tool, link};
use super::lookup::SkillLookup;
use super::problem::{PlanProblem, PlanProblemCode, Problems};
use super::read::Reading;
use super::resolved::{
    Approval, Concurrency, Importance, Need, Plan, PlanParts, PlanPartsError, RetryRule, Stand,
};
use super::target::Choice;
use crate::id::StepId;

/// Makes a plan of a document, or says everything that is wrong with it.
pub fn resolve(document: &PlanDocument, skills: &dyn SkillLookup) -> Result<Plan, Vec<PlanProblem>> {
    let places: Vec<usize> = (0..document.tools.len()).collect();
    resolve_read(document, &places, &[], Problems::default(), skills)
}

/// Makes a plan of a JSON value; problems with its shape and with its tools are told together.
pub fn resolve_value(value: &Value, skills: &dyn SkillLookup) -> Result<Plan, Vec<PlanProblem>> {
    let Reading { document, places, unread, problems } = Reading::of_value(value);
    resolve_read(&document, &places, &unread, problems, skills)
}

/// Makes a plan of a JSON text; problems with its shape and with its tools are told together.
pub fn resolve_text(text: &str, skills: &dyn SkillLookup) -> Result<Plan, Vec<PlanProblem>> {
    let Reading { document, places, unread, problems } = Reading::of_text(text);
    resolve_read(&document, &places, &unread, problems, skills)
}

fn resolve_read(
    document: &PlanDocument,
    places: &[usize],
    unread: &[StepId],
    mut problems: Problems,
    skills: &dyn SkillLookup,
) -> Result<Plan, Vec<PlanProblem>> {
    let tools: Vec<Tool<'_>> =
        document.tools.iter().zip(places).map(|(tool, place)| linked(tool, *place)).collect();
    let needs = link(&tools, unread, &mut problems);
    let mut builder = Builder::new(skills, &document.disabled_skills, problems);
    let added: Vec<Option<Added>> = document
        .tools
        .iter()
        .zip(&tools)
        .map(|(invocation, tool)| builder.add(wanted(invocation, tool)?))
        .collect();
    wait_for_each_other(&mut builder, &added, &needs, &tools);
    let parts = PlanParts {
        id: document.request_id,
        narrative: document.narrative.clone(),
        concurrency: if document.parallel { Concurrency::Parallel } else { Concurrency::Sequential },
        disabled_skills: document.disabled_skills.clone(),
        metadata: document.metadata.clone(),
        steps: builder.steps,
    };
    finish(parts, builder.problems)
}

fn linked(tool: &ToolInvocation, place: usize) -> Tool<'_> {
    Tool {
        id: &tool.tool_id,
        path: format!("/tools/{place}"),
        input_path: format!("/tools/{place}/input"),
        input: &tool.input,
        dependencies: &tool.dependencies,
    }
}

/// What runs, which a document that was not read may fail to say.
fn choice(tool: &ToolInvocation) -> Option<Choice<'_>> {
    match (&tool.tool_path, &tool.skill) {
        (Some(path), _) => Some(Choice::Path(path)),
        (None, Some(skill)) => Some(Choice::of(skill, tool.script.as_ref())),
        (None, None) => None,
    }
}

fn wanted<'a>(tool: &'a ToolInvocation, linked: &Tool<'_>) -> Option<Wanted<'a>> {
    Some(Wanted {
        id: tool.tool_id.clone(),
        choice: choice(tool)?,
        place: Place {
            path: linked.path.clone(),
            input_path: linked.input_path.clone(),
            within: String::new(),
        },
        input: tool.input.clone(),
        importance: if tool.required { Importance::Required } else { Importance::Optional },
        stand: if tool.r#async { Stand::Beside } else { Stand::Alone },
        retry: RetryWish::Rule(RetryRule {
            max_retries: tool.retry_policy.max_retries,
            backoff_ms: tool.retry_policy.backoff_ms,
        }),
        timeout_ms: tool.timeout_ms,
        approval: Approval::None,
        scope: None,
        fallback: None,
    })
}

/// Makes tools wait for what they need, whose results they see under its id.
pub(super) fn wait_for_each_other(
    builder: &mut Builder<'_>,
    added: &[Option<Added>],
    needs: &[Vec<usize>],
    tools: &[Tool<'_>],
) {
    for (tool, needs) in added.iter().zip(needs) {
        let Some(tool) = tool else { continue };
        let needs = needs.iter().filter_map(|&other| {
            Some(Need { step: added[other].as_ref()?.head, shown_as: Some(tools[other].id.to_string()) })
        });
        builder.wait(tool, &needs.collect::<Vec<_>>());
    }
}

/// Makes the plan when nothing is wrong with it.
pub(super) fn finish(parts: PlanParts, problems: Problems) -> Result<Plan, Vec<PlanProblem>> {
    problems.or(())?;
    Plan::assemble(parts).map_err(|error| {
        vec![match error {
            PlanPartsError::DuplicateId(id) => {
                let message = format!("`{id}` is both a tool and a step of a composite");
                PlanProblem::new("/tools", PlanProblemCode::DuplicateToolId, message)
            }
            PlanPartsError::Ring(_) | PlanPartsError::UnknownStep(_) => {
                PlanProblem::new("/tools", PlanProblemCode::Cycle, error.to_string())
            }
        }]
    })
}
