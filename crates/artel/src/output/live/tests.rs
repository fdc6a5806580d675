//! What a person sees at several moments of several plans, and what they never see.

use artel_model::plan::{Need, Plan};
use artel_model::protocol::{ProtocolVersion, ToolEvent};
use artel_model::run::RunEvent;
use console::measure_text_width;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::testing::{Scene, assemble, at, completed, ended, execution, failed, log, plan};

const FAN: &str = "split; count-a <- split; count-b + <- split; count-c ? <- split; \
                   join <- count-a count-b count-c; print <- join";

#[test]
fn a_fan_before_it_starts() {
    assert_snapshot!(Scene::new(FAN).frame(80, 24), @"
    plan 8f14e45f  running  0 ms  ────────────────────  0/6 done
    · split
    ├─ · count-a
    ├─ · count-b
    ├─ · count-c
    └─ · join                after count-a, count-b, count-c
       └─ · print
    ");
}

#[test]
fn a_fan_in_the_middle() {
    let words = [
        "split",
        "+120",
        "split.",
        "count-a",
        "count-b",
        "count-c",
        "count-a:reading 3 files",
        "+1500",
        "count-bx",
        "count-cx",
        "+100",
        "count-b",
        "count-b:once more",
    ];
    assert_snapshot!(Scene::new(FAN).tell(&words).frame(80, 24), @"
    plan 8f14e45f  running  1.7 s  ━━━━━━────────────  1/6 done, 1 failed, 2 running
    ✓ split          120 ms  all well
    ├─ ⠧ count-a      1.6 s  reading 3 files
    ├─ ⠧ count-b      1.6 s  attempt 2  once more
    ├─ ✗ count-c      1.5 s  exit code 1: no such cup
    └─ · join                after count-a, count-b, count-c
       └─ · print
    ");
    assert_snapshot!(Scene::new(FAN).tell(&words[..10]).frame(80, 24), @"
    plan 8f14e45f  running  1.6 s  ━━━━━━────────────  1/6 done, 1 failed, 1 running
    ✓ split          120 ms  all well
    ├─ ⠦ count-a      1.5 s  reading 3 files
    ├─ ↻ count-b      1.5 s  again soon: exit code 1: no such cup
    ├─ ✗ count-c      1.5 s  exit code 1: no such cup
    └─ · join                after count-a, count-b, count-c
       └─ · print
    ");
}

#[test]
fn a_failed_step_and_what_it_takes_with_it() {
    let scene = Scene::new(FAN).tell(&["split", "+70000", "splitx"]);
    assert_snapshot!(scene.frame(80, 24), @"
    plan 8f14e45f  failed  1 min 10 s  ━━━━━━━━━━━━━━  0/6 done, 1 failed, 5 skipped
    ⏱ split      1 min 10 s  the deadline of the run passed while it was running
    ├─ ⊘ count-a             the deadline of the run passed before it started
    ├─ ⊘ count-b             the deadline of the run passed before it started
    ├─ ⊘ count-c             the deadline of the run passed before it started
    └─ ⊘ join                `count-a`, which it needs, was skipped
       └─ ⊘ print            `join`, which it needs, was skipped
    ");
    let scene = Scene::new("a; b <- a; c").tell(&["a", "c", "+5", "ax", "c."]);
    assert_snapshot!(scene.frame(60, 24), @"
    plan 8f14e45f  failed  5 ms  1/3 done, 1 failed, 1 skipped
    ✗ a         5 ms  exit code 1: no such cup
    └─ ⊘ b            `a`, which it needs, failed
    ✓ c         5 ms  all well
    ");
}

#[test]
fn a_composite_with_an_approval_inside() {
    let text = "prepare; ship @ <- ship/build ship/deploy ship/tell prepare; ship/build <- prepare; \
                ship/deploy ^ <- ship/build; ship/tell <- ship/deploy; close <- ship";
    let scene = Scene::new(text).tell(&["prepare", "+20", "prepare.", "ship/build", "+30", "ship/build."]);
    assert_snapshot!(scene.frame(80, 24), @"
    plan 8f14e45f  waiting for approval  50 ms  ━━━━━━━━────────────  2/5 done
    ✓ prepare              20 ms  all well
    ├─ ⠋ ship              30 ms
    │  └─ ✓ build          30 ms  all well
    │     └─ ⏸ deploy             waits for a yes: artel run approve 0199a0b4-0000
    │        └─ · tell
    └─ · close                    after ship
    ");
    let scene = scene.tell(&["+60000", "ship/deploy^", "ship/deploy", "+10", "ship/deploy:copying"]);
    assert_snapshot!(scene.frame(80, 24), @"
    plan 8f14e45f  running  1 min 0 s  ━━━━━━━━────────────  2/5 done, 1 running
    ✓ prepare              20 ms  all well
    ├─ ⠋ ship          1 min 0 s
    │  └─ ✓ build          30 ms  all well
    │     └─ ⠋ deploy      10 ms  copying
    │        └─ · tell
    └─ · close                    after ship
    ");
}

#[test]
fn a_long_chain_stays_readable() {
    let text =
        "s0; ".to_owned() + &(1..10).map(|n| format!("s{n} <- s{}", n - 1)).collect::<Vec<_>>().join("; ");
    assert_snapshot!(Scene::new(&text).tell(&["s0", "+1", "s0.", "s1"]).frame(60, 24), @"
    plan 8f14e45f  running  1 ms  ────────  1/10 done, 1 running
    ✓ s0                        1 ms  all well
    └─ ⠋ s1                     0 ms
       └─ · s2
          └─ · s3
             └─ · s4
                └─ · s5
                   ├─ · s6
                   ├─ · s7            after s6
                   ├─ · s8            after s7
                   └─ · s9            after s8
    ");
}

#[test]
fn a_narrow_terminal_cuts() {
    let words = ["split", "split:a long story about what happens", "+10"];
    assert_snapshot!(Scene::new(FAN).tell(&words).frame(30, 24), @"
    plan 8f14e45f  running  10 ms…
    ⠋ split           10 ms  a lo…
    ├─ · count-a
    ├─ · count-b
    ├─ · count-c
    └─ · join                afte…
       └─ · print
    ");
}

#[test]
fn a_cancelled_run() {
    let scene = Scene::new("a; b <- a").tell(&["a", "+200", "cancel"]);
    assert_snapshot!(scene.frame(80, 24), @"
    plan 8f14e45f  stopping  200 ms  ━━━━━━───────  0/2 done, 1 cancelled, 1 running
    ⠹ a       200 ms
    └─ ■ b            the run was cancelled before it started
    ");
    let scene = scene.tell(&["+50", "ax"]);
    assert_snapshot!(scene.frame(80, 24), @"
    plan 8f14e45f  cancelled  250 ms  ━━━━━━━━━━━━━━━━━━━━  0/2 done, 2 cancelled
    ■ a       250 ms  the run was cancelled
    └─ ■ b            the run was cancelled before it started
    ");
}

#[test]
fn an_empty_plan_is_a_header() {
    assert_snapshot!(Scene::of(assemble(Vec::new())).frame(80, 24), @"plan 8f14e45f  succeeded  0 ms  ━━━━━━━━━━━━━━━━━━━━  0/0 done");
}

fn large() -> Plan {
    let step = |index: usize| {
        let mut step = plan("x").steps()[0].clone();
        step.id = format!("tool-{index:05}").parse().unwrap();
        step
    };
    assemble((0..10_000).map(step).collect())
}

#[test]
fn ten_thousand_steps_fit() {
    let mut scene = Scene::of(large());
    for step in 0..600 {
        scene.happen(RunEvent::Started { step, attempt: 1, execution: execution() });
    }
    scene.now = 2500;
    for step in 0..597 {
        let outcome = if step % 150 == 7 { failed("no such cup") } else { completed() };
        scene.happen(ended(step, 1, outcome));
    }
    assert_snapshot!(scene.frame(80, 10), @"
    plan 8f14e45f  running  2.5 s  ───────────  593/10,000 done, 4 failed, 3 running
    ⠴ tool-00597     2.5 s
    ⠴ tool-00598     2.5 s
    ⠴ tool-00599     2.5 s
    ✗ tool-00007     2.5 s  no such cup
    ✗ tool-00157     2.5 s  no such cup
    ✗ tool-00307     2.5 s  no such cup
    ✗ tool-00457     2.5 s  no such cup
    … 9,400 pending, 593 done
    ");
    assert_snapshot!(scene.frame(80, 5), @"
    plan 8f14e45f  running  2.5 s  ───────────  593/10,000 done, 4 failed, 3 running
    ⠴ tool-00597     2.5 s
    ⠴ tool-00598     2.5 s
    ⠴ tool-00599     2.5 s
    … 4 failed, 9,400 pending, 593 done
    ");
    assert_eq!(scene.frame(80, 1).lines().count(), 1);
    assert_eq!(scene.frame(80, 0), "");
}

#[test]
fn plain_lines_say_what_happened() {
    let words = [
        "split",
        "split:dividing\n\u{1b}[31min three",
        "+52",
        "split.",
        "count-a",
        "count-b",
        "count-bx",
        "+100",
        "count-b",
        "count-a.",
        "count-b.",
        "count-c",
        "count-cx",
        "join",
        "joinx",
    ];
    assert_snapshot!(Scene::new(FAN).tell(&words).lines.join("\n"), @"
    plan 8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c: 6 steps
    started split (attempt 1)
    split: info dividing in three
    split completed in 52 ms
    started count-a (attempt 1)
    started count-b (attempt 1)
    count-b failed, and is tried again: exit code 1: no such cup
    started count-b (attempt 2)
    count-a completed in 100 ms
    count-b completed in 100 ms
    started count-c (attempt 1)
    count-c failed: exit code 1: no such cup
    started join (attempt 1)
    join failed: exit code 1: no such cup
    print skipped: `join`, which it needs, failed
    ");
}

#[test]
fn plain_lines_of_approvals_and_commands() {
    let scene = Scene::new("a ^; b ^ <- a; c <- b").tell(&["a^", "a", "+5", "a.", "b-"]);
    assert_snapshot!(scene.lines.join("\n"), @"
    plan 8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c: 3 steps
    waiting for approval of a: artel run approve 0199a0b4-0000-7000-8000-000000000001
    a approved by ana: looks right
    started a (attempt 1)
    a completed in 5 ms
    waiting for approval of b: artel run approve 0199a0b4-0000-7000-8000-000000000001
    b rejected by ana: too risky
    b failed: ana said no: too risky
    c skipped: `b`, which it needs, failed
    ");
    let scene = Scene::new("a; b <- a").tell(&["a", "pause", "cancel", "ax"]);
    assert_snapshot!(scene.lines.join("\n"), @"
    plan 8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c: 2 steps
    started a (attempt 1)
    paused by ana
    cancelled by ana
    b cancelled: the run was cancelled before it started
    a cancelled: the run was cancelled
    ");
}

#[test]
fn plain_lines_of_what_scripts_publish() {
    let mut scene = Scene::new("go");
    let event = ToolEvent::UiEvent {
        version: ProtocolVersion::Zero,
        request_id: None,
        timestamp: None,
        event: "navigation.complete".to_owned(),
        payload: Some(json!({"final_position": {"x": 10, "y": 5}})),
    };
    scene.happen(RunEvent::Started { step: 0, attempt: 1, execution: execution() });
    scene.happen(RunEvent::Emitted { step: 0, attempt: 1, events: vec![event] });
    assert_snapshot!(scene.lines.join("\n"), @r#"
    plan 8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c: 1 step
    started go (attempt 1)
    go: event navigation.complete {"final_position":{"x":10,"y":5}}
    "#);
}

#[test]
fn colours_add_nothing_but_colours() {
    let scene = Scene::new(FAN).tell(&["split", "split:\u{1b}]0;title\u{7}hello", "+10"]);
    let plain = scene.view.frame(at(10), 80, 24);
    let painted = scene.view.in_colors().frame(at(10), 80, 24);
    assert_ne!(plain, painted);
    let stripped: Vec<String> = painted.iter().map(|line| super::text::without_escapes(line)).collect();
    assert_eq!(plain, stripped);
}

/// A random graph: every step waits for some of those before it.
fn graphs() -> impl Strategy<Value = Plan> {
    prop::collection::vec((".{1,12}", prop::collection::vec(any::<prop::sample::Index>(), 0..4)), 1..40)
        .prop_map(|texts| {
            let step = |(index, (name, needs)): (usize, &(String, Vec<prop::sample::Index>))| {
                let mut step = plan("x").steps()[0].clone();
                step.id = format!("{index} {name}").parse().unwrap_or(format!("{index}").parse().unwrap());
                let needs = needs.iter().filter(|_| index > 0).map(|need| need.index(index));
                let needs: std::collections::BTreeSet<usize> = needs.collect();
                step.needs = needs.into_iter().map(|step| Need { step, shown_as: None }).collect();
                step
            };
            assemble(texts.iter().enumerate().map(step).collect())
        })
}

proptest! {
    #[test]
    fn every_frame_fits_and_is_harmless(
        plan in graphs(),
        texts in prop::collection::vec("(?s).{0,80}", 40),
        width in 1u16..140,
        height in 0u16..50,
    ) {
        let mut scene = Scene::of(plan);
        for (step, text) in texts.iter().enumerate().take(scene.plan.steps().len()) {
            scene.happen(RunEvent::Started { step, attempt: 1, execution: execution() });
            scene.happen(RunEvent::Emitted { step, attempt: 1, events: vec![log(text)] });
            if step % 3 == 1 {
                scene.happen(ended(step, 1, failed(text)));
            } else if step % 3 == 2 {
                scene.happen(ended(step, 1, completed()));
            }
        }
        let frame = scene.view.frame(at(1), width, height);
        prop_assert!(frame.len() <= usize::from(height));
        for line in frame.iter().chain(&scene.lines) {
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
        for line in &frame {
            prop_assert!(measure_text_width(line) <= usize::from(width), "{line:?}");
        }
    }

    #[test]
    fn every_step_is_drawn_once(plan in graphs()) {
        let mut drawn: Vec<usize> = super::graph::draw(&plan).iter().map(|branch| branch.step).collect();
        drawn.sort_unstable();
        prop_assert_eq!(drawn, (0..plan.steps().len()).collect::<Vec<_>>());
    }
}
