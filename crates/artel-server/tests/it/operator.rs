//! Bundles hold what their caller may see and nothing else; settings, switches and whose credential it is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeMap;

use artel_catalog::mirror::{BundledFile, read_bundle};
use artel_model::catalog::Gate;
use artel_model::limit::BUNDLE_SKILLS_MAX;
use serde_json::{Value, json};

use crate::client::Client;
use crate::skills_place::{Shop, instructions, skill_path};

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "style": {"type": "string", "enum": ["warm", "formal"]}, "token": {"type": "string", "format": "password"}}}"#;

async fn shop() -> Shop {
    Shop::open(
        Gate::Off,
        &[
            ("apple/SKILL.md", &instructions("apple", "Peels fruit.", "Take a knife.")),
            ("apple/notes/peel.txt", "round and round\n"),
            ("mango/SKILL.md", &instructions("mango", "Cuts fruit.", "Mind the stone.")),
            ("mango/config-schema.json", SCHEMA),
            ("mango/config.json", r#"{"token": "somebodys-secret"}"#),
        ],
    )
    .await
}

async fn bundle(shop: &Shop, client: &Client, ids: &[&str]) -> BTreeMap<usize, Vec<BundledFile>> {
    let request = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = request.post(format!("http://{}/api/skills/bundle", shop.place.address));
    let request = request.bearer_auth(client.credential().unwrap()).json(&json!({"ids": ids}));
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/gzip");
    read_bundle(&response.bytes().await.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_holds_what_the_caller_may_see() {
    let shop = shop().await;
    let (ann, bob) = (shop.member("ann", &[]).await, shop.member("bob", &[]).await);
    let draft =
        json!({"name": "bake", "description": "Bakes.", "content": "In the oven.", "visibility": "personal"});
    let made = ann.post("/api/skills", draft).await.expect(201);
    let own = made["id"].as_str().unwrap();
    let ids = [own, "default/apple", "default/nothing", "no id", "default/mango"];
    let seen = bundle(&shop, &ann, &ids).await;
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [0, 1, 4]);
    let paths: Vec<&str> = seen[&1].iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "notes/peel.txt"]);
    assert_eq!(seen[&1][1].content, b"round and round\n");
    // Settings stay here.
    let paths: Vec<&str> = seen[&4].iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "config-schema.json"]);
    for other in [&bob, &shop.admin] {
        let seen = bundle(&shop, other, &ids).await;
        assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [1, 4]);
    }
    let many: Vec<&str> = vec!["default/apple"; BUNDLE_SKILLS_MAX + 1];
    ann.post("/api/skills/bundle", json!({"ids": many})).await.refused(422, "too_many_skills");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_masked_and_changed_by_administrators() {
    let shop = shop().await;
    let ann = shop.member("ann", &[]).await;
    let path = format!("{}/config", skill_path("default/mango"));
    let patch = |client: Client, body: Value| {
        let path = path.clone();
        async move { client.call("PATCH", &path, &[], Some(&body)).await }
    };
    let shown = ann.get(&path).await.expect(200);
    assert_eq!(shown["items"][1]["value"], json!("********"), "{shown}");
    assert_eq!(shown.get("saved_in"), None);
    assert!(!shown.to_string().contains("somebodys-secret"));
    patch(ann.clone(), json!({"set": {"style": "warm"}})).await.refused(403, "forbidden");
    let changed = patch(shop.admin.clone(), json!({"set": {"style": "warm"}})).await.expect(200);
    assert_eq!(changed["effective"], json!({"style": "warm", "token": "********"}), "{changed}");
    assert!(changed["saved_in"].as_str().unwrap().ends_with("mango/config.json"));
    patch(shop.admin.clone(), json!({"set": {"style": "rude"}})).await.refused(422, "invalid_settings");
    patch(shop.admin.clone(), json!({"set": {"colour": "red"}})).await.refused(422, "unknown_setting");
    patch(shop.admin.clone(), json!({"unset": ["colour"]})).await.refused(422, "not_set");
    let kept = std::fs::read_to_string(shop.path("skills/mango/config.json")).unwrap();
    assert!(kept.contains("somebodys-secret") && kept.contains("warm"), "{kept}");
    let apple = format!("{}/config", skill_path("default/apple"));
    let refused = shop.admin.call("PATCH", &apple, &[], Some(&json!({}))).await;
    refused.refused(409, "no_settings");
    for file in ["config.json", "../mango/config.json"] {
        let path = format!("{}/files/{file}", skill_path("default/mango"));
        assert_eq!(shop.admin.get(&path).await.status, 404);
    }
    let draft =
        json!({"name": "bake", "description": "Bakes.", "content": "In the oven.", "visibility": "global"});
    let made = shop.admin.post("/api/skills", draft).await.expect(201);
    let path = format!("{}/config", skill_path(made["id"].as_str().unwrap()));
    let refused = shop.admin.call("PATCH", &path, &[], Some(&json!({}))).await;
    refused.refused(409, "settings_with_files");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_is_about_skills_that_are_there() {
    let shop = shop().await;
    let put = |name: &'static str, body: Value| {
        let admin = shop.admin.clone();
        async move { admin.call("PUT", &format!("/api/skill-switches/{name}"), &[], Some(&body)).await }
    };
    put("nobody", json!({"enabled": false})).await.refused(404, "unknown_skill");
    put("apple", json!({"enabled": true, "version": "9.0.0"})).await.refused(404, "unknown_version");
    let off = put("apple", json!({"enabled": false})).await.expect(200);
    assert_eq!(off, json!({"name": "apple", "enabled": false, "version": null}));
    let switches = shop.admin.get("/api/skill-switches").await.expect(200);
    assert_eq!(switches["disabled"], json!(["apple"]));
    put("apple", json!({"enabled": true})).await.expect(200);
    let audit = shop.admin.get("/api/audit").await.expect(200);
    assert_eq!(audit["items"][0]["summary"], json!("switched on"));
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_can_ask_who_they_are() {
    let shop = shop().await;
    let ann = shop.member("ann", &["red"]).await;
    let who = ann.get("/api/whoami").await.expect(200);
    assert_eq!((&who["user"], &who["teams"]), (&json!("ann"), &json!(["red"])));
    assert!(who["credential"].as_str().unwrap().starts_with("key "), "{who}");
    assert_eq!(shop.admin.get("/api/whoami").await.expect(200)["credential"], json!("admin token"));
    assert_eq!(ann.get("/api/skills/health").await.expect(200), json!({"items": []}));
}
