//! Files that runs made, over HTTP: for their owner, as attachments.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::place::{Place, TestSkill, done};

const PATIENCE: Duration = Duration::from_secs(30);

/// Makes a page that would run in a browser, and a large file.
fn script() -> String {
    let asset = |id: &str, media: &str, path: &str| {
        format!(
            r#"echo '{{"version":"0","type":"asset","assetId":"{id}","kind":"file","mediaType":"{media}","path":"{path}"}}'"#
        )
    };
    [
        "mkdir out; echo '<script>1</script>' > out/page.html; head -c 300000 /dev/zero > big.bin",
        &asset("page", "text/html", "out/page.html"),
        &asset("big", "image/png", "big.bin"),
        &done("{}"),
    ]
    .join("\n")
}

/// Runs the skill and waits until the run is over.
async fn ran(client: &Client) -> String {
    let started = client.post("/api/runs", json!({"skill": "maker"})).await.expect(202);
    let id = started["run_id"]
        .as_str()
        .or(started["runId"].as_str())
        .or(started["id"].as_str())
        .unwrap()
        .to_owned();
    let waiting = async {
        loop {
            let run: Value = client.get(&format!("/api/runs/{id}")).await.expect(200);
            if run["assets"].as_array().is_some_and(|assets| assets.len() == 2) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the run makes two files");
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_run_are_downloaded_by_its_owner_and_shown_by_no_browser() {
    let place = Place::open(&[TestSkill("maker", json!({}), &script())]).await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    let id = ran(&ann).await;
    let path = format!("/api/runs/{id}/assets/out/page.html");
    let page = ann.get(&path).await;
    assert_eq!((page.status, page.text.as_str()), (200, "<script>1</script>\n"));
    assert_eq!(page.header("content-type"), "application/octet-stream");
    assert_eq!(page.header("content-disposition"), "attachment; filename=\"page.html\"");
    assert_eq!((page.header("x-content-type-options"), page.header("content-length")), ("nosniff", "19"));
    assert!(page.header("content-security-policy").contains("sandbox"));
    let again = ann.call("GET", &path, &[("if-none-match", page.header("etag"))], None).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    for name in ["big.bin", "big"] {
        let big = ann.get(&format!("/api/runs/{id}/assets/{name}")).await;
        assert_eq!((big.header("content-type"), big.header("content-length")), ("image/png", "300000"));
        assert_eq!(big.text.len(), 300_000);
    }
    bob.get(&path).await.refused(404, "not_found");
    assert_eq!(place.admin.get(&path).await.status, 200);
    for wrong in ["none.txt", "..%2f..%2fetc%2fpasswd", "out"] {
        ann.get(&format!("/api/runs/{id}/assets/{wrong}")).await.refused(404, "not_found");
    }
    place.somebody("eve", &["catalog:read"]).await.get(&path).await.refused(403, "forbidden");
}
