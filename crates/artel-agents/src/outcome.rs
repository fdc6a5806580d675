//! What a run that is over means for its agent.

use artel_engine::SkillShelf;
use artel_model::agent::{AgentSpec, OperationEnd, WorkEnd, WorkOutcome};
use artel_model::plan::StepIndex;
use artel_model::run::{Run, RunState, Settled, StepView};
use artel_model::schema::{Quote, Schema};
use serde_json::{Map, Value};

/// Returns the calls that a run made, one for every step that began.
pub(crate) fn calls(run: &Run) -> Vec<OperationEnd> {
    let steps = run.plan().order().iter().copied();
    steps.filter_map(|step| call(run, step)).collect()
}

fn call(run: &Run, step: StepIndex) -> Option<OperationEnd> {
    let StepView::Settled(settled) = run.step(step) else { return None };
    let id = run.plan().steps()[step].id.to_string();
    let skill = run.skill(step).0.to_string();
    let mut results = Map::new();
    let error = match settled {
        Settled::Completed { output } => {
            results.insert(skill, Value::Object(output.clone()));
            results.insert(id.clone(), Value::Object(output.clone()));
            None
        }
        // What never began was no call.
        Settled::Skipped(_) => return None,
        Settled::Failed(error) | Settled::TimedOut(error) | Settled::Cancelled(error) => {
            Some(error.message.clone())
        }
    };
    Some(OperationEnd { operation: id, results, error, entities: Vec::new() })
}

/// Returns what a run that is over means for an agent whose work it was.
pub(crate) fn work_end(run: &Run, spec: &AgentSpec) -> WorkEnd {
    let calls = calls(run);
    let outcome = match run.state() {
        RunState::Succeeded => WorkOutcome::Completed,
        RunState::Cancelled => WorkOutcome::Failed { error: "its run was cancelled".to_owned() },
        RunState::Failed
        | RunState::Running
        | RunState::AwaitingApproval
        | RunState::Paused
        | RunState::Stopping => WorkOutcome::Failed { error: why_failed(run) },
    };
    let mut end = WorkEnd { outcome, calls, results: Map::new() };
    keep_promise(spec, &mut end);
    end
}

/// Returns the first error of a run, in the order of its plan.
pub(crate) fn why_failed(run: &Run) -> String {
    let steps = run.plan().order().iter();
    let mut errors = steps.filter_map(|&step| match run.step(step) {
        StepView::Settled(Settled::Failed(error) | Settled::TimedOut(error)) => {
            Some(format!("{}: {}", run.plan().steps()[step].id, error.message))
        }
        StepView::Settled(Settled::Completed { .. } | Settled::Skipped(_) | Settled::Cancelled(_))
        | StepView::Pending
        | StepView::AwaitingApproval
        | StepView::Running { .. } => None,
    });
    errors.next().unwrap_or_else(|| "its run took too long".to_owned())
}

/// Work whose results are not what the agent's skills promise has failed.
pub(crate) fn keep_promise(spec: &AgentSpec, end: &mut WorkEnd) {
    if end.outcome == WorkOutcome::Completed
        && let Some(error) = promise_broken(spec, end)
    {
        end.outcome = WorkOutcome::Failed { error };
    }
}

fn promise_broken(spec: &AgentSpec, end: &WorkEnd) -> Option<String> {
    let in_calls = |name: &str| end.calls.iter().rev().find_map(|call| call.results.get(name));
    let given = |name: &str| end.results.get(name).or_else(|| in_calls(name));
    spec.contracts.iter().find_map(|contract| {
        let schema = Schema::parse(contract.output_schema.clone()?).ok()?;
        // A skill that was not called promised nothing.
        let value = given(contract.skill.as_str()).or_else(|| given(RESULT))?;
        let violation = schema.violations(value, Quote::Values).into_iter().next()?;
        let path = if violation.path.is_empty() { String::new() } else { format!("`{}`: ", violation.path) };
        let skill = &contract.skill;
        Some(format!("the result is not what `{skill}` promises: {path}{}", violation.message))
    })
}

/// The name of what an agent says in the end.
pub(crate) const RESULT: &str = "result";

/// Returns the tool of a name: a skill, or a skill and one of its scripts.
pub(crate) fn split_tool(tool: &str) -> (&str, Option<&str>) {
    match tool.split_once('/') {
        Some((skill, script)) => (skill, Some(script)),
        None => (tool, None),
    }
}

/// Returns names of tools like one that does not exist.
pub(crate) fn similar_tools(shelf: &SkillShelf, tool: &str) -> Option<String> {
    let names = shelf.catalog().similar_names(split_tool(tool).0);
    names.first().map(|name| format!("did you mean `{name}`?"))
}
