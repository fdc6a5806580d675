//! Opening a store: tables are made once, by whoever comes first, and never by an artel that is too old.

use artel_store::contract::{agent_record, new_agent, new_run, run_id};
use artel_store::{AgentStore as _, Created, RunStore as _, StoreError};
use artel_store_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::server::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_nodes_may_open_a_fresh_store_at_once() {
    let place = Place::any();
    let mut nodes = JoinSet::new();
    for _ in 0..8 {
        let (url, options) = (place.url().to_owned(), place.options.clone());
        nodes.spawn(async move { PostgresStore::connect(&url, options).await.map(drop) });
    }
    for opened in nodes.join_all().await {
        opened.unwrap();
    }
    let versions = sqlx::query_scalar("SELECT version FROM schema_version");
    let versions: Vec<i64> = versions.fetch_all(&mut place.connection().await).await.unwrap();
    assert_eq!(versions, [9]);
}

#[tokio::test]
async fn what_was_kept_is_there_when_a_store_is_opened_again() {
    let place = Place::any();
    place.store().await.create(new_run(run_id(1), 10)).await.unwrap();
    let again = place.store().await;
    assert!(again.run(run_id(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn tables_of_the_first_version_are_brought_up_to_date() {
    let place = Place::any();
    let schema = &place.options.schema;
    place.run(&format!("CREATE SCHEMA {schema}")).await;
    place.run(include_str!("../../src/migrations/0001_runs.sql")).await;
    place
        .run("CREATE TABLE schema_version (version bigint NOT NULL); INSERT INTO schema_version VALUES (1)")
        .await;
    let store = place.store().await;
    assert_eq!(store.create(new_run(run_id(1), 10)).await.unwrap(), Created::New);
    let agent = new_agent(agent_record(1, None, 10));
    assert_eq!(store.create_agent(agent).await.unwrap(), Ok(()));
}

#[tokio::test]
async fn tables_of_a_later_version_are_refused() {
    let place = Place::any();
    drop(place.store().await);
    place.run("UPDATE schema_version SET version = 10").await;
    let opened = PostgresStore::connect(place.url(), place.options.clone()).await;
    assert!(matches!(opened, Err(StoreError::TooNew { found: 10, known: 9 })), "{opened:?}");
}

#[tokio::test]
async fn stores_in_different_schemas_do_not_see_each_other() {
    let (one, other) = (Place::any(), Place::any());
    let (first, second) = (one.store().await, other.store().await);
    assert_eq!(first.create(new_run(run_id(1), 10)).await.unwrap(), Created::New);
    assert_eq!(second.run(run_id(1)).await.unwrap(), None);
    assert_eq!(second.version().await.unwrap(), 0);
    assert_eq!(second.create(new_run(run_id(1), 10)).await.unwrap(), Created::New);
}

#[tokio::test]
async fn a_role_that_may_not_make_schemas_can_use_one_that_is_there() {
    let place = Place::any();
    let role = format!("guest_{}", place.options.schema);
    place
        .run(&format!(
            "CREATE ROLE {role} LOGIN; CREATE SCHEMA {} AUTHORIZATION {role}",
            place.options.schema
        ))
        .await;
    let url = place.url().replace("artel@", &format!("{role}@"));
    let store = PostgresStore::connect(&url, place.options.clone()).await.unwrap();
    assert_eq!(store.create(new_run(run_id(1), 10)).await.unwrap(), Created::New);
    store.sync().await.unwrap();
    store.close().await;
    place.run(&format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}")).await;
}
