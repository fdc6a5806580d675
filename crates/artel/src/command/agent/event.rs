//! What happened to an agent, in words.

use artel_model::agent::{AgentEvent, Cause, OperationEnd, StampedAgentEvent, WorkEnd, WorkOutcome};
use serde_json::Value;

/// Characters that are shown of what an agent said.
const SAID_CHARS_MAX: usize = 200;

/// Returns a word for what happened, who wanted it, and what else there is to say.
pub(super) fn words(event: &AgentEvent) -> (&'static str, String, String) {
    let caused = |word, cause: &Cause| (word, cause.by.clone(), cause.why.clone().unwrap_or_default());
    let own = |word, text: String| (word, String::new(), text);
    match event {
        AgentEvent::Spawned { cause, .. } => caused("spawned", cause),
        AgentEvent::Started { work, cause } => {
            let skill = work.skill.as_ref().map(ToString::to_string);
            let what = work.operation.clone().or(skill).unwrap_or_default();
            let (word, by, why) = caused("started", cause);
            (word, by, if why.is_empty() { what } else { format!("{what} ({why})") })
        }
        AgentEvent::Paused { cause } => caused("paused", cause),
        AgentEvent::Resumed { cause } => caused("resumed", cause),
        AgentEvent::TakenOver { owner } => own("taken over", owner.clone()),
        AgentEvent::Doing { run_id: Some(run) } => own("does", format!("run {run}")),
        AgentEvent::Doing { run_id: None } => own("did", String::new()),
        AgentEvent::Retried { cause } => caused("retried", cause),
        AgentEvent::Freed { cause } => caused("freed", cause),
        AgentEvent::Cancelled { cause } => caused("cancelled", cause),
        AgentEvent::Terminated { cause } => caused("terminated", cause),
        AgentEvent::Called(end) => own("called", called(end)),
        AgentEvent::Denied(denial) => own("denied", format!("{}: {}", denial.code.as_str(), denial.message)),
        AgentEvent::Ended(end) => own("ended", ended(end)),
        AgentEvent::Unfit { error } => own("unfit", error.clone()),
        AgentEvent::Said { by, what } => ("said", by.clone(), said(what)),
    }
}

/// Returns what happened on one line.
pub(super) fn line(event: &StampedAgentEvent) -> String {
    let (word, by, text) = words(&event.event);
    let by = match (by.as_str(), word) {
        ("", _) => String::new(),
        (by, "said") => format!(" {by}"),
        (by, _) => format!(" by {by}"),
    };
    let text = if text.is_empty() { String::new() } else { format!(": {text}") };
    format!("{word}{by}{text}")
}

fn called(end: &OperationEnd) -> String {
    match &end.error {
        Some(error) => format!("{} failed: {error}", end.operation),
        None => end.operation.clone(),
    }
}

fn ended(end: &WorkEnd) -> String {
    let calls: Vec<String> = end.calls.iter().map(called).collect();
    let outcome = match &end.outcome {
        WorkOutcome::Completed => "completed".to_owned(),
        WorkOutcome::Returned => "returned".to_owned(),
        WorkOutcome::Failed { error } => format!("failed: {error}"),
    };
    if calls.is_empty() { outcome } else { format!("{outcome} (called {})", calls.join(", ")) }
}

fn said(what: &Value) -> String {
    let text = what.as_str().map_or_else(|| what.to_string(), str::to_owned);
    match text.char_indices().nth(SAID_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
