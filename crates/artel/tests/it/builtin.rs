//! The built-in skills do what they say: their scripts are run with the inputs of their example plans.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use artel_catalog::{Keep, Loaded, Profile, discover};
use artel_model::merge::deep_merge;
use artel_model::name::LocalName;
use artel_model::schema::{Quote, Schema};
use artel_model::skill::{Script, Skill};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value, json};

use crate::session::Session;

/// The built-in skills, copied so that what they store stays in the test's folder.
struct World {
    session: Session,
    skills: Vec<Loaded>,
}

impl World {
    fn new() -> Self {
        let session = Session::new();
        let exported = session.output(&["skill", "export", "skills", "--for", "agents"]);
        assert!(exported.status.success());
        let skills = discover(&session.path().join("skills"), Keep::Everything).loaded;
        assert_eq!(skills.len(), 10);
        Self { session, skills }
    }

    fn skill(&self, name: &str) -> &Skill {
        self.skills
            .iter()
            .filter_map(|entry| entry.skill.as_deref())
            .find(|skill| skill.name.as_str() == name)
            .unwrap()
    }

    fn script(&self, tool: &str) -> (&Skill, &Script, Utf8PathBuf) {
        let (skill, script) = tool.split_once('/').unwrap();
        let skill = self.skill(skill);
        let script = skill.scripts.iter().find(|known| known.name.as_str() == script).unwrap();
        (skill, script, self.session.path().join("skills").join(skill.name.as_str()).join(&script.path))
    }

    #[expect(clippy::disallowed_methods, reason = "the test runs the scripts it tests")]
    fn start(&self, tool: &str, request: &Value) -> Child {
        let (.., path) = self.script(tool);
        let mut child = Command::new(path)
            .current_dir(self.session.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        // A script may exit without reading its input.
        let _ = child.stdin.take().unwrap().write_all(request.to_string().as_bytes());
        child
    }

    /// Runs a script and returns its events; the last is `done`, and its output fits the schema.
    fn run(&self, tool: &str, input: Value, config: Value) -> Vec<Value> {
        self.run_in(tool, input, config, &Map::new())
    }

    /// Runs a script in a state that earlier tools left.
    fn run_in(&self, tool: &str, input: Value, config: Value, state: &Map<String, Value>) -> Vec<Value> {
        let request = json!({"requestId": "r", "tool": tool, "operation": "run", "input": input, "config": config,
            "state": state, "dependencies": {}});
        let output = self.start(tool, &request).wait_with_output().unwrap();
        assert!(output.status.success(), "{tool}");
        let events: Vec<Value> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            events.iter().all(|event| event["version"] == "0" && event["type"].is_string()),
            "{events:?}"
        );
        assert_eq!(events.iter().filter(|event| event["type"] == "done").count(), 1, "{events:?}");
        let done = events.last().unwrap();
        let (skill, script, _) = self.script(tool);
        let returns: Option<&Schema> = script.returns_schema.as_ref().or(skill.interface.returns.as_ref());
        if let (true, Some(schema)) = (done["ok"] == true, returns) {
            assert_eq!(schema.violations(&done["output"], Quote::Values), [], "{tool}: {done}");
        }
        events
    }

    fn output(&self, tool: &str, input: Value) -> Value {
        let events = self.run(tool, input, json!({}));
        let done = events.last().unwrap();
        assert_eq!(done["ok"], true, "{tool}: {events:?}");
        done["output"].clone()
    }
}

#[test]
fn every_example_plan_runs_with_inputs_that_fit() {
    let world = World::new();
    let mut plans = 0;
    for entry in &world.skills {
        let folder = entry.location.path().unwrap();
        let Ok(text) = std::fs::read_to_string(folder.join("examples/plan.json")) else { continue };
        let plan: Value = serde_json::from_str(&text).unwrap();
        let mut outputs: BTreeMap<String, Value> = BTreeMap::new();
        let mut state = Map::new();
        for tool in plan["tools"].as_array().unwrap() {
            let name = tool["skill"].as_str().unwrap();
            let skill = world.skill(name);
            // A composite has no script of its own; its steps are run by the engine.
            let Some(script) = tool["script"].as_str().or(skill.entrypoint.as_ref().map(LocalName::as_str))
            else {
                continue;
            };
            let input = filled(&tool["input"], &outputs);
            let (skill, script, _) = world.script(&format!("{name}/{script}"));
            let schema = script.parameters_schema.as_ref().unwrap_or(&skill.interface.parameters);
            assert_eq!(schema.violations(&input, Quote::Values), [], "{folder}");
            let config = entry.config.clone().unwrap_or_default();
            let tool_name = format!("{}/{}", skill.name, script.name);
            let events = world.run_in(&tool_name, input, Value::Object(config), &state);
            for patch in events.iter().filter_map(|event| event["patch"].as_object()) {
                deep_merge(&mut state, patch.clone()).unwrap();
            }
            assert_eq!(events.last().unwrap()["ok"], true, "{folder}: {events:?}");
            outputs.insert(
                tool["toolId"].as_str().unwrap().to_owned(),
                events.last().unwrap()["output"].clone(),
            );
            plans += 1;
        }
    }
    assert!(plans >= 8, "only {plans} tools were run");
}

/// Fills whole-string references to outputs of earlier tools.
fn filled(input: &Value, outputs: &BTreeMap<String, Value>) -> Value {
    let fill = |value: &Value| {
        let reference = value.as_str().and_then(|text| text.strip_prefix("${")?.strip_suffix('}'));
        let Some((tool, path)) = reference.and_then(|text| text.split_once(".output")) else {
            return value.clone();
        };
        outputs[tool].pointer(&path.replace('.', "/")).unwrap().clone()
    };
    let fields = input.as_object().into_iter().flatten();
    Value::Object(fields.map(|(key, value)| (key.clone(), fill(value))).collect::<Map<_, _>>())
}

#[test]
fn the_fetch_object_world_gives_its_documented_results() {
    let world = World::new();
    assert_eq!(
        world.output("navigate/navigate", json!({"location": "kitchen"}))["final_position"],
        json!({"x": 10, "y": 5})
    );
    assert_eq!(world.output("detect/detect", json!({"area": "kitchen"})), json!({"objects": ["cup"]}));
    let events = world.run("navigate/navigate", json!({"location": "moon"}), json!({}));
    assert_eq!(events.last().unwrap()["ok"], false);
    assert!(
        events.iter().any(|event| event["type"] == "error" && event["errorCode"].is_string()),
        "{events:?}"
    );
}

#[test]
fn dice_are_shown_and_can_be_repeated() {
    let world = World::new();
    let roll = || world.run("dice-roller/roll", json!({"expression": "2d6+3", "seed": 7}), json!({}));
    assert_eq!(roll(), roll());
    let events = roll();
    assert!(events.iter().any(|event| event["event"] == "dice_rolled"), "{events:?}");
    let output = &events.last().unwrap()["output"];
    let rolls: i64 = output["rolls"].as_array().unwrap().iter().map(sum).sum();
    assert_eq!(output["total"].as_i64().unwrap(), rolls + 3);
}

fn sum(value: &Value) -> i64 {
    match value {
        Value::Array(items) => items.iter().map(sum).sum(),
        Value::Object(fields) => fields.get("rolls").map_or(0, sum),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.as_i64().unwrap(),
    }
}

#[test]
fn memory_loses_nothing_when_many_store_at_once() {
    let world = World::new();
    let children: Vec<Child> = (0..20)
        .map(|number| {
            world.start("memory/store", &json!({"input": {"key": format!("k{number}"), "value": number}}))
        })
        .collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    for number in 0..20 {
        let found = world.output("memory/recall", json!({"key": format!("k{number}")}));
        assert_eq!((&found["found"], &found["value"]), (&json!(true), &json!(number)));
    }
}

#[test]
fn what_memory_stores_in_a_sandboxed_run_is_recalled_by_the_next() {
    let session = Session::new();
    let run = |number: u32, script: &str, input: Value| {
        let plan = json!({
            "requestId": format!("8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7{number}"),
            "tools": [{"toolId": "step", "skill": "memory", "script": script, "input": input}],
        });
        session.write("plan.json", &plan.to_string());
        let result = session.json(&["plan", "run", "plan.json"]);
        assert_eq!(result["success"], true, "{result}");
        result["executionTrace"][0]["output"].clone()
    };
    run(1, "store", json!({"key": "colour", "value": "blue"}));
    assert_eq!(run(2, "recall", json!({"key": "colour"}))["value"], "blue");
}

#[test]
fn a_story_has_the_style_of_its_settings_and_choices() {
    let world = World::new();
    let tell =
        |style: &str| world.run("storyteller/narrate", json!({"subject": "Ada"}), json!({"style": style}));
    let events = tell("noir");
    assert_ne!(events.last().unwrap()["output"], tell("plain").last().unwrap()["output"]);
    let choices = events.iter().find(|event| event["event"] == "narrative_choice").unwrap();
    assert_eq!(choices["payload"]["choices"].as_array().unwrap().len(), 3);
}

#[test]
fn reputation_adds_up_and_stays_within_bounds() {
    let world = World::new();
    for _ in 0..3 {
        world.output("reputation/update", json!({"subject": "Ada", "delta": 60, "reason": "helped"}));
    }
    assert_eq!(world.output("reputation/query", json!({"subject": "Ada"}))["score"], 100);
}

#[test]
fn built_in_skills_are_flawless_and_share_their_copies() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let mut copies: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for entry in discover(&root, Keep::Everything).loaded {
        assert_eq!(entry.findings, []);
        assert_eq!(Profile::accepting(&entry), Profile::ALL, "{}", entry.location);
        // A script may read only its own folder, so shared code is copied; the copies must not drift apart.
        for shared in ["lib/toolprotocol.py", "lib/jsonfile.py"] {
            let Ok(content) = std::fs::read(entry.location.path().unwrap().join(shared)) else { continue };
            let first = copies.entry(shared).or_insert_with(|| content.clone());
            assert!(*first == content, "{}/{shared} differs from its copies", entry.location);
        }
    }
    assert_eq!(copies.len(), 2);
}
