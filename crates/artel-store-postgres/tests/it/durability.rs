//! Servers restart and crash, and connections are cut; the store goes on by itself, or says what may be lost.

use std::sync::Arc;

use artel_store::contract::{new_run, note, run_id};
use artel_store::{AppendError, Fence, Revision, RunAppend, RunStore as _, StoreError};
use artel_store_postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::task::JoinSet;

use crate::own_server::OwnServer;
use crate::server::Place;

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
    store.sync().await.expect(WORKS);
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
async fn a_crash_of_the_server_loses_nothing_that_was_synced() {
    let mut server = OwnServer::start();
    let store = store_with_run(&server.url).await;
    for revision in 1..6 {
        warm_up(&store).await;
        store.append(append(revision, "before a crash")).await.unwrap();
        store.sync().await.unwrap();
        server.order("restart");
        let log = store.events(run_id(1), Revision(0), 100).await.unwrap();
        assert_eq!(log.len() as u64, revision + 1);
    }
}

/// Checks that a store that wrote something is of no use any more, and that the next one goes on.
async fn knows_of_the_crash(store: PostgresStore, url: &str) {
    for answer in [
        store.sync().await,
        store.version().await.map(drop),
        store.create(new_run(run_id(2), 10)).await.map(drop),
        store.sync().await,
    ] {
        let Err(StoreError::Lost { source, .. }) = answer else { panic!("{answer:?}") };
        assert!(source.to_string().contains("crashed"), "{source}");
    }
    let next = PostgresStore::connect(url, PostgresOptions::default()).await.expect(WORKS);
    let log = next.events(run_id(1), Revision(0), 100).await.expect(WORKS);
    let end = log.len() as u64;
    assert!((1..=2).contains(&end), "what was synced is there");
    assert_eq!(next.append(append(end, "next")).await.expect(WORKS), Revision(end + 1));
    next.sync().await.expect(WORKS);
}

#[tokio::test]
async fn a_crash_of_the_server_before_a_sync_is_told() {
    let mut server = OwnServer::start();
    let store = store_with_run(&server.url).await;
    store.append(append(1, "before a crash")).await.unwrap();
    server.order("restart");
    knows_of_the_crash(store, &server.url).await;
}

#[tokio::test]
async fn a_crash_of_one_process_of_the_server_is_told_too() {
    let server = OwnServer::start();
    let store = store_with_run(&server.url).await;
    store.append(append(1, "before a crash")).await.unwrap();
    let mut other = PgConnection::connect(&server.url).await.unwrap();
    let process = sqlx::query_scalar("SELECT pid FROM pg_stat_activity WHERE application_name = 'artel'");
    let process: i32 = process.fetch_one(&mut other).await.unwrap();
    let crash = format!("COPY (SELECT) TO PROGRAM 'kill -KILL {process}'");
    drop(sqlx::raw_sql(AssertSqlSafe(crash)).execute(&mut other).await);
    // The server ends all connections before it recovers.
    while sqlx::raw_sql("SELECT").execute(&mut other).await.is_ok() {}
    knows_of_the_crash(store, &server.url).await;
}

#[tokio::test]
async fn a_server_that_is_stopped_properly_loses_nothing() {
    let mut server = OwnServer::start();
    let store = store_with_run(&server.url).await;
    warm_up(&store).await;
    for revision in 1..4 {
        store.append(append(revision, "before a stop")).await.unwrap();
        let (_, folder) = server.url.split_once("host=").unwrap();
        let file = format!("{folder}/data/postmaster.pid");
        let mut other = PgConnection::connect(&server.url).await.unwrap();
        let stop = "COPY (SELECT) TO PROGRAM 'kill -INT $(head -n 1 postmaster.pid)'";
        drop(sqlx::raw_sql(stop).execute(&mut other).await);
        while std::fs::exists(&file).unwrap() {
            tokio::task::yield_now().await;
        }
        server.order("start");
        store.sync().await.unwrap();
        assert_eq!(store.run(run_id(1)).await.unwrap().unwrap().revision, Revision(revision + 1));
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
    assert!(matches!(store.sync().await, Err(StoreError::Unavailable { .. })));
    server.order("start");
    assert_eq!(store.append(append(1, "next")).await.unwrap(), Revision(2));
    store.sync().await.unwrap();
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
async fn a_write_does_not_wait_for_the_disk_and_a_sync_does() {
    let place = Place::any();
    let store = place.store().await;
    place
        .run(
            "CREATE TABLE seen (setting text); \
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$; \
             CREATE TRIGGER see BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION see();",
        )
        .await;
    store.create(new_run(run_id(1), 10)).await.unwrap();
    let mut other = place.connection().await;
    let seen: Vec<String> =
        sqlx::query_scalar("SELECT setting FROM seen").fetch_all(&mut other).await.unwrap();
    assert_eq!(seen, ["off"]);

    let end: String =
        sqlx::query_scalar("SELECT pg_current_wal_insert_lsn()::text").fetch_one(&mut other).await.unwrap();
    store.sync().await.unwrap();
    let is_flushed = sqlx::query_scalar("SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn").bind(end);
    let is_flushed: bool = is_flushed.fetch_one(&mut other).await.unwrap();
    assert!(is_flushed);
}

#[tokio::test]
async fn a_sync_is_as_strong_as_the_server_is_set_but_never_off() {
    let place = Place::any();
    drop(place.store().await);
    for (setting, expected) in
        [("off", "on"), ("on", "on"), ("local", "local"), ("remote_apply", "remote_apply")]
    {
        let mut connection = place.connection().await;
        let set = format!("SET synchronous_commit = {setting}; SELECT begin_session()");
        sqlx::raw_sql(AssertSqlSafe(set)).execute(&mut connection).await.unwrap();
        let levels = "SELECT current_setting('artel.sync_level'), current_setting('synchronous_commit')";
        let levels: (String, String) = sqlx::query_as(levels).fetch_one(&mut connection).await.unwrap();
        assert_eq!(levels, (expected.to_owned(), "off".to_owned()), "{setting}");
    }
}
