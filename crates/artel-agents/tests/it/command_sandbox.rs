//! Agents that are programs of others, in the sandbox: what each can reach, and as whom.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;

use artel_agents::{AfterWork, ClientHome, ClientNetwork, ClientUsers, CommandDriverConfig};
use artel_engine::process::can_run_as;
use artel_engine::{SandboxMode, SandboxUsers};
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::command_stage::Stage;
use crate::workplace::results;

/// Lets the stand-in of a client try what it should not, and returns what came of it.
async fn probe(configure: impl FnOnce(&mut CommandDriverConfig), client: &str) -> (Stage, Value) {
    let stage = Stage::with(&[], configure).await;
    for folder in ["home/.claude", "data"] {
        fs::create_dir_all(stage.base.join(folder)).unwrap();
    }
    for file in ["secret", "data/file", "home/.claude/login", "home/other"] {
        fs::write(stage.base.join(file), "kept").unwrap();
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = format!("probe {} {port}", stage.base);
    let record = stage.place.run(json!({"client": client, "task": task, "skills": []})).await;
    let seen = results(&record)["result"].clone();
    assert!(seen.is_object(), "{record:?}");
    (stage, seen)
}

#[tokio::test]
async fn a_program_reaches_its_own_folders_and_the_network_and_nothing_else() {
    let (stage, seen) = probe(|_| {}, "claude").await;
    for (what, expected) in [
        ("list", "PermissionError"),
        ("settings", "PermissionError"),
        ("change", "PermissionError"),
        ("beside", "PermissionError"),
        ("outside", "PermissionError"),
        ("parent", "PermissionError"),
        ("signal", "PermissionError"),
        ("work", "None"),
        ("home", "None"),
        ("shell", "3"),
        ("network", "'connected'"),
    ] {
        assert_eq!(seen[what], expected, "{what}");
    }
    assert_eq!(seen["read"], json!({"secret": "PermissionError", "data/file": "PermissionError"}));
    assert!(!stage.base.join("made").exists());
}

#[tokio::test]
async fn of_a_shared_home_a_client_reads_what_is_its_own() {
    let share = |config: &mut CommandDriverConfig| {
        config.home = ClientHome::Shared(config.work_root.parent().unwrap().join("home"));
    };
    let (stage, seen) = probe(share, "claude").await;
    assert_eq!((&seen["settings"], &seen["list"]), (&json!("'kept'"), &json!("PermissionError")));
    // What it wrote there would be read by the user's own client, outside of the sandbox.
    assert_eq!(seen["change"], "PermissionError");
    assert_eq!(fs::read_to_string(stage.base.join("home/.claude/login")).unwrap(), "kept");
    let (_stage, seen) = probe(share, "goose").await;
    assert_eq!(seen["settings"], "PermissionError");
}

#[tokio::test]
async fn only_an_operator_who_switches_it_off_goes_without() {
    let (_stage, seen) = probe(|config| config.sandbox = SandboxMode::Off, "claude").await;
    assert_eq!(seen["read"]["secret"], "'kept'");
}

/// A user that root can start programs as; not checked where an ordinary user runs the tests.
#[expect(clippy::print_stderr, reason = "says what a run of the tests did not check")]
fn other_user() -> Option<u32> {
    const USER: u32 = 1_900_000_003;
    match can_run_as(USER..=USER) {
        Ok(()) => Some(USER),
        Err(why) => {
            eprintln!("no program can run as another user: {why}");
            None
        }
    }
}

#[tokio::test]
async fn a_program_of_root_runs_as_another_user() {
    let Some(user) = other_user() else { return };
    let one = |config: &mut CommandDriverConfig| config.users = ClientUsers::One { user, group: user };
    let per_agent = |config: &mut CommandDriverConfig| {
        let users = SandboxUsers::new(
            format!("{user}-{user}").parse().unwrap(),
            &config.work_root.with_file_name("users"),
        );
        config.users = ClientUsers::OnePerAgent(users);
    };
    for (stage, seen) in [probe(one, "claude").await, probe(per_agent, "claude").await] {
        assert_eq!(seen["user"], user);
        for (what, expected) in
            [("work", "None"), ("home", "None"), ("shell", "3"), ("network", "'connected'")]
        {
            assert_eq!(seen[what], expected, "{what}");
        }
        for what in ["list", "settings", "change", "beside", "outside", "parent", "signal"] {
            assert_eq!(seen[what], "PermissionError", "{what}");
        }
        let inner = |folder: &Utf8Path| folder.read_dir_utf8().unwrap().next().unwrap().unwrap().into_path();
        let made = inner(&inner(&stage.base.join("agents"))).join("work/made");
        assert_eq!(fs::metadata(made).unwrap().uid(), user);
    }
}

#[tokio::test]
async fn the_user_of_an_agent_is_free_again_when_nothing_is_left_of_its_work() {
    let Some(user) = other_user() else { return };
    // A range of one user: a second agent only finds it when the first one gave it back.
    let configure = |config: &mut CommandDriverConfig| {
        let users = SandboxUsers::new(
            format!("{user}-{user}").parse().unwrap(),
            &config.work_root.with_file_name("users"),
        );
        config.users = ClientUsers::OnePerAgent(users);
        config.after = AfterWork::Remove;
    };
    let stage = Stage::with(&[], configure).await;
    for _ in 0..2 {
        let record = stage.place.run(json!({"client": "claude", "task": "talk", "skills": []})).await;
        assert_eq!(results(&record)["result"]["answer"], 42, "{record:?}");
    }
}

#[tokio::test]
async fn the_operator_can_take_the_network_away() {
    let (_stage, seen) = probe(|config| config.network = ClientNetwork::Denied, "claude").await;
    assert_eq!(seen["network"], "PermissionError");
    assert_eq!(seen["work"], "None");
}
