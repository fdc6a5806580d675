//! What is measured about agents, their calls and their mail: every name in one place, and the handles that count.
//!
//! Handles belong to the recorder that is there when agents or a post office are made; without one they cost a
//! comparison. Decides nothing.

use artel_model::agent::{Denial, Transition};
use artel_model::message::{DeadReason, MessageKind};
use artel_model::metric::{ByLabel, Metric};
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use tokio::time::Instant;

use crate::error::{CallError, SpawnFailed};
use crate::office::{RequestError, SendError};

const SPAWNED: Metric = Metric::counter("artel_agents_spawned_total", "Agents that were spawned.");
const SPAWNS_REFUSED: Metric = Metric::counter(
    "artel_agents_refused_total",
    "Agents that were not spawned, by the first reason; `FAILED` is the store's or the engine's.",
)
.by(
    "code",
    &[
        "INVALID_REQUEST",
        "UNKNOWN_SKILL",
        "MISSING_REQUIRED",
        "INCOMPATIBLE_SKILLS",
        "TOO_MANY_SKILLS",
        "UNKNOWN_ROLE",
        "UNKNOWN_PARENT",
        "PARENT_STATE",
        "DEPTH_LIMIT",
        "CHILDREN_LIMIT",
        "AGENTS_LIMIT",
        "INVALID_PLAN",
        "TOOL_FORBIDDEN",
        "TOOL_NOT_ALLOWED",
        "DRIVER_UNAVAILABLE",
        "CLIENT_NOT_ALLOWED",
        "FAILED",
    ],
);
const TRANSITIONS: Metric =
    Metric::counter("artel_agent_transitions_total", "How often agents came into a state.")
        .by("state", &["idle", "running", "paused", "completed", "failed", "cancelled", "terminated"]);
const WORKING: Metric = Metric::gauge("artel_agents_working", "Agents whose work is seen to here.");
const CALLS: Metric = Metric::counter("artel_agent_calls_total", "Calls of tools by agents.").by(
    "outcome",
    &["done", "denied", "unknown_tool", "invalid_parameters", "operation_failed", "invalid_state", "error"],
);
const DENIALS: Metric = Metric::counter("artel_agent_denials_total", "Calls that the gate refused.").by(
    "code",
    &[
        "UNKNOWN_AGENT",
        "INVALID_STATE",
        "TOOL_FORBIDDEN",
        "TOOL_NOT_ALLOWED",
        "INVALID_PARAMETERS",
        "WORKSPACE_ERROR",
    ],
);
const CALL_DURATION: Metric = Metric::seconds(
    "artel_agent_call_duration_seconds",
    "How long calls of tools took, those refused included.",
);
const MAIL_SENT: Metric = Metric::counter(
    "artel_messages_sent_total",
    "Messages that were put into mailboxes or published, without repetitions.",
)
.by("kind", &["event", "request", "response", "error", "broadcast"]);
const MAIL_REFUSED: Metric = Metric::counter("artel_messages_refused_total", "Messages that were not sent.")
    .by(
        "code",
        &[
            "INVALID_MESSAGE",
            "UNKNOWN_SENDER",
            "SENDER_TERMINATED",
            "UNKNOWN_AGENT",
            "AGENT_TERMINATED",
            "NO_SUCH_REQUEST",
            "MAILBOX_FULL",
            "STORE_FAILED",
        ],
    );
const DEAD: Metric = Metric::counter(
    "artel_dead_letters_total",
    "Messages that somebody did not get, as far as it was this process that noticed.",
)
.by("reason", &["expired", "mailbox_full", "recipient_ended", "subscriber_behind"]);
const DEAD_UNKEPT: Metric =
    Metric::counter("artel_dead_letters_unkept_total", "Dead letters that could not be kept.");
const REQUESTS: Metric = Metric::counter("artel_requests_total", "Requests of agents to agents.")
    .by("outcome", &["answered", "refused", "deadlock", "timeout", "error"]);
const REQUEST_DURATION: Metric =
    Metric::seconds("artel_request_duration_seconds", "How long requests waited that were answered.");

/// Everything that is measured about agents.
pub const METRICS: &[Metric] = &[
    SPAWNED,
    SPAWNS_REFUSED,
    TRANSITIONS,
    WORKING,
    CALLS,
    DENIALS,
    CALL_DURATION,
    MAIL_SENT,
    MAIL_REFUSED,
    DEAD,
    DEAD_UNKEPT,
    REQUESTS,
    REQUEST_DURATION,
];

/// Counts what happens to agents.
pub(crate) struct AgentMeters {
    working: Gauge,
    spawned: Counter,
    refused: ByLabel<Counter>,
    transitions: ByLabel<Counter>,
    calls: ByLabel<Counter>,
    denials: ByLabel<Counter>,
    call_duration: Histogram,
}

impl AgentMeters {
    pub(crate) fn new() -> Self {
        Self {
            working: gauge!(WORKING.name),
            spawned: counter!(SPAWNED.name),
            refused: counters(&SPAWNS_REFUSED),
            transitions: counters(&TRANSITIONS),
            calls: counters(&CALLS),
            denials: counters(&DENIALS),
            call_duration: histogram!(CALL_DURATION.name),
        }
    }

    /// Counts what came of a spawn.
    pub(crate) fn spawn_ended<T>(&self, came: &Result<T, SpawnFailed>) {
        match came {
            Ok(_) => self.spawned.increment(1),
            Err(SpawnFailed::Refused(refused)) => {
                let code = refused.errors.first().map_or("FAILED", |error| error.code.as_str());
                count(&self.refused, code);
            }
            Err(SpawnFailed::Failed(_)) => count(&self.refused, "FAILED"),
        }
    }

    /// Shows how many agents are seen to.
    pub(crate) fn working(&self, agents: usize) {
        self.working.set(u32::try_from(agents).unwrap_or(u32::MAX));
    }

    /// Counts where an agent went.
    pub(crate) fn went(&self, transition: &Transition) {
        count(&self.transitions, transition.to.as_str());
    }

    /// Counts what came of a call.
    pub(crate) fn call_ended<T>(&self, since: Instant, came: &Result<T, CallError>) {
        let outcome = match came {
            Ok(_) => "done",
            Err(CallError::Denied(_)) => "denied",
            Err(CallError::UnknownTool { .. }) => "unknown_tool",
            Err(CallError::Invalid(_)) => "invalid_parameters",
            Err(CallError::Failed(_)) => "operation_failed",
            Err(CallError::Transition(_)) => "invalid_state",
            Err(CallError::Agents(_)) => "error",
        };
        count(&self.calls, outcome);
        self.call_duration.record(since.elapsed());
    }

    /// Counts what the gate refused.
    pub(crate) fn denied(&self, denial: &Denial) {
        count(&self.denials, denial.code.as_str());
    }
}

/// Counts mail.
pub(crate) struct MailMeters {
    sent: ByLabel<Counter>,
    refused: ByLabel<Counter>,
    requests: ByLabel<Counter>,
    request_duration: Histogram,
}

impl MailMeters {
    pub(crate) fn new() -> Self {
        Self {
            sent: counters(&MAIL_SENT),
            refused: counters(&MAIL_REFUSED),
            requests: counters(&REQUESTS),
            request_duration: histogram!(REQUEST_DURATION.name),
        }
    }

    /// Counts a message that was sent.
    pub(crate) fn sent(&self, kind: MessageKind) {
        count(&self.sent, kind.as_str());
    }

    /// Counts a message that was not sent.
    pub(crate) fn refused(&self, error: &SendError) {
        count(&self.refused, error.code());
    }

    /// Counts what came of a request.
    pub(crate) fn request_ended<T>(&self, since: Instant, came: &Result<T, RequestError>) {
        let outcome = match came {
            Ok(_) => {
                self.request_duration.record(since.elapsed());
                "answered"
            }
            Err(RequestError::Send(error)) => {
                self.refused(error);
                "refused"
            }
            Err(RequestError::Deadlock { .. }) => "deadlock",
            Err(RequestError::Timeout(_)) => "timeout",
            Err(RequestError::Store(_)) => "error",
        };
        count(&self.requests, outcome);
    }
}

/// Counts dead letters.
#[derive(Clone)]
pub(crate) struct DeadMeters {
    by_reason: ByLabel<Counter>,
    pub(crate) unkept: Counter,
}

impl DeadMeters {
    pub(crate) fn new() -> Self {
        Self { by_reason: counters(&DEAD), unkept: counter!(DEAD_UNKEPT.name) }
    }

    /// Counts dead letters with the same reason.
    pub(crate) fn add(&self, reason: DeadReason, letters: u64) {
        if let Some(counter) = self.by_reason.get(reason.as_str()) {
            counter.increment(letters);
        }
    }
}

fn counters(metric: &Metric) -> ByLabel<Counter> {
    metric.by_label(|label, value| counter!(metric.name, label => value))
}

fn count(counters: &ByLabel<Counter>, value: &str) {
    if let Some(counter) = counters.get(value) {
        counter.increment(1);
    }
}
