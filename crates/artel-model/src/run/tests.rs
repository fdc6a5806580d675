//! What runs do, as tables: a plan, what happens, where everything stands then.

use serde_json::json;

use super::testing::{Story, completed, started};
use super::{ErrorKind, Fault, Interruption, RunEvent, RunState, Settled, StepView};
use crate::health::RunOutcome;
use crate::plan::Concurrency::{self, Parallel, Sequential};

#[track_caller]
fn check(plan: &str, concurrency: Concurrency, words: &str, expected: &str) -> Story {
    let mut story = Story::new(plan, concurrency, 2);
    words.split_whitespace().for_each(|word| story.tell(word));
    assert_eq!(story.shown(), expected, "{:#?}", story.actions);
    story
}

#[test]
fn an_empty_plan_is_done_at_once() {
    let story = check("", Parallel, "", "succeeded: ");
    assert_eq!(story.actions, ["finish"]);
}

#[test]
fn one_at_a_time_in_the_order_of_the_plan() {
    let story = check(
        "c <- a; a; b",
        Sequential,
        "go a. go c. go b.",
        "succeeded: c completed, a completed, b completed",
    );
    assert_eq!(story.actions, ["launch a#1", "launch c#1", "launch b#1", "finish"]);
}

#[test]
fn the_earliest_written_goes_first_among_those_that_may() {
    let story = check(
        "a; b <- a; c",
        Sequential,
        "go a. go b. go c.",
        "succeeded: a completed, b completed, c completed",
    );
    assert_eq!(story.actions, ["launch a#1", "launch b#1", "launch c#1", "finish"]);
}

#[test]
fn no_waves_a_step_starts_when_what_it_needs_is_there() {
    let story = check("a; b; c <- a", Parallel, "go a. go", "running: a completed, b running, c running");
    assert_eq!(story.actions, ["launch a#1", "launch b#1", "launch c#1"]);
}

#[test]
fn slots_bound_what_runs_at_once() {
    check("a; b; c", Parallel, "go", "running: a running, b running, c pending");
    check("a; b; c", Parallel, "go b. go", "running: a running, b completed, c running");
}

#[test]
fn who_must_be_alone_is_alone() {
    check("a; b !; c", Parallel, "go", "running: a running, b pending, c running");
    check("a; b !; c", Parallel, "go a. go", "running: a completed, b pending, c running");
    check("a; b !; c", Parallel, "go a. c. go", "running: a completed, b running, c completed");
    check("b !; a; c", Parallel, "go", "running: b running, a pending, c pending");
}

#[test]
fn a_failed_required_step_skips_its_dependents_only() {
    let story = check(
        "a; b <- a; c <- b; d",
        Parallel,
        "go ax d. go",
        "failed: a failed, b skipped, c skipped, d completed",
    );
    let StepView::Settled(Settled::Skipped(error)) = story.run.step(2) else { panic!("c is skipped") };
    assert_eq!(error.message, "`b`, which it needs, was skipped");
}

#[test]
fn a_failed_optional_step_is_null_for_its_dependents() {
    let story = check("a ?; b <- a", Parallel, "go ax go", "running: a failed, b running");
    assert_eq!(json!(story.run.dependencies(1)), json!({"a": null}));
    check("a ?; b <- a", Parallel, "go ax go b.", "succeeded: a failed, b completed");
}

#[test]
fn a_required_step_that_was_skipped_fails_the_run() {
    check("a; b ? <- a; c <- b", Parallel, "go ax go c.", "failed: a failed, b skipped, c completed");
}

#[test]
fn retries_wait_twice_as_long_each_time() {
    let mut story = Story::new("a +", Parallel, 2);
    for word in ["go", "ax", "go"] {
        story.tell(word);
    }
    assert_eq!(story.run.next_wake().unwrap().as_millis(), 100);
    for word in ["+99", "go"] {
        story.tell(word);
    }
    assert_eq!(story.shown(), "running: a pending");
    for word in ["+1", "go", "ax"] {
        story.tell(word);
    }
    assert_eq!(story.run.next_wake().unwrap().as_millis(), 300);
    for word in ["+200", "go", "a."] {
        story.tell(word);
    }
    assert_eq!(story.shown(), "succeeded: a completed");
    assert_eq!(story.actions, ["launch a#1", "launch a#2", "launch a#3", "finish"]);
}

#[test]
fn retries_come_to_an_end_and_violations_have_none() {
    check("a +", Parallel, "go ax +100 go ax +200 go ax", "failed: a failed");
    check("a +", Parallel, "go av", "failed: a failed");
}

#[test]
fn patches_of_failed_attempts_never_reach_the_state() {
    let story = check("a +; b", Parallel, "go ax b. +100 go a.", "succeeded: a completed, b completed");
    assert_eq!(story.run.merged_state(), *json!({"a": true, "b": true, "last": "b"}).as_object().unwrap());
}

#[test]
fn the_state_does_not_depend_on_who_was_first() {
    for words in ["go a. b.", "go b. a."] {
        let story = check("a; b", Parallel, words, "succeeded: a completed, b completed");
        assert_eq!(story.run.merged_state()["last"], "b", "{words}");
    }
}

#[test]
fn a_step_sees_the_state_and_the_results_so_far() {
    let story = check("a; b <- a", Sequential, "go a. go", "running: a completed, b running");
    assert_eq!(story.run.merged_state(), *json!({"a": true, "last": "a"}).as_object().unwrap());
    assert_eq!(json!(story.run.dependencies(1)), json!({"a": {"ok": true, "output": {"of": "a"}}}));
}

#[test]
fn an_attempt_that_takes_too_long_is_ended_and_tried_again() {
    let story = check("a +", Parallel, "go +1000 ax", "running: a pending");
    assert_eq!(story.actions, ["launch a#1", "timeout a#1"]);
    check("a", Parallel, "go +1000 ax", "failed: a timeout");
    // Too late is too late, whatever the script says then.
    check("a", Parallel, "go +1000 a.", "failed: a timeout");
}

#[test]
fn the_runs_own_time_bounds_everything() {
    let story =
        check("a; b; c <- a", Parallel, "go b. +10000", "stopping: a running, b completed, c skipped");
    assert_eq!(story.actions, ["launch a#1", "launch b#1", "terminate a#1"]);
    check("a; b; c <- a", Parallel, "go b. +10000 ax", "failed: a timeout, b completed, c skipped");
}

#[test]
fn timeouts_are_retried_only_while_there_is_time() {
    // The first attempt starts late: after its time-out, the next one would be due after the run's deadline.
    check("b +; a + <- b", Sequential, "go +950 b. +8000 go +950 +50 ax", "failed: b completed, a timeout");
}

#[test]
fn cancelling_ends_what_runs_and_settles_the_rest() {
    let story = check("a; b <- a; c", Parallel, "go cancel", "stopping: a running, b cancelled, c running");
    assert_eq!(story.actions, ["launch a#1", "launch c#1", "terminate a#1", "terminate c#1"]);
    check("a; b <- a; c", Parallel, "go cancel ax cx", "cancelled: a cancelled, b cancelled, c cancelled");
    check("a", Parallel, "cancel", "cancelled: a cancelled");
}

#[test]
fn a_paused_run_stands_still() {
    let story = check("a; b", Sequential, "go +500 pause", "paused: a running, b pending");
    assert_eq!(story.actions, ["launch a#1", "stop a#1"]);
    assert_eq!(story.run.next_wake(), None);
    let mut story = check("a; b", Sequential, "go +500 pause +60000 resume", "running: a running, b pending");
    assert_eq!(story.run.next_wake().unwrap().as_millis(), 61_000, "half of the attempt's time is left");
    story.tell("a.");
    story.tell("go");
    assert_eq!(story.shown(), "running: a completed, b running");
    check("a; b", Sequential, "pause go", "paused: a pending, b pending");
    check("a; b", Sequential, "go pause a. go", "paused: a completed, b pending");
    check("a", Sequential, "go pause cancel ax", "cancelled: a cancelled");
}

#[test]
fn an_approval_parks_the_run_and_its_clock() {
    let story = check("a ^; b <- a", Parallel, "go", "awaiting_approval: a awaiting, b pending");
    assert_eq!(story.run.next_wake(), None);
    check("a ^; b <- a", Parallel, "go +99999 a^ go a. go b.", "succeeded: a completed, b completed");
    let story = check("a ^; b <- a", Parallel, "go a-", "failed: a failed, b skipped");
    let StepView::Settled(settled) = story.run.step(0) else { panic!("a is settled") };
    assert_eq!(settled.error().unwrap().message, "somebody said no: too risky");
    check("a ^; b", Parallel, "go b. cancel", "cancelled: a cancelled, b completed");
    check("a ^; b", Parallel, "a^ a^ a- go", "running: a running, b running");
}

#[test]
fn what_was_running_when_the_driver_died_is_repeated_where_that_is_safe() {
    check("a", Parallel, "go crash", "failed: a failed");
    let story = check("a *", Parallel, "go crash go a.", "succeeded: a completed");
    assert_eq!(story.actions, ["launch a#1", "launch a#2", "finish"]);
    check("a +", Parallel, "go crash +100 go a.", "succeeded: a completed");
    check("a; b <- a", Parallel, "go a. crash go b.", "succeeded: a completed, b completed");
    check("a", Parallel, "go cancel crash", "cancelled: a cancelled");
}

#[test]
fn what_was_running_when_the_launcher_died_is_repeated_where_that_is_safe() {
    let lost = |plan: &str, attempts: u32| {
        let mut story = Story::new(plan, Parallel, 1);
        for attempt in 1..=attempts {
            story.tell("go");
            story.happen(super::testing::lost(0, attempt));
        }
        story
    };
    // An idempotent step has no retries to lose, and is started as often as it was cut off.
    let mut story = lost("a *", 5);
    story.tell("go");
    story.tell("a.");
    assert_eq!(story.shown(), "succeeded: a completed");
    let mut story = lost("a", 1);
    assert_eq!(story.shown(), "failed: a failed");
    assert_eq!(story.run.take_effects("node").outcomes, [], "the skill is not to blame");
    let StepView::Settled(settled) = story.run.step(0) else { panic!("a is settled") };
    assert_eq!(settled.error().unwrap().message, "launcher lost");
    // The end of a step that may not be repeated does not call in what stands in for it.
    assert_eq!(lost("a", 1).actions, ["launch a#1", "finish"]);
}

#[test]
fn every_interruption_says_why_and_repeats_what_is_safe() {
    for (word, why) in [
        ("crash", "interrupted: the process that drove the run died"),
        ("store", "interrupted: the store could not be written"),
        ("shutdown", "interrupted by shutdown"),
    ] {
        check("a *", Parallel, &format!("go {word} go a."), "succeeded: a completed");
        let story = check("a; b <- a", Parallel, &format!("go {word}"), "failed: a failed, b skipped");
        let StepView::Settled(settled) = story.run.step(0) else { panic!("a is settled") };
        let message = &settled.error().unwrap().message;
        assert!(message.starts_with(why), "{word}: {message}");
    }
}

#[test]
fn an_interruption_of_an_earlier_artel_is_a_death() {
    let event: RunEvent = serde_json::from_str(r#"{"type":"interrupted"}"#).unwrap();
    assert_eq!(event, RunEvent::Interrupted { because: Interruption::OwnerDied });
    assert_eq!(serde_json::to_string(&event).unwrap(), r#"{"type":"interrupted"}"#);
    let event = RunEvent::Interrupted { because: Interruption::Shutdown };
    assert_eq!(serde_json::to_string(&event).unwrap(), r#"{"type":"interrupted","because":"shutdown"}"#);
}

#[test]
fn deadlines_go_on_while_the_store_is_away() {
    let mut story = check("a *; b <- a", Parallel, "go +500", "running: a running, b pending");
    let due = story.run.next_wake();
    story.now += 3_600_000;
    story.tell("store");
    assert_eq!(story.shown(), "running: a pending, b pending");
    assert!(story.run.next_wake() >= due && story.run.next_wake().unwrap().as_millis() < 3_600_000);
    story.tell("+0");
    assert_eq!(story.run.state(), RunState::Failed, "{}", story.shown());
}

#[test]
fn late_and_strange_events_change_nothing() {
    let mut story = check("a +", Parallel, "go ax +100 go", "running: a running");
    let before = story.run.clone();
    story.happen(completed(0, 1, "a"));
    story.happen(completed(0, 3, "a"));
    story.happen(completed(7, 1, "a"));
    story.happen(started(0, 2));
    story.happen(RunEvent::Approved { step: 0, by: super::testing::somebody(), note: None });
    story.happen(RunEvent::Approved { step: 9, by: super::testing::somebody(), note: None });
    assert_eq!(story.run, before);
}

#[test]
fn a_composite_gathers_what_its_steps_gave() {
    let story = check(
        "f @ <- f/a f/b; f/a; f/b <- f/a",
        Sequential,
        "go f/a. go f/b. go f.",
        "succeeded: f completed, f/a completed, f/b completed",
    );
    assert_eq!(story.actions, ["launch f/a#1", "launch f/b#1", "launch f#1", "finish"]);
    let gathered = json!({"a": {"of": "f/a"}, "b": {"of": "f/b"}});
    assert_eq!(story.run.gathered(0), *gathered.as_object().unwrap());
}

#[test]
fn a_composite_fails_with_its_step_and_stops() {
    let story = check(
        "f @ <- f/a f/b f/c; f/a; f/b <- f/a; f/c; g <- f",
        Sequential,
        "go f/ax go",
        "failed: f failed, f/a failed, f/b skipped, f/c skipped, g skipped",
    );
    let StepView::Settled(settled) = story.run.step(0) else { panic!("f is settled") };
    assert_eq!(settled.error().unwrap().message, "`f/a`: it broke");
}

#[test]
fn an_optional_composite_does_not_fail_the_run() {
    check(
        "f @? <- f/a; f/a; g <- f",
        Sequential,
        "go f/ax go g.",
        "succeeded: f failed, f/a failed, g completed",
    );
}

#[test]
fn a_composite_may_give_what_there_is() {
    check(
        "f % <- f/a f/b f/c; f/a; f/b; f/c <- f/b",
        Parallel,
        "go f/a. f/bx go f.",
        "succeeded: f completed, f/a completed, f/b failed, f/c skipped",
    );
    let mut story = check("f % <- f/a; f/a", Parallel, "go f/ax go", "failed: f failed, f/a failed");
    let statuses: Vec<&str> =
        story.run.take_effects("node").executions.iter().map(|record| record.status.as_str()).collect();
    assert_eq!(statuses, ["failed", "failed"], "also what never gathered has a record");
}

#[test]
fn what_stands_in_for_a_failed_step_has_one_try() {
    let story = check("a ~+", Parallel, "go ax +100 go ax +200 go ax go", "running: a running");
    assert_eq!(story.run.script(0).unwrap().skill.as_str(), "fallback");
    check("a ~", Parallel, "go ax go a.", "succeeded: a completed");
    check("a ~", Parallel, "go ax go ax", "failed: a failed");
    check("a ~", Parallel, "go +1000 ax go a.", "succeeded: a completed");
    check("f @~ <- f/a; f/a", Parallel, "go f/ax go f.", "succeeded: f completed, f/a failed");
    check("f @~ <- f/a; f/a", Parallel, "go cancel f/ax", "cancelled: f cancelled, f/a cancelled");
}

#[test]
fn records_and_outcomes_are_told_once() {
    let mut story = Story::new("a +", Parallel, 1);
    story.tell("go");
    let effects = story.run.take_effects("node-1");
    assert_eq!(effects.executions.len(), 1);
    assert_eq!((effects.executions[0].status.as_str(), effects.outcomes.len()), ("running", 0));
    for word in ["ax", "+100", "go"] {
        story.tell(word);
    }
    let effects = story.run.take_effects("node-1");
    assert_eq!((effects.executions[0].status.as_str(), effects.outcomes.len()), ("running", 0));
    story.now += 42;
    story.tell("a.");
    let effects = story.run.take_effects("node-1");
    let record = &effects.executions[0];
    assert_eq!((record.status.as_str(), record.retry_count, record.attempts.len()), ("success", 1, 2));
    assert_eq!((record.duration_ms, record.node.as_str()), (Some(142), "node-1"));
    assert_eq!(effects.outcomes.len(), 1);
    assert_eq!(story.run.take_effects("node-1"), super::RunEffects::default());
}

#[test]
fn the_time_while_nobody_drove_the_run_does_not_count() {
    let mut story = check("a *; b <- a", Parallel, "go +500", "running: a running, b pending");
    story.now += 3_600_000;
    story.tell("crash");
    assert_eq!(story.run.next_wake().unwrap().as_millis(), 3_610_000, "the rest of the run's time is left");
    for word in ["go", "a.", "go", "b."] {
        story.tell(word);
    }
    assert_eq!(story.shown(), "succeeded: a completed, b completed");
}

#[test]
fn neither_does_the_time_between_a_yes_and_its_recovery() {
    let mut story = check("a ^*", Parallel, "go", "awaiting_approval: a awaiting");
    story.now += 3_600_000;
    story.tell("a^");
    story.now += 3_600_000;
    story.tell("crash");
    story.tell("go");
    assert_eq!(story.run.next_wake().unwrap().as_millis(), 7_201_000, "the attempt has all its time");
}

#[test]
fn a_retry_that_would_come_too_late_is_not_waited_for() {
    let story = check("a +", Parallel, "go +950 ax +8950 go +50 ax", "failed: a failed");
    let StepView::Settled(settled) = story.run.step(0) else { panic!("a is settled") };
    assert_eq!(settled.error().unwrap().message, "it broke");
}

#[test]
fn a_step_that_was_tried_is_not_said_never_to_have_started() {
    let story = check("a +", Parallel, "go ax cancel", "cancelled: a cancelled");
    let StepView::Settled(settled) = story.run.step(0) else { panic!("a is settled") };
    let expected = "the run was cancelled before the next attempt; the last one: it broke";
    assert_eq!(settled.error().unwrap().message, expected);
}

#[test]
fn what_the_caller_did_wrong_does_not_count_against_a_skill() {
    let mut story = Story::new("a +", Parallel, 1);
    story.tell("go");
    story.happen(super::testing::refused(0, 1));
    assert_eq!(story.shown(), "failed: a failed");
    assert_eq!(story.run.take_effects("node").outcomes, []);
    let mut story = check("a", Parallel, "go av", "failed: a failed");
    assert_eq!(story.run.take_effects("node").outcomes.len(), 1);
}

#[test]
fn whose_fault_a_failure_is_decides_how_it_counts() {
    let counted = |kind, fault| {
        let mut story = Story::new("a", Parallel, 1);
        story.tell("go");
        story.happen(super::testing::failed_by(0, 1, kind, fault));
        let outcomes = story.run.take_effects("node").outcomes;
        outcomes.first().map(|(_, outcome)| *outcome)
    };
    for kind in [ErrorKind::ToolExecutionFailed, ErrorKind::ProtocolViolation, ErrorKind::SpawnFailed] {
        assert_eq!(counted(kind, Fault::Skill), Some(RunOutcome::Failure), "{kind:?}");
        assert_eq!(counted(kind, Fault::Elsewhere), None, "{kind:?}");
    }
    assert_eq!(counted(ErrorKind::ToolExecutionFailed, Fault::Network), Some(RunOutcome::Transient));
    assert_eq!(counted(ErrorKind::Timeout, Fault::Skill), Some(RunOutcome::Transient));
    assert_eq!(counted(ErrorKind::PolicyDenied, Fault::Skill), None);
}
