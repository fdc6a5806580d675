//! What came of a run, as a client of a model gets it: as much as fits, and where the rest is.

use artel_app::operations::read_run;
use artel_app::{App, OperationError};
use artel_model::access::Principal;
use artel_model::id::RunId;
use artel_model::limit::MCP_RESULT_BYTES_MAX;
use artel_model::run::{ResultDocument, RunState};
use rmcp::model::{CallToolResult, MetaObject};
use serde_json::{Map, Value, json};

use super::answer;
use super::arguments::RunAnswer;

/// Reads a run.
pub(super) async fn run_answer(
    app: &App,
    caller: &Principal,
    run: RunId,
) -> Result<RunAnswer, OperationError> {
    let result = read_run(app, caller, run).await?;
    let row = app.stores().runs.run(run).await?.ok_or_else(|| OperationError::not_found("run"))?;
    let state = row.summary.state;
    let mut answer =
        RunAnswer { run_id: run.0, state, is_over: state.is_final(), result: None, note: note(run, state) };
    fit(&mut answer, result);
    Ok(answer)
}

fn note(run: RunId, state: RunState) -> Option<String> {
    match state {
        RunState::Running | RunState::Stopping => Some(format!("The run goes on; ask get_run for {run}.")),
        RunState::AwaitingApproval => Some(format!(
            "The run waits until somebody approves or rejects it: POST /api/runs/{run}/approve."
        )),
        RunState::Paused => {
            Some(format!("The run is paused until somebody resumes it: POST /api/runs/{run}/resume."))
        }
        RunState::Succeeded | RunState::Failed | RunState::Cancelled => None,
    }
}

/// Leaves out what does not fit: first what scripts said on the way, then everything.
fn fit(answer: &mut RunAnswer, mut result: ResultDocument) {
    let everything = format!("GET /api/runs/{} has everything.", answer.run_id);
    if fits(&result) {
        answer.result = Some(result);
        return;
    }
    for entry in &mut result.execution_trace {
        entry.events.clear();
        entry.attempts.clear();
    }
    let what = if fits(&result) {
        answer.result = Some(result);
        "What the scripts said on the way is left out, because it is too large."
    } else {
        "The result is left out, because it is too large."
    };
    let before = answer.note.take().map(|note| format!("{note} ")).unwrap_or_default();
    answer.note = Some(format!("{before}{what} {everything}"));
}

fn fits(result: &ResultDocument) -> bool {
    // The rest of the answer is small; a quarter is more than it needs.
    answer::size(&json!(result)) <= MCP_RESULT_BYTES_MAX / 4 * 3
}

/// Answers a call that ran something: a run that failed or was ended is a call that failed.
pub(super) fn of_run(run: &RunAnswer) -> CallToolResult {
    let mut result = answer::document(run);
    if is_failure(run.state) {
        result.is_error = Some(true);
    }
    result
}

/// Answers a call of a skill as a tool: with its output alone, when there is one.
pub(super) fn of_skill(run: &RunAnswer) -> CallToolResult {
    let output = run.result.as_ref().filter(|_| run.state == RunState::Succeeded).and_then(output);
    let mut result = match output {
        Some(output) => answer::document(&output),
        None => of_run(run),
    };
    let meta = result.meta.get_or_insert_with(MetaObject::new);
    meta.0.insert("artel/run_id".to_owned(), json!(run.run_id));
    result
}

/// Returns the output of the only tool, or the outputs of several by their names.
fn output(result: &ResultDocument) -> Option<Map<String, Value>> {
    match result.execution_trace.as_slice() {
        [only] => only.output.clone(),
        several => {
            let outputs = several
                .iter()
                .filter_map(|entry| Some((entry.tool_id.to_string(), Value::Object(entry.output.clone()?))));
            Some(outputs.collect())
        }
    }
}

fn is_failure(state: RunState) -> bool {
    match state {
        RunState::Failed | RunState::Cancelled => true,
        RunState::Running
        | RunState::AwaitingApproval
        | RunState::Paused
        | RunState::Stopping
        | RunState::Succeeded => false,
    }
}
