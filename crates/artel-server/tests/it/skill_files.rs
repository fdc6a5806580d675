//! Files of saved skills, one by one, and skills taken over from repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_model::catalog::Gate;
use serde_json::{Value, json};

use crate::client::Client;
use crate::hubs::Repository;
use crate::skills_place::{EVIL, Shop, instructions, names, skill_path};

const SKILLS: &str = "/api/skills";
const IMPORT: &str = "/api/skills/import";

fn draft(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "content": "Do it well."})
}

/// Puts bytes at a path as they are; returns the status, the tag and the body.
async fn put(shop: &Shop, client: &Client, path: &str, tag: &str, bytes: &[u8]) -> (u16, String, Value) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.put(format!("http://{}{path}", shop.place.address)).body(bytes.to_vec());
    let request = request.bearer_auth(client.credential().unwrap()).header("if-match", tag);
    let response = request.send().await.unwrap();
    let tag = response.headers().get("etag").and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned();
    let status = response.status().as_u16();
    (status, tag, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_put_replaced_and_removed_one_by_one() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let made = ann.post(SKILLS, draft("bake")).await.expect(201);
    let path = skill_path(made["id"].as_str().unwrap());
    let file = format!("{path}/files/scripts/run.sh");
    let (status, tag, body) =
        put(&shop, &ann, &format!("{file}?executable=true"), "\"1\"", b"#!/bin/sh\necho hi\n").await;
    assert_eq!(
        (status, tag.as_str(), &body["revision"]),
        (200, ann.get(&path).await.header("etag"), &json!(2)),
        "{body}"
    );
    let listed =
        body["files"].as_array().unwrap().iter().find(|file| file["path"] == "scripts/run.sh").unwrap();
    assert_eq!((&listed["is_executable"], &body["scan_status"]), (&json!(true), &json!("passed")));
    assert_ne!(body["content_hash"], made["content_hash"]);
    assert_eq!(put(&shop, &ann, &file, "\"1\"", b"late").await.0, 412);
    assert_eq!(ann.get(&file).await.text, "#!/bin/sh\necho hi\n");

    let of_file = ann.get(&file).await.header("etag").to_owned();
    let (status, _, body) = put(&shop, &ann, &file, &of_file, EVIL.as_bytes()).await;
    assert_eq!((status, &body["scan_status"]), (200, &json!("flagged")), "every change is scanned: {body}");
    let listed =
        body["files"].as_array().unwrap().iter().find(|file| file["path"] == "scripts/run.sh").unwrap();
    assert_eq!(listed["is_executable"], true, "a file that is replaced stays what it was");
    let held_back = ann.get(&path).await.expect(200);
    assert_eq!((&held_back["is_held_back"], &held_back["scan_status"]), (&json!(true), &json!("flagged")));
    let gone = ann.call("DELETE", &file, &[("if-match", "\"3\"")], None).await;
    assert_eq!(gone.header("etag"), ann.get(&path).await.header("etag"));
    assert_eq!(gone.expect(200)["scan_status"], "passed");
    ann.call("DELETE", &file, &[], None).await.refused(404, "not_found");
    let history = ann.get(&format!("{path}/history")).await.expect(200);
    assert_eq!(history["items"].as_array().unwrap().len(), 4);
    let log = shop.admin.get("/api/audit?action=skill_updated").await.expect(200);
    assert_eq!(log["items"][0]["summary"], "removed scripts/run.sh");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_stay_inside_their_skill_and_their_limits() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let (ann, bob) = (shop.member("ann", &[]).await, shop.member("bob", &[]).await);
    let made = ann.post(SKILLS, draft("bake")).await.expect(201);
    let path = skill_path(made["id"].as_str().unwrap());
    for wrong in ["SKILL.md", "skill.md", "%2e%2e%2fout.txt", "a%2f..%2f..%2fout.txt", "%2Fetc%2Fpasswd"] {
        let (status, _, body) = put(&shop, &ann, &format!("{path}/files/{wrong}"), "*", b"x").await;
        assert_eq!((status, &body["error"]), (422, &json!("invalid_skill")), "{wrong}: {body}");
    }
    let file = format!("{path}/files/a.txt");
    assert_eq!(put(&shop, &bob, &file, "*", b"x").await.0, 404, "it is not there for others");
    assert_eq!(put(&shop, &ann, &file, "odd", b"x").await.0, 400);
    let (status, _, body) = put(&shop, &ann, &format!("{file}?odd=1"), "*", b"x").await;
    assert_eq!((status, &body["error"]), (400, &json!("unknown_parameter")));
    let folder = format!("{}/files/a.txt", skill_path("default/apple"));
    assert_eq!(put(&shop, &ann, &folder, "*", b"x").await.2["error"], "not_a_saved_skill");
    assert_eq!(put(&shop, &ann, &file, "*", &vec![b'x'; 16 * 1024 * 1024 + 1]).await.0, 413);
    assert_eq!(ann.get(&path).await.expect(200)["revision"], 1, "nothing was saved");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_taken_over_from_a_repository_as_it_is_at_this_moment() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &["red"]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[
        ("skills/pear/SKILL.md", &instructions("pear", "Pears.", "Pick.")),
        ("skills/pear/notes.txt", "green\n"),
        ("skills/plum/SKILL.md", &instructions("plum", "Plums.", "Shake.")),
    ]);
    let wish = |path: Value| json!({"type": "git", "location": repository.url(), "path": path});
    let several = shop.admin.post(IMPORT, wish(Value::Null)).await;
    several.refused(422, "several_skills");
    assert_eq!(several.body["details"]["paths"], json!(["skills/pear", "skills/plum"]));
    shop.admin.post(IMPORT, wish(json!("skills/none"))).await.refused(422, "no_such_skill");
    let mut pear = wish(json!("skills/pear"));
    pear["visibility"] = json!("team");
    pear["team_ids"] = json!(["red"]);
    ann.post(IMPORT, pear.clone()).await.refused(403, "forbidden");
    let made = shop.admin.post(IMPORT, pear).await;
    assert!(made.header("etag").starts_with("\"1-"), "{}", made.header("etag"));
    let made = made.expect(201);
    assert_eq!(
        (&made["name"], &made["source"], &made["team_ids"]),
        (&json!("pear"), &json!("agent_skills"), &json!(["red"]))
    );
    let path = skill_path(made["id"].as_str().unwrap());
    assert_eq!(ann.get(&format!("{path}/files/notes.txt")).await.text, "green\n");
    repository.commit(&[("skills/pear/notes.txt", "yellow\n")]);
    shop.refresh().await;
    assert_eq!(ann.get(&format!("{path}/files/notes.txt")).await.text, "green\n", "it is a copy");
    assert_eq!(names(&ann.get(SKILLS).await.expect(200)), ["pear"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn importing_goes_nowhere_that_hubs_do_not_go() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    for location in
        ["http://127.0.0.1:1/a.git", "https://169.254.169.254/a.git", "https://elsewhere.example/a.git"]
    {
        let wish = json!({"type": "git", "location": location});
        ann.post(IMPORT, wish).await.refused(400, "invalid_location");
    }
    ann.post(IMPORT, json!({"type": "ftp", "location": "x"})).await.refused(400, "unsupported_type");
    ann.post(IMPORT, json!({"location": "x", "odd": 1})).await.refused(422, "invalid_body");
    let token = json!({"location": "a/b", "credentials_ref": "ARTEL_HUB_TOKEN_X"});
    ann.post(IMPORT, token).await.refused(403, "forbidden");
    let none = json!({"type": "git", "location": format!("file://{}", shop.path("none"))});
    let refused = ann.post(IMPORT, none.clone()).await;
    refused.refused(403, "forbidden");
    let here = json!({"type": "git", "location": format!("file://{}", shop.path("skills"))});
    let there = ann.post(IMPORT, here).await;
    assert_eq!(
        there.body["message"], refused.body["message"],
        "a folder that is there looks like one that is not"
    );
    shop.admin.post(IMPORT, none).await.refused(502, "fetch_failed");
    shop.place.person("eve").await.post(IMPORT, json!({"location": "a/b"})).await.refused(403, "forbidden");
}
