//! Every tool in `fixtures/tools`, behaving and misbehaving, run as a real process in its sandbox.

use std::fmt::Write as _;
use std::fs;

use artel_engine::AssetStore;
use artel_engine::process::AttemptHandle;
use artel_model::protocol::StopReason;
use insta::assert_snapshot;
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn good_tools_complete() {
    let stage = Stage::new("tool-good").await;
    let scripts = stage.scripts();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    assert_snapshot!(stage.show(&scripts).await, @r#"
    all-events.sh: 5 events, completed {"room":"kitchen"}, patch {"place":{"room":"kitchen"}}, "arrived"
    echo.sh: 1 events, completed {"request":{"config":{},"dependencies":{},"input":{},"operation":"run","requestId":"123e4567-e89b-42d3-a456-426614174000","state":{},"tool":"tool-good/echo"}}, "as told"
    environment.sh: 1 events, completed {"names":"ARTEL_DATA_DIR HOME PATH"}
    events-after-done.sh: 1 events, completed {"x":1}, 2 dropped
    lines.sh: 2 events, completed {"x":1}
    longest-line.sh: 2 events, completed {}
    most-events.sh: 10000 events, completed {}
    patches.sh: 4 events, completed {"door":{"open":true},"seen":["cup","plate"]}, patch {"battery":null,"door":{"locked":null,"open":true},"seen":["cup","plate"]}
    slow.sh: 2 events, completed {}
    stdin-closed.sh: 1 events, completed {}
    stdin-unread.sh: 2 events, completed {}
    "#);
}

#[tokio::test]
async fn events_come_in_order_and_as_they_are() {
    let stage = Stage::new("tool-good").await;
    let (events, _) = stage.run(stage.request("all-events.sh", json!({}))).await;
    let lines: Vec<String> = events.iter().map(|event| json!(event).to_string()).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"fields":{"n":1},"level":"debug","message":"begins","requestId":"r","timestamp":"2026-01-31T12:00:00Z","type":"log","version":"0"}
    {"patch":{"place":{"room":"kitchen"}},"type":"state_patch","version":"0"}
    {"event":"narrative_choice","payload":{"choices":["left","right"]},"type":"ui_event","version":"0"}
    {"details":{"lux":0},"errorCode":"NO_LIGHT","errorMessage":"it is dark","type":"error","version":"0"}
    {"ok":true,"output":{"room":"kitchen"},"summary":"arrived","type":"done","version":"0"}
    "#);
}

#[tokio::test]
async fn a_large_request_reaches_the_tool_or_nobody() {
    let stage = Stage::new("tool-good").await;
    let large = json!({"text": "x".repeat(16 << 20)});
    for script in ["stdin-unread.sh", "stdin-closed.sh"] {
        let (_, end) = stage.run(stage.request(script, large.clone())).await;
        assert_eq!(stage.in_words(&end), "completed {}");
    }
}

#[tokio::test]
async fn a_request_of_any_size_is_read_whole() {
    let stage = Stage::new("tool-good").await;
    for size in [0, 3_500, 4_096, 70_000, 1_000_000] {
        let input = json!({"text": "x".repeat(size)});
        let (_, end) = stage.run(stage.request("echo.sh", input.clone())).await;
        assert!(stage.in_words(&end).contains(&input.to_string()), "{size}");
    }
}

#[tokio::test]
async fn violations_are_told_with_their_line() {
    let stage = Stage::new("tool-violations").await;
    let scripts = stage.scripts();
    let heavy = ["blank-lines.sh", "endless-line.sh", "much-output.sh", "many-events.sh"];
    let scripts: Vec<&str> =
        scripts.iter().map(String::as_str).filter(|script| !heavy.contains(script)).collect();
    assert_snapshot!(stage.show(&scripts).await, @r#"
    array.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 must be a JSON object, not an array: [1,2]
    byte-order-mark.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 starts with a byte order mark, which JSON does not have: \u{feff}{"version":"0","type":"done","ok":true}
    deep.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: recursion limit exceeded (column 675): {"version":"0","type":"state_patch","patch":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{...
    duplicate-key.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: the key "ok" stands twice in one object (column 43): {"version":"0","type":"done","ok":true,"ok":false}
    field-missing.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is a `log` event without `level`: {"version":"0","type":"log","message":"x"}
    field-mistyped.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is a `done` event whose `ok` must be true or false, not "true": {"version":"0","type":"done","ok":"true"}
    half-a-line.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: EOF while parsing a value (column 36): {"version":"0","type":"done","ok":tr
    huge-number.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: number out of range (column 58): {"version":"0","type":"done","ok":true,"output":{"n":1e999}}
    level-unknown.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is a `log` event whose `level` must be debug, info, warn or error, not "fatal": {"version":"0","type":"log","level":"fatal","message":"x"}
    lone-surrogate.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: unexpected end of hex escape (column 57): {"version":"0","type":"done","ok":true,"summary":"\ud800"}
    long-line.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is longer than 1048576 bytes: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    media-type.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an `asset` event whose `mediaType` must be a MIME type such as image/png, not "png": {"version":"0","type":"asset","assetId":"a","kind":"image","mediaType":"png","path":"x.png"}
    no-done.sh: 1 events, ProtocolViolation, is not retried, exit code Some(0): the script ended without a `done` event
    not-json.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: expected value (column 1): hello, I am working
    not-utf8.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not UTF-8 (byte 58): {"version":"0","type":"log","level":"info","message":"caf�"}
    nothing.sh: 0 events, ProtocolViolation, is not retried, exit code Some(0): the script ended without a `done` event
    nul.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: trailing characters (column 40): {"version":"0","type":"done","ok":true}\u{0}
    output-mistyped.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is a `done` event whose `output` must be an object, not "text": {"version":"0","type":"done","ok":true,"output":"text"}
    second-done.sh: 1 events, ProtocolViolation, is not retried, exit code None: line 2 is a second `done` event; the first was on line 1: {"version":"0","type":"done","ok":true}
    text-after-done.sh: 1 events, ProtocolViolation, is not retried, exit code None: line 2 is not JSON: expected value (column 1): bye
    two-in-a-line.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is not JSON: trailing characters (column 58): {"version":"0","type":"log","level":"info","message":"x"}{"version":"0","type":"done","ok":true}
    type-missing.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an event without `type`: {"version":"0","ok":true}
    type-unknown.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an event of the unknown type "metric"; types are log, state_patch, asset, ui_event, error, done: {"version":"0","type":"metric","value":1}
    version-missing.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an event without `version`: {"type":"done","ok":true}
    version-number.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an event whose `version` must be "0", not 0: {"version":0,"type":"done","ok":true}
    version-wrong.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an event whose `version` must be "0", not "1": {"version":"1","type":"done","ok":true}
    "#);
}

#[tokio::test]
async fn endless_output_ends_at_the_limits() {
    let stage = Stage::new("tool-violations").await;
    let shown = stage.show(&["blank-lines.sh", "endless-line.sh", "many-events.sh"]).await;
    assert_snapshot!(shown, @r#"
    blank-lines.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 33538 goes beyond 67108864 bytes of output
    endless-line.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is longer than 1048576 bytes: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    many-events.sh: 10000 events, ProtocolViolation, is not retried, exit code None: line 10001 is event number 10001; 10000 are allowed: {"version":"0","type":"log","level":"info","message":"again"}
    "#);
}

#[tokio::test]
async fn much_output_ends_at_the_limit() {
    let stage = Stage::new("tool-violations").await;
    assert_snapshot!(stage.show(&["much-output.sh"]).await, @"much-output.sh: 1031 events, ProtocolViolation, is not retried, exit code None: line 1032 goes beyond 67108864 bytes of output");
}

#[tokio::test]
async fn failures_say_why() {
    let stage = Stage::new("tool-failures").await;
    let scripts = stage.scripts();
    let scripts: Vec<&str> =
        scripts.iter().map(String::as_str).filter(|script| *script != "much-stderr.sh").collect();
    assert_snapshot!(stage.show(&scripts).await, @"
    crash-in-a-line.sh: 0 events, ToolExecutionFailed, may be retried, exit code None: the script ended with signal 9 (SIGKILL)
    crash.sh: 0 events, ToolExecutionFailed, may be retried, exit code None: the script ended with signal 11 (SIGSEGV)
    error-and-exit-code.sh: 1 events, ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1: NO_CUP: there is no cup in the kitchen
    error-event.sh: 2 events, ToolExecutionFailed, may be retried, exit code Some(0): the script says that it failed: NO_CUP: there is no cup in the kitchen
    exit-code-after-done.sh: 1 events, ToolExecutionFailed, may be retried, exit code Some(3): the script ended with exit code 3
    exit-code.sh: 0 events, ToolExecutionFailed, may be retried, exit code Some(3): the script ended with exit code 3: ValueError: no such room
    fails-twice.sh: 0 events, ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1
    not-ok.sh: 1 events, ToolExecutionFailed, may be retried, exit code Some(0): the script failed: found no cup
    patch-then-fail.sh: 1 events, ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1
    python.py: 0 events, ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1: ValueError: cannot do tool-failures/python
    ");
    assert_snapshot!(stage.show(&["fails-twice.sh", "fails-twice.sh"]).await, @r#"
    fails-twice.sh: 0 events, ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1
    fails-twice.sh: 1 events, completed {"tries":3}
    "#);
}

#[tokio::test]
async fn the_end_of_much_stderr_is_kept() {
    let stage = Stage::new("tool-failures").await;
    let (_, end) = stage.run(stage.request("much-stderr.sh", json!({}))).await;
    assert_eq!(end.report.stderr.len(), 64 * 1024);
    assert_snapshot!(stage.in_words(&end), @"ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1: all work and no play makes a script compthe last words");
}

#[tokio::test]
async fn assets_are_kept_or_refused() {
    let stage = Stage::new("tool-assets").await;
    let scripts = stage.scripts();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    assert_snapshot!(stage.show(&scripts).await, @r#"
    dots.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an asset that cannot be kept: `../../../../../../../../etc/passwd` is outside the folders that the script may write: {"type":"asset","version":"0","assetId":"a","kind":"file","mediaType":"text/plain","path":"../../../../../../../../etc/passwd"}
    duplicate.sh: 1 events, ProtocolViolation, is not retried, exit code None: line 2 is a second asset called `a`: {"version":"0","type":"asset","assetId":"a","kind":"file","mediaType":"text/plain","path":"2"}
      a text/plain 1 bytes sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
    folder.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an asset that cannot be kept: `folder` is not a file: {"type":"asset","version":"0","assetId":"a","kind":"file","mediaType":"text/plain","path":"folder"}
    good.sh: 3 events, completed {}
      greeting text/plain 5 bytes sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
      page text/html; charset=utf-8 12 bytes sha256:a5652be1ca864d36d25cfb54a41f384e2de1b3acf7513a925d72ed7258fdc0ae
    link-inside.sh: 2 events, completed {}
      a text/plain 5 bytes sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
    link-outside.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an asset that cannot be kept: `link` is outside the folders that the script may write: {"type":"asset","version":"0","assetId":"a","kind":"file","mediaType":"text/plain","path":"link"}
    missing.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an asset that cannot be kept: `nowhere.txt` cannot be read: No such file or directory: {"type":"asset","version":"0","assetId":"a","kind":"file","mediaType":"text/plain","path":"nowhere.txt"}
    outside.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an asset that cannot be kept: `/etc/passwd` is outside the folders that the script may write: {"type":"asset","version":"0","assetId":"a","kind":"file","mediaType":"text/plain","path":"/etc/passwd"}
    pipe.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an asset that cannot be kept: `pipe` is not a file: {"type":"asset","version":"0","assetId":"a","kind":"file","mediaType":"text/plain","path":"pipe"}
    too-large.sh: 0 events, ProtocolViolation, is not retried, exit code None: line 1 is an asset that cannot be kept: `large` is larger than the 268435456 bytes that are allowed: {"type":"asset","version":"0","assetId":"a","kind":"file","mediaType":"text/plain","path":"large"}
    "#);
    let kept = AssetStore::new(stage.path("assets"))
        .path("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        .unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "hello");
}

#[tokio::test]
async fn what_the_sandbox_denies_is_explained() {
    let stage = Stage::new("tool-reaches").await;
    let secret = json!({"path": stage.path("home/secret.txt")});
    let other = json!({"path": stage.path("home/new.txt")});
    let mut shown = String::new();
    for (script, input) in [
        ("reads.py", secret.clone()),
        ("reports.py", secret),
        ("writes.py", other),
        ("connects.py", json!({"port": 9})),
    ] {
        let (_, end) = stage.run(stage.request(script, input)).await;
        writeln!(shown, "{script}: {}", stage.in_words(&end)).unwrap();
    }
    assert_snapshot!(shown, @r#"
    reads.py: ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1: PermissionError: [Errno 13] Permission denied: 'ROOT/home/secret.txt' (the sandbox does not let it reach `ROOT/home/secret.txt`: only system folders, its skill and its run folder; a skill asks for more with "read" or "write" in `sandbox` of skill.json)
    reports.py: ToolExecutionFailed, may be retried, exit code Some(0): the script failed: could not read: CANNOT_READ: [Errno 13] Permission denied: 'ROOT/home/secret.txt' (the sandbox does not let it reach `ROOT/home/secret.txt`: only system folders, its skill and its run folder; a skill asks for more with "read" or "write" in `sandbox` of skill.json)
    writes.py: ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1: PermissionError: [Errno 13] Permission denied: 'ROOT/home/new.txt' (the sandbox does not let it reach `ROOT/home/new.txt`: only system folders, its skill and its run folder; a skill asks for more with "read" or "write" in `sandbox` of skill.json)
    connects.py: ToolExecutionFailed, may be retried, exit code Some(1): the script ended with exit code 1: PermissionError: [Errno 1] Operation not permitted (the sandbox has no network for it; a skill asks for it with "network": true in `sandbox` of skill.json)
    "#);
}

#[tokio::test]
async fn a_tool_that_cannot_start_is_told() {
    let stage = Stage::new("tool-good").await;
    let mut shown = String::new();
    fs::write(stage.path("skill/scripts/plain.sh"), "#!/bin/sh\n").unwrap();
    for script in ["nowhere.sh", "plain.sh"] {
        let (_, end) = stage.run(stage.request(script, json!({}))).await;
        writeln!(shown, "{script}: {}", stage.in_words(&end)).unwrap();
    }
    let (handle, control) = AttemptHandle::new();
    handle.terminate(StopReason::Cancelled, 0);
    let (_, end) = stage.run_with(stage.request("count.sh", json!({})), control).await;
    writeln!(shown, "cancelled before: {}", stage.in_words(&end)).unwrap();
    assert_snapshot!(shown, @"
    nowhere.sh: SpawnFailed, is not retried, exit code None: cannot start `ROOT/skill/scripts/nowhere.sh`: there is no such file, or the interpreter in its first line is missing: No such file or directory (os error 2)
    plain.sh: SpawnFailed, is not retried, exit code None: cannot start `ROOT/skill/scripts/plain.sh`: it is not executable, or lies in a folder that the sandbox does not execute from: Permission denied (os error 13)
    cancelled before: Cancelled, is not retried, exit code None: the script was cancelled
    ");
}
