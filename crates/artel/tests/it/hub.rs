//! `artel hub`: skills of a repository of somebody else, in the catalog that a server serves.

use serde_json::json;

use crate::database::Database;
use crate::running::eventually;
use crate::serve_session::Served;
use crate::session::Session;

pub(crate) const ALLOW: &str =
    "[hubs]\nallow_file = true\n\n[server]\nrequests_per_second = 100000\nrequest_burst = 100000\n";

/// Makes a session with a repository that holds one skill, and returns where it is.
pub(crate) fn session_with_repository(settings: &str) -> (Session, String) {
    let session = Session::new();
    session.write("artel.toml", settings);
    session.write(
        "hub/skills/make-tea/SKILL.md",
        "---\nname: make-tea\ndescription: Makes tea, when somebody asks for a hot drink.\n---\n\nBoil water first.\n",
    );
    let who = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
    git(&session, &["init", "--quiet", "--initial-branch=main"]);
    git(&session, &["add", "--all"]);
    git(&session, &[&who[..], &["commit", "--quiet", "--message", "tea"]].concat());
    let location = format!("file://{}/hub", session.path());
    (session, location)
}

#[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
fn git(session: &Session, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.args(arguments).current_dir(session.path().join("hub"));
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(git.status().unwrap().success(), "git {arguments:?}");
}

#[test]
fn the_skills_of_a_hub_are_served_while_it_is_switched_on() {
    let (session, location) = session_with_repository(ALLOW);
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    let has_tea = || served.skills(&token).iter().any(|name| name == "make-tea");
    assert!(!has_tea());

    let added = session.json(&["hub", "add", &location]);
    assert_eq!((&added["type"], &added["skills_count"]), (&json!("git"), &json!(1)), "{added}");
    eventually("the skill is served", has_tea);

    session.run(&["hub", "disable", &location]);
    eventually("the skill is not served", || !has_tea());
    let id = added["id"].as_str().unwrap();
    session.run(&["hub", "enable", &id[..30]]);
    eventually("the skill is served again", has_tea);
    session.run(&["hub", "remove", id]);
    eventually("the skill is gone", || !has_tea());

    let audit = served.document("/api/audit", &token);
    let noted: Vec<(&str, &str)> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["action"].as_str().unwrap(), entry["credential"].as_str().unwrap()))
        .collect();
    let actions = ["hub_deleted", "hub_updated", "hub_updated", "hub_created"];
    assert_eq!(noted, actions.map(|action| (action, "local")));
}

#[test]
fn a_hub_can_be_changed() {
    let (session, location) = session_with_repository(ALLOW);
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    let visibility = || {
        let list = served.document("/api/skills?q=tea", &token);
        let found = list["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "make-tea");
        found.map(|skill| skill["visibility"].clone())
    };
    session.json(&["hub", "add", &location]);
    eventually("the skill is served", || visibility() == Some(json!("global")));
    let told = session.run(&["hub", "change", &location]);
    assert!(told.starts_with("exit 2\n") && told.contains("nothing is to be changed"), "{told}");
    let changed = session.json(&["hub", "change", &location, "--path", "elsewhere", "--ref", "main"]);
    assert_eq!(
        (&changed["include_paths"], &changed["ref"], &changed["skills_count"]),
        (&json!(["elsewhere"]), &json!("main"), &json!(0)),
        "{changed}"
    );
    eventually("nothing lies there", || visibility().is_none());
    let changed = session.json(&[
        "hub",
        "change",
        &location,
        "--path",
        "",
        "--ref",
        "",
        "--visibility",
        "team",
        "--team",
        "red",
    ]);
    assert_eq!(
        (&changed["visibility"], &changed["team_ids"]),
        (&json!("team"), &json!(["red"])),
        "{changed}"
    );
    assert_eq!((&changed["include_paths"], &changed["skills_count"]), (&json!([]), &json!(1)), "{changed}");
    let told = session.run(&["hub", "change", &location, "--visibility", "everybody"]);
    assert!(told.starts_with("exit 2\n") || told.starts_with("exit 1\n"), "{told}");
    // The same at a server.
    let mut away = Session::new();
    away.set("ARTEL_SERVER", &format!("http://{}", served.address));
    away.set("ARTEL_TOKEN", &token);
    let changed = away.json(&["hub", "change", &location, "--visibility", "global"]);
    assert_eq!(changed["visibility"], json!("global"), "{changed}");
    eventually("everyone sees it", || visibility() == Some(json!("global")));
}

/// Copies what an operator backs up into another place, and serves it: the files of hubs are not a part of it.
#[test]
fn a_restored_data_folder_serves_the_skills_of_hubs() {
    let (session, location) = session_with_repository(ALLOW);
    session.json(&["hub", "add", &location]);
    let restored = Session::new();
    restored.write("artel.toml", ALLOW);
    let copy = restored.path().join("copy.db");
    assert!(session.run(&["db", "backup", copy.as_str()]).starts_with("exit 0\n"));
    std::fs::create_dir_all(restored.path().join(".artel")).unwrap();
    std::fs::rename(copy, restored.path().join(".artel/artel.db")).unwrap();
    let served = Served::start(&restored, &[]);
    let token = served.token.clone().unwrap();
    eventually("the skill of the hub is served", || {
        served.skills(&token).iter().any(|name| name == "make-tea")
    });
}

#[test]
fn a_second_node_on_one_database_serves_the_skills_of_hubs() {
    let database = Database::any();
    let (mut here, location) = session_with_repository(ALLOW);
    database.used_by(&mut here);
    let there = database.session();
    there.write("artel.toml", &ALLOW.replace("[hubs]", "[hubs]\ncheck_seconds = 1"));
    let first = Served::start(&here, &[]);
    let token = first.token.clone().unwrap();
    let second = Served::start(&there, &[]);
    let has_tea = |served: &Served| served.skills(&token).iter().any(|name| name == "make-tea");
    here.json(&["hub", "add", &location]);
    eventually("the first node serves it", || has_tea(&first));
    eventually("the second node serves it", || has_tea(&second));
    there.run(&["hub", "disable", &location]);
    eventually("no node serves it", || !has_tea(&first) && !has_tea(&second));
}

#[test]
fn a_hub_is_looked_at_before_it_is_added() {
    let (session, location) = session_with_repository(ALLOW);
    let preview = session.json(&["hub", "crawl", &location]);
    assert_eq!(preview["skills_preview"][0]["name"], json!("make-tea"), "{preview}");
    assert_eq!(session.json(&["hub", "list"]), json!({"hubs": []}));
    let told = session.run(&["hub", "crawl", &location]);
    assert!(told.starts_with("exit 0\n--- stdout\nmake-tea  skills/make-tea  Makes tea"), "{told}");

    session.run(&["hub", "add", &location]);
    let again = session.run(&["hub", "add", &location]);
    assert!(again.starts_with("exit 1\n") && again.contains("there is a hub with this location"), "{again}");
    let listed = session.run(&["hub", "list"]);
    assert!(listed.contains("1 skill") && listed.contains("fetched just now"), "{listed}");
    let refreshed = session.run(&["hub", "refresh"]);
    assert!(refreshed.starts_with("exit 0\n") && refreshed.contains("1 hub"), "{refreshed}");
}

#[test]
fn a_hub_that_cannot_be_fetched_stays_and_says_why() {
    let (session, location) = session_with_repository(ALLOW);
    let told = session.run(&["hub", "add", &format!("{location}-elsewhere")]);
    assert!(told.starts_with("exit 1\n"), "{told}");
    assert!(told.contains("error: cannot fetch") && told.contains("hint: it stays registered"), "{told}");
    assert!(session.run(&["hub", "list"]).contains("failing: "));
}

#[test]
fn mistakes_with_hubs_are_told() {
    let (session, location) = session_with_repository("");
    insta::assert_snapshot!(session.run(&["hub", "add", &location]), @r"
    exit 2
    --- stderr
    error: repositories in folders of the server are not allowed; an operator can set `[hubs] allow_file`
    hint: `[hubs]` in artel.toml says where hubs may be
    ");
    insta::assert_snapshot!(session.run(&["hub", "add", "https://example.org/"]), @r"
    exit 2
    --- stderr
    error: `https://example.org/` does not say what kind of hub it is
    hint: `--type` says it: github, git or well-known
    ");
    session.write("artel.toml", "[hubs]\nhosts = [\"git.example.org\"]\n");
    for location in ["git@git.example.org:team/skills.git", "ssh://git@git.example.org/skills.git"] {
        let told = session.run(&["hub", "add", location, "--type", "git"]);
        assert!(told.starts_with("exit 2\n") && told.contains("use https, with a token"), "{told}");
    }
    insta::assert_snapshot!(session.run(&["hub", "remove", "nobody/nothing"]), @r"
    exit 1
    --- stderr
    error: there is no hub `nobody/nothing`
    hint: `artel hub list` shows the hubs there are
    ");
    insta::assert_snapshot!(session.run(&["hub", "list"]), @r"
    exit 0
    --- stderr
    0 hubs
    ");
}
