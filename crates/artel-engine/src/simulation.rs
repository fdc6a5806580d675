//! The engine under virtual time: many runs at once, a store that stumbles, hands of random speed, commands from
//! elsewhere, and deaths at any moment. A seed each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_model::id::{PlanId, RunId};
use artel_model::plan::{
    Approval, Concurrency, Importance, Need, Plan, PlanMetadata, PlanParts, PlanStep, RetryRule,
    ScriptTarget, Stand, Work,
};
use artel_model::run::{
    AttemptOutcome, AttemptReport, Deadlines, ErrorKind, Fault, Origin, Retry, Run, RunEvent, RunState,
    RunSummary, Settled, StampedEvent, StepError, StepSignal, StepView, Submission, SubmissionKind,
};
use artel_model::time::Timestamp;
use artel_store::{
    AppendError, Claim, ClaimError, Created, Fence, LoggedEvent, MemoryStore, NewRun, OwnerId, Page,
    PageRequest, Revision, RunAppend, RunFilter, RunRow, RunStore, StoreError,
};
use async_trait::async_trait;
use proptest::prelude::*;
use serde_json::{Map, json};
use tokio::sync::watch;
use uuid::Uuid;

use crate::clock::Clock;
use crate::driver::{Replayed, replay};
use crate::engine::{Command, CommandError, Engine, EngineConfig};
use crate::hands::{Assignment, AttemptControl, Hands, Reports};

const PROCESSES_MAX: usize = 3;

/// Numbers that depend on the seed alone.
#[derive(Debug)]
struct Dice(AtomicU64);

impl Dice {
    fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(seed)))
    }

    fn roll(&self, sides: u64) -> u64 {
        let step = |state: u64| {
            Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
        };
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).unwrap();
        (before >> 33) % sides
    }
}

/// When the store is away for longer than a write is tried again.
#[derive(Default)]
struct Outage {
    until: Mutex<Option<tokio::time::Instant>>,
    /// One write in so many begins an outage; none does when it is nothing.
    is_begun_by_one_in: Option<u64>,
}

impl Outage {
    fn begin(&self, length: Duration) {
        *self.until.lock().unwrap() = Some(tokio::time::Instant::now() + length);
    }

    fn check(&self) -> Result<(), StoreError> {
        let until = *self.until.lock().unwrap();
        if until.is_some_and(|until| tokio::time::Instant::now() < until) {
            return Err(StoreError::Full { what: "the simulation".to_owned(), source: "no space".into() });
        }
        Ok(())
    }
}

/// A store in memory that takes its time, now and then cannot be reached, and may be away for long.
struct Stumbling {
    inner: Arc<MemoryStore>,
    dice: Arc<Dice>,
    outage: Arc<Outage>,
}

impl Stumbling {
    async fn stumble(&self) -> Result<(), StoreError> {
        for _ in 0..self.dice.roll(3) {
            tokio::task::yield_now().await;
        }
        if self.outage.is_begun_by_one_in.is_some_and(|sides| self.dice.roll(sides) == 0) {
            self.outage.begin(Duration::from_millis(self.dice.roll(20_000)));
        }
        self.outage.check()?;
        if self.dice.roll(25) == 0 {
            return Err(StoreError::Unavailable {
                what: "the simulation".to_owned(),
                source: "stumbled".into(),
            });
        }
        Ok(())
    }
}

#[async_trait]
impl RunStore for Stumbling {
    async fn create(&self, run: NewRun) -> Result<Created, StoreError> {
        self.inner.create(run).await
    }

    async fn append(&self, append: RunAppend) -> Result<Revision, AppendError> {
        self.stumble().await.map_err(AppendError::Store)?;
        let done = self.inner.append(append).await;
        // The answer may get lost although the work was done.
        if done.is_ok() {
            self.stumble().await.map_err(AppendError::Store)?;
        }
        done
    }

    async fn sync(&self) -> Result<(), StoreError> {
        self.outage.check()?;
        self.inner.sync().await
    }

    async fn events(
        &self,
        run: RunId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        self.outage.check()?;
        self.inner.events(run, after, limit.min(3)).await
    }

    async fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        self.outage.check()?;
        self.inner.run(id).await
    }

    async fn runs(&self, filter: &RunFilter, page: &PageRequest) -> Result<Page<RunRow>, StoreError> {
        self.inner.runs(filter, page).await
    }

    async fn claim(&self, claim: Claim) -> Result<Fence, ClaimError> {
        self.inner.claim(claim).await
    }

    async fn version(&self) -> Result<u64, StoreError> {
        self.inner.version().await
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.inner.prune(before).await
    }
}

/// How long a long step takes: longer than a write is tried again.
const LONG_MS: u64 = 20_000;

/// Hands whose work takes a random time. A step named with an `x` fails, one with a `v` breaks the protocol, one with an `l`
/// takes long.
struct RandomHands {
    dice: Arc<Dice>,
    active: Arc<AtomicUsize>,
    /// Steps whose success was told to the engine, which must never be begun again once that is written.
    begun: Arc<Mutex<Vec<(RunId, String, u32)>>>,
}

struct RandomControl {
    signals: watch::Sender<StepSignal>,
    task: tokio::task::JoinHandle<()>,
}

impl AttemptControl for RandomControl {
    fn signal(&self, signal: StepSignal) {
        self.signals.send_replace(signal);
    }
}

impl Drop for RandomControl {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Counts down also when its task is dropped.
struct Active(Arc<AtomicUsize>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Hands for RandomHands {
    fn begin(&self, assignment: Assignment, reports: Reports) -> Box<dyn AttemptControl> {
        let now_active = self.active.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(now_active <= PROCESSES_MAX, "{now_active} attempts at once");
        let active = Active(self.active.clone());
        let name = assignment.step.to_string();
        self.begun.lock().unwrap().push((assignment.run, name.clone(), assignment.attempt));
        let millis = if name.starts_with('l') { LONG_MS } else { self.dice.roll(40) };
        let (signals, mut told) = watch::channel(StepSignal::Continue);
        let task = tokio::spawn(async move {
            let outcome = work(&name, millis, &mut told).await;
            let report =
                AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 };
            drop(active);
            reports.ended(Vec::new(), report).await;
        });
        Box::new(RandomControl { signals, task })
    }
}

async fn work(name: &str, millis: u64, told: &mut watch::Receiver<StepSignal>) -> AttemptOutcome {
    let fail = |kind, message: &str| {
        let retry = if kind == ErrorKind::ProtocolViolation { Retry::Useless } else { Retry::Useful };
        AttemptOutcome::Failed { error: StepError::new(kind, message), retry, fault: Fault::Skill }
    };
    let mut left = millis;
    while left > 0 {
        let signal = *told.borrow_and_update();
        match signal {
            StepSignal::Terminate | StepSignal::TimeOut => {
                return fail(ErrorKind::ToolExecutionFailed, "terminated");
            }
            StepSignal::Stop => told.changed().await.unwrap_or(()),
            StepSignal::Continue => {
                left -= 1;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
    match name.chars().next() {
        Some('x') => fail(ErrorKind::ToolExecutionFailed, "it broke"),
        Some('v') => fail(ErrorKind::ProtocolViolation, "it babbled"),
        Some(_) | None => AttemptOutcome::Completed {
            output: Map::from_iter([("of".to_owned(), json!(name))]),
            patches: vec![Map::from_iter([(name.to_owned(), json!(true)), ("last".to_owned(), json!(name))])],
            summary: None,
        },
    }
}

/// A plan in numbers: for each step its kind, flags and needs.
type Sketch = Vec<(char, u8, u16)>;

fn submission(sketch: &Sketch, parallel: bool) -> Submission {
    let step = |(index, (kind, flags, needs)): (usize, &(char, u8, u16))| PlanStep {
        id: format!("{kind}{index}").parse().unwrap(),
        work: Work::Script(ScriptTarget {
            origin: None,
            skill: "demo".parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            content_hash: "hash".to_owned(),
            script: "run".parse().unwrap(),
            tool_path: "demo/run".to_owned(),
            idempotent: true,
            is_entrypoint: true,
        }),
        input: Map::new(),
        needs: (0..index)
            .filter(|other| needs >> other & 1 == 1)
            .map(|step| Need { step, shown_as: Some(step.to_string()) })
            .collect(),
        importance: if flags & 1 == 0 { Importance::Required } else { Importance::Optional },
        stand: if flags & 6 == 6 { Stand::Alone } else { Stand::Beside },
        retry: RetryRule { max_retries: u32::from(flags & 8 != 0), backoff_ms: 20 },
        timeout_ms: 600_000,
        approval: if flags & 48 == 48 { Approval::Required } else { Approval::None },
        scope: None,
        fallback: None,
    };
    let plan = Plan::assemble(PlanParts {
        id: PlanId(Uuid::nil()),
        narrative: None,
        concurrency: if parallel { Concurrency::Parallel } else { Concurrency::Sequential },
        disabled_skills: Vec::new(),
        metadata: PlanMetadata { generation_attempt: 1, parent_plan_id: None },
        steps: sketch.iter().enumerate().map(step).collect(),
    });
    Submission {
        kind: SubmissionKind::Plan,
        plan: plan.unwrap(),
        state: Map::new(),
        deadlines: Deadlines { run_ms: 3_600_000 },
        slots: 4,
        agent: None,
        policy: None,
        viewer: None,
        trace_parent: None,
    }
}

/// A machine that may die: everything but the store is lost then.
struct World {
    store: Arc<MemoryStore>,
    dice: Arc<Dice>,
    begun: Arc<Mutex<Vec<(RunId, String, u32)>>>,
    active: Arc<AtomicUsize>,
    outage: Arc<Outage>,
    born: u64,
    now: i64,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            store: Arc::default(),
            dice: Dice::new(seed),
            begun: Arc::default(),
            active: Arc::default(),
            outage: Arc::default(),
            born: 0,
            now: 0,
        }
    }

    /// A world whose store is away for long now and then.
    fn with_outages(seed: u64) -> Self {
        let outage = Outage { is_begun_by_one_in: Some(30), ..Outage::default() };
        Self { outage: Arc::new(outage), ..Self::new(seed) }
    }

    /// Lives until all runs are over, or for `life_ms`; then everything but the store is lost.
    fn live(&mut self, submissions: &[Submission], life_ms: Option<u64>, is_stormy: bool) -> bool {
        self.born += 1;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let over = runtime.block_on(async {
            let start = tokio::time::Instant::now();
            let engine = self.engine();
            let life = self.go_on(&engine, submissions, is_stormy);
            let over = match life_ms {
                Some(life_ms) => tokio::time::timeout(Duration::from_millis(life_ms), life).await.is_ok(),
                None => {
                    tokio::time::timeout(Duration::from_secs(7200), life).await.expect("a lost wake-up");
                    true
                }
            };
            self.now += i64::try_from(start.elapsed().as_millis()).unwrap() + 1;
            over
        });
        drop(runtime);
        over
    }

    fn engine(&self) -> Engine {
        self.engine_with_grace(0)
    }

    fn engine_with_grace(&self, closing_grace_ms: u64) -> Engine {
        let config = EngineConfig {
            node: "node".to_owned(),
            owner: OwnerId(format!("owner-{}", self.born)),
            processes_max: PROCESSES_MAX,
            runs_max: 2,
            poll_ms: 50,
            closing_grace_ms,
            kill_grace_ms: 0,
        };
        let outage = self.outage.clone();
        let store = Arc::new(Stumbling { inner: self.store.clone(), dice: self.dice.clone(), outage });
        let active = self.active.clone();
        let hands = Arc::new(RandomHands { dice: self.dice.clone(), active, begun: self.begun.clone() });
        Engine::start(config, store, hands, Clock::starting_at(Timestamp::from_millis(self.now)))
    }

    async fn go_on(&self, engine: &Engine, submissions: &[Submission], is_stormy: bool) {
        while engine.recover(&|_| false).await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let known = self.all_runs().await.len();
        for submission in &submissions[known..] {
            // It is kept in any case; that it is synced may not be told.
            let _ = engine.submit(submission.clone(), None).await;
        }
        loop {
            let open: Vec<RunRow> =
                self.all_runs().await.into_iter().filter(|row| !row.summary.state.is_final()).collect();
            if open.is_empty() {
                return;
            }
            for row in open {
                self.meddle(engine, &row, is_stormy).await;
            }
            tokio::time::sleep(Duration::from_millis(1 + self.dice.roll(30))).await;
        }
    }

    /// Says yes where somebody must, resumes what was paused, and in a storm gives other commands too.
    async fn meddle(&self, engine: &Engine, row: &RunRow, is_stormy: bool) {
        let step = None;
        let command = match row.summary.state {
            RunState::AwaitingApproval => Command::Approve { step, note: None },
            RunState::Paused => Command::Resume,
            RunState::Running if is_stormy && self.dice.roll(8) == 0 => Command::Pause,
            RunState::Running if is_stormy && self.dice.roll(40) == 0 => Command::Cancel,
            RunState::Running
            | RunState::Stopping
            | RunState::Succeeded
            | RunState::Failed
            | RunState::Cancelled => return,
        };
        match engine.command(row.summary.run_id, &command, Origin("somebody".to_owned())).await {
            Ok(_) | Err(CommandError::Over(_) | CommandError::NotNow { .. }) => {}
            // Several wait: the first one will do.
            Err(CommandError::NotAwaiting { awaiting, .. }) => {
                if let Some(step) = awaiting.into_iter().next() {
                    let approve = Command::Approve { step: Some(step), note: None };
                    let _ = engine.command(row.summary.run_id, &approve, Origin("somebody".to_owned())).await;
                }
            }
            // The store stumbled.
            Err(CommandError::Drive(_)) => {}
            Err(error @ CommandError::Unknown(_)) => panic!("{error}"),
        }
    }

    async fn all_runs(&self) -> Vec<RunRow> {
        let page = PageRequest { after: None, limit: 100 };
        let mut runs = self.store.runs(&RunFilter::default(), &page).await.unwrap().items;
        runs.sort_by_key(|row| row.summary.run_id);
        runs
    }

    /// How every run ended: the steps and the state, from the logs alone.
    fn verdicts(&self) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut verdicts = Vec::new();
            for row in self.all_runs().await {
                let replayed =
                    replay(&*self.store, row.summary.run_id, Revision(u64::MAX)).await.unwrap().unwrap();
                assert_eq!(replayed.run.summary(), row.summary, "the summary is what the log says");
                self.check_attempts(&replayed);
                verdicts.push(verdict(&replayed.run));
            }
            verdicts
        })
    }

    /// An attempt is begun once at most, and none after the step was settled.
    fn check_attempts(&self, replayed: &Replayed) {
        let begun = self.begun.lock().unwrap();
        let mut attempts: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (_, step, attempt) in begun.iter().filter(|(run, ..)| *run == replayed.run.id()) {
            assert!(
                attempts.entry(step).or_default().insert(*attempt),
                "attempt {attempt} at {step} began twice"
            );
        }
    }
}

fn verdict(run: &Run) -> String {
    let word = |step| match run.step(step) {
        StepView::Settled(Settled::Completed { .. }) => "completed",
        StepView::Settled(Settled::Failed(_)) => "failed",
        StepView::Settled(Settled::Skipped(_)) => "skipped",
        StepView::Settled(Settled::TimedOut(_)) => "timeout",
        StepView::Settled(Settled::Cancelled(_)) => "cancelled",
        StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => "unsettled",
    };
    let steps: Vec<&str> = (0..run.plan().steps().len()).map(word).collect();
    format!("{} {steps:?} {}", run.state().as_str(), serde_json::Value::Object(run.merged_state()))
}

fn sketches() -> impl Strategy<Value = Vec<(Sketch, bool)>> {
    let step = (
        prop::sample::select(vec!['a', 'b', 'c', 'x', 'v']),
        0u8..64,
        any::<u16>().prop_map(|needs| needs & (needs >> 5)),
    );
    prop::collection::vec((prop::collection::vec(step, 0..7), any::<bool>()), 1..4)
}

#[test]
fn a_closed_engine_has_ended_what_ran_and_left_the_run_to_be_recovered() {
    let submissions = [submission(&vec![('a', 0, 0), ('b', 0, 1)], true)];
    // A seed with which the first step takes longer than the engine waits.
    let mut world = World::new(3);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let engine = world.engine();
        let run = engine.submit(submissions[0].clone(), None).await.unwrap().run();
        while world.begun.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        engine.close().await;
        assert!(!engine.has_runs(), "its driver is gone, so what it ran was ended");
        assert!(!world.store.run(run).await.unwrap().unwrap().summary.state.is_final());
        let events = world.store.events(run, Revision(0), 100).await.unwrap();
        let is_end =
            |event: &LoggedEvent| matches!(event.event.event, artel_model::run::RunEvent::Ended { .. });
        assert!(!events.iter().any(is_end), "what comes of being ended is not written");
    });
    drop(runtime);
    world.live(&submissions, None, false);
    assert!(world.verdicts()[0].starts_with("succeeded"), "{:?}", world.verdicts());
}

#[test]
fn a_run_that_waits_for_its_turn_does_not_hold_up_the_closing() {
    // A seed with which the first step takes a while.
    let mut world = World::new(3);
    let submissions: Vec<Submission> =
        (0..3).map(|_| submission(&vec![('a', 0, 0), ('b', 0, 1)], true)).collect();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        // Two may go on at once.
        let engine = world.engine_with_grace(60_000);
        let mut runs = Vec::new();
        for submission in &submissions {
            runs.push(engine.submit(submission.clone(), None).await.unwrap().run());
        }
        while world.begun.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let start = tokio::time::Instant::now();
        let queued = async {
            assert!(engine.wait(runs[2]).await.is_err());
            start.elapsed()
        };
        let ((), waited) = tokio::join!(engine.close(), queued);
        assert_eq!(waited, Duration::ZERO, "closing itself took {:?}", start.elapsed());
        assert!(start.elapsed() > Duration::ZERO, "what ran came to its end");
    });
    drop(runtime);
    world.live(&submissions, None, false);
    assert!(
        world.verdicts().iter().all(|verdict| verdict.starts_with("succeeded")),
        "{:?}",
        world.verdicts()
    );
}

/// Begins a long step and a short one, and lets the store be away for a minute before the short one ends.
fn minute_without_a_store(run_ms: u64, check: impl AsyncFnOnce(&World, &Engine, RunId)) -> World {
    let mut submission = submission(&vec![('l', 0, 0), ('a', 0, 0)], true);
    submission.deadlines.run_ms = run_ms;
    // A seed with which the short step takes a while.
    let world = World::new(3);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let engine = world.engine();
        let run = engine.submit(submission, None).await.unwrap().run();
        while world.begun.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        world.outage.begin(Duration::from_secs(60));
        tokio::time::sleep(Duration::from_secs(30)).await;
        let row = world.store.run(run).await.unwrap().unwrap();
        assert!(engine.is_driven(&row, |_| false), "its driver waits for the store");
        assert_eq!(world.active.load(Ordering::Relaxed), 0, "the long step was stopped");
        let outage = engine.store_outage().unwrap();
        assert_eq!((outage.runs, outage.cause.contains("no space")), (1, true), "{outage:?}");
        check(&world, &engine, run).await;
        engine.wait(run).await.unwrap();
        assert_eq!(engine.store_outage(), None);
    });
    drop(runtime);
    world
}

#[test]
fn a_run_goes_on_from_its_log_when_the_store_is_back() {
    let world = minute_without_a_store(3_600_000, async |_, engine, run| {
        let told = engine.command(run, &Command::Pause, Origin("somebody".to_owned())).await;
        assert!(matches!(told, Err(CommandError::Drive(_))), "a command that cannot be kept is refused");
    });
    assert!(world.verdicts()[0].starts_with("succeeded"), "{:?}", world.verdicts());
    assert_eq!(world.begun.lock().unwrap().len(), 4, "what was stopped is tried again");
}

#[test]
fn deadlines_go_on_while_the_store_is_away() {
    let world = minute_without_a_store(40_000, async |_, _, _| {});
    assert!(world.verdicts()[0].starts_with("failed"), "{:?}", world.verdicts());
    assert_eq!(world.begun.lock().unwrap().len(), 2, "nothing starts after the deadline");
}

#[test]
fn a_cancel_that_was_kept_before_the_outage_is_honoured_after_it() {
    let world = minute_without_a_store(3_600_000, async |world, engine, run| {
        // Another process could write.
        let row = world.store.run(run).await.unwrap().unwrap();
        let event = StampedEvent {
            at: Timestamp::from_millis(1),
            event: RunEvent::CancelRequested { by: Origin("somebody".to_owned()) },
        };
        let append = RunAppend {
            run,
            expected: row.revision,
            fence: None,
            events: vec![event],
            summary: Some(RunSummary { state: RunState::Stopping, ..row.summary }),
            executions: Vec::new(),
            health: Vec::new(),
        };
        world.store.append(append).await.unwrap();
        assert!(engine.store_outage().is_some());
    });
    assert!(world.verdicts()[0].starts_with("cancelled"), "{:?}", world.verdicts());
    assert_eq!(world.begun.lock().unwrap().len(), 2, "nothing starts again");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn runs_end_alike_however_long_the_store_is_away(
        sketches in sketches(),
        seeds in prop::array::uniform2(any::<u64>()),
        lives in prop::collection::vec(0u64..30_000, 0..2),
    ) {
        let submissions: Vec<Submission> =
            sketches.iter().map(|(sketch, parallel)| submission(sketch, *parallel)).collect();
        let mut calm = World::new(seeds[0]);
        calm.live(&submissions, None, false);
        let mut world = World::with_outages(seeds[1]);
        for life_ms in lives {
            world.live(&submissions, Some(life_ms), false);
        }
        world.live(&submissions, None, false);
        prop_assert_eq!(calm.verdicts(), world.verdicts());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn runs_end_alike_whatever_the_speed_and_whoever_dies(
        sketches in sketches(),
        seeds in prop::array::uniform2(any::<u64>()),
        lives in prop::collection::vec(0u64..60, 0..6),
    ) {
        let submissions: Vec<Submission> =
            sketches.iter().map(|(sketch, parallel)| submission(sketch, *parallel)).collect();
        let mut calm = World::new(seeds[0]);
        calm.live(&submissions, None, false);
        let mut crash_injection = World::new(seeds[1]);
        for life_ms in lives {
            if crash_injection.live(&submissions, Some(life_ms), false) {
                break;
            }
        }
        crash_injection.live(&submissions, None, false);
        prop_assert_eq!(calm.verdicts(), crash_injection.verdicts());
    }

    #[test]
    fn runs_end_in_any_weather(
        sketches in sketches(),
        seed in any::<u64>(),
        lives in prop::collection::vec(0u64..90, 0..4),
    ) {
        let submissions: Vec<Submission> =
            sketches.iter().map(|(sketch, parallel)| submission(sketch, *parallel)).collect();
        let mut world = World::new(seed);
        for life_ms in lives {
            if world.live(&submissions, Some(life_ms), true) {
                break;
            }
        }
        world.live(&submissions, None, true);
        prop_assert!(world.verdicts().iter().all(|verdict| !verdict.contains("unsettled")));
    }
}
