//! The real binary dies, at every write and at any time; what it left is recovered by another one.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::session::Session;

/// A script that leaves a line in a file each time it runs, patches the state, and passes on what it was given.
const SCRIPT: &str = r#"#!/bin/sh
echo "$ARTEL_STEP_ID" >> "$ARTEL_DATA_DIR/log"
printf '{"version":"0","type":"state_patch","patch":{"last":"%s","%s":true}}\n' "$ARTEL_STEP_ID" "$ARTEL_STEP_ID"
printf '{"version":"0","type":"done","ok":true,"output":{"step":"%s"}}\n' "$ARTEL_STEP_ID"
"#;

/// How long anything here may take before the test gives up; nothing waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

struct Place {
    session: Session,
}

impl Place {
    fn new(plan: &Value) -> Self {
        let session = Session::new();
        let manifest = json!({
            "name": "mark", "version": "1.0.0", "description": "Leaves a mark. For tests.", "idempotent": true,
        });
        session.write("skills/mark/skill.json", &manifest.to_string());
        let script = session.write("skills/mark/scripts/run.sh", SCRIPT);
        make_executable(&script);
        session.write("plan.json", &plan.to_string());
        Self { session }
    }

    /// Returns how often each step ran.
    fn marks(&self) -> BTreeMap<String, usize> {
        let log = self.session.data_of("mark").join("log");
        let mut marks = BTreeMap::new();
        for line in std::fs::read_to_string(log).unwrap_or_default().lines() {
            *marks.entry(line.to_owned()).or_default() += 1;
        }
        marks
    }

    /// Returns the ids of all runs.
    fn runs(&self) -> Vec<String> {
        let list = self.session.json(&["run", "list"]);
        let id = |run: &Value| run["run_id"].as_str().unwrap().to_owned();
        list["items"].as_array().unwrap().iter().map(id).collect()
    }

    /// Returns the ids of the steps whose end is in the log of a run.
    fn settled(&self, run: &str) -> Vec<String> {
        let output = self.session.output(&["run", "show", run, "--events"]);
        let events: Vec<Value> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let steps = &events[0]["event"]["plan"]["steps"];
        let ended = events.iter().filter(|event| event["event"]["type"] == "ended");
        ended
            .map(|event| {
                steps[event["event"]["step"].as_u64().unwrap() as usize]["id"].as_str().unwrap().to_owned()
            })
            .collect()
    }

    /// Returns what does not depend on when things happened.
    fn verdict(&self, run: &str) -> Value {
        let result = self.session.json(&["run", "show", run]);
        let states: Vec<&Value> =
            result["executionTrace"].as_array().unwrap().iter().map(|entry| &entry["state"]).collect();
        let outputs: Vec<&Value> =
            result["executionTrace"].as_array().unwrap().iter().map(|entry| &entry["output"]).collect();
        json!([result["success"], states, outputs, result["finalState"]])
    }

    /// Fails when a process of this place is still there: its environment or its folder would name it.
    #[track_caller]
    fn assert_nothing_is_left(&self) {
        let start = now();
        loop {
            let left = processes_about(self.session.path().as_str());
            if left.is_empty() {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "processes are left over: {left:?}");
            std::thread::yield_now();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test that hangs gives up after a while")]
fn now() -> Instant {
    Instant::now()
}

fn make_executable(path: &camino::Utf8Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the processes whose folder or command line names a path.
fn processes_about(path: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let about = |entry: std::fs::DirEntry| {
        let cwd = std::fs::read_link(entry.path().join("cwd")).ok()?;
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        (cwd.starts_with(path) || command.contains(path)).then_some(command)
    };
    processes.filter_map(about).collect()
}

fn tool(id: &str, needs: &[&str]) -> Value {
    json!({"toolId": id, "skill": "mark", "dependencies": needs, "async": true, "retryPolicy": {"maxRetries": 0}})
}

fn plan(tools: Vec<Value>) -> Value {
    json!({"requestId": "7f1f7a8e-6a43-4a4e-9f4c-0d8f9a3a1c11", "parallel": true, "tools": tools})
}

fn diamond() -> Value {
    plan(vec![tool("a", &[]), tool("b", &["a"]), tool("c", &["a"]), tool("d", &["b", "c"])])
}

/// What an undisturbed run of a plan comes to.
fn undisturbed(plan: &Value) -> Value {
    let place = Place::new(plan);
    let output = place.session.output(&["plan", "run", "plan.json", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    place.verdict(&place.runs()[0])
}

/// Dies at one write of a plan, recovers, and checks everything. Returns false when the run had no such write.
fn dies_at(plan: &Value, expected: &Value, death: &str) -> bool {
    let mut place = Place::new(plan);
    place.session.set("ARTEL_TEST_DEATH", death);
    let output = place.session.output(&["plan", "run", "plan.json", "--json"]);
    if output.status.code() == Some(0) {
        return false;
    }
    assert_eq!(output.status.signal(), Some(6), "{death}: {}", String::from_utf8_lossy(&output.stderr));
    place.assert_nothing_is_left();
    place.session.set("ARTEL_TEST_DEATH", "");
    let runs = place.runs();
    if runs.is_empty() {
        assert_eq!((death, place.marks().len()), ("before:1", 0), "only what was never kept is gone");
        return true;
    }
    let settled = place.settled(&runs[0]);
    let output = place.session.output(&["run", "recover"]);
    assert!(output.status.success(), "{death}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(place.verdict(&runs[0]), *expected, "{death}");
    for step in settled {
        assert_eq!(place.marks()[&step], 1, "{death}: `{step}` was settled and ran again");
    }
    place.assert_nothing_is_left();
    true
}

#[test]
fn a_death_at_any_write_loses_nothing() {
    let plan = diamond();
    let expected = undisturbed(&plan);
    let deaths = |when: &str| {
        (1..100).take_while(|number| dies_at(&plan, &expected, &format!("{when}:{number}"))).count()
    };
    // One write for the run itself, and one at least for each of its three layers and its end.
    assert!(deaths("before") >= 4);
    assert!(deaths("after") >= 4);
}

#[test]
fn a_step_that_must_not_be_repeated_fails_as_interrupted() {
    let mut place = Place::new(&plan(vec![tool("a", &[])]));
    let manifest = json!({"name": "mark", "version": "1.0.0", "description": "Leaves a mark. For tests."});
    place.session.write("skills/mark/skill.json", &manifest.to_string());
    place.session.set("ARTEL_TEST_DEATH", "after:2");
    place.session.output(&["plan", "run", "plan.json"]);
    place.session.set("ARTEL_TEST_DEATH", "");
    place.session.output(&["run", "recover"]);
    let result = place.session.json(&["run", "show", &place.runs()[0]]);
    let error = result["executionTrace"][0]["error"]["message"].as_str().unwrap();
    assert!(error.starts_with("interrupted"), "{error}");
}

/// Layers of steps that each need all of the layer before.
fn layers(count: usize, width: usize) -> Value {
    let name = |layer: usize, place: usize| format!("s{layer}-{place}");
    let mut tools = Vec::new();
    for layer in 0..count {
        for place in 0..width {
            let needs: Vec<String> =
                (0..width).filter(|_| layer > 0).map(|other| name(layer - 1, other)).collect();
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            tools.push(tool(&name(layer, place), &needs));
        }
    }
    plan(tools)
}

#[test]
fn kill_9_under_load_loses_nothing() {
    let plan = layers(8, 5);
    let expected = undisturbed(&plan);
    for marks_before in [1, 9, 17, 26, 33] {
        let place = Place::new(&plan);
        kill_when(&place, &["plan", "run", "plan.json"], marks_before);
        // Whoever recovers may be killed too.
        kill_when(&place, &["run", "recover"], marks_before + 5);
        let runs = place.runs();
        let settled = place.settled(&runs[0]);
        let ran_before = place.marks();
        let output = place.session.output(&["run", "recover"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(place.verdict(&runs[0]), expected);
        for step in settled {
            assert_eq!(place.marks()[&step], ran_before[&step], "`{step}` was settled and ran again");
        }
        place.assert_nothing_is_left();
    }
}

/// Starts artel, kills it as soon as steps have left so many marks, and checks that nothing of it is left.
fn kill_when(place: &Place, arguments: &[&str], marks: usize) {
    let mut child =
        place.session.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = now();
    while place.marks().values().sum::<usize>() < marks && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "{} marks only", place.marks().len());
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.assert_nothing_is_left();
}
