//! The tool protocol, rule by rule: what a script wrote and how it ended, and what comes of it.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::collector::{Collector, Heard};
use super::outcome::{End, ExitFacts, StopReason};
use super::violation::{Violation, ViolationKind};
use crate::limit::{EVENT_LINE_BYTES_MAX, EVENTS_PER_ATTEMPT_MAX};
use crate::run::{AttemptOutcome, Fault, Retry};

const DONE: &str = r#"{"version":"0","type":"done","ok":true}"#;

fn exit(code: i32) -> ExitFacts<'static> {
    ExitFacts { end: End::Code(code), stop: None, stderr: "", explanation: None }
}

/// Everything that was heard, and how it ended.
fn listen(pieces: &[&[u8]], facts: ExitFacts<'_>) -> (Vec<Heard>, u64, AttemptOutcome) {
    let (mut collector, mut heard) = (Collector::default(), Vec::new());
    let mut taken = Ok(());
    for piece in pieces {
        taken = taken.and_then(|()| collector.push(piece, &mut heard));
    }
    let last = match facts.end {
        End::Code(0) => Collector::last_line,
        End::Code(_) | End::Otherwise(_) => Collector::last_line_cut_off,
    };
    let _ = taken.and_then(|()| last(&mut collector, &mut heard));
    let dropped = collector.dropped_events();
    (heard, dropped, collector.finish(facts))
}

fn outcome(stdout: impl AsRef<[u8]>, facts: ExitFacts<'_>) -> String {
    let (.., outcome) = listen(&[stdout.as_ref()], facts);
    match outcome {
        AttemptOutcome::Completed { output, patches, summary } => {
            format!("completed {} patches {} summary {}", json!(output), json!(patches), json!(summary))
        }
        AttemptOutcome::Failed { error, retry, .. } => {
            let again = match retry {
                Retry::Useful => "again",
                Retry::Useless => "not again",
                Retry::Interrupted => "interrupted",
            };
            format!("{:?} ({again}, {:?}): {error}", error.kind, error.exit_code)
        }
    }
}

#[test]
fn a_script_says_by_its_error_code_that_the_network_failed_it() {
    let fault = |code: &str, rest: &str, facts| {
        let error = json!({"version": "0", "type": "error", "errorCode": code, "errorMessage": "no luck"});
        match listen(&[format!("{error}\n{rest}").as_bytes()], facts).2 {
            AttemptOutcome::Completed { .. } => None,
            AttemptOutcome::Failed { fault, .. } => Some(fault),
        }
    };
    let not_ok = r#"{"version":"0","type":"done","ok":false}"#;
    let later = r#"{"version":"0","type":"error","errorCode":"NO_LIGHT","errorMessage":"it is dark"}"#;
    assert_eq!(fault("dns-error", not_ok, exit(0)), Some(Fault::Network));
    assert_eq!(fault("TIMEOUT", "", exit(3)), Some(Fault::Network));
    assert_eq!(fault("NO_LIGHT", not_ok, exit(0)), Some(Fault::Skill));
    assert_eq!(fault("DNS_ERROR", later, exit(3)), Some(Fault::Elsewhere), "the last error counts");
    assert_eq!(fault("invalid-input", not_ok, exit(0)), Some(Fault::Elsewhere), "the input is to blame");
    assert_eq!(fault("NO_LIGHT", "", exit(3)), Some(Fault::Elsewhere), "it judged and said so");
    assert_eq!(fault("DNS_ERROR", "{}", exit(0)), Some(Fault::Skill), "a violation is the script's own");
    assert_eq!(fault("DNS_ERROR", DONE, exit(0)), None);
}

/// The message about one line that is followed by a good end.
fn wrong(line: impl AsRef<[u8]>) -> String {
    let stdout = [line.as_ref(), b"\n", DONE.as_bytes(), b"\n"].concat();
    let text = outcome(stdout, exit(0));
    text.strip_prefix("ProtocolViolation (not again, None): ").map_or(text.clone(), str::to_owned)
}

#[test]
fn a_line_must_be_a_json_object_in_utf_8() {
    let lines: &[&[u8]] = &[
        b"oops",
        b"[1]",
        b"3",
        b"null",
        b"{\"version\":\"0\",\"x\":\"\xff\"}",
        b"\xef\xbb\xbf{}",
        b"{\"a\":\0}",
        b"{\"a\":1e999}",
        b"{\"a\":\"\\ud800\"}",
        b"{\"a\":1,\"a\":2}",
        b"{\"a\":1} x",
        b"{\"a\":1",
        b"{'a':1}",
    ];
    let told: Vec<String> = lines.iter().map(wrong).collect();
    assert_snapshot!(told.join("\n"), @r#"
    line 1 is not JSON: expected value (column 1): oops
    line 1 must be a JSON object, not an array: [1]
    line 1 must be a JSON object, not a number: 3
    line 1 must be a JSON object, not null: null
    line 1 is not UTF-8 (byte 21): {"version":"0","x":"�"}
    line 1 starts with a byte order mark, which JSON does not have: \u{feff}{}
    line 1 is not JSON: expected value (column 6): {"a":\u{0}}
    line 1 is not JSON: number out of range (column 10): {"a":1e999}
    line 1 is not JSON: unexpected end of hex escape (column 13): {"a":"\ud800"}
    line 1 is not JSON: the key "a" stands twice in one object (column 10): {"a":1,"a":2}
    line 1 is not JSON: trailing characters (column 9): {"a":1} x
    line 1 is not JSON: EOF while parsing an object (column 6): {"a":1
    line 1 is not JSON: key must be a string (column 2): {'a':1}
    "#);
}

#[test]
fn deep_nesting_is_refused_before_it_hurts() {
    let deep = |levels: usize| {
        let nested = format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        format!(r#"{{"version":"0","type":"state_patch","patch":{nested}}}"#)
    };
    assert!(wrong(deep(120)).starts_with("completed"), "{}", wrong(deep(120)));
    for levels in [130, 100_000] {
        let told = wrong(deep(levels));
        assert!(told.starts_with("line 1 is not JSON: recursion limit exceeded"), "{told}");
    }
}

#[test]
fn fields_are_there_and_of_their_type() {
    let lines = [
        r#"{"type":"log"}"#,
        r#"{"version":0,"type":"log"}"#,
        r#"{"version":"1","type":"log"}"#,
        r#"{"version":"0"}"#,
        r#"{"version":"0","type":7}"#,
        r#"{"version":"0","type":"metric"}"#,
        r#"{"version":"0","type":"Done","ok":true}"#,
        r#"{"version":"0","type":"log","message":"x"}"#,
        r#"{"version":"0","type":"log","level":"loud","message":"x"}"#,
        r#"{"version":"0","type":"log","level":"info","message":7}"#,
        r#"{"version":"0","type":"log","level":"info"}"#,
        r#"{"version":"0","type":"log","level":"info","message":"x","fields":[]}"#,
        r#"{"version":"0","type":"log","level":"info","message":"x","timestamp":7}"#,
        r#"{"version":"0","type":"state_patch"}"#,
        r#"{"version":"0","type":"state_patch","patch":[1]}"#,
        r#"{"version":"0","type":"state_patch","patch":null}"#,
        r#"{"version":"0","type":"asset","kind":"image","mediaType":"image/png","path":"x.png"}"#,
        r#"{"version":"0","type":"asset","assetId":"","kind":"image","mediaType":"image/png","path":"x.png"}"#,
        r#"{"version":"0","type":"asset","assetId":"a","kind":"image","mediaType":"png","path":"x.png"}"#,
        r#"{"version":"0","type":"asset","assetId":"a","kind":"image","mediaType":"image/png"}"#,
        r#"{"version":"0","type":"ui_event"}"#,
        r#"{"version":"0","type":"error","errorCode":"E"}"#,
        r#"{"version":"0","type":"error","errorCode":1,"errorMessage":"x"}"#,
        r#"{"version":"0","type":"done"}"#,
        r#"{"version":"0","type":"done","ok":"yes"}"#,
        r#"{"version":"0","type":"done","ok":true,"output":"text"}"#,
    ];
    let told: Vec<String> = lines.iter().map(wrong).collect();
    assert_snapshot!(told.join("\n"), @r#"
    line 1 is an event without `version`: {"type":"log"}
    line 1 is an event whose `version` must be "0", not 0: {"version":0,"type":"log"}
    line 1 is an event whose `version` must be "0", not "1": {"version":"1","type":"log"}
    line 1 is an event without `type`: {"version":"0"}
    line 1 is an event whose `type` must be a text, not 7: {"version":"0","type":7}
    line 1 is an event of the unknown type "metric"; types are log, state_patch, asset, ui_event, error, done: {"version":"0","type":"metric"}
    line 1 is an event of the unknown type "Done"; types are log, state_patch, asset, ui_event, error, done: {"version":"0","type":"Done","ok":true}
    line 1 is a `log` event without `level`: {"version":"0","type":"log","message":"x"}
    line 1 is a `log` event whose `level` must be debug, info, warn or error, not "loud": {"version":"0","type":"log","level":"loud","message":"x"}
    line 1 is a `log` event whose `message` must be a text, not 7: {"version":"0","type":"log","level":"info","message":7}
    line 1 is a `log` event without `message`: {"version":"0","type":"log","level":"info"}
    line 1 is a `log` event whose `fields` must be an object, not an array: {"version":"0","type":"log","level":"info","message":"x","fields":[]}
    line 1 is a `log` event whose `timestamp` must be a text, not 7: {"version":"0","type":"log","level":"info","message":"x","timestamp":7}
    line 1 is a `state_patch` event without `patch`: {"version":"0","type":"state_patch"}
    line 1 is a `state_patch` event whose `patch` must be an object, not an array: {"version":"0","type":"state_patch","patch":[1]}
    line 1 is a `state_patch` event whose `patch` must be an object, not null: {"version":"0","type":"state_patch","patch":null}
    line 1 is an `asset` event without `assetId`: {"version":"0","type":"asset","kind":"image","mediaType":"image/png","path":"x.png"}
    line 1 is an `asset` event whose `assetId` must be a text that is not empty, not "": {"version":"0","type":"asset","assetId":"","kind":"image","mediaType":"image/png","path":"x.png"}
    line 1 is an `asset` event whose `mediaType` must be a MIME type such as image/png, not "png": {"version":"0","type":"asset","assetId":"a","kind":"image","mediaType":"png","path":"x.png"}
    line 1 is an `asset` event without `path`: {"version":"0","type":"asset","assetId":"a","kind":"image","mediaType":"image/png"}
    line 1 is a `ui_event` event without `event`: {"version":"0","type":"ui_event"}
    line 1 is an `error` event without `errorMessage`: {"version":"0","type":"error","errorCode":"E"}
    line 1 is an `error` event whose `errorCode` must be a text, not 1: {"version":"0","type":"error","errorCode":1,"errorMessage":"x"}
    line 1 is a `done` event without `ok`: {"version":"0","type":"done"}
    line 1 is a `done` event whose `ok` must be true or false, not "yes": {"version":"0","type":"done","ok":"yes"}
    line 1 is a `done` event whose `output` must be an object, not "text": {"version":"0","type":"done","ok":true,"output":"text"}
    "#);
}

#[test]
fn the_offending_text_is_cut_short_and_safe() {
    let told = wrong(format!("\u{1b}[2J{}", "x".repeat(5000)));
    assert!(told.contains(": \\u{1b}[2Jxxx") && told.ends_with("xxx..."), "{told}");
    assert!(told.len() < 400, "{told}");
}

#[test]
fn good_events_are_heard_in_order() {
    let stdout = concat!(
        "\n",
        r#"{"version":"0","type":"log","level":"info","message":"hi","fields":{"a":1},"requestId":"r","extra":1}"#,
        "\r\n",
        r#" {"version":"0","type":"state_patch","patch":{"a":{"b":1}},"timestamp":"2026-01-31T12:00:00Z"}"#,
        "\n  \t\n",
        r#"{"version":"0","type":"ui_event","event":"narrative_choice","payload":{"choices":["a"]}}"#,
        "\n",
        r#"{"version":"0","type":"error","errorCode":"E","errorMessage":"went on","details":[1]}"#,
        "\n",
        r#"{"version":"0","type":"asset","assetId":"a","kind":"k","mediaType":"text/plain","path":"a.txt"}"#,
        "\n",
        r#"{"version":"0","type":"done","ok":true,"summary":null}"#,
    );
    let (heard, dropped, outcome) = listen(&[stdout.as_bytes()], exit(0));
    assert_eq!(dropped, 0);
    let lines: Vec<String> =
        heard.iter().map(|heard| format!("{} {}", heard.line, json!(heard.event))).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    2 {"fields":{"a":1},"level":"info","message":"hi","requestId":"r","type":"log","version":"0"}
    3 {"patch":{"a":{"b":1}},"timestamp":"2026-01-31T12:00:00Z","type":"state_patch","version":"0"}
    5 {"event":"narrative_choice","payload":{"choices":["a"]},"type":"ui_event","version":"0"}
    6 {"details":[1],"errorCode":"E","errorMessage":"went on","type":"error","version":"0"}
    7 {"assetId":"a","kind":"k","mediaType":"text/plain","path":"a.txt","type":"asset","version":"0"}
    8 {"ok":true,"type":"done","version":"0"}
    "#);
    assert_eq!(
        json!(outcome),
        json!({"result": "completed", "output": {"a": {"b": 1}}, "patches": [{"a": {"b": 1}}]})
    );
}

#[test]
fn the_output_is_that_of_done_or_the_merged_patches() {
    let patches = r#"{"version":"0","type":"state_patch","patch":{"a":1,"b":2}}
{"version":"0","type":"state_patch","patch":{"a":null,"c":{"d":null}}}
"#;
    let told = [
        outcome(format!("{patches}{DONE}\n"), exit(0)),
        outcome(
            format!("{patches}{}\n", DONE.replace('}', ",\"output\":{\"x\":1},\"summary\":\"yes\"}")),
            exit(0),
        ),
        outcome(DONE, exit(0)),
    ];
    assert_snapshot!(told.join("\n"), @r#"
    completed {"b":2,"c":{}} patches [{"a":null,"b":2,"c":{"d":null}}] summary null
    completed {"x":1} patches [{"a":null,"b":2,"c":{"d":null}}] summary "yes"
    completed {} patches [] summary null
    "#);
}

#[test]
fn there_is_exactly_one_done() {
    let log = r#"{"version":"0","type":"log","level":"info","message":"late"}"#;
    let told = [
        outcome("", exit(0)),
        outcome(format!("{log}\n"), exit(0)),
        outcome(format!("{DONE}\n{log}\n{DONE}\n"), exit(0)),
        outcome(format!("{DONE}\n{log}\n"), exit(0)),
        outcome(format!("{DONE}\nbye\n"), exit(0)),
    ];
    assert_snapshot!(told.join("\n"), @r#"
    ProtocolViolation (not again, Some(0)): the script ended without a `done` event
    ProtocolViolation (not again, Some(0)): the script ended without a `done` event
    ProtocolViolation (not again, None): line 3 is a second `done` event; the first was on line 1: {"version":"0","type":"done","ok":true}
    completed {} patches [] summary null
    ProtocolViolation (not again, None): line 2 is not JSON: expected value (column 1): bye
    "#);
    let (heard, dropped, _) = listen(&[format!("{DONE}\n{log}\n{log}\n").as_bytes()], exit(0));
    assert_eq!((heard.len(), dropped), (1, 2));
}

#[test]
fn asset_names_are_unique() {
    let asset =
        r#"{"version":"0","type":"asset","assetId":"a","kind":"k","mediaType":"text/plain","path":"a"}"#;
    assert_snapshot!(outcome(format!("{asset}\n{asset}\n{DONE}\n"), exit(0)), @r#"ProtocolViolation (not again, None): line 2 is a second asset called `a`: {"version":"0","type":"asset","assetId":"a","kind":"k","mediaType":"text/plain","path":"a"}"#);
}

#[test]
fn limits_are_violations() {
    let log = "{\"version\":\"0\",\"type\":\"log\",\"level\":\"info\",\"message\":\"\"}\n";
    let most = format!("{}{DONE}\n", log.repeat(EVENTS_PER_ATTEMPT_MAX - 1));
    assert_eq!(outcome(&most, exit(0)), "completed {} patches [] summary null");
    let more = outcome(format!("{log}{most}"), exit(0));
    let long = outcome(vec![b'x'; EVENT_LINE_BYTES_MAX + 1], exit(0));
    assert!(
        long.starts_with("ProtocolViolation (not again, None): line 1 is longer than 1048576 bytes: xxx"),
        "{long}"
    );
    assert_snapshot!(more, @r#"ProtocolViolation (not again, None): line 10001 is event number 10001; 10000 are allowed: {"version":"0","type":"done","ok":true}"#);
}

#[test]
fn the_exit_code_counts_before_what_was_said() {
    let error = r#"{"version":"0","type":"error","errorCode":"DISK_FULL","errorMessage":"no room"}"#;
    let failed = r#"{"version":"0","type":"done","ok":false}"#;
    let told_summary = r#"{"version":"0","type":"done","ok":false,"summary":"found nothing"}"#;
    let with_stderr = |code| ExitFacts { stderr: "Traceback:\n  x\nValueError: bad\n\n", ..exit(code) };
    let explained = || ExitFacts { explanation: Some("the sandbox forbids it".to_owned()), ..with_stderr(1) };
    let killed = || ExitFacts { end: End::Otherwise("signal 11 (SIGSEGV)".to_owned()), ..exit(0) };
    let told = [
        outcome(DONE, exit(3)),
        outcome(format!("{error}\n{DONE}"), with_stderr(3)),
        outcome("", with_stderr(3)),
        outcome("", explained()),
        outcome("", exit(3)),
        outcome("{\"version\":\"0\",\"ty", exit(3)),
        outcome("oops\n", exit(3)),
        outcome(DONE, killed()),
        outcome("{\"version\":\"0\",\"ty", killed()),
        outcome(failed, exit(0)),
        outcome(told_summary, exit(0)),
        outcome(format!("{error}\n{told_summary}"), exit(0)),
        outcome(format!("{error}\n{DONE}"), exit(0)),
    ];
    assert_snapshot!(told.join("\n"), @"
    ToolExecutionFailed (again, Some(3)): the script ended with exit code 3
    ToolExecutionFailed (again, Some(3)): the script ended with exit code 3: DISK_FULL: no room
    ToolExecutionFailed (again, Some(3)): the script ended with exit code 3: ValueError: bad
    ToolExecutionFailed (again, Some(1)): the script ended with exit code 1: ValueError: bad (the sandbox forbids it)
    ToolExecutionFailed (again, Some(3)): the script ended with exit code 3
    ToolExecutionFailed (again, Some(3)): the script ended with exit code 3
    ProtocolViolation (not again, None): line 1 is not JSON: expected value (column 1): oops
    ToolExecutionFailed (again, None): the script ended with signal 11 (SIGSEGV)
    ToolExecutionFailed (again, None): the script ended with signal 11 (SIGSEGV)
    ToolExecutionFailed (again, Some(0)): the script says that it failed
    ToolExecutionFailed (again, Some(0)): the script failed: found nothing
    ToolExecutionFailed (again, Some(0)): the script failed: found nothing: DISK_FULL: no room
    completed {} patches [] summary null
    ");
}

#[test]
fn a_stop_counts_before_everything() {
    let stop = |reason| ExitFacts { stop: Some(reason), ..exit(0) };
    let told = [
        outcome(DONE, stop(StopReason::Timeout { after_ms: 30_000 })),
        outcome("oops\n", stop(StopReason::Cancelled)),
        outcome("", stop(StopReason::Shutdown)),
    ];
    assert_snapshot!(told.join("\n"), @"
    Timeout (again, None): the script took longer than 30000 ms
    Cancelled (not again, None): the script was cancelled
    Cancelled (again, None): the script was ended because artel is shutting down
    ");
}

#[test]
fn after_a_violation_nothing_is_taken() {
    let (mut collector, mut heard) = (Collector::default(), Vec::new());
    let kind = ViolationKind::BadAsset { problem: "it is a folder".to_owned() };
    let first = collector.refuse(Violation::at(2, kind, b"{}"));
    assert_eq!(collector.push(DONE.as_bytes(), &mut heard), Err(first.clone()));
    assert_eq!(collector.last_line(&mut heard), Err(first.clone()));
    assert_eq!(collector.refuse(Violation::at(3, ViolationKind::LineTooLong, b"x")), first);
    let earlier = Violation::at(1, ViolationKind::LineTooLong, b"x");
    assert_eq!(collector.refuse(earlier.clone()), earlier);
    assert_eq!(heard, []);
}

/// Lines of which most are events and some are damaged.
fn stdout() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => prop::sample::select(vec![
            json!({"version": "0", "type": "log", "level": "info", "message": "h\u{e9}\n"}),
            json!({"version": "0", "type": "state_patch", "patch": {"a": {"b": [1, null]}, "c": null}}),
            json!({"version": "0", "type": "ui_event", "event": "x", "payload": 1.5}),
            json!({"version": "0", "type": "error", "errorCode": "E", "errorMessage": "m"}),
            json!({"version": "0", "type": "done", "ok": true, "output": {"x": "\u{1f680}"}}),
            json!({"version": "0", "type": "done", "ok": false}),
        ])
        .prop_map(|event: Value| event.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
        1 => Just(b"\r".to_vec()),
    ];
    (prop::collection::vec(line, 0..8), any::<bool>()).prop_map(|(lines, ends)| {
        let mut bytes = lines.join(&b'\n');
        bytes.extend(ends.then_some(b'\n'));
        bytes
    })
}

proptest! {
    #[test]
    fn where_the_stream_is_cut_does_not_matter(stdout in stdout(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6), code in 0..2) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stdout.len() + 1)).collect();
        at.extend([0, stdout.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &stdout[pair[0]..pair[1]]).collect();
        prop_assert_eq!(listen(&pieces, exit(code)), listen(&[&stdout], exit(code)));
        let bytes: Vec<&[u8]> = stdout.chunks(1).collect();
        prop_assert_eq!(listen(&bytes, exit(code)), listen(&[&stdout], exit(code)));
    }

    #[test]
    fn what_was_heard_is_read_again_as_it_was(stdout in stdout()) {
        let (heard, ..) = listen(&[&stdout], exit(0));
        for event in heard.iter().map(|heard| &heard.event) {
            let line = serde_json::to_vec(event).unwrap();
            prop_assert_eq!(&super::read::read_event(&line).unwrap(), event);
            prop_assert_eq!(&serde_json::from_slice::<super::ToolEvent>(&line).unwrap(), event);
        }
    }
}

/// How often the fuzz target runs in CI; `BOLERO_RANDOM_ITERATIONS` overrides it.
const ITERATIONS: usize = 5000;

/// Bytes of any kind, and bytes put into good lines: no panic, the same again in pieces, and every message short.
#[test]
fn fuzz_protocol() {
    const LINES: [&str; 4] = [
        DONE,
        r#"{"version":"0","type":"log","level":"info","message":"x","fields":{"a":[1,2.5,null]}}"#,
        r#"{"version":"0","type":"asset","assetId":"a","kind":"k","mediaType":"text/plain; a=\"b\"","path":"a"}"#,
        r#"{"version":"0","type":"error","errorCode":"E","errorMessage":"\u00e9","details":{"deep":{}}}"#,
    ];
    bolero::check!().with_iterations(ITERATIONS).with_type::<(u8, u16, Vec<u8>, u8)>().for_each(
        |(line, place, noise, code)| {
            let good = LINES[usize::from(*line) % LINES.len()].as_bytes();
            let at = usize::from(*place) % (good.len() + 1);
            let stdout = match code % 3 {
                0 => noise.clone(),
                1 => [&good[..at], noise, &good[at..]].concat(),
                _ => [&good[..at], &good[(at + noise.len()).min(good.len())..], b"\n", noise].concat(),
            };
            let whole = listen(&[&stdout], exit(0));
            let middle = stdout.len() / 2;
            assert_eq!(listen(&[&stdout[..middle], &stdout[middle..]], exit(0)), whole);
            if let AttemptOutcome::Failed { error, .. } = whole.2 {
                assert!(error.message.chars().count() < 4000 && !error.message.contains(char::is_control));
            }
        },
    );
}
