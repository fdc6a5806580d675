//! What goes wrong is told in the words of every store, and writes nothing.

use artel_model::run::StampedEvent;
use artel_store::contract::{new_run, note, run_id};
use artel_store::{AppendError, Fence, Revision, RunAppend, RunStore as _, StoreError};
use artel_store_postgres::{PostgresOptions, PostgresStore};

use crate::server::Place;

fn append(expected: u64, event: StampedEvent) -> RunAppend {
    RunAppend {
        run: run_id(1),
        expected: Revision(expected),
        fence: Some(Fence(1)),
        events: vec![event],
        summary: None,
        executions: Vec::new(),
        health: Vec::new(),
    }
}

/// Makes the database answer every event with an error of this code.
fn refuse_events(code: &str) -> String {
    format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT ON run_events FOR EACH ROW EXECUTE FUNCTION refuse();"
    )
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_is_half_written() {
    let place = Place::any();
    let store = place.store().await;
    store.create(new_run(run_id(1), 10)).await.unwrap();
    let version = store.version().await.unwrap();
    place.run(&refuse_events("53100")).await;
    let answer = store.append(append(1, note(11, "next"))).await;
    assert!(matches!(answer, Err(AppendError::Store(StoreError::Full { .. }))), "{answer:?}");
    assert!(matches!(store.create(new_run(run_id(2), 10)).await, Err(StoreError::Full { .. })));
    assert_eq!(store.run(run_id(1)).await.unwrap().unwrap().revision, Revision(1));
    assert_eq!(store.run(run_id(2)).await.unwrap(), None);
    assert_eq!(store.version().await.unwrap(), version);
    place.run("DROP TRIGGER refuse ON run_events").await;
    assert_eq!(store.append(append(1, note(11, "next"))).await.unwrap(), Revision(2));
}

#[tokio::test]
async fn damage_is_told() {
    let place = Place::any();
    let store = place.store().await;
    store.create(new_run(run_id(1), 10)).await.unwrap();
    place.run("UPDATE run_events SET event = '{'; UPDATE runs SET summary = '{}'").await;
    for answer in
        [store.events(run_id(1), Revision(0), 1).await.map(drop), store.run(run_id(1)).await.map(drop)]
    {
        assert!(matches!(answer, Err(StoreError::Corrupt { .. })), "{answer:?}");
    }
    place.run(&refuse_events("XX001")).await;
    let answer = store.append(append(1, note(11, "next"))).await;
    assert!(matches!(answer, Err(AppendError::Store(StoreError::Corrupt { .. }))), "{answer:?}");
    place.run("DROP TABLE executions").await;
    let answer = store.append(append(1, note(11, "next"))).await;
    assert!(matches!(answer, Err(AppendError::Store(StoreError::Corrupt { .. }))), "{answer:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_at_once_and_keeps_secrets() {
    // Nothing listens on port 1.
    for url in ["postgres://artel:hush@127.0.0.1:1/artel", "postgres://artel:hush@[nonsense", "sqlite:hush"] {
        let opened = PostgresStore::connect(url, PostgresOptions::default()).await;
        let error = opened.map(drop).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("hush"), "{error:?}");
    }
}

#[tokio::test]
async fn a_write_that_waits_too_long_is_given_up() {
    let mut place = Place::any();
    place.options.statement_ms_max = 200;
    let store = place.store().await;
    store.create(new_run(run_id(1), 10)).await.unwrap();
    let mut other = place.connection().await;
    for statement in ["BEGIN", "SELECT FROM runs FOR UPDATE"] {
        sqlx::raw_sql(statement).execute(&mut other).await.unwrap();
    }
    let answer = store.append(append(1, note(11, "next"))).await;
    assert!(matches!(answer, Err(AppendError::Store(StoreError::Unavailable { .. }))), "{answer:?}");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    assert_eq!(store.append(append(1, note(12, "next"))).await.unwrap(), Revision(2));
}
