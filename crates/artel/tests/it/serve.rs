//! `artel serve`: where it listens, whom it lets in, and how it ends.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use crate::running::eventually;
use crate::serve_session::Served;
use crate::session::Session;

/// Returns the processes that somebody started, and those that these started.
fn descendants(process: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![process];
    while let Some(process) = waiting.pop() {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
        for task in tasks.map(Result::unwrap) {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children: Vec<u32> = children.split_whitespace().map(|id| id.parse().unwrap()).collect();
            waiting.extend(&children);
            found.extend(children);
        }
    }
    found
}

/// Says whether a process is there and has not ended.
fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with(['Z', 'X']));
    state == Some(false)
}

#[test]
fn a_server_shows_its_token_once_and_lets_nobody_else_in() {
    let session = Session::new();
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    assert_eq!(served.status(&token), 200);
    assert_eq!(served.status("somebody-else"), 401);
    assert_eq!(served.get("/healthz", "").0, 200);
    assert_eq!(served.stop().0, Some(0));

    let again = Served::start(&session, &[]);
    assert_eq!((again.token.clone(), again.status(&token)), (None, 200));
    assert_eq!(again.stop().0, Some(0));

    let renewed = Served::start(&session, &["--new-token"]);
    let fresh = renewed.token.clone().unwrap();
    assert_ne!(fresh, token);
    assert_eq!((renewed.status(&token), renewed.status(&fresh)), (401, 200));
}

#[test]
fn the_environment_sets_the_token_which_is_then_not_shown() {
    let mut session = Session::new();
    let token = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    session.set("ARTEL_ADMIN_TOKEN", token);
    let served = Served::start(&session, &[]);
    assert_eq!((served.token.clone(), served.status(token)), (None, 200));
}

#[test]
fn a_token_that_can_be_guessed_is_refused() {
    for weak in ["open-sesame", "the-token-of-the-administrator-is-long"] {
        let mut session = Session::new();
        session.set("ARTEL_ADMIN_TOKEN", weak);
        let told = session.run(&["serve", "--listen", "127.0.0.1:0"]);
        assert!(told.starts_with("exit 2\n") && told.contains("openssl rand -hex 32"), "{told}");
        assert!(!told.contains(weak), "a token is not shown: {told}");
    }
}

#[test]
fn a_port_that_is_taken_is_told_and_costs_no_token() {
    let session = Session::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let told = session.run(&["serve", "--listen", &address]);
    assert!(told.starts_with("exit 3\n"), "{told}");
    assert!(
        told.contains(&format!("cannot listen at {address}")) && told.contains("hint: `--listen"),
        "{told}"
    );
    assert!(Served::start(&session, &[]).token.is_some());
}

#[test]
fn a_server_that_is_asked_to_end_leaves_no_process() {
    let session = Session::new();
    let served = Served::start(&session, &[]);
    let children = descendants(served.process());
    assert!(!children.is_empty(), "the launcher is a process of its own");
    let (code, said) = served.stop();
    assert_eq!(code, Some(0), "{said}");
    eventually("all its processes have ended", || !children.iter().any(|process| runs(*process)));
    let left = session.path().join(".artel/work").read_dir_utf8().map(Iterator::count);
    assert_eq!(left.unwrap_or_default(), 0, "what was worked on is tidied up");
}

/// Returns everything in a folder that another user of the machine could use, links aside.
fn open_to_others(folder: &std::path::Path) -> Vec<String> {
    let mut waiting = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if !metadata.is_symlink() && metadata.permissions().mode() & 0o077 != 0 {
            found.push(format!("{} {:o}", path.display(), metadata.permissions().mode()));
        }
        if metadata.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

#[test]
fn the_data_folder_is_its_owners_alone() {
    let session = Session::new();
    let data = session.path().join(".artel").into_std_path_buf();
    // A folder from a time when nothing was closed.
    std::fs::create_dir_all(data.join("hubs/old")).unwrap();
    std::fs::write(data.join("hubs/old/note.txt"), "x").unwrap();
    for (path, mode) in [("", 0o777), ("hubs", 0o755), ("hubs/old", 0o777), ("hubs/old/note.txt", 0o666)] {
        std::fs::set_permissions(data.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    let draft = r##"{"name":"bake","description":"Bakes.","content":"Bake.","files":[{"path":"scripts/run.sh","text":"#!/bin/sh\n","is_executable":true}]}"##;
    assert_eq!(served.post("/api/skills", &token, draft).0, 201);
    assert_eq!(open_to_others(&data), Vec::<String>::new());
    assert_eq!(served.stop().0, Some(0));
    assert_eq!(open_to_others(&data), Vec::<String>::new());
}
