//! Random plans under random drivers: every order of ends, clocks, commands and deaths, a seed each.
//!
//! The driver here does what a real one does, and nothing in its own order: it starts what may start, lets attempts end,
//! lets time pass, gives commands, and dies, losing everything but the log.

use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use super::report::ErrorKind;
use super::testing::{Story, completed, failed, started};
use super::{Run, RunEvent, RunState, Settled, StampedEvent, StepView};
use crate::id::RunId;
use crate::plan::{Concurrency, Stand, StepIndex};

/// More turns than any run of this size can need.
const TURNS_MAX: usize = 5000;

/// Small numbers that depend on the seed alone.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// What may happen to a run besides its steps' ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Weather {
    /// Nothing.
    Calm,
    /// The driver dies now and then.
    Deaths,
    /// It dies, and people cancel, pause, approve and reject.
    Storm,
}

/// Whether an attempt of a step succeeds depends on the plan's text and nothing else, so that every driver sees the
/// same: a step named with an `x` fails, one with a `y` fails at first.
fn outcome(story: &Story, step: StepIndex, attempt: u32) -> RunEvent {
    let id = story.id(step);
    match id.chars().next() {
        Some('x') => failed(step, attempt, ErrorKind::ToolExecutionFailed),
        Some('v') => failed(step, attempt, ErrorKind::ProtocolViolation),
        Some(_) | None => completed(step, attempt, &id),
    }
}

struct Driver {
    story: Story,
    dice: Dice,
    weather: Weather,
    settled: BTreeSet<StepIndex>,
}

impl Driver {
    fn new(plan: &str, concurrency: Concurrency, seed: u64, weather: Weather) -> Self {
        let mut dice = Dice(seed);
        let slots = 1 + dice.roll(4);
        Self { story: Story::new(plan, concurrency, slots), dice, weather, settled: BTreeSet::new() }
    }

    /// Drives the run to its end.
    fn drive(&mut self) {
        for _ in 0..TURNS_MAX {
            if self.story.run.state().is_final() {
                return;
            }
            self.turn();
            self.check();
        }
        panic!("the run does not end: {}", self.story.shown());
    }

    fn turn(&mut self) {
        if self.weather != Weather::Calm && self.dice.roll(12) == 0 {
            return self.die();
        }
        if self.weather == Weather::Storm && self.dice.roll(10) == 0 {
            return self.command();
        }
        let running: Vec<(StepIndex, u32)> = self.story.run.running().collect();
        match (self.dice.roll(3), self.story.run.next_startable(), running.is_empty()) {
            (0 | 1, Some((step, attempt)), _) => self.start(step, attempt),
            (0 | 2, _, false) => {
                let (step, attempt) = running[self.dice.roll(running.len())];
                self.story.now += self.dice.roll(50) as i64;
                let event = outcome(&self.story, step, attempt);
                self.story.happen(event);
            }
            _ => self.wait(),
        }
    }

    fn start(&mut self, step: StepIndex, attempt: u32) {
        let run = &self.story.run;
        let needs = &run.plan().steps()[step].needs;
        assert!(
            needs.iter().all(|need| matches!(run.step(need.step), StepView::Settled(_))),
            "needs are settled"
        );
        assert!(!self.settled.contains(&step), "a settled step never starts again");
        self.story.happen(started(step, attempt));
    }

    /// Nothing starts and nothing ends: then there must be a moment to wait for, or somebody must do something.
    fn wait(&mut self) {
        if self.story.run.next_startable().is_some() || self.story.run.running().next().is_some() {
            // Time passes beside work too, but not past its end, or every attempt would time out.
            self.story.now += 1;
            return self.story.happen(RunEvent::TimeReached);
        }
        if let Some(wake) = self.story.run.next_wake() {
            self.story.now = self.story.now.max(wake.as_millis());
            return self.story.happen(RunEvent::TimeReached);
        }
        match self.story.run.state() {
            RunState::AwaitingApproval => {
                let step = self.story.run.awaiting_approval().next().unwrap();
                self.story.tell(&format!("{}^", self.story.id(step)));
            }
            RunState::Paused => self.story.tell("resume"),
            RunState::Running
            | RunState::Stopping
            | RunState::Succeeded
            | RunState::Failed
            | RunState::Cancelled => panic!("a lost wake-up: {}", self.story.shown()),
        }
    }

    fn command(&mut self) {
        let awaiting = self.story.run.awaiting_approval().next().map(|step| self.story.id(step));
        match (self.dice.roll(8), awaiting) {
            (0, _) => self.story.tell("cancel"),
            (1 | 2, _) => self.story.tell("pause"),
            (3 | 4, _) => self.story.tell("resume"),
            (5, Some(step)) => self.story.tell(&format!("{step}-")),
            (_, Some(step)) => self.story.tell(&format!("{step}^")),
            (_, None) => self.story.now += 700,
        }
    }

    /// All that is left is the log.
    fn die(&mut self) {
        self.story.run = replay(&self.story.log);
        self.story.now += 1;
        self.story.tell("crash");
    }

    fn check(&mut self) {
        let run = &self.story.run;
        let running: Vec<StepIndex> = run.running().map(|(step, _)| step).collect();
        let alone = running.iter().filter(|step| run.plan().steps()[**step].stand == Stand::Alone).count();
        let slots = match run.plan().parts().concurrency {
            Concurrency::Sequential => 1,
            Concurrency::Parallel => run.submission().slots,
        };
        assert!(running.len() <= slots, "{} run in {slots} slots", running.len());
        assert!(alone == 0 || running.len() == 1, "who must be alone is not");
        let is_settled = |step: &StepIndex| matches!(run.step(*step), StepView::Settled(_));
        let settled: BTreeSet<StepIndex> = (0..run.plan().steps().len()).filter(is_settled).collect();
        assert!(self.settled.is_subset(&settled), "what is settled stays so");
        self.settled = settled;
    }
}

fn replay(log: &[StampedEvent]) -> Run {
    // Through its written form, as a store keeps it.
    let log: Vec<StampedEvent> = log
        .iter()
        .map(|event| serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap())
        .collect();
    Run::replay(RunId(Uuid::nil()), &log).unwrap()
}

/// What does not depend on the driver: how every step ended, and the state.
fn verdict(run: &Run) -> (Vec<&'static str>, String) {
    let word = |step| match run.step(step) {
        StepView::Settled(Settled::Completed { .. }) => "completed",
        StepView::Settled(Settled::Failed(_)) => "failed",
        StepView::Settled(Settled::Skipped(_)) => "skipped",
        StepView::Settled(Settled::TimedOut(_) | Settled::Cancelled(_)) => "ended",
        StepView::Pending | StepView::AwaitingApproval | StepView::Running { .. } => "unsettled",
    };
    let steps = (0..run.plan().steps().len()).map(word).collect();
    (steps, serde_json::Value::Object(run.merged_state()).to_string())
}

/// Up to twelve steps that need some of those before them; names say how they end.
fn plan_text(flags: &'static [&'static str]) -> impl Strategy<Value = String> {
    let step = (
        prop::sample::select(vec!["a", "b", "c", "x", "v"]),
        prop::sample::subsequence(flags, 0..=flags.len()),
    );
    prop::collection::vec((step, any::<u16>()), 0..12).prop_map(|steps| {
        let mut text = String::new();
        for (index, ((kind, flags), needs)) in steps.iter().enumerate() {
            let needs: Vec<String> = (0..index)
                .filter(|other| needs >> other & 1 == 1 && needs >> (15 - other) & 1 == 1)
                .map(|other| format!("{}{other}", steps[other].0.0))
                .collect();
            text.push_str(&format!("{kind}{index} {} <- {};", flags.concat(), needs.join(" ")));
        }
        text
    })
}

fn concurrency() -> impl Strategy<Value = Concurrency> {
    prop_oneof![Just(Concurrency::Sequential), Just(Concurrency::Parallel)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_driver_comes_to_the_same_end(
        plan in plan_text(&["?", "!", "+", "~"]),
        mode in concurrency(),
        seeds in prop::array::uniform2(any::<u64>()),
    ) {
        let mut drivers = seeds.map(|seed| Driver::new(&plan, mode, seed, Weather::Calm));
        drivers.iter_mut().for_each(Driver::drive);
        prop_assert_eq!(verdict(&drivers[0].story.run), verdict(&drivers[1].story.run));
    }

    #[test]
    fn deaths_change_nothing_where_steps_can_be_repeated(
        plan in plan_text(&["?", "!"]),
        mode in concurrency(),
        seed in any::<u64>(),
    ) {
        let plan = plan.replace(" <-", "* <-");
        let mut calm = Driver::new(&plan, mode, seed, Weather::Calm);
        calm.drive();
        let mut troubled = Driver::new(&plan, mode, seed, Weather::Deaths);
        troubled.drive();
        prop_assert_eq!(verdict(&calm.story.run), verdict(&troubled.story.run));
    }

    #[test]
    fn every_run_ends_and_its_log_tells_all(
        plan in plan_text(&["?", "!", "^", "+", "*", "~"]),
        mode in concurrency(),
        seed in any::<u64>(),
    ) {
        let mut driver = Driver::new(&plan, mode, seed, Weather::Storm);
        driver.drive();
        let mut replayed = replay(&driver.story.log);
        // What was told since the last death is told again by a replay.
        replayed.take_effects("node");
        driver.story.run.take_effects("node");
        prop_assert_eq!(&replayed, &driver.story.run);
        prop_assert_eq!(driver.settled.len(), driver.story.run.plan().steps().len());
    }
}
