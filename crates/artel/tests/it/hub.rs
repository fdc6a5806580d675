//! `artel hub`: skills of a repository of somebody else, in the catalog that a server serves.

use serde_json::json;

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
