//! The trail of a skill: everything that happens to it is in it, and nobody finds others in it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::mcp_talker::Talker;
use crate::place::{Place, TestSkill, done};
use crate::plans::end_of;

const GREET: &str = "/api/skills/default%2Fgreet";

async fn place() -> Place {
    Place::open(&[
        TestSkill("greet", json!({"description": "Greets a person."}), &done("{}")),
        TestSkill("other", json!({"description": "Does something else for a person."}), &done("{}")),
    ])
    .await
}

async fn trail(client: &Client, skill: &str) -> Vec<Value> {
    let page = client.get(&format!("{skill}/trail")).await.expect(200);
    page["items"].as_array().unwrap().clone()
}

/// Returns the trail when it says so many things, the first of them first. Trails are kept a little later.
async fn trail_of(client: &Client, skill: &str, length: usize) -> Vec<Value> {
    let complete = async {
        loop {
            let mut found = trail(client, skill).await;
            if found.len() >= length {
                found.reverse();
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), complete).await.unwrap();
    assert_eq!(found.len(), length, "{found:#?}");
    found
}

fn words<'a>(items: &'a [Value], field: &str) -> Vec<&'a str> {
    items.iter().filter_map(|item| item[field].as_str()).collect()
}

/// Sorted, because what happens within a millisecond has no order.
fn events(items: &[Value]) -> Vec<&str> {
    let mut events = words(items, "event");
    events.sort_unstable();
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trail_leads_from_the_files_to_the_result() {
    let place = place().await;
    let ann = place.person("ann").await;
    trail_of(&place.admin, GREET, 2).await;
    assert_eq!(ann.get("/api/skills?q=person+greet").await.status, 200);
    assert_eq!(ann.get(GREET).await.status, 200);
    let found = trail_of(&ann, GREET, 4).await;
    let run = ann.post("/api/runs", json!({"skill": "greet"})).await.expect(202);
    end_of(&ann, &run).await;
    assert_eq!(events(&found), ["activated", "installed", "offered", "scanned"]);
    let found = trail_of(&ann, GREET, 5).await;
    let of = |event: &str| found.iter().find(|item| item["event"] == event).unwrap().clone();
    let offered = of("offered");
    assert_eq!((&offered["user"], &offered["rank"]), (&json!("ann"), &json!(1)));
    assert_eq!((&offered["query"], &offered["by"]), (&json!("person greet"), &json!("search")));
    assert!(offered["matched"][0].is_string(), "{offered}");
    assert_eq!(of("activated")["by"], "read");
    assert_eq!((&of("executed")["result"], &of("executed")["run_id"]), (&json!("success"), &run["run_id"]));
    assert_eq!(of("scanned")["result"], "complete");
    let hashes = words(&found, "content_hash");
    assert!(hashes.iter().all(|hash| *hash == hashes[0] && !hash.is_empty()), "{hashes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_only_leafs_through_is_offered_nothing_and_who_asks_again_is_offered_once() {
    let place = place().await;
    let ann = place.person("ann").await;
    for path in ["/api/skills", "/api/skills?page_size=1", "/api/skills?q=+", "/api/skills?source=default"] {
        assert_eq!(ann.get(path).await.status, 200);
    }
    for _ in 0..3 {
        assert_eq!(ann.get("/api/skills?q=greet").await.status, 200);
    }
    let talker = Talker::begin(&place, &ann.credential().unwrap()).await;
    talker.call("search_skills", json!({"query": "greet"})).await;
    talker.call("read_skill", json!({"skill": "greet"})).await;
    let found = trail_of(&ann, GREET, 5).await;
    let mut ways = words(&found, "by");
    ways.retain(|way| !way.starts_with("artel"));
    ways.sort_unstable();
    assert_eq!(ways, ["mcp_read", "mcp_search", "search"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn others_find_only_themselves_and_administrators_everybody() {
    let place = place().await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    for client in [&ann, &bob] {
        assert_eq!(client.get("/api/skills?q=greet").await.status, 200);
        assert_eq!(client.get(GREET).await.status, 200);
    }
    let run = ann.post("/api/runs", json!({"skill": "greet"})).await.expect(202);
    end_of(&ann, &run).await;
    let all = trail_of(&place.admin, GREET, 7).await;
    assert_eq!(words(&all, "user").iter().filter(|user| **user == "ann").count(), 2);
    let his = trail_of(&bob, GREET, 4).await;
    assert_eq!(words(&his, "user"), ["bob", "bob"]);
    assert_eq!(events(&his), ["activated", "installed", "offered", "scanned"]);
    let mut pages = Vec::new();
    let mut after = String::new();
    loop {
        let page = place.admin.get(&format!("{GREET}/trail?limit=1{after}")).await.expect(200);
        pages.extend(page["items"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    pages.reverse();
    assert_eq!(pages, all);
    place.admin.get(&format!("{GREET}/trail?after=odd")).await.refused(400, "invalid_cursor");
    place.admin.get("/api/skills/default%2Fnobody/trail").await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_private_stays_private() {
    let place = place().await;
    let ann = place.somebody("ann", &["admin", "catalog:read", "catalog:write"]).await;
    let mut draft = json!({
        "name": "diary", "description": "Keeps a diary.", "content": "Dear diary.", "visibility": "personal",
    });
    let made = ann.post("/api/skills", draft.clone()).await.expect(201);
    let path = format!("/api/skills/{}", made["id"].as_str().unwrap().replace('/', "%2F"));
    assert_eq!(ann.get("/api/skills?q=diary").await.status, 200);
    trail_of(&ann, &path, 3).await;
    let (admin, bob) = (&place.admin, place.person("bob").await);
    for other in [admin, &bob] {
        other.get(&format!("{path}/trail")).await.refused(404, "not_found");
    }
    draft["visibility"] = json!("global");
    draft["content"] = json!("For everybody.");
    let saved = ann.call("PUT", &path, &[("if-match", "\"1\"")], Some(&draft)).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    // Its files of before and who looked for it then are hers alone.
    let seen = trail_of(admin, &path, 2).await;
    assert_eq!(events(&seen), ["installed", "scanned"]);
    trail_of(&bob, &path, 2).await;
    trail_of(&ann, &path, 5).await;
}
