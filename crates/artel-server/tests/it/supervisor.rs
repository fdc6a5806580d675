//! The supervisor over HTTP: whether it works with what is served, and being told to.

use artel_model::catalog::Gate;
use serde_json::{Value, json};

use crate::client::Client;
use crate::skills_place::{Shop, instructions};

async fn status(client: &Client) -> Value {
    client.get("/api/skills/supervisor-status").await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_supervisor_is_unknown_in_sync_and_stale() {
    let shop =
        Shop::unread(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let unknown = status(&shop.admin).await;
    assert_eq!((&unknown["sync_status"], &unknown["graph_generation"]), (&json!("unknown"), &json!(0)));
    assert_eq!((&unknown["skills_merged_at"], &unknown["skills_loaded_count"]), (&Value::Null, &json!(0)));

    let refreshed = shop.refresh().await;
    assert_eq!((&refreshed["graph_generation"], &refreshed["skills_loaded_count"]), (&json!(1), &json!(1)));
    let built = status(&shop.admin).await;
    assert_eq!((&built["sync_status"], &built["skills_loaded_count"]), (&json!("in_sync"), &json!(1)));
    assert_eq!(built["graph_generation"], built["supervisor_graph_generation"]);
    assert_eq!(built["skills_merged_at"], built["supervisor_skills_merged_at"]);
    assert_eq!(built["catalog_cache_generation"], built["last_built_catalog_generation"]);
    assert_eq!(built["catalog_cache_generation"], refreshed["generation"]);
    assert!(built["skills_merged_at"].is_string() && built["catalog_refreshed_at"].is_string());

    let draft = json!({"name": "pear", "description": "Pears.", "content": "Pick."});
    shop.admin.post("/api/skills", draft).await.expect(201);
    let stale = status(&shop.admin).await;
    assert_eq!(
        (&stale["sync_status"], &stale["skills_loaded_count"]),
        (&json!("supervisor_stale"), &json!(1))
    );
    assert!(stale["catalog_cache_generation"].as_u64() > stale["last_built_catalog_generation"].as_u64());
    let refreshed = shop.refresh().await;
    assert_eq!((&refreshed["graph_generation"], &refreshed["skills_loaded_count"]), (&json!(2), &json!(2)));
    assert_eq!(status(&shop.admin).await["sync_status"], "in_sync");
    let again = shop.refresh().await;
    assert_eq!((&again["graph_generation"], &again["generation"]), (&json!(2), &refreshed["generation"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_supervisor_counts_what_its_caller_sees() {
    let shop = Shop::open(Gate::Warn, &[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    let (ann, bob) = (shop.member("ann", &[]).await, shop.member("bob", &[]).await);
    let draft = json!({"name": "pear", "description": "Pears.", "content": "Pick."});
    ann.post("/api/skills", draft).await.expect(201);
    shop.refresh().await;
    let count = async |client: &Client| status(client).await["skills_loaded_count"].as_u64().unwrap();
    assert_eq!((count(&shop.admin).await, count(&ann).await, count(&bob).await), (2, 2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_read_all_sources_again() {
    let shop = Shop::open(Gate::Warn, &[]).await;
    let refused = shop.member("ann", &[]).await.tell("/api/skills/refresh").await;
    refused.refused(403, "forbidden");
    assert_eq!(refused.body["message"], "Only administrators can refresh the catalog.");
    shop.admin.tell("/api/skills/refresh?odd=1").await.refused(400, "unknown_parameter");
}
