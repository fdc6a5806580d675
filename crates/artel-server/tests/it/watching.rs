//! What the server notices by itself: changed folders, catalogs that its chat does not know yet, hubs that are gone.

use std::sync::Arc;
use std::time::Duration;

use artel_app::{Catalogs, FolderWatching};
use artel_catalog::WatchError;
use artel_model::catalog::Gate;
use serde_json::{Value, json};

use crate::client::Client;
use crate::hubs::{Repository, registered};
use crate::place::{Place, TestSkill};
use crate::skills_place::{Shop, instructions, names};

/// How long something may take that the server does by itself.
const PATIENCE: Duration = Duration::from_secs(20);

async fn status(client: &Client) -> Value {
    client.get("/api/skills/supervisor-status").await.expect(200)
}

/// Asks whenever something has changed, or may have, until the answer is as expected.
async fn until(client: &Client, catalogs: &Catalogs, path: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let mut changes = catalogs.changes();
    let asking = async {
        loop {
            let answer = client.get(path).await.expect(200);
            if is_it(&answer) {
                return answer;
            }
            let _ = tokio::time::timeout(Duration::from_millis(100), changes.changed()).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("the server notices it by itself")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_changes_is_read_again_without_being_told() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    assert_eq!(status(&shop.admin).await["folder_watch"], json!({"mode": "unwatched"}));
    let watching = FolderWatching::of(vec![shop.path("skills")]);
    let following = tokio::spawn(shop.catalogs.clone().follow_folders(watching));
    until(&shop.admin, &shop.catalogs, "/api/skills/supervisor-status", |now| {
        now["folder_watch"]["mode"] == "watched"
    })
    .await;
    let before = shop.admin.get("/api/skills").await.expect(200)["meta"]["generation"].as_u64().unwrap();

    shop.write("pear/SKILL.md", &instructions("pear", "Pears.", "Pick."));
    let list =
        until(&shop.admin, &shop.catalogs, "/api/skills", |list| names(list) == ["apple", "pear"]).await;
    assert!(list["meta"]["generation"].as_u64().unwrap() > before);
    until(&shop.admin, &shop.catalogs, "/api/skills/supervisor-status", |now| {
        now["sync_status"] == "in_sync"
    })
    .await;
    artel_engine::remove_folder(&shop.path("skills/apple")).unwrap();
    until(&shop.admin, &shop.catalogs, "/api/skills", |list| names(list) == ["pear"]).await;
    following.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_that_cannot_be_watched_are_read_now_and_then() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let watching =
        FolderWatching { open: Arc::new(|| Err(WatchError::Ended)), poll: Duration::from_millis(50) };
    let following = tokio::spawn(shop.catalogs.clone().follow_folders(watching));
    shop.write("pear/SKILL.md", &instructions("pear", "Pears.", "Pick."));
    until(&shop.admin, &shop.catalogs, "/api/skills", |list| names(list) == ["apple", "pear"]).await;
    let told = json!({"mode": "polled", "reason": "watching for changes ended"});
    assert_eq!(status(&shop.admin).await["folder_watch"], told);
    following.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_saved_reaches_the_supervisor_by_itself() {
    let place = Place::open(&[TestSkill("apple", json!({}), "")]).await;
    let keeping = tokio::spawn(place.catalogs.clone().keep_current());
    place.catalogs.rebuild_supervisor();
    let draft =
        |name: &str| json!({"name": name, "description": "Does.", "content": "Do.", "visibility": "global"});
    for (name, built) in [("pear", 2), ("plum", 3)] {
        place.admin.post("/api/skills", draft(name)).await.expect(201);
        let now = until(&place.admin, &place.catalogs, "/api/skills/supervisor-status", |now| {
            now["sync_status"] == "in_sync" && now["graph_generation"] == built
        });
        let now = now.await;
        assert_eq!(now["last_built_catalog_generation"], now["catalog_cache_generation"]);
    }
    keeping.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_at_the_same_time_is_answered_by_one_reading() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let readings: Vec<_> = (0..20)
        .map(|number| {
            let admin = shop.admin.clone();
            let draft = json!({"name": format!("skill-{number}"), "description": "Does.", "content": "Do."});
            tokio::spawn(async move { admin.post("/api/skills", draft).await.expect(201) })
        })
        .collect();
    for reading in readings {
        let made = reading.await.unwrap();
        assert_eq!((&made["revision"], &made["scan_status"]), (&json!(1), &json!("passed")), "{made}");
    }
    let list = shop.admin.get("/api/skills").await.expect(200);
    assert_eq!(list["meta"]["total"], 20, "nobody is told that something is saved which is not served");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_a_hub_go_when_it_is_removed_and_nobody_uses_them() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[("pear/SKILL.md", &instructions("pear", "Pears.", "Pick."))]);
    let hub = registered(&shop, &repository).await;
    let id = hub["id"].as_str().unwrap();
    let (folder, path) = (shop.path("data/hubs").join(id), format!("/api/skill-hubs/{id}"));
    shop.hubs.tidy(0).await;
    assert!(folder.is_dir());
    shop.admin.call("PATCH", &path, &[], Some(&json!({"enabled": false}))).await.expect(200);
    shop.hubs.tidy(0).await;
    assert!(folder.is_dir(), "what is only switched off stays");
    shop.admin.call("PATCH", &path, &[], Some(&json!({"enabled": true}))).await.expect(200);
    let held = shop.catalogs.snapshot().unwrap();
    assert_eq!(held.entries().len(), 1);
    assert_eq!(shop.admin.call("DELETE", &path, &[], None).await.status, 204);
    shop.hubs.tidy(0).await;
    assert!(folder.is_dir(), "somebody still holds what was served");
    drop(held);
    shop.hubs.tidy(60_000).await;
    assert!(folder.is_dir(), "others may not know yet");
    shop.hubs.tidy(0).await;
    assert!(!folder.exists());
}
