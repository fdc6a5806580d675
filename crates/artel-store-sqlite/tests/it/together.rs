//! Several processes on one file, here several stores: they share nothing but the file.

use std::sync::Arc;

use artel_store::contract::{new_run, note, run_id};
use artel_store::{AppendError, Fence, Revision, RunAppend, RunStore, StoreError};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use tokio::task::JoinSet;

use crate::support::{Folder, append, create, sound_length};

#[tokio::test]
async fn each_sees_what_the_other_wrote() {
    let folder = Folder::new();
    let (one, two) = (folder.open(), folder.open());
    let before = two.version().await.unwrap();
    create(&one).await;
    let after = two.version().await.unwrap();
    assert_ne!(before, after);
    assert_eq!(two.version().await.unwrap(), after, "nothing was written in between");
    assert_eq!(two.append(append(1, "next")).await.unwrap(), Revision(2));
    assert_eq!(sound_length(&one).await, 2);
    let late = one.append(append(1, "late")).await;
    assert!(matches!(late, Err(AppendError::Conflict { actual: Revision(2) })), "{late:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_write_at_once() {
    let folder = Folder::new();
    let stores: Vec<_> = (0..3).map(|_| Arc::new(folder.open())).collect();
    let mut tasks = JoinSet::new();
    for number in 1..=12 {
        let store = stores[number % stores.len()].clone();
        let run = run_id(number as u128);
        tasks.spawn(async move {
            store.create(new_run(run, 10)).await.unwrap();
            for revision in 1..=20 {
                let next = RunAppend { run, events: vec![note(11, "next")], ..append(revision, "") };
                assert_eq!(store.append(next).await.unwrap(), Revision(revision + 1));
            }
        });
    }
    tasks.join_all().await;
    let report = stores[0].check().await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.runs, report.events), (12, 12 * 21));
}

#[tokio::test]
async fn a_writer_that_holds_the_file_for_too_long_is_told_about() {
    let folder = Folder::new();
    let options = SqliteOptions { busy_ms: 20, ..SqliteOptions::default() };
    let store = SqliteStore::open(&folder.database(), options).unwrap();
    create(&store).await;
    let other = Connection::open(folder.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.append(append(1, "next")).await;
    let Err(AppendError::Store(StoreError::Unavailable { what, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert!(what.contains("artel.db` (another program uses the file)"), "{what}");
    assert_eq!(sound_length(&store).await, 1);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.append(append(1, "next")).await.unwrap(), Revision(2));
}

#[tokio::test]
async fn a_read_goes_on_while_somebody_writes() {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    let other = Connection::open(folder.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM events").unwrap();
    assert_eq!(sound_length(&store).await, 1);
    assert_eq!(store.run(run_id(1)).await.unwrap().unwrap().fence, Fence(1));
}
