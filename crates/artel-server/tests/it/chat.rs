//! The chat over HTTP: commands are answered at once, everything else with real runs of the skills that the caller is
//! offered.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use artel_app::{CatalogConfig, CatalogParts, Catalogs, Reread};
use artel_catalog::Catalog;
use artel_engine::Clock;
use artel_model::catalog::{Gate, Severity};
use serde_json::{Value, json};

use crate::client::Client;
use crate::place::{Place, ServerParts, TestSkill, done};

const STORY: &str = r#"
printf hello > page.txt
echo '{"version":"0","type":"log","level":"debug","message":"hidden"}'
echo '{"version":"0","type":"log","level":"info","message":"once upon a time"}'
echo '{"version":"0","type":"ui_event","event":"narrative_choice","payload":{"choices":["Go on","Leave"]}}'
echo '{"version":"0","type":"ui_event","event":"other","payload":{"choices":["x"]}}'
echo '{"version":"0","type":"asset","assetId":"page","kind":"text","mediaType":"text/plain","path":"page.txt"}'
echo '{"version":"0","type":"done","ok":true,"summary":"Told a story.","output":{"n":1}}'
"#;

fn manifest(description: &str) -> Value {
    json!({"description": description, "tags": ["test"]})
}

/// Sends a message, and returns everything that is answered.
pub(crate) async fn say(client: &Client, message: &str) -> Vec<Value> {
    told(client, json!({"message": message})).await
}

pub(crate) async fn told(client: &Client, request: Value) -> Vec<Value> {
    let answer = client.post("/api/chat", request).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let blocks: Vec<&str> = answer.text.split("\n\n").filter(|block| block.contains("event: ")).collect();
    let mut events = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let event: Value = serde_json::from_str(line("data: ")).unwrap();
        assert_eq!((line("id: "), line("event: ")), ((number + 1).to_string().as_str(), kind(&event)));
        events.push(event);
    }
    assert_eq!(kind(events.last().unwrap()), "done");
    events
}

fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap()
}

pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(kind).collect()
}

fn first<'a>(events: &'a [Value], wanted: &str) -> &'a Value {
    events.iter().find(|event| kind(event) == wanted).unwrap_or_else(|| panic!("{events:?}"))
}

fn expected_total(listed: &Value) -> u64 {
    listed["meta"]["total"].as_u64().unwrap()
}

/// A catalog that has not been read, whose folders are read like that.
fn loaded_by(
    parts: &ServerParts,
    load: impl Fn() -> Result<Catalog, String> + Send + Sync + 'static,
) -> Catalogs {
    Catalogs::new(CatalogParts {
        config: CatalogConfig {
            quotas: artel_model::quota::Quotas::default(),
            shared_data: Vec::new(),
            gate: Gate::Off,
            fail_on: Severity::High,
            check: std::time::Duration::from_secs(1),
            data: "/nowhere".into(),
        },
        stores: parts.app.stores.clone(),
        clock: Clock::system(),
        load_default: Arc::new(load),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_are_listed_as_the_catalog_lists_them() {
    let place = Place::open(&[
        TestSkill("greet-people", manifest("Greets people."), &done("{}")),
        TestSkill("weather", manifest("Tells the weather."), &done("{}")),
    ])
    .await;
    let listed = place.admin.get("/api/skills").await.expect(200);
    for message in ["/skills", "  /SKILLS \n"] {
        let events = say(&place.admin, message).await;
        assert_eq!(kinds(&events), ["text", "skills", "done"]);
        let total = expected_total(&listed);
        assert_eq!(events[0]["text"], format!("Showing {total} of {total}."));
        let (shown, expected) =
            (events[1]["skills"].as_array().unwrap(), listed["skills"].as_array().unwrap());
        assert_eq!((shown.len(), &events[1]["total"]), (expected.len(), &json!(total)));
        for (shown, expected) in shown.iter().zip(expected) {
            for field in ["id", "name", "description"] {
                assert_eq!(shown[field], expected[field]);
            }
            assert_eq!(shown["label"], "Built-in");
        }
        assert_eq!((&events[2]["ok"], &events[2]["run_id"]), (&json!(true), &Value::Null));
    }
    let found = say(&place.admin, "/skills weather").await;
    assert_eq!(found[1]["query"], "weather");
    assert_eq!(found[1]["skills"][0]["name"], "weather");
    let none = say(&place.admin, "/skills zzzzzz").await;
    assert_eq!((&none[0]["text"], &none[1]["total"]), (&json!("No skills match `zzzzzz`."), &json!(0)));
    assert_eq!(place.admin.get("/api/runs").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_list_and_nothing_to_be_had_are_told_apart() {
    let mut catalogs = None;
    let empty = Place::open_with_parts(&[], |mut parts| {
        parts.app.catalogs = loaded_by(&parts, || Ok(Catalog::of(Vec::new(), Vec::new())));
        catalogs = Some(parts.app.catalogs.clone());
        parts
    })
    .await;
    let catalogs = catalogs.unwrap();
    catalogs.refresh(Reread::Folders).await.unwrap();
    assert_eq!(say(&empty.admin, "/skills").await[0]["text"], "No skills available at the moment.");
    catalogs.rebuild_supervisor();
    assert_eq!(say(&empty.admin, "do it").await[0]["text"], "No skills available at the moment.");
    let unread = Place::open_with_parts(&[], |mut parts| {
        parts.app.catalogs = loaded_by(&parts, || Err("it is gone".to_owned()));
        parts
    })
    .await;
    for message in ["/skills", "do it"] {
        let events = say(&unread.admin, message).await;
        assert_eq!(kinds(&events), ["error", "done"]);
        assert_eq!(events[0]["message"], "Skills are temporarily unavailable. Please try again later.");
        assert_eq!((&events[0]["code"], &events[1]["ok"]), (&json!("skills_unavailable"), &json!(false)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_until_it_is_cleared() {
    let place = Place::open(&[]).await;
    let id = "018f3c5e-7b1a-7c3d-8e4f-0123456789ab";
    let help = told(&place.admin, json!({"message": "/help", "conversation_id": id})).await;
    assert_eq!((kinds(&help), &help[1]["conversation_id"]), (vec!["text", "done"], &json!(id)));
    assert!(help[0]["text"].as_str().unwrap().contains("/skills WORDS"));
    let cleared = told(&place.admin, json!({"message": "/Clear", "conversation_id": id})).await;
    assert_eq!((kinds(&cleared), &cleared[1]["clear"]), (vec!["text", "done"], &json!(true)));
    assert_ne!(cleared[1]["conversation_id"], id);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_become_a_run_that_is_told_of() {
    let place = Place::open(&[TestSkill("tell-story", manifest("Tells a story to people."), STORY)]).await;
    place.catalogs.rebuild_supervisor();
    let ann = place.person("ann").await;
    let events = say(&ann, "tell a story").await;
    let expected = ["run", "plan", "step", "step", "choices", "asset", "step", "text", "done"];
    assert_eq!(kinds(&events), expected, "{events:#?}");
    let run = &events[0]["run_id"];
    assert!(events.iter().all(|event| event.get("run_id").is_none_or(|id| id == run)));
    assert_eq!(events[1]["steps"][0]["skill"], "tell-story");
    assert_eq!((&events[2]["state"], &events[2]["skill"]), (&json!("running"), &json!("tell-story")));
    assert_eq!(events[3]["message"], "once upon a time");
    assert_eq!(events[4]["choices"], json!(["Go on", "Leave"]));
    assert_eq!((&events[5]["media_type"], &events[5]["size"]), (&json!("text/plain"), &json!(5)));
    assert!(events[5].get("path").is_none());
    assert_eq!((&events[6]["state"], &events[6]["message"]), (&json!("completed"), &json!("Told a story.")));
    assert!(events[7]["text"].as_str().unwrap().contains("Told a story."), "{events:#?}");
    assert_eq!((&events[8]["ok"], &events[8]["run_id"]), (&json!(true), run));
    let kept = ann.get(&format!("/api/runs/{}", run.as_str().unwrap())).await.expect(200);
    assert_eq!((&kept["success"], &kept["runId"]), (&json!(true), run));
    let bob = place.person("bob").await;
    bob.get(&format!("/api/runs/{}", run.as_str().unwrap())).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_supervisor_offers_is_used() {
    let place = Place::open(&[TestSkill("greet-people", manifest("Greets people."), &done("{}"))]).await;
    let unbuilt = say(&place.admin, "greet people").await;
    assert_eq!((kinds(&unbuilt), &unbuilt[0]["code"]), (vec!["error", "done"], &json!("skills_unavailable")));
    place.catalogs.rebuild_supervisor();
    // The skill is served, and the supervisor has not taken it over.
    let folder = place.path("skills/frobnicate-widgets");
    fs::create_dir_all(folder.join("scripts")).unwrap();
    let document = json!({"name": "frobnicate-widgets", "version": "1.0.0", "entrypoint": "run", "description": "Frobnicates widgets."});
    fs::write(folder.join("skill.json"), document.to_string()).unwrap();
    fs::write(folder.join("scripts/run"), format!("#!/bin/bash\n{}\n", done(r#"{"sky":"blue"}"#))).unwrap();
    fs::set_permissions(folder.join("scripts/run"), Permissions::from_mode(0o755)).unwrap();
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    let stale = say(&place.admin, "frobnicate widgets").await;
    assert!(!json!(stale).to_string().contains("frobnicate-widgets"), "{stale:#?}");
    assert_eq!(say(&place.admin, "/skills frobnicate").await[1]["skills"][0]["name"], "frobnicate-widgets");
    place.catalogs.rebuild_supervisor();
    let fresh = say(&place.admin, "frobnicate widgets").await;
    assert_eq!(first(&fresh, "plan")["steps"][0]["skill"], "frobnicate-widgets");
    assert!(first(&fresh, "text")["text"].as_str().unwrap().contains("blue"), "{fresh:#?}");
    assert_eq!(fresh.last().unwrap()["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_that_fails_is_told() {
    let failing = r#"echo '{"version":"0","type":"done","ok":false,"summary":"no luck"}'"#;
    let place = Place::open(&[TestSkill("greet-people", manifest("Greets people."), failing)]).await;
    place.catalogs.rebuild_supervisor();
    let events = say(&place.admin, "greet people").await;
    let failed = events.iter().find(|event| event["state"] == "failed").unwrap();
    assert!(failed["message"].as_str().is_some_and(|message| !message.is_empty()));
    assert_eq!(events.last().unwrap()["ok"], false);
    assert_eq!(kind(&events[events.len() - 2]), "error", "{events:#?}");
    assert!(!events.last().unwrap()["run_id"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_refused() {
    let place = Place::open(&[]).await;
    let chat = |body: Value| place.admin.post("/api/chat", body);
    chat(json!({"message": " \n"})).await.refused(422, "invalid_body");
    chat(json!({"message": "x", "model": "y"})).await.refused(422, "invalid_body");
    chat(json!({"message": "x", "conversation_id": "y"})).await.refused(422, "invalid_body");
    chat(json!({"message": "x".repeat(10_001)})).await.refused(422, "invalid_body");
    let reader = place.somebody("ann", &["catalog:read"]).await;
    reader.post("/api/chat", json!({"message": "/skills"})).await.refused(403, "forbidden");
    let runner = place.somebody("ann", &["runs:write"]).await;
    let events = say(&runner, "/skills").await;
    assert_eq!((kinds(&events), &events[0]["code"]), (vec!["error", "done"], &json!("forbidden")));
}
