//! Users of their own for scripts and for programs of agents, as an operator sets them.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::json;

use crate::session::Session;

/// Makes a skill whose script tells as whom it runs, through a second program of its skill.
fn skill(session: &Session, folder: &str, mode: u32) {
    let manifest = json!({"name": "who", "version": "1.0.0", "description": "Tells as whom it runs."});
    session.write(&format!("{folder}/who/skill.json"), &manifest.to_string());
    let run = "#!/bin/bash\ntouch \"$ARTEL_DATA_DIR/made\"\n\
               echo '{\"version\":\"0\",\"type\":\"done\",\"ok\":true,\"output\":{\"user\":'$(\"${0%/*}/helper\")'}}'\n";
    for (name, text) in [("run", run), ("helper", "#!/bin/sh\nid -u\n")] {
        let path = session.write(&format!("{folder}/who/scripts/{name}"), text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// Returns as whom the script says it ran, and whose the file is that it made.
fn who(session: &Session) -> (u64, u64) {
    let shown = session.json(&["skill", "run", "who"]);
    let user = shown["result"]["user"].as_u64().unwrap_or_else(|| panic!("{shown:#}"));
    let made = std::fs::metadata(session.data_of("who").join("made")).unwrap();
    (user, made.uid().into())
}

fn own_user(session: &Session) -> u64 {
    std::fs::metadata(session.path()).unwrap().uid().into()
}

#[expect(clippy::print_stderr, reason = "says what a run of the tests did not check")]
fn is_root(session: &Session) -> bool {
    let is_root = own_user(session) == 0;
    if !is_root {
        eprintln!("only root has other users: not checked");
    }
    is_root
}

#[test]
fn scripts_of_root_have_a_user_unless_the_operator_says_otherwise() {
    let session = Session::new();
    skill(&session, "skills", 0o755);
    if !is_root(&session) {
        assert_eq!(who(&session), (own_user(&session), own_user(&session)));
        return;
    }
    let (user, owner) = who(&session);
    assert!((1_900_000_000..2_000_000_000).contains(&user), "{user}");
    assert_eq!((owner, who(&session)), (user, (user, user)));
    // Programs that others cannot execute, in a folder that others cannot enter.
    skill(&session, "skills", 0o700);
    assert_eq!(who(&session), (user, user));
    session.write("artel.toml", "sandbox_users = \"off\"\n");
    assert_eq!(who(&session).0, 0);
    // What root made meanwhile goes to the user, too.
    std::fs::remove_file(session.data_of("who").join("made")).unwrap();
    who(&session);
    session.write("artel.toml", "sandbox_users = \"30000-39999\"\n");
    let (user, owner) = who(&session);
    assert!((30_000..40_000).contains(&user) && owner == user, "{user} {owner}");
}

#[test]
fn the_doctor_says_as_whom_scripts_run() {
    let session = Session::new();
    let says = |session: &Session| {
        let shown = session.run(&["doctor"]);
        let line = shown.lines().find(|line| line.contains("sandbox: users")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{shown}"))
    };
    if is_root(&session) {
        assert!(says(&session).contains("from 1900000000-1900999999"), "{}", says(&session));
    } else {
        assert!(says(&session).contains("does not run as root"), "{}", says(&session));
    }
    session.write("artel.toml", "sandbox_users = \"off\"\n");
    assert!(says(&session).contains("switched off"), "{}", says(&session));
}

#[test]
fn ranges_that_are_none_are_refused() {
    let session = Session::new();
    for (range, why) in [("x", "two numbers"), ("0-65535", "begins below 10000"), ("20000-10000", "smaller")]
    {
        session.write("artel.toml", &format!("sandbox_users = \"{range}\"\n"));
        let shown = session.run(&["doctor"]);
        assert!(shown.starts_with("exit 2") && shown.contains(why), "{shown}");
    }
}

#[test]
fn a_user_for_clients_that_cannot_be_is_refused() {
    let session = Session::new();
    let spawn = ["agent", "spawn", "--task", "x", "--client", "claude"];
    let cases = match is_root(&session) {
        true => vec![
            ("\"no-such-user\"", "there is no such user"),
            ("\"root\"", "it is root"),
            ("0", "it is root"),
        ],
        false => vec![("65534", "does not run as root")],
    };
    for (user, why) in cases {
        session.write("artel.toml", &format!("[clients]\nuser = {user}\n"));
        let shown = session.run(&spawn);
        assert!(shown.starts_with("exit 2") && shown.contains(why), "{shown}");
        let doctor = session.run(&["doctor"]);
        assert!(doctor.lines().any(|line| line.contains("[clients] user") && line.contains(why)), "{doctor}");
    }
    for (user, why) in [("-1", "no user has this number"), ("true", "a name or a number")] {
        session.write("artel.toml", &format!("[clients]\nuser = {user}\n"));
        let shown = session.run(&["doctor"]);
        assert!(shown.starts_with("exit 2") && shown.contains(why), "{shown}");
    }
}
