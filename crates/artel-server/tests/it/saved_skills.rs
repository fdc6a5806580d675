//! Skills that people save, over HTTP: made, changed, deleted, uploaded, refused, and written down.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::io::Write as _;

use artel_model::catalog::Gate;
use artel_model::limit::{INCLUDED_BYTES_MAX, INCLUDED_FILE_BYTES_MAX};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::client::Client;
use crate::skills_place::{EVIL, Shop, asked_again, instructions, names, skill_path, without_id};

const SKILLS: &str = "/api/skills";

fn draft(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "content": "Do it well."})
}

fn shown_to(name: &str, visibility: &str, teams: &[&str]) -> Value {
    let mut draft = draft(name);
    draft["visibility"] = json!(visibility);
    draft["team_ids"] = json!(teams);
    draft
}

async fn put(client: &Client, path: &str, revision: &str, draft: &Value) -> crate::client::Answered {
    client.call("PUT", path, &[("if-match", revision)], Some(draft)).await
}

/// Sends bytes as they are; returns the status and the body.
async fn upload(shop: &Shop, client: &Client, media: &str, bytes: Vec<u8>) -> (u16, Value) {
    upload_to(shop, client, SKILLS, media, bytes).await
}

async fn upload_to(shop: &Shop, client: &Client, path: &str, media: &str, bytes: Vec<u8>) -> (u16, Value) {
    let request = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = request.post(format!("http://{}{path}", shop.place.address)).body(bytes);
    let request = request.bearer_auth(client.credential().unwrap()).header("content-type", media);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
}

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, text) in files {
        archive.start_file(*path, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_saved_changed_and_deleted_and_its_history_stays() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let mut first = draft("bake");
    first["title"] = json!("Bake a cake");
    first["metadata"] = json!({"tags": ["kitchen"]});
    first["files"] = json!([{"path": "steps.txt", "text": "mix\n"}, {"path": "raw.bin", "base64": "/wD+"}]);
    let made = ann.post(SKILLS, first.clone()).await;
    let (tag, location) = (made.header("etag").to_owned(), made.header("location").to_owned());
    let made = made.expect(201);
    assert_eq!(made["revision"], 1);
    assert_eq!((&made["source"], &made["source_label"]), (&json!("agent_skills"), &json!("Custom")));
    assert_eq!((&made["visibility"], &made["owner_user_id"]), (&json!("personal"), &json!("ann")));
    assert_eq!((&made["scan_status"], &made["title"]), (&json!("passed"), &json!("Bake a cake")));
    assert_eq!(made.get("warnings"), None);
    let path = skill_path(made["id"].as_str().unwrap());
    assert_eq!(location, path);
    let read = ann.get(&path).await;
    let read_tag = read.header("etag").to_owned();
    assert_eq!(read_tag, tag, "saving answers the tag that reading answers");
    assert_eq!(read.expect(200)["revision"], 1);
    assert_eq!(ann.get(&format!("{path}/files/steps.txt")).await.text, "mix\n");

    let mut second = first.clone();
    second["files"] = json!([{"path": "steps.txt", "text": "mix twice\n"}]);
    for stale in ["\"7\"", "\"odd\"", &format!("W/{tag}"), "\"0-00\", \"7-00\""] {
        put(&ann, &path, stale, &second).await.refused(412, "revision_conflict");
        ann.call("DELETE", &path, &[("if-match", stale)], None).await.refused(412, "revision_conflict");
    }
    put(&ann, &path, "odd", &second).await.refused(400, "invalid_if_match");
    let changed = put(&ann, &path, &read_tag, &second).await;
    let second_tag = changed.header("etag").to_owned();
    assert_eq!(second_tag, ann.get(&path).await.header("etag"));
    let changed = changed.expect(200);
    assert_eq!((&changed["revision"], &changed["id"]), (&json!(2), &made["id"]));
    assert_ne!(changed["content_hash"], made["content_hash"]);
    put(&ann, &path, &read_tag, &first).await.refused(412, "revision_conflict");
    assert_eq!(asked_again(&ann, &path, &read_tag).await, 200);
    assert_eq!(ann.get(&format!("{path}/files/steps.txt")).await.text, "mix twice\n");
    ann.get(&format!("{path}/files/raw.bin")).await.refused(404, "not_found");

    ann.call("DELETE", &path, &[("if-match", &read_tag)], None).await.refused(412, "revision_conflict");
    assert_eq!(ann.call("DELETE", &path, &[("if-match", &second_tag)], None).await.status, 204);
    ann.get(&path).await.refused(404, "not_found");
    ann.call("DELETE", &path, &[], None).await.refused(404, "not_found");
    put(&ann, &path, "*", &second).await.refused(404, "not_found");

    let history = ann.get(&format!("{path}/history")).await.expect(200);
    let told: Vec<(u64, bool)> = history["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["revision"].as_u64().unwrap(), change["is_deleted"].as_bool().unwrap()))
        .collect();
    assert_eq!(told, [(3, true), (2, false), (1, false)]);
    assert_eq!(
        history["items"][2]["draft"],
        json!({
            "name": "bake", "title": "Bake a cake", "description": "Does bake.", "content": "Do it well.",
            "metadata": {"tags": ["kitchen"]}, "visibility": "personal",
            "files": [
                {"path": "raw.bin", "base64": "/wD+", "is_executable": false},
                {"path": "steps.txt", "text": "mix\n", "is_executable": false},
            ],
        }),
        "what is in the history can be saved again as it is"
    );
    let bob = shop.member("bob", &[]).await;
    bob.get(&format!("{path}/history")).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_has_pages() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let made = shop.admin.post(SKILLS, draft("bake")).await.expect(201);
    let path = skill_path(made["id"].as_str().unwrap());
    put(&shop.admin, &path, "*", &draft("bake")).await.expect(200);
    let first = shop.admin.get(&format!("{path}/history?limit=1")).await.expect(200);
    assert_eq!(first["items"][0]["revision"], 2);
    let cursor = first["next"].as_str().unwrap();
    let second = shop.admin.get(&format!("{path}/history?limit=1&after={cursor}")).await.expect(200);
    assert_eq!((&second["items"][0]["revision"], &second["next"]), (&json!(1), &Value::Null));
    shop.admin.get(&format!("{path}/history?after=odd")).await.refused(400, "invalid_cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_says_what_is_the_servers_to_say() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let ann = shop.member("ann", &[]).await;
    let made = ann.post(SKILLS, draft("bake")).await.expect(201);
    let path = skill_path(made["id"].as_str().unwrap());
    for field in ["scan_status", "owner_user_id", "source", "source_id", "id", "scan", "content_hash", "odd"]
    {
        let mut draft = draft("bake");
        draft[field] = json!("passed");
        ann.post(SKILLS, draft.clone()).await.refused(422, "invalid_body");
        put(&ann, &path, "*", &draft).await.refused(422, "invalid_body");
    }
    let wrong = [
        ("name", json!("Not A Name")),
        ("description", json!("")),
        ("visibility", json!("everyone")),
        ("files", json!([{"path": "../out.txt", "text": ""}])),
        ("files", json!([{"path": "/etc/passwd", "text": ""}])),
        ("files", json!([{"path": "SKILL.md", "text": ""}])),
        ("files", json!([{"path": "skill.md", "text": ""}])),
    ];
    for (field, value) in wrong {
        let mut draft = draft("bake");
        draft[field] = value;
        let refused = ann.post(SKILLS, draft).await;
        refused.refused(422, "invalid_skill");
        let pointer = refused.body["details"]["problems"][0]["pointer"].as_str().unwrap();
        assert!(pointer.starts_with(&format!("/{field}")), "{}", refused.text);
    }
    let mut odd = draft("bake");
    odd["files"] = json!([{"path": "a", "text": "", "base64": ""}]);
    ann.post(SKILLS, odd.clone()).await.refused(422, "invalid_body");
    odd["files"] = json!([{"path": "a", "base64": "?"}]);
    ann.post(SKILLS, odd).await.refused(422, "invalid_body");
    ann.post(SKILLS, json!({"description": "x"})).await.refused(422, "invalid_body");
    put(&ann, &skill_path("default/apple"), "*", &draft("apple")).await.refused(409, "not_a_saved_skill");
    ann.get(&format!("{}/history", skill_path("default/apple"))).await.refused(404, "not_found");
    assert_eq!(names(&ann.get(SKILLS).await.expect(200)), ["apple", "bake"]);
    shop.place.person("eve").await.post(SKILLS, draft("bake")).await.refused(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_show_skills_to_their_teams_and_administrators_to_everybody() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let (ann, bob) = (shop.member("ann", &["red", "blue"]).await, shop.member("bob", &["red"]).await);
    ann.post(SKILLS, shown_to("all", "global", &[])).await.refused(403, "forbidden");
    ann.post(SKILLS, shown_to("green", "team", &["green"])).await.refused(403, "forbidden");
    ann.post(SKILLS, shown_to("both", "team", &["red", "green"])).await.refused(403, "forbidden");
    ann.post(SKILLS, shown_to("none", "team", &[])).await.refused(422, "invalid_skill");
    let red = ann.post(SKILLS, shown_to("red", "team", &["red"])).await.expect(201);
    assert_eq!((&red["team_ids"], red.get("owner_user_id")), (&json!(["red"]), None));
    ann.post(SKILLS, shown_to("blue", "team", &["blue"])).await.expect(201);
    ann.post(SKILLS, shown_to("own", "personal", &[])).await.expect(201);
    shop.admin.post(SKILLS, shown_to("all", "global", &[])).await.expect(201);
    shop.admin.post(SKILLS, shown_to("green", "team", &["green"])).await.expect(201);
    assert_eq!(names(&ann.get(SKILLS).await.expect(200)), ["all", "blue", "own", "red"]);
    assert_eq!(names(&bob.get(SKILLS).await.expect(200)), ["all", "red"]);
    assert_eq!(names(&bob.get("/api/skills?visibility=team").await.expect(200)), ["red"]);

    let path = skill_path(red["id"].as_str().unwrap());
    put(&bob, &path, "*", &shown_to("red", "team", &["red"])).await.refused(403, "forbidden");
    bob.call("DELETE", &path, &[], None).await.refused(403, "forbidden");
    bob.get(&format!("{path}/history")).await.refused(403, "forbidden");
    put(&ann, &path, "*", &shown_to("red", "global", &[])).await.refused(403, "forbidden");
    put(&ann, &path, "*", &shown_to("red", "personal", &[])).await.expect(200);
    bob.get(&path).await.refused(404, "not_found");
    put(&bob, &path, "*", &draft("red")).await.refused(404, "not_found");
    let changed = put(&shop.admin, &path, "*", &shown_to("red", "personal", &[])).await.expect(200);
    assert_eq!(changed["owner_user_id"], "ann", "an administrator who changes it does not take it away");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_skill_comes_as_an_archive() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let files = [
        ("bake/SKILL.md", instructions("bake", "Bakes: \"cakes\".", "Mix.")),
        ("bake/steps/one.txt", "mix\n".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (status, made) = upload(&shop, &ann, "application/zip", zipped(&files)).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!((&made["name"], &made["description"]), (&json!("bake"), &json!("Bakes: \"cakes\".")));
    assert_eq!((&made["visibility"], &made["owner_user_id"]), (&json!("personal"), &json!("ann")));
    let path = skill_path(made["id"].as_str().unwrap());
    assert_eq!(ann.get(&format!("{path}/files/steps/one.txt")).await.text, "mix\n");
    let wrong = [
        b"no archive".to_vec(),
        zipped(&[("readme.txt", "no skill")]),
        zipped(&[files[0], ("bake/../../out.txt", "out")]),
    ];
    for bytes in wrong {
        let (status, refused) = upload(&shop, &ann, "application/zip", bytes).await;
        assert_eq!((status, &refused["error"]), (422, &json!("invalid_archive")), "{refused}");
    }
    assert_eq!(upload(&shop, &ann, "text/plain", b"x".to_vec()).await.0, 415);
    assert_eq!(upload(&shop, &ann, "application/json", b"{".to_vec()).await.1["error"], "invalid_json");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_query_of_an_archive_is_honoured() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let (ann, bob) = (shop.member("ann", &["red", "blue"]).await, shop.member("bob", &["red"]).await);
    let archive = || zipped(&[("SKILL.md", &instructions("bake", "Bakes.", "Mix."))]);
    let send = async |query: &str| {
        upload_to(&shop, &ann, &format!("{SKILLS}?{query}"), "application/zip", archive()).await
    };
    let (status, made) = send("name=fry&title=Fry%20it&visibility=team&team_ids=red,%20blue").await;
    assert_eq!(status, 201, "{made}");
    assert_eq!((&made["name"], &made["title"]), (&json!("fry"), &json!("Fry it")));
    assert_eq!((&made["visibility"], &made["team_ids"]), (&json!("team"), &json!(["blue", "red"])));
    assert_eq!(names(&bob.get(SKILLS).await.expect(200)), ["fry"]);
    let refused = [
        ("visibility=global", 403, "forbidden"),
        ("visibility=team&team_ids=green", 403, "forbidden"),
        ("visibility=team", 422, "invalid_skill"),
        ("visibility=odd", 422, "invalid_skill"),
        ("name=Not%20A%20Name", 422, "invalid_skill"),
        ("owner_user_id=bob", 400, "unknown_parameter"),
    ];
    for (query, status, code) in refused {
        let (was, body) = send(query).await;
        assert_eq!((was, body["error"].as_str().unwrap()), (status, code), "{query}: {body}");
    }
    ann.post(&format!("{SKILLS}?visibility=team"), draft("boil")).await.refused(400, "invalid_query");
    assert_eq!(names(&ann.get(SKILLS).await.expect(200)), ["fry"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn contents_come_with_skills_within_their_caps() {
    let shop = Shop::open(Gate::Off, &[]).await;
    let mut large = draft("bake");
    let word = |bytes: u64| "word ".repeat(usize::try_from(bytes).unwrap() / 5);
    let mut files =
        vec![json!({"path": "raw.bin", "base64": "/wD+"}), json!({"path": "steps.txt", "text": "mix\n"})];
    files.push(json!({"path": "large.txt", "text": word(INCLUDED_FILE_BYTES_MAX + 10)}));
    let many = INCLUDED_BYTES_MAX / 1_000_000 + 1;
    files.extend((0..many).map(|part| json!({"path": format!("part{part}.txt"), "text": word(1_000_000)})));
    large["files"] = json!(files);
    let path = skill_path(shop.admin.post(SKILLS, large).await.expect(201)["id"].as_str().unwrap());
    let file = |entry: &Value, name: &str| -> Value {
        entry["files"].as_array().unwrap().iter().find(|file| file["path"] == name).unwrap().clone()
    };
    let one = shop.admin.get(&format!("{path}?include_content=true")).await.expect(200);
    let listed = shop.admin.get("/api/skills?include_content=true").await.expect(200)["skills"][0].clone();
    for entry in [one, listed] {
        assert_eq!(file(&entry, "raw.bin")["base64"], "/wD+");
        assert_eq!(file(&entry, "large.txt").get("text"), None);
        let told = |file: &&Value| file.get("text").is_some() || file.get("base64").is_some();
        let files = entry["files"].as_array().unwrap();
        let bytes: u64 = files.iter().filter(told).map(|file| file["size"].as_u64().unwrap()).sum();
        assert!(bytes <= INCLUDED_BYTES_MAX && bytes > INCLUDED_BYTES_MAX - 1_100_000, "{bytes}");
        let missing = files.iter().filter(|file| !told(file)).count();
        assert_eq!(entry["contents_left_out"], missing, "{missing} of {}", files.len());
    }
    for without in [path, "/api/skills".to_owned(), "/api/skills?include_content=false".to_owned()] {
        let answer = shop.admin.get(&without).await;
        assert!(!answer.text.contains("/wD+") && !answer.text.contains("contents_left_out"), "{without}");
    }
}

/// Returns a text that cannot be packed well: it repeats itself only at a distance.
fn digits(bytes: usize) -> String {
    let step = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    let block =
        std::iter::successors(Some(1_u64), step).take(8192).map(|state| format!("{:08x}", state >> 32));
    block.collect::<String>().repeat(bytes / (8 * 8192))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_skill_draws_a_warning_and_a_huge_one_is_refused() {
    let shop = Shop::open(Gate::Off, &[]).await;
    let large = |bytes: usize| {
        let mut draft = draft("large");
        // Many files, because one of that size is hardly text.
        let parts =
            (0..16).map(|part| json!({"path": format!("{part}.txt"), "text": "word ".repeat(bytes / 80)}));
        draft["files"] = parts.collect();
        draft
    };
    let made = shop.admin.post(SKILLS, large(0x51_0000)).await.expect(201);
    assert!(made["warnings"][0].as_str().unwrap().contains("more than 5242880"), "{}", made["warnings"]);
    let path = skill_path(made["id"].as_str().unwrap());
    shop.admin.post(SKILLS, large(17 << 20)).await.refused(413, "too_large");
    put(&shop.admin, &path, "*", &large(17 << 20)).await.refused(413, "too_large");
    // An archive is small on its way, and counts by what is in it.
    let instructions = instructions("large", "Large.", "Much.");
    for (text, expected) in
        [(digits(17 << 20), (413, "too_large")), ("x".repeat(4 << 20), (422, "invalid_archive"))]
    {
        let archive = zipped(&[("SKILL.md", &instructions), ("a.txt", &text)]);
        assert!(archive.len() < 16 << 20);
        let (status, refused) = upload(&shop, &shop.admin, "application/zip", archive).await;
        assert_eq!((status, refused["error"].as_str().unwrap()), expected, "{refused}");
    }
    assert_eq!(names(&shop.admin.get(SKILLS).await.expect(200)), ["large"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_saved_is_scanned_at_once() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let mut evil = draft("evil");
    evil["files"] = json!([{"path": "scripts/run.sh", "text": EVIL, "is_executable": true}]);
    let made = ann.post(SKILLS, evil).await.expect(201);
    assert_eq!(
        (&made["scan_status"], &made["scan"]["max_severity"]),
        (&json!("flagged"), &json!("critical"))
    );
    let path = skill_path(made["id"].as_str().unwrap());
    assert_eq!(ann.get(&path).await.expect(200)["is_held_back"], true, "its owner may read it");
    let id = made["id"].as_str().unwrap();
    let found = ann.get(&format!("/api/scan-findings?skill_id={id}")).await.expect(200);
    assert_eq!(found["items"][0]["path"], "scripts/run.sh", "its author is told what is wrong: {found}");
    let mended = put(&ann, &path, "\"1\"", &draft("evil")).await.expect(200);
    assert_eq!(mended["scan_status"], "passed");
    assert_eq!(ann.get(&path).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_saved_what_is_written_down() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let made = ann.post(SKILLS, draft("bake")).await.expect(201);
    let path = skill_path(made["id"].as_str().unwrap());
    put(&ann, &path, "\"1\"", &draft("bake")).await.expect(200);
    put(&ann, &path, "\"1\"", &draft("bake")).await.refused(412, "revision_conflict");
    assert_eq!(shop.admin.call("DELETE", &path, &[], None).await.status, 204);
    let subject = made["id"].as_str().unwrap().strip_prefix("agent_skills/").unwrap();
    let log = shop.admin.get(&format!("/api/audit?subject={subject}")).await.expect(200);
    let told: Vec<(&str, &str, &str)> = log["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let text = |field: &str| entry[field].as_str().unwrap();
            (text("action"), text("user"), text("summary"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("skill_deleted", "admin", "bake"),
            ("skill_updated", "ann", "bake"),
            ("skill_created", "ann", "bake"),
        ]
    );
    assert!(log["items"][1]["credential"].as_str().unwrap().starts_with("key "));
    assert_eq!(log["items"][0]["from"], "127.0.0.1");
    ann.get("/api/audit").await.refused(403, "forbidden");
    let unknown = skill_path("agent_skills/01890a5d-ac96-774b-bcce-b302099a8057");
    assert_eq!(without_id(&ann.get(&path).await), without_id(&ann.get(&unknown).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hides_another_skill_says_so_to_those_who_see_both() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let (ann, bob) = (shop.member("ann", &["red"]).await, shop.member("bob", &[]).await);
    let mut team = draft("bake");
    team["visibility"] = json!("team");
    team["team_ids"] = json!(["red"]);
    let team = ann.post("/api/skills", team).await.expect(201);
    let mut global = draft("bake");
    global["visibility"] = json!("global");
    let global = shop.admin.post("/api/skills", global).await.expect(201);
    assert_eq!(global.get("shadowed_by"), None, "an administrator without the team sees no other");
    let (team, global) = (team["id"].as_str().unwrap(), global["id"].as_str().unwrap());
    let list = ann.get("/api/skills").await.expect(200);
    assert_eq!((&list["skills"][0]["id"], &list["skills"][0]["shadows"]), (&json!(team), &json!([global])));
    let hidden = ann.get(&skill_path(global)).await.expect(200);
    assert_eq!(hidden["shadowed_by"], team);
    assert_eq!(ann.get(&skill_path(team)).await.expect(200)["shadows"], json!([global]));
    let list = bob.get("/api/skills").await.expect(200);
    assert_eq!((&list["skills"][0]["id"], list["skills"][0].get("shadows")), (&json!(global), None));
    // A third one says at once that another is listed instead.
    let third = ann.post("/api/skills", draft("bake")).await;
    if third.status == 201 {
        assert_eq!(third.expect(201)["shadowed_by"], team);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_the_servers_own_skills_cannot_be_taken() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let ann = shop.member("ann", &[]).await;
    let taken = ann.post("/api/skills", draft("apple")).await;
    taken.refused(409, "name_taken");
    let made = ann.post("/api/skills", draft("bake")).await.expect(201);
    let path = skill_path(made["id"].as_str().unwrap());
    ann.call("PUT", &path, &[], Some(&draft("apple"))).await.refused(409, "name_taken");
    // One that was there first keeps its name, and says what is listed instead.
    shop.write("bake/SKILL.md", &instructions("bake", "Bakes.", "Bake."));
    shop.refresh().await;
    let again = ann.call("PUT", &path, &[], Some(&draft("bake"))).await.expect(200);
    assert_eq!(again["shadowed_by"], "default/bake");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_sees_what_is_held_back_and_others_do_not() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let (ann, bob) = (shop.member("ann", &["red"]).await, shop.member("bob", &["red"]).await);
    let mut evil = draft("evil");
    evil["visibility"] = json!("team");
    evil["team_ids"] = json!(["red"]);
    evil["files"] = json!([{"path": "scripts/run.sh", "text": EVIL, "is_executable": true}]);
    let made = ann.post("/api/skills", evil).await.expect(201);
    assert_eq!((&made["is_held_back"], &made["scan_status"]), (&json!(true), &json!("flagged")));
    let (id, path) = (made["id"].as_str().unwrap(), skill_path(made["id"].as_str().unwrap()));
    let list = ann.get("/api/skills").await.expect(200);
    assert_eq!(
        (&list["skills"], &list["meta"]["total"]),
        (&json!([]), &json!(0)),
        "it is not listed as usable"
    );
    assert_eq!(
        (&list["held_back"][0]["id"], &list["held_back"][0]["is_held_back"]),
        (&json!(id), &json!(true))
    );
    assert_eq!(ann.get(&path).await.expect(200)["is_held_back"], true);
    assert_eq!(ann.get(&format!("{path}/files/scripts/run.sh")).await.text, EVIL);
    let findings = |client: crate::client::Client| async move {
        client.get(&format!("/api/scan-findings?skill_id={id}")).await.expect(200)["items"].clone()
    };
    assert_eq!(findings(ann.clone()).await[0]["rule_id"], "reverse-shell");
    assert_eq!(findings(bob.clone()).await, json!([]));
    assert_eq!(bob.get("/api/skills").await.expect(200).get("held_back"), None);
    bob.get(&path).await.refused(404, "not_found");
    let checked = ann.post("/api/plans/validate", crate::plans::plan("evil", json!({}))).await.expect(200);
    assert_eq!(checked["problems"][0]["code"], "unknown_skill", "it cannot be run: {checked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_a_deleted_skill_go_when_nothing_uses_them() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let made = ann.post(SKILLS, draft("bake")).await.expect(201);
    let kept = ann.post(SKILLS, draft("cook")).await.expect(201);
    let folder = |made: &Value| {
        shop.path("data/custom").join(made["id"].as_str().unwrap().strip_prefix("agent_skills/").unwrap())
    };
    // A reader, like a run that began before, holds the skill.
    let held = shop.catalogs.snapshot().unwrap();
    assert_eq!(ann.call("DELETE", &skill_path(made["id"].as_str().unwrap()), &[], None).await.status, 204);
    shop.hubs.tidy_saved(0).await;
    assert!(folder(&made).is_dir(), "it is still held");
    drop(held);
    shop.hubs.tidy_saved(60_000).await;
    assert!(folder(&made).is_dir(), "another process may not know yet");
    shop.hubs.tidy_saved(0).await;
    assert!(!folder(&made).exists() && folder(&kept).is_dir());
}
