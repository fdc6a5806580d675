//! Hubs over HTTP, with real git repositories in folders: registered, fetched, switched off, removed, failing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs;

use artel_app::{Reread, SyncStatus};
use artel_catalog::shared::Freshness;
use artel_model::catalog::Gate;
use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::client::{Answered, Client};
use crate::skills_place::{EVIL, Shop, administrator, instructions, names, skill_path};

const HUBS: &str = "/api/skill-hubs";

/// A git repository in a folder.
pub(crate) struct Repository {
    path: Utf8PathBuf,
}

impl Repository {
    pub(crate) fn new(shop: &Shop, name: &str) -> Self {
        let repository = Self { path: shop.path(name) };
        fs::create_dir_all(&repository.path).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.path)
    }

    /// Writes files and commits everything.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.path.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "a change"]);
    }

    #[expect(clippy::disallowed_methods, reason = "a test makes its repository with git itself")]
    fn git(&self, arguments: &[&str]) {
        let mut command = std::process::Command::new("git");
        command.current_dir(&self.path).args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for person in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{person}_NAME"), "Ann");
            command.env(format!("GIT_{person}_EMAIL"), "ann@example.com");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn hub(location: &str) -> Value {
    json!({"type": "git", "location": location})
}

fn path(hub: &Value) -> String {
    format!("{HUBS}/{}", hub["id"].as_str().unwrap())
}

/// Registers a hub and waits until it was fetched.
pub(crate) async fn registered(shop: &Shop, repository: &Repository) -> Value {
    let made = shop.admin.post(HUBS, hub(&repository.url())).await.expect(201);
    fetched(shop, &made).await
}

async fn fetched(shop: &Shop, hub: &Value) -> Value {
    shop.admin.tell(&format!("{}/refresh", path(hub))).await.expect(200)
}

async fn patch(client: &Client, hub: &Value, change: Value) -> Answered {
    client.call("PATCH", &path(hub), &[], Some(&change)).await
}

async fn listed(shop: &Shop) -> Value {
    shop.admin.get("/api/skills").await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_is_registered_fetched_switched_off_and_removed() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[
        ("skills/pear/SKILL.md", &instructions("pear", "Pears.", "Pick.")),
        ("skills/pear/notes.txt", "green\n"),
        ("skills/apple/SKILL.md", &instructions("apple", "Another one.", "Other.")),
        ("broken/skill.json", "{"),
    ]);
    let made = shop.admin.post(HUBS, hub(&repository.url())).await;
    let location = made.header("location").to_owned();
    let made = made.expect(201);
    assert_eq!(
        (location, &made["enabled"], &made["created_by"]),
        (path(&made), &json!(true), &json!("admin"))
    );
    let ready = fetched(&shop, &made).await;
    assert!(ready["last_success_at"].is_string() && ready["revision"].is_string(), "{ready}");
    assert_eq!(ready.get("last_failure_message"), None);
    assert!(ready["warnings"].to_string().contains("broken"), "what is skipped is said: {ready}");
    assert_eq!(shop.admin.get(HUBS).await.expect(200)["hubs"], json!([ready]));
    assert_eq!(shop.admin.get(&path(&made)).await.expect(200), ready);

    let list = listed(&shop).await;
    assert_eq!(names(&list), ["apple", "pear"]);
    assert_eq!(list["skills"][0]["source"], "default", "a hub does not hide what is built in");
    let pear = list["skills"][1].clone();
    let id = format!("hub/{}/pear", made["id"].as_str().unwrap());
    assert_eq!((&pear["id"], &pear["source_label"]), (&json!(id), &json!("Skill hub")));
    let file = shop.admin.get(&format!("{}/files/notes.txt", skill_path(&id))).await;
    assert_eq!(file.text, "green\n");
    let hidden = format!("hub/{}/apple", made["id"].as_str().unwrap());
    let hidden = shop.admin.get(&skill_path(&hidden)).await.expect(200);
    assert_eq!(hidden["shadowed_by"], "default/apple");

    let before = list["meta"]["generation"].as_u64().unwrap();
    assert_eq!(patch(&shop.admin, &made, json!({"enabled": false})).await.expect(200)["enabled"], false);
    let list = listed(&shop).await;
    assert_eq!(names(&list), ["apple"]);
    assert!(list["meta"]["generation"].as_u64().unwrap() > before);
    shop.admin.get(&skill_path(&id)).await.refused(404, "not_found");
    patch(&shop.admin, &made, json!({"enabled": true})).await.expect(200);
    assert_eq!(names(&listed(&shop).await), ["apple", "pear"]);
    assert_eq!(shop.admin.call("DELETE", &path(&made), &[], None).await.status, 204);
    assert_eq!(names(&listed(&shop).await), ["apple"]);
    assert_eq!(shop.admin.get(HUBS).await.expect(200), json!({"hubs": []}));
    for method in ["GET", "DELETE"] {
        shop.admin.call(method, &path(&made), &[], None).await.refused(404, "not_found");
    }
    patch(&shop.admin, &made, json!({"enabled": true})).await.refused(404, "not_found");
    shop.admin.tell(&format!("{}/refresh", path(&made))).await.refused(404, "not_found");
    let log =
        shop.admin.get(&format!("/api/audit?subject={}", made["id"].as_str().unwrap())).await.expect(200);
    let actions: Vec<&str> =
        log["items"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["hub_deleted", "hub_updated", "hub_updated", "hub_created"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_manage_hubs() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let one = format!("{HUBS}/01890a5d-ac96-774b-bcce-b302099a8057");
    let (refresh, crawl) = (format!("{one}/refresh"), format!("{HUBS}/crawl"));
    let draft = hub("https://example.com/a.git");
    let calls = [
        ("GET", HUBS, None),
        ("POST", HUBS, Some(&draft)),
        ("POST", crawl.as_str(), Some(&draft)),
        ("GET", one.as_str(), None),
        ("PATCH", one.as_str(), Some(&draft)),
        ("DELETE", one.as_str(), None),
        ("POST", refresh.as_str(), None),
    ];
    for (method, path, body) in calls {
        let refused = ann.call(method, path, &[], body).await;
        refused.refused(403, "forbidden");
        let expected = json!({
            "error": "forbidden",
            "message": "Only authorized users can manage skill hubs.",
            "request_id": refused.body["request_id"],
        });
        assert_eq!(refused.body, expected, "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_a_hub_is_refused() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    for path in [HUBS.to_owned(), format!("{HUBS}/crawl")] {
        let post = |body: Value| shop.admin.post(&path, body);
        post(json!({"type": "svn", "location": "x/y"})).await.refused(400, "unsupported_type");
        post(json!({"type": "github", "location": "not a repository"}))
            .await
            .refused(400, "invalid_location");
        post(hub("https://elsewhere.example/a.git")).await.refused(400, "invalid_location");
        post(hub("http://127.0.0.1:1/a.git")).await.refused(400, "invalid_location");
        post(hub("--upload-pack=touch /tmp/x")).await.refused(400, "invalid_location");
        let mut odd = hub(&repository.url());
        odd["credentials_ref"] = json!("PATH");
        post(odd.clone()).await.refused(400, "invalid_location");
        odd["odd"] = json!(1);
        post(odd).await.refused(422, "invalid_body");
    }
    assert_eq!(shop.admin.get(HUBS).await.expect(200), json!({"hubs": []}));
    let made = shop.admin.post(HUBS, hub(&repository.url())).await.expect(201);
    let same = shop.admin.post(HUBS, hub(&format!("{}/", repository.url()))).await;
    same.refused(409, "same_location");
    assert!(same.body["message"].as_str().unwrap().contains(made["id"].as_str().unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_fails_keeps_its_last_good_content() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[("pear/SKILL.md", &instructions("pear", "Pears.", "Pick."))]);
    let good = registered(&shop, &repository).await;
    assert_eq!(names(&listed(&shop).await), ["apple", "pear"]);
    let away = shop.path("away");
    fs::rename(&repository.path, &away).unwrap();
    let failing = fetched(&shop, &good).await;
    assert!(failing["last_failure_at"].is_string());
    assert!(
        failing["last_failure_message"].as_str().is_some_and(|message| message.len() <= 500),
        "{failing}"
    );
    assert_eq!(
        (&failing["last_success_at"], &failing["revision"]),
        (&good["last_success_at"], &good["revision"])
    );
    let list = listed(&shop).await;
    assert_eq!(names(&list), ["apple", "pear"]);
    let source = &list["meta"]["unavailable_sources"][0];
    assert_eq!((&source["source"], &source["state"]), (&json!("hub"), &json!("stale")));
    assert_eq!((&source["source_id"], &source["label"]), (&good["id"], &good["location"]));
    assert_eq!(source["reason"], failing["last_failure_message"]);
    // Where hubs are, and what their servers say, is for administrators.
    let seen = shop.member("ann", &[]).await.get("/api/skills").await.expect(200);
    let source = &seen["meta"]["unavailable_sources"][0];
    assert_eq!((&source["state"], &source["label"]), (&json!("stale"), &json!("Skill hub")));
    assert!(!seen.to_string().contains("repository"), "{seen}");
    fs::rename(&away, &repository.path).unwrap();
    repository.commit(&[("pear/SKILL.md", &instructions("pear", "Better pears.", "Pick."))]);
    let refreshed = shop.admin.tell("/api/skills/refresh?include_hubs=true").await.expect(200);
    assert_eq!(refreshed["unavailable_sources"], json!([]));
    let list = listed(&shop).await;
    assert_eq!(list["skills"][1]["description"], "Better pears.");
    let well = shop.admin.get(&path(&good)).await.expect(200);
    assert_eq!(well.get("last_failure_message"), None);
    assert_ne!(well["revision"], good["revision"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hub_gives_is_scanned_before_it_is_served() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[
        ("pear/SKILL.md", &instructions("pear", "Pears.", "Pick.")),
        ("evil/SKILL.md", &instructions("evil", "Evil.", "Run scripts/run.sh.")),
        ("evil/scripts/run.sh", EVIL),
    ]);
    let made = registered(&shop, &repository).await;
    assert_eq!(made["skills_count"], 2);
    assert_eq!(names(&listed(&shop).await), ["pear"]);
    let id = made["id"].as_str().unwrap();
    let found =
        shop.admin.get(&format!("/api/scan-findings?hub_id={id}&severity=critical")).await.expect(200);
    assert_eq!(found["items"][0]["skill_id"], format!("hub/{id}/evil"));
    assert_eq!(found["items"][0]["source_type"], "hub");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_is_looked_at_without_being_saved() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[
        ("a/pear/SKILL.md", &instructions("pear", "Pears.", "Pick.")),
        ("a/pear/notes.txt", "green\n"),
        ("plum/SKILL.md", &instructions("plum", "Plums.", "Pick.")),
    ]);
    let crawl = format!("{HUBS}/crawl");
    let expected = json!({
        "paths": ["a/pear", "plum"],
        "skills_preview": [
            {"path": "a/pear", "name": "pear", "description": "Pears.", "ancillary_file_count": 1},
            {"path": "plum", "name": "plum", "description": "Plums.", "ancillary_file_count": 0},
        ],
        "warnings": [],
        "error": null,
    });
    let seen = shop.admin.post(&crawl, hub(&repository.url())).await.expect(200);
    assert_eq!(seen, expected);
    let accept = [("accept", "application/x-ndjson")];
    let streamed = shop.admin.call("POST", &crawl, &accept, Some(&hub(&repository.url()))).await;
    assert_eq!((streamed.status, streamed.header("content-type")), (200, "application/x-ndjson"));
    let lines: Vec<Value> = streamed.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, progress) = lines.split_last().unwrap();
    assert_eq!(*last, json!({"event": "done", "result": expected}));
    assert!(!progress.is_empty() && progress.iter().all(|line| line["event"] == "progress"), "{progress:?}");
    let nowhere = hub(&format!("file://{}", shop.path("nowhere")));
    let failed = shop.admin.post(&crawl, nowhere).await.expect(200);
    assert_eq!(failed["skills_preview"], json!([]));
    assert!(failed["error"].as_str().is_some_and(|error| !error.is_empty()), "{failed}");
    assert_eq!(shop.admin.get(HUBS).await.expect(200), json!({"hubs": []}));
    assert_eq!(names(&listed(&shop).await), Vec::<&str>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_settings_publish_anew() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[
        ("red/pear/SKILL.md", &instructions("pear", "Pears.", "Pick.")),
        ("green/plum/SKILL.md", &instructions("plum", "Plums.", "Pick.")),
    ]);
    let made = registered(&shop, &repository).await;
    assert_eq!(names(&listed(&shop).await), ["pear", "plum"]);
    // The same commit every time: only what is looked at changes.
    for (change, expected) in [
        (json!({"include_paths": ["red"]}), vec!["pear"]),
        (json!({"include_paths": ["green"]}), vec!["plum"]),
        (json!({"include_paths": ["red"]}), vec!["pear"]),
        (json!({"include_paths": []}), vec!["pear", "plum"]),
        (json!({"ref": "main"}), vec!["pear", "plum"]),
    ] {
        patch(&shop.admin, &made, change.clone()).await.expect(200);
        let after = fetched(&shop, &made).await;
        assert_eq!(after["skills_count"], expected.len(), "{change}");
        let list = listed(&shop).await;
        assert_eq!((names(&list), &list["meta"]["unavailable_sources"]), (expected, &json!([])), "{change}");
        for skill in list["skills"].as_array().unwrap() {
            let file = format!("{}/files/SKILL.md", skill_path(skill["id"].as_str().unwrap()));
            assert_eq!(shop.admin.get(&file).await.status, 200, "{change}: {skill}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_keep_the_last_content_until_the_changed_hub_is_fetched() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[("pear/SKILL.md", &instructions("pear", "Pears.", "Pick."))]);
    let made = registered(&shop, &repository).await;
    patch(&shop.admin, &made, json!({"ref": "nowhere"})).await.expect(200);
    let failing = fetched(&shop, &made).await;
    assert!(failing["last_failure_message"].as_str().unwrap().contains("nowhere"), "{failing}");
    let list = listed(&shop).await;
    assert_eq!(names(&list), ["pear"]);
    assert_eq!(list["meta"]["unavailable_sources"][0]["state"], "stale");
    let file = format!("{}/files/SKILL.md", skill_path(list["skills"][0]["id"].as_str().unwrap()));
    assert_eq!(shop.admin.get(&file).await.status, 200);
    patch(&shop.admin, &made, json!({"ref": ""})).await.expect(200);
    fetched(&shop, &made).await;
    assert_eq!(listed(&shop).await["meta"]["unavailable_sources"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_machine_on_the_same_store_serves_the_hub_when_it_has_fetched_it() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[("pear/SKILL.md", &instructions("pear", "Pears.", "Pick."))]);
    let made = registered(&shop, &repository).await;
    let id: artel_model::id::HubId = made["id"].as_str().unwrap().parse().unwrap();

    let (catalogs, hubs) = shop.second_machine().await;
    let empty = catalogs.refresh(Reread::Folders).await.unwrap();
    assert!(empty.entries().is_empty());
    let Freshness::Unavailable { reason } = &empty.sources().last().unwrap().state else {
        panic!("what is missing is said: {:?}", empty.sources());
    };
    assert!(reason.contains("not on this machine"), "{reason}");
    catalogs.rebuild_supervisor();
    let admin = administrator();
    let status = catalogs.supervisor_status_for(&admin).await;
    assert_eq!(status.sync_status, SyncStatus::SupervisorStale, "its content differs");

    hubs.refresh(id).await.unwrap();
    let second = catalogs.snapshot().unwrap();
    let first = shop.catalogs.refresh(Reread::Kept).await.unwrap();
    assert_eq!((second.entries().len(), second.content_hash()), (1, first.content_hash()));
    catalogs.rebuild_supervisor();
    assert_eq!(catalogs.supervisor_status_for(&admin).await.sync_status, SyncStatus::InSync);

    // What the first machine fetches is missing at the second until it has fetched it, too.
    repository.commit(&[("plum/SKILL.md", &instructions("plum", "Plums.", "Pick."))]);
    fetched(&shop, &made).await;
    assert_eq!(catalogs.supervisor_status_for(&admin).await.sync_status, SyncStatus::SupervisorStale);
    let behind = catalogs.refresh(Reread::Kept).await.unwrap();
    catalogs.rebuild_supervisor();
    assert_eq!(behind.entries().len(), 1, "the last good content stays");
    assert!(matches!(behind.sources().last().unwrap().state, Freshness::Stale { .. }));
    assert_eq!(catalogs.supervisor_status_for(&admin).await.sync_status, SyncStatus::SupervisorStale);
    hubs.refresh(id).await.unwrap();
    catalogs.rebuild_supervisor();
    assert_eq!(catalogs.snapshot().unwrap().entries().len(), 2);
    assert_eq!(catalogs.supervisor_status_for(&admin).await.sync_status, SyncStatus::InSync);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_whose_folder_is_lost_is_fetched_again() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[("pear/SKILL.md", &instructions("pear", "Pears.", "Pick."))]);
    registered(&shop, &repository).await;
    let (catalogs, hubs) = shop.second_machine().await;
    catalogs.refresh(Reread::Folders).await.unwrap();
    // The service does it by itself as soon as it runs.
    let mut changes = catalogs.changes();
    changes.mark_unchanged();
    let service = tokio::spawn(hubs.keep_current());
    changes.changed().await.unwrap();
    assert_eq!(catalogs.snapshot().unwrap().entries().len(), 1);
    service.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_of_a_hub_are_seen_by_whom_they_are_for() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[
        ("red/pear/SKILL.md", &instructions("pear", "Pears.", "Pick.")),
        ("red/open/plum/SKILL.md", &instructions("plum", "Plums.", "Pick.")),
        ("mine/fig/SKILL.md", &instructions("fig", "Figs.", "Pick.")),
    ]);
    let mut wish = hub(&repository.url());
    wish["visibility"] = json!("team");
    wish["team_ids"] = json!(["red"]);
    wish["paths"] = json!([
        {"path": "red/open/", "visibility": "global"},
        {"path": "mine", "visibility": "personal", "owner_user_id": "ann"},
    ]);
    let made = shop.admin.post(HUBS, wish.clone()).await.expect(201);
    let ready = fetched(&shop, &made).await;
    assert_eq!((&ready["visibility"], &ready["team_ids"]), (&json!("team"), &json!(["red"])));
    assert_eq!(ready["paths"][1], json!({"path": "red/open", "visibility": "global"}));
    let (ann, bob) = (shop.member("ann", &[]).await, shop.member("bob", &["red"]).await);
    let seen = async |client: &Client| {
        let list = client.get("/api/skills").await.expect(200);
        names(&list).iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(seen(&ann).await, ["fig", "plum"]);
    assert_eq!(seen(&bob).await, ["pear", "plum"]);
    let pear = skill_path(&format!("hub/{}/pear", made["id"].as_str().unwrap()));
    ann.get(&pear).await.refused(404, "not_found");
    // A narrower rule holds at once, without fetching anything.
    let narrow = json!({"visibility": "personal", "owner_user_id": "eve", "paths": []});
    let changed = patch(&shop.admin, &made, narrow).await.expect(200);
    assert_eq!((&changed["visibility"], &changed["owner_user_id"]), (&json!("personal"), &json!("eve")));
    assert_eq!((seen(&ann).await, seen(&bob).await), (Vec::new(), Vec::new()));
    assert_eq!(seen(&shop.member("eve", &[]).await).await, ["fig", "pear", "plum"]);
    for (change, word) in [
        (json!({"visibility": "public"}), "no visibility"),
        (json!({"visibility": "team"}), "at least one team"),
        (json!({"visibility": "global", "team_ids": ["red"]}), "`team_ids` belong"),
        (json!({"visibility": "global", "owner_user_id": "ann"}), "`owner_user_id` belongs"),
        (json!({"paths": [{"path": "../up", "visibility": "global"}]}), "entry 0"),
        (
            json!({"paths": [{"path": "a", "visibility": "global"}, {"path": "a/", "visibility": "global"}]}),
            "twice",
        ),
    ] {
        let refused = patch(&shop.admin, &made, change).await;
        refused.refused(400, "invalid_visibility");
        assert!(refused.body["message"].as_str().unwrap().contains(word), "{}", refused.text);
    }
    // A hub that fails is no business of those who see nothing of it.
    artel_engine::remove_folder(&repository.path).unwrap();
    fetched(&shop, &made).await;
    assert_eq!(ann.get("/api/skills").await.expect(200)["meta"]["unavailable_sources"], json!([]));
}
