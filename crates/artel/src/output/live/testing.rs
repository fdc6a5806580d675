//! A plan and its view, fed by words, for the tests of what is shown.

use artel_model::id::{ExecutionId, RunId};
use artel_model::plan::{
    Approval, Concurrency, ErrorRule, Importance, Need, Plan, PlanMetadata, PlanParts, PlanStep, RetryRule,
    ScriptTarget, Stand, Work,
};
use artel_model::protocol::{LogLevel, ProtocolVersion, ToolEvent};
use artel_model::run::{
    AttemptOutcome, AttemptReport, Deadlines, ErrorKind, Fault, Origin, Retry, RunEvent, StampedEvent,
    StepError, Submission, SubmissionKind,
};
use artel_model::time::Timestamp;
use serde_json::Map;

use super::LiveView;

/// A plan and its view, fed by words.
pub(super) struct Scene {
    pub(super) view: LiveView,
    pub(super) plan: Plan,
    pub(super) now: i64,
    attempts: Vec<u32>,
    pub(super) lines: Vec<String>,
}

pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + millis)
}

/// Steps as `id flags <- needs`; flags: `?` optional, `^` approval, `+` twice more, `@` gathers (`x/y` belongs to `x`).
pub(super) fn plan(text: &str) -> Plan {
    let texts: Vec<(&str, &str)> = text
        .split(';')
        .map(|text| text.split_once("<-").unwrap_or((text, "")))
        .map(|(head, needs)| (head.trim(), needs.trim()))
        .collect();
    let id = |head: &str| head.trim_end_matches(['?', '^', '+', '@', ' ']).to_owned();
    let index = |name: &str| texts.iter().position(|(head, _)| id(head) == name).unwrap();
    let step = |(head, needs): &(&str, &str)| PlanStep {
        id: id(head).parse().unwrap(),
        work: work(head),
        input: Map::new(),
        needs: needs
            .split_whitespace()
            .map(|need| Need { step: index(need), shown_as: Some(need.to_owned()) })
            .collect(),
        importance: if head.contains('?') { Importance::Optional } else { Importance::Required },
        stand: Stand::Beside,
        retry: RetryRule { max_retries: if head.contains('+') { 2 } else { 0 }, backoff_ms: 100 },
        timeout_ms: 30_000,
        approval: if head.contains('^') { Approval::Required } else { Approval::None },
        scope: id(head).rsplit_once('/').map(|(scope, _)| index(scope)),
        fallback: None,
    };
    assemble(texts.iter().map(step).collect())
}

fn work(head: &str) -> Work {
    let (skill, version) = ("walk".parse().unwrap(), "1.0.0".parse().unwrap());
    let content_hash = "hash".to_owned();
    if head.contains('@') {
        return Work::Gather { skill, version, content_hash, on_failure: ErrorRule::Abort };
    }
    Work::Script(ScriptTarget {
        origin: None,
        skill,
        version,
        content_hash,
        script: "run".parse().unwrap(),
        tool_path: "walk/run".to_owned(),
        idempotent: false,
        is_entrypoint: true,
    })
}

pub(super) fn assemble(steps: Vec<PlanStep>) -> Plan {
    Plan::assemble(PlanParts {
        id: "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c".parse().unwrap(),
        narrative: None,
        concurrency: Concurrency::Parallel,
        disabled_skills: Vec::new(),
        metadata: PlanMetadata { generation_attempt: 1, parent_plan_id: None },
        steps,
    })
    .unwrap()
}

impl Scene {
    pub(super) fn new(text: &str) -> Self {
        Self::of(plan(text))
    }

    pub(super) fn of(plan: Plan) -> Self {
        let run: RunId = "0199a0b4-0000-7000-8000-000000000001".parse().unwrap();
        let view = LiveView::new(&plan).of_run(run);
        let mut scene = Self { view, now: 0, attempts: vec![0; plan.steps().len()], plan, lines: Vec::new() };
        let submission = Submission {
            kind: SubmissionKind::Plan,
            plan: scene.plan.clone(),
            state: Map::new(),
            deadlines: Deadlines { run_ms: 60_000 },
            slots: 4,
            agent: None,
            policy: None,
            viewer: None,
            trace_parent: None,
        };
        scene.happen(RunEvent::Submitted(Box::new(submission)));
        scene
    }

    pub(super) fn happen(&mut self, event: RunEvent) {
        let lines = self.view.tell(&StampedEvent { at: at(self.now), event });
        self.lines.extend(lines);
    }

    /// One word: `a` starts, `a.` completes, `ax` fails, `a:words` says, `a^` approved,
    /// `a-` rejected, `+500` time passes and is told, `cancel`, `pause`.
    pub(super) fn tell(mut self, words: &[&str]) -> Self {
        let by = || Origin("ana".to_owned());
        for word in words {
            match *word {
                "cancel" => self.happen(RunEvent::CancelRequested { by: by() }),
                "pause" => self.happen(RunEvent::PauseRequested { by: by() }),
                time if time.starts_with('+') => {
                    self.now += time[1..].parse::<i64>().unwrap();
                    self.happen(RunEvent::TimeReached);
                }
                word => self.step(word),
            }
        }
        self
    }

    fn step(&mut self, word: &str) {
        let (id, said) = word.split_once(':').unwrap_or((word, ""));
        let bare = id.trim_end_matches(['.', 'x', '^', '-']);
        let step = self.plan.index_of(&bare.parse().unwrap()).unwrap();
        let by = Origin("ana".to_owned());
        if !said.is_empty() {
            let events = vec![log(said)];
            return self.happen(RunEvent::Emitted { step, attempt: self.attempts[step], events });
        }
        if bare == id {
            self.attempts[step] += 1;
        }
        let attempt = self.attempts[step];
        let event = match &id[bare.len()..] {
            "." => ended(step, attempt, completed()),
            "x" => ended(step, attempt, failed("exit code 1: no such cup")),
            "^" => RunEvent::Approved { step, by, note: Some("looks right".to_owned()) },
            "-" => RunEvent::Rejected { step, by, note: Some("too risky".to_owned()) },
            _ => RunEvent::Started { step, attempt, execution: execution() },
        };
        self.happen(event);
    }

    pub(super) fn frame(&self, width: u16, height: u16) -> String {
        self.view.frame(at(self.now), width, height).join("\n")
    }
}

pub(super) fn execution() -> ExecutionId {
    "0199a0b4-0000-7000-8000-00000000000e".parse().unwrap()
}

pub(super) fn log(text: &str) -> ToolEvent {
    ToolEvent::Log {
        version: ProtocolVersion::Zero,
        request_id: None,
        timestamp: None,
        level: LogLevel::Info,
        message: text.to_owned(),
        fields: None,
    }
}

pub(super) fn completed() -> AttemptOutcome {
    AttemptOutcome::Completed {
        output: Map::new(),
        patches: Vec::new(),
        summary: Some("all well".to_owned()),
    }
}

pub(super) fn failed(why: &str) -> AttemptOutcome {
    let error = StepError::new(ErrorKind::ToolExecutionFailed, why);
    AttemptOutcome::Failed { error, retry: Retry::Useful, fault: Fault::Skill }
}

pub(super) fn ended(step: usize, attempt: u32, outcome: AttemptOutcome) -> RunEvent {
    let report = AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 };
    RunEvent::Ended { step, attempt, report: Box::new(report) }
}
