//! The description of the API: what it says is what is kept in the documentation, and its page shows it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::place::Place;

/// Where the document is kept.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

#[tokio::test(flavor = "multi_thread")]
async fn the_description_is_the_one_that_is_kept() {
    let place = Place::open(&[]).await;
    let served = place.admin.with(None).get("/api/openapi.json").await.expect(200);
    let text = format!("{}\n", serde_json::to_string_pretty(&served).unwrap());
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever changes the API asks for its description to be written"
    )]
    let is_update = std::env::var_os("ARTEL_UPDATE_DOCS").is_some();
    if is_update {
        std::fs::write(KEPT, &text).unwrap();
    }
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    assert!(kept == text, "docs/openapi.json is old: run the tests of artel-server with ARTEL_UPDATE_DOCS=1");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_reference_in_the_description_leads_somewhere() {
    let place = Place::open(&[]).await;
    let document = place.admin.get("/api/openapi.json").await.expect(200);
    let mut references = BTreeSet::new();
    collect(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

fn collect(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get("$ref") {
                references.insert(reference.clone());
            }
            object.values().for_each(|value| collect(value, references));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, references)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_needs_nothing_from_elsewhere() {
    let place = Place::open(&[]).await;
    let anybody = place.admin.with(None);
    let page = anybody.get("/api/docs").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").contains("script-src 'self'"));
    assert!(!page.text.contains("<script>") && !page.text.contains(" style="), "{}", page.text);
    for (path, media) in [("/api/docs/page.js", "text/javascript"), ("/api/docs/page.css", "text/css")] {
        assert!(page.text.contains(path));
        let part = anybody.get(path).await;
        assert_eq!(part.status, 200);
        assert!(part.header("content-type").starts_with(media));
    }
}
