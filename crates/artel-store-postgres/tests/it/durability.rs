//! Servers restart and connections are cut; the store goes on by itself and has lost nothing.

use std::sync::Arc;

use artel_store::contract::{new_run, note, run_id};
use artel_store::{AppendError, Fence, Revision, RunAppend, RunStore as _, StoreError};
use artel_store_postgres::{PostgresOptions, PostgresStore};
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;

use crate::server::{OwnServer, Place};

const WORKS: &str = "the store works";

fn append(expected: u64, text: &str) -> RunAppend {
    RunAppend {
        run: run_id(1),
        expected: Revision(expected),
        fence: Some(Fence(1)),
        events: vec![note(11, text)],
        summary: None,
        executions: Vec::new(),
        health: Vec::new(),
    }
}

async fn store_with_run(url: &str) -> PostgresStore {
    let store = PostgresStore::connect(url, PostgresOptions::default()).await.expect(WORKS);
    store.create(new_run(run_id(1), 10)).await.expect(WORKS);
    store
}

/// Makes the store open several connections, which are idle then.
async fn warm_up(store: &PostgresStore) {
    let mut readers = JoinSet::new();
    for _ in 0..32 {
        let store = store.clone();
        readers.spawn(async move { store.version().await.expect(WORKS) });
    }
    readers.join_all().await;
}

#[tokio::test]
async fn cut_connections_are_replaced() {
    let server = OwnServer::start();
    let store = store_with_run(&server.url).await;
    for revision in 1..4 {
        warm_up(&store).await;
        let mut other = PgConnection::connect(&server.url).await.unwrap();
        let cut = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
             WHERE application_name = 'artel') AS cut",
        );
        let cut: i64 = cut.fetch_one(&mut other).await.unwrap();
        assert!(cut > 0);
        assert_eq!(store.append(append(revision, "next")).await.unwrap(), Revision(revision + 1));
    }
}

#[tokio::test]
async fn a_crash_of_the_server_loses_nothing_that_was_written() {
    let mut server = OwnServer::start();
    let store = store_with_run(&server.url).await;
    for revision in 1..6 {
        warm_up(&store).await;
        store.append(append(revision, "before a crash")).await.unwrap();
        server.order("restart");
        let log = store.events(run_id(1), Revision(0), 100).await.unwrap();
        assert_eq!(log.len() as u64, revision + 1);
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_told_and_welcomed_back() {
    let mut server = OwnServer::start();
    let store = store_with_run(&server.url).await;
    server.order("stop");
    let answer = store.append(append(1, "next")).await;
    assert!(matches!(answer, Err(AppendError::Store(StoreError::Unavailable { .. }))), "{answer:?}");
    assert!(matches!(store.version().await, Err(StoreError::Unavailable { .. })));
    server.order("start");
    assert_eq!(store.append(append(1, "next")).await.unwrap(), Revision(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_writers_of_one_log_leave_no_gap() {
    let place = Place::any();
    let store = Arc::new(place.store().await);
    store.create(new_run(run_id(1), 10)).await.unwrap();
    let mut writers = JoinSet::new();
    for number in 0..100 {
        let store = store.clone();
        writers.spawn(async move {
            let mut expected = 1;
            loop {
                match store.append(append(expected, &number.to_string())).await {
                    Ok(revision) => return revision.0,
                    Err(AppendError::Conflict { actual }) => expected = actual.0,
                    Err(other) => panic!("{other:?}"),
                }
            }
        });
    }
    let mut revisions = writers.join_all().await;
    revisions.sort_unstable();
    assert!(revisions.into_iter().eq(2..=101));
    let log = store.events(run_id(1), Revision(0), 1000).await.unwrap();
    assert!(log.iter().map(|logged| logged.revision.0).eq(1..=101));
}

#[tokio::test]
async fn commits_are_flushed_whatever_the_server_does_otherwise() {
    let mut place = Place::any();
    place.options.connections_max = 1;
    let url = format!("{}&options=-c%20synchronous_commit%3Doff", place.url());
    let store = PostgresStore::connect(&url, place.options.clone()).await.unwrap();
    place
        .run(
            "CREATE TABLE seen (setting text); \
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$; \
             CREATE TRIGGER see BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION see();",
        )
        .await;
    store.create(new_run(run_id(1), 10)).await.unwrap();
    let seen = sqlx::query_scalar("SELECT setting FROM seen");
    let seen: Vec<String> = seen.fetch_all(&mut place.connection().await).await.unwrap();
    assert_eq!(seen, ["on"]);
}
