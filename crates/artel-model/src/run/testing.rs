//! Plans and events in a few letters, for the tests of runs.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::event::{Deadlines, Interruption, Origin, RunEvent, StampedEvent, Submission, SubmissionKind};
use super::report::{AttemptOutcome, AttemptReport, ErrorKind, Fault, Retry, StepError};
use super::{Run, StepView};
use crate::id::{ExecutionId, PlanId, RunId};
use crate::plan::{
    AfterFailure, Approval, Concurrency, ErrorRule, Importance, Need, Plan, PlanMetadata, PlanParts,
    PlanStep, RetryRule, ScriptTarget, Stand, StepIndex, Work,
};
use crate::time::Timestamp;

/// Milliseconds one attempt may take.
pub(super) const TIMEOUT_MS: u64 = 1000;
/// Milliseconds a run may take.
pub(super) const RUN_MS: u64 = 10_000;

pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn script(name: &str, idempotent: bool) -> ScriptTarget {
    ScriptTarget {
        origin: None,
        skill: name.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        content_hash: format!("hash-of-{name}"),
        script: "run".parse().unwrap(),
        tool_path: format!("{name}/run"),
        idempotent,
        is_entrypoint: true,
    }
}

/// Steps as `id flags <- needs`; flags: `?` optional, `!` alone, `^` approval, `+` twice more, `*` idempotent,
/// `~` falls back, `@` gathers (a step `x/y` belongs to `x`), `%` gathers what there is.
pub(super) fn plan(text: &str, concurrency: Concurrency) -> Plan {
    let parse = |text: &str| {
        let (head, needs) = text.split_once("<-").unwrap_or((text, ""));
        let id: String = head.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').collect();
        (id, head.trim().to_owned(), needs.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    let texts: Vec<(String, String, Vec<String>)> =
        text.split(';').filter(|text| !text.trim().is_empty()).map(parse).collect();
    let index = |id: &str| texts.iter().position(|(other, ..)| other == id).unwrap();
    let step = |(id, flags, needs): &(String, String, Vec<String>)| {
        let has = |flag: char| flags.contains(flag);
        let own = id.rsplit('/').next().unwrap();
        let gather = |on_failure| Work::Gather {
            skill: own.parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            content_hash: "hash".to_owned(),
            on_failure,
        };
        PlanStep {
            id: id.parse().unwrap(),
            work: match (has('@'), has('%')) {
                (true, _) => gather(ErrorRule::Abort),
                (_, true) => gather(ErrorRule::Partial),
                (false, false) => Work::Script(script(own, has('*'))),
            },
            input: Map::new(),
            needs: needs
                .iter()
                .map(|need| Need { step: index(need), shown_as: Some(need.clone()) })
                .collect(),
            importance: if has('?') { Importance::Optional } else { Importance::Required },
            stand: if has('!') { Stand::Alone } else { Stand::Beside },
            retry: RetryRule { max_retries: if has('+') { 2 } else { 0 }, backoff_ms: 100 },
            timeout_ms: TIMEOUT_MS,
            approval: if has('^') { Approval::Required } else { Approval::None },
            scope: id.rsplit_once('/').map(|(scope, _)| index(scope)),
            fallback: has('~').then(|| AfterFailure {
                target: script("fallback", false),
                input: Map::new(),
                timeout_ms: TIMEOUT_MS,
            }),
        }
    };
    Plan::assemble(PlanParts {
        id: PlanId(Uuid::nil()),
        narrative: None,
        concurrency,
        disabled_skills: Vec::new(),
        metadata: PlanMetadata { generation_attempt: 1, parent_plan_id: None },
        steps: texts.iter().map(step).collect(),
    })
    .unwrap()
}

pub(super) fn submission(plan: Plan, slots: usize) -> Submission {
    Submission {
        kind: SubmissionKind::Plan,
        plan,
        state: Map::new(),
        deadlines: Deadlines { run_ms: RUN_MS },
        slots,
        agent: None,
        policy: None,
        viewer: None,
        trace_parent: None,
    }
}

pub(super) fn started(step: StepIndex, attempt: u32) -> RunEvent {
    RunEvent::Started { step, attempt, execution: ExecutionId(Uuid::from_u128(step as u128 + 1)) }
}

pub(super) fn report(outcome: AttemptOutcome) -> Box<AttemptReport> {
    Box::new(AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 })
}

/// A completed attempt that leaves its mark in the state under its own name and under one that all share.
pub(super) fn completed(step: StepIndex, attempt: u32, id: &str) -> RunEvent {
    let object = |value: Value| value.as_object().cloned().unwrap();
    RunEvent::Ended {
        step,
        attempt,
        report: report(AttemptOutcome::Completed {
            output: object(json!({"of": id})),
            patches: vec![object(json!({id: true, "last": id}))],
            summary: None,
        }),
    }
}

pub(super) fn failed(step: StepIndex, attempt: u32, kind: ErrorKind) -> RunEvent {
    failed_by(step, attempt, kind, Fault::Skill)
}

pub(super) fn failed_by(step: StepIndex, attempt: u32, kind: ErrorKind, fault: Fault) -> RunEvent {
    let retry = if kind == ErrorKind::ProtocolViolation { Retry::Useless } else { Retry::Useful };
    let error = StepError::new(kind, "it broke");
    RunEvent::Ended { step, attempt, report: report(AttemptOutcome::Failed { error, retry, fault }) }
}

/// An attempt that ended with the launcher.
pub(super) fn lost(step: StepIndex, attempt: u32) -> RunEvent {
    let error = StepError::new(ErrorKind::ToolExecutionFailed, "launcher lost");
    let (retry, fault) = (Retry::Interrupted, Fault::Elsewhere);
    RunEvent::Ended { step, attempt, report: report(AttemptOutcome::Failed { error, retry, fault }) }
}

/// An attempt that was refused before anything was started.
pub(super) fn refused(step: StepIndex, attempt: u32) -> RunEvent {
    let error = StepError::new(ErrorKind::ToolExecutionFailed, "the input does not fit");
    let (retry, fault) = (Retry::Useless, Fault::Elsewhere);
    RunEvent::Ended { step, attempt, report: report(AttemptOutcome::Failed { error, retry, fault }) }
}

pub(super) fn somebody() -> Origin {
    Origin("somebody".to_owned())
}

/// A run with its log, fed by the words of a test.
pub(super) struct Story {
    pub(super) run: Run,
    pub(super) log: Vec<StampedEvent>,
    pub(super) now: i64,
    pub(super) actions: Vec<String>,
}

impl Story {
    pub(super) fn new(text: &str, concurrency: Concurrency, slots: usize) -> Self {
        let submission = submission(plan(text, concurrency), slots);
        let first = StampedEvent { at: at(0), event: RunEvent::Submitted(Box::new(submission.clone())) };
        let (run, actions) = Run::begin(RunId(Uuid::nil()), submission, at(0));
        let mut story = Self { run, log: vec![first], now: 0, actions: Vec::new() };
        story.note(&actions);
        story
    }

    pub(super) fn happen(&mut self, event: RunEvent) {
        let event = StampedEvent { at: at(self.now), event };
        let actions = self.run.apply(&event);
        self.log.push(event);
        self.note(&actions);
    }

    fn note(&mut self, actions: &[super::Action]) {
        for action in actions {
            let text = match action {
                super::Action::Launch { step, attempt } => format!("launch {}#{attempt}", self.id(*step)),
                super::Action::Signal { step, attempt, signal } => {
                    format!("{signal:?} {}#{attempt}", self.id(*step)).to_lowercase()
                }
                super::Action::Finish => "finish".to_owned(),
            };
            self.actions.push(text);
        }
    }

    pub(super) fn id(&self, step: StepIndex) -> String {
        self.run.plan().steps()[step].id.to_string()
    }

    fn step(&self, id: &str) -> (StepIndex, u32) {
        let step = self.run.plan().index_of(&id.parse().unwrap()).unwrap();
        let attempt = match self.run.step(step) {
            StepView::Running { attempt } => attempt,
            StepView::Pending | StepView::AwaitingApproval | StepView::Settled(_) => 1,
        };
        (step, attempt)
    }

    /// Starts everything that may start.
    pub(super) fn start_all(&mut self) {
        while let Some((step, attempt)) = self.run.next_startable() {
            self.happen(started(step, attempt));
        }
    }

    /// One word: `go` (start what may), `a.` completes, `ax` fails, `av` violates, `a^` approved, `a-` rejected,
    /// `+500` time passes and is told, `pause`, `resume`, `cancel`, `crash`, `store`, `shutdown`.
    pub(super) fn tell(&mut self, word: &str) {
        match word {
            "go" => self.start_all(),
            "pause" => self.happen(RunEvent::PauseRequested { by: somebody() }),
            "resume" => self.happen(RunEvent::ResumeRequested { by: somebody() }),
            "cancel" => self.happen(RunEvent::CancelRequested { by: somebody() }),
            "crash" => self.happen(RunEvent::Interrupted { because: Interruption::OwnerDied }),
            "store" => self.happen(RunEvent::Interrupted { because: Interruption::StoreAway }),
            "shutdown" => self.happen(RunEvent::Interrupted { because: Interruption::Shutdown }),
            time if time.starts_with('+') => {
                self.now += time[1..].parse::<i64>().unwrap();
                self.happen(RunEvent::TimeReached);
            }
            word => {
                let (id, what) = word.split_at(word.len() - 1);
                let (step, attempt) = self.step(id);
                self.happen(match what {
                    "." => completed(step, attempt, id),
                    "x" => failed(step, attempt, ErrorKind::ToolExecutionFailed),
                    "v" => failed(step, attempt, ErrorKind::ProtocolViolation),
                    "^" => RunEvent::Approved { step, by: somebody(), note: None },
                    "-" => RunEvent::Rejected { step, by: somebody(), note: Some("too risky".to_owned()) },
                    other => panic!("unknown word {other}"),
                });
            }
        }
    }

    /// The steps and the run in a line.
    pub(super) fn shown(&self) -> String {
        let step = |index: usize| {
            let word = match self.run.step(index) {
                StepView::Pending => "pending",
                StepView::AwaitingApproval => "awaiting",
                StepView::Running { .. } => "running",
                StepView::Settled(settled) => match settled {
                    super::Settled::Completed { .. } => "completed",
                    super::Settled::Failed(_) => "failed",
                    super::Settled::TimedOut(_) => "timeout",
                    super::Settled::Cancelled(_) => "cancelled",
                    super::Settled::Skipped(_) => "skipped",
                },
            };
            format!("{} {word}", self.id(index))
        };
        let steps: Vec<String> = (0..self.run.plan().steps().len()).map(step).collect();
        format!("{}: {}", self.run.state().as_str(), steps.join(", "))
    }
}
