//! Agents after their first work: begun anew, ended by another process, pruned with what they worked in.

use serde_json::{Value, json};

use crate::agents::with_skills;
use crate::running::Running;
use crate::session::{Session, steady};

/// Spawns an agent that is a script of a shell, and returns what is known about it when that is over.
fn shell(session: &Session, script: &str) -> Value {
    let spawn = ["agent", "spawn", "--json", "--task", "sing", "--label", "singer"];
    let output = session.output(&[&spawn[..], &["--command", "/bin/sh", "-c", script]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_agent_begins_anew_what_it_was_spawned_for() {
    let session = with_skills();
    session.json(&["agent", "spawn", "--skill", "walk", "to=kitchen", "--label", "walker"]);
    let refused = session.run(&["agent", "start", "walker"]);
    assert!(refused.starts_with("exit 1") && refused.contains("`artel agent free`"), "{refused}");
    session.json(&["agent", "free", "walker"]);
    let agent = session.json(&["agent", "start", "walker"]);
    assert_eq!((&agent["state"], &agent["success_count"]), (&json!("completed"), &json!(2)));
    assert_eq!(agent["results"], json!({"walk": {"there": true}}));
    session.json(&["agent", "free", "walker"]);
    insta::assert_snapshot!(steady(&session.run(&["agent", "start", "walker"])), @r#"
    exit 0
    --- stdout
    agent  [id]
    name  walker
    state  completed
    result  walk: {"there":true}
    --- stderr
    done: agent [id] in [time]
    "#);
}

#[test]
fn what_cannot_begin_any_more_is_told() {
    let session = with_skills();
    session.json(&["agent", "spawn", "--skill", "walk", "to=kitchen", "--label", "walker"]);
    session.json(&["agent", "free", "walker"]);
    artel_engine::remove_folder(&session.path().join("skills/walk")).unwrap();
    let output = session.output(&["agent", "start", "walker", "--json"]);
    let refusal: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &refusal["errors"][0]["code"]), (Some(1), &json!("INVALID_PLAN")));
    assert_eq!(session.json(&["agent", "show", "walker"])["state"], "idle");
    assert_eq!(session.output(&["agent", "start", "nobody"]).status.code(), Some(1));
    // Somebody outside drives it, so it has nothing to begin.
    session.json(&["agent", "spawn", "--label", "scout"]);
    assert_eq!(session.json(&["agent", "start", "scout"])["state"], "idle");
}

#[test]
fn kept_folders_stay_until_their_agents_are_pruned() {
    let session = with_skills();
    session.write("artel.toml", "[clients]\nkeep = true\n");
    let agent = shell(&session, "echo done > song; printf '{}\\n'");
    let work = camino::Utf8PathBuf::from(agent["results"]["work"].as_str().unwrap());
    assert!(
        work.starts_with(session.path().canonicalize_utf8().unwrap()) || work.starts_with(session.path())
    );
    assert_eq!(std::fs::read_to_string(work.join("song")).unwrap(), "done\n");
    let pruned = session.json(&["agent", "prune", "--before", "1d"]);
    assert_eq!((&pruned["removed"], &pruned["folders"]), (&json!(0), &json!(0)));
    assert!(work.exists());
    let pruned = session.run(&["agent", "prune", "--before", "2999-01-01"]);
    assert!(pruned.contains("removed 1 agent that") && pruned.contains("removed 1 folder that"), "{pruned}");
    assert!(!work.exists());
    let left = session.path().join(".artel/agents").read_dir_utf8().unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn terminating_waits_for_the_process_that_sees_to_the_agent() {
    let session = with_skills();
    let script = "trap 'echo over >&2; exit 0' TERM; echo ready >&2; while :; do sleep 0.05; done";
    let spawn = ["agent", "spawn", "--watch", "--task", "sing", "--label", "singer", "--command"];
    let mut running = Running::start(&session, &[&spawn[..], &["/bin/sh", "-c", script]].concat());
    running.hear("ready");
    assert_eq!(session.json(&["agent", "terminate", "singer"])["state"], "terminated");
    let events = session.run(&["agent", "show", "singer", "--events"]);
    assert!(events.contains("over"), "the program has ended: {events}");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
}
