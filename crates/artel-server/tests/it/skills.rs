//! Skills over HTTP: listed, searched, read, and what is said when sources fail.

use artel_model::catalog::Gate;
use serde_json::{Value, json};

use crate::skills_place::{Shop, asked_again, instructions, names, skill_path};

/// Three skills, one with a file beside its instructions.
async fn shop() -> Shop {
    let zebra =
        "---\nname: zebra\ndescription: Paints stripes.\nmetadata:\n  tags: paint animal\n---\nUse black.\n";
    Shop::open(
        Gate::Off,
        &[
            ("apple/SKILL.md", &instructions("apple", "Peels fruit.", "Take a knife.")),
            ("apple/notes/peel.txt", "round and round\n"),
            ("mango/SKILL.md", &instructions("mango", "Cuts fruit.", "Mind the stone.")),
            ("zebra/SKILL.md", zebra),
        ],
    )
    .await
}

async fn list(shop: &Shop, query: &str) -> Value {
    shop.admin.get(&format!("/api/skills{query}")).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_has_its_order_its_pages_and_no_bodies() {
    let shop = shop().await;
    let all = list(&shop, "").await;
    assert_eq!(names(&all), ["apple", "mango", "zebra"]);
    assert_eq!(all["meta"]["total"], 3);
    assert_eq!((&all["meta"]["page"], &all["meta"]["page_size"]), (&json!(1), &json!(50)));
    assert_eq!(all["meta"]["has_more"], false);
    assert_eq!(all["meta"]["sources_loaded"], json!(["default", "agent_skills"]));
    assert_eq!(all["meta"]["unavailable_sources"], json!([]));
    assert_eq!(all["meta"].get("message"), None);
    assert!(all["meta"]["generation"].is_u64());
    assert_eq!(all["skills"][0].get("content"), None);
    let first = list(&shop, "?page=1&page_size=2").await;
    assert_eq!((names(&first), &first["meta"]["has_more"]), (vec!["apple", "mango"], &json!(true)));
    let second = list(&shop, "?page=2&page_size=2").await;
    assert_eq!((names(&second), &second["meta"]["has_more"]), (vec!["zebra"], &json!(false)));
    let full = list(&shop, "?include_content=true&page_size=1").await;
    assert_eq!(full["skills"][0]["content"].as_str().unwrap().trim(), "Take a knife.");
    assert!(full.to_string().contains("round and round") && !all.to_string().contains("round and round"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_for_decides_what_is_listed() {
    let shop = shop().await;
    let expected: &[(&str, &[&str])] = &[
        ("?q=stripes", &["zebra"]),
        ("?q=zebr", &["zebra"]),
        ("?source=default", &["apple", "mango", "zebra"]),
        ("?source=hub", &[]),
        ("?visibility=global", &["apple", "mango", "zebra"]),
        ("?visibility=team", &[]),
        ("?tags=paint", &["zebra"]),
        ("?tags=paint,%20ANIMAL", &["zebra"]),
        ("?tags=paint,metal", &[]),
        ("?scan_status=passed", &["apple", "mango", "zebra"]),
        ("?scan_status=flagged", &[]),
        ("?q=xylophone", &[]),
    ];
    for (query, expected) in expected {
        let answer = list(&shop, query).await;
        assert_eq!(names(&answer), *expected, "{query}");
        assert_eq!(answer["meta"]["total"], expected.len(), "{query}");
        let message = if expected.is_empty() { json!("no_matches") } else { Value::Null };
        assert_eq!(answer["meta"]["message"], message, "{query}");
    }
    let wrong =
        ["?source=odd", "?visibility=odd", "?scan_status=odd", "?page=0", "?page_size=0", "?page_size=201"];
    for query in wrong {
        shop.admin.get(&format!("/api/skills{query}")).await.refused(400, "invalid_query");
    }
    shop.admin.get("/api/skills?odd=1").await.refused(400, "unknown_parameter");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_skill_and_its_files_are_read_by_id() {
    let shop = shop().await;
    let apple = shop.admin.get(&skill_path("default/apple")).await;
    assert_eq!(apple.header("vary"), "authorization, x-artel-key");
    assert_eq!(apple.header("cache-control"), "private, no-cache");
    let apple = apple.expect(200);
    assert_eq!((&apple["id"], &apple["name"]), (&json!("default/apple"), &json!("apple")));
    assert_eq!((&apple["source"], &apple["source_label"]), (&json!("default"), &json!("Built-in")));
    assert_eq!((&apple["visibility"], &apple["team_ids"]), (&json!("global"), &json!([])));
    assert_eq!(apple["content"].as_str().unwrap().trim(), "Take a knife.");
    let files: Vec<&str> =
        apple["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["SKILL.md", "notes/peel.txt"]);
    let file = shop.admin.get("/api/skills/default%2Fapple/files/notes/peel.txt").await;
    assert_eq!((file.status, file.text.as_str()), (200, "round and round\n"));
    assert_eq!(file.header("content-disposition"), "attachment");
    assert_eq!(file.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    for path in [
        "default%2Fnobody",
        "default",
        "odd",
        "hub%2Fodd%2Fx",
        "agent_skills%2Fodd",
        "default%2F..%2F..%2Fetc",
    ] {
        shop.admin.get(&format!("/api/skills/{path}")).await.refused(404, "not_found");
        shop.admin.get(&format!("/api/skills/{path}/files/SKILL.md")).await.refused(404, "not_found");
    }
    for path in ["nothing.txt", "..%2F..%2Fmango%2FSKILL.md", "%2Fetc%2Fpasswd", "notes"] {
        let file = shop.admin.get(&format!("/api/skills/default%2Fapple/files/{path}")).await;
        file.refused(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_not_changed_is_not_sent_again() {
    let shop = shop().await;
    let file = "/api/skills/default%2Fapple/files/notes/peel.txt".to_owned();
    let paths = ["/api/skills".to_owned(), skill_path("default/apple"), file];
    let mut tags = Vec::new();
    for path in &paths {
        let tag = shop.admin.get(path).await.header("etag").to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        assert_eq!(asked_again(&shop.admin, path, &tag).await, 304, "{path}");
        assert_eq!(asked_again(&shop.admin, path, "\"other\"").await, 200, "{path}");
        let several = format!("\"other\", W/{tag}");
        assert_eq!(shop.admin.call("GET", path, &[("if-none-match", &several)], None).await.status, 304);
        tags.push(tag);
    }
    shop.refresh().await;
    for (path, tag) in paths.iter().zip(&tags) {
        assert_eq!(
            asked_again(&shop.admin, path, tag).await,
            304,
            "reading the same again changes nothing: {path}"
        );
    }
    shop.write("apple/notes/peel.txt", "up and down\n");
    shop.refresh().await;
    for (path, tag) in paths.iter().zip(&tags) {
        assert_eq!(asked_again(&shop.admin, path, tag).await, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_shown_as_it_was_scanned_or_not_at_all() {
    let shop = shop().await;
    let path = "/api/skills/default%2Fapple/files/notes/peel.txt";
    shop.write("apple/notes/peel.txt", "something else\n");
    let changed = shop.admin.get(path).await;
    changed.refused(503, "file_changed");
    assert_eq!(changed.header("retry-after"), "1");
    let again = shop.admin.get(path).await;
    assert_eq!((again.status, again.text.as_str()), (200, "something else\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_serve_is_not_the_same_as_an_empty_catalog() {
    let shop = Shop::unread(Gate::Off, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let unavailable = |answer: crate::client::Answered| {
        answer.refused(503, "skills_unavailable");
        assert_eq!(answer.body["message"], "Skills are temporarily unavailable. Please try again later.");
        assert_eq!(answer.header("retry-after"), "1");
    };
    unavailable(shop.admin.get("/api/skills").await);
    shop.set_failing(true);
    let refreshed = shop.refresh().await;
    assert_eq!(refreshed["unavailable_sources"][0]["state"], "unavailable");
    unavailable(shop.admin.get("/api/skills").await);
    unavailable(shop.admin.get("/api/skills?q=apple").await);
    unavailable(shop.admin.get(&skill_path("default/apple")).await);
    shop.set_failing(false);
    shop.refresh().await;
    assert_eq!(names(&list(&shop, "").await), ["apple"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_of_others_do_not_make_a_failing_server_look_empty() {
    let shop = Shop::unread(Gate::Off, &[]).await;
    shop.set_failing(true);
    let (ann, bob) = (shop.member("ann", &[]).await, shop.member("bob", &[]).await);
    bob.get("/api/skills").await.refused(503, "skills_unavailable");
    let secret = json!({"name": "secret", "description": "Ann's own.", "content": "Hush."});
    ann.post("/api/skills", secret).await.expect(201);
    assert_eq!(names(&ann.get("/api/skills").await.expect(200)), ["secret"]);
    bob.get("/api/skills").await.refused(503, "skills_unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_fails_keeps_its_last_good_content() {
    let shop = shop().await;
    let before = shop.admin.get("/api/skills").await;
    shop.set_failing(true);
    shop.refresh().await;
    let stale = shop.admin.get("/api/skills").await;
    assert_ne!(stale.header("etag"), before.header("etag"), "whoever kept the list learns of it");
    let stale = stale.expect(200);
    assert_eq!(names(&stale), ["apple", "mango", "zebra"]);
    let [source] = stale["meta"]["unavailable_sources"].as_array().unwrap().as_slice() else {
        panic!("{stale}")
    };
    assert_eq!((&source["source"], &source["state"]), (&json!("default"), &json!("stale")));
    assert_eq!((&source["label"], &source["reason"]), (&json!("Built-in"), &json!("the disk is away")));
    let since = source["since"].clone();
    assert!(since.is_string());
    shop.refresh().await;
    assert_eq!(
        list(&shop, "").await["meta"]["unavailable_sources"][0]["since"],
        since,
        "it counts from the first"
    );
    shop.set_failing(false);
    shop.refresh().await;
    let after = shop.admin.get("/api/skills").await;
    assert_eq!(after.header("etag"), before.header("etag"));
    assert_eq!(after.expect(200)["meta"]["unavailable_sources"], json!([]));
}
