//! A file that is opened again: by the same artel, by a later one, by an earlier one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use artel_store::contract::{execution, note, run_id};
use artel_store::{ExecutionStore, HealthStore, RunAppend, RunStore, StoreError};
use artel_store_sqlite::{BackupError, MIGRATIONS, Migration, SqliteOptions, SqliteStore};

use crate::support::{Folder, append, create, sound_length};

#[tokio::test]
async fn everything_is_there_again() {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    let id = "00000000-0000-0000-0000-000000000007".parse().unwrap();
    let record = execution(id, run_id(1), "grasp", 20);
    let with_record = RunAppend { executions: vec![record.clone()], ..append(1, "next") };
    store.append(with_record).await.unwrap();
    let row = store.run(run_id(1)).await.unwrap();
    drop(store);
    let store = folder.open();
    assert_eq!(store.run(run_id(1)).await.unwrap(), row);
    assert_eq!(store.execution(id).await.unwrap(), Some(record));
    assert_eq!(sound_length(&store).await, 2);
}

#[tokio::test]
async fn a_dropped_store_leaves_one_file_for_nobody_else() {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    let mode = |path: &str| fs::metadata(folder.file(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("data"), 0o700);
    for file in ["data/artel.db", "data/artel.db-wal", "data/artel.db-shm"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    drop(store);
    let left: Vec<_> =
        fs::read_dir(folder.file("data")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["artel.db"]);
}

#[tokio::test]
async fn what_is_in_the_queue_is_written_before_the_store_is_gone() {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    // The first poll puts the write into the queue; nobody waits for the answer.
    let mut write = store.append(append(1, "next"));
    let waker = std::task::Waker::noop();
    let _ = write.as_mut().poll(&mut std::task::Context::from_waker(waker));
    drop(write);
    drop(store);
    assert_eq!(sound_length(&folder.open()).await, 2);
}

const FURTHER: Migration =
    Migration { sql: "CREATE TABLE later (key INTEGER PRIMARY KEY); INSERT INTO later VALUES (7)" };
const LATER: &[Migration] = &[
    MIGRATIONS[0],
    MIGRATIONS[1],
    MIGRATIONS[2],
    MIGRATIONS[3],
    MIGRATIONS[4],
    MIGRATIONS[5],
    MIGRATIONS[6],
    FURTHER,
];
const BROKEN: &[Migration] = &[
    MIGRATIONS[0],
    MIGRATIONS[1],
    MIGRATIONS[2],
    MIGRATIONS[3],
    MIGRATIONS[4],
    MIGRATIONS[5],
    MIGRATIONS[6],
    FURTHER,
    Migration { sql: "DELETE FROM later; CREATE TABLE later (key TEXT)" },
];

fn open_with(folder: &Folder, migrations: &'static [Migration]) -> Result<SqliteStore, StoreError> {
    let options = SqliteOptions { migrations, ..SqliteOptions::default() };
    SqliteStore::open(&folder.database(), options)
}

/// Writes run 1 as an artel did that knew no owners.
fn write_as_the_first_version(folder: &Folder) {
    let connection = rusqlite::Connection::open(folder.database()).unwrap();
    let id = run_id(1).0.into_bytes();
    connection
        .execute(
            "INSERT INTO runs (key, id, kind, plan_id, state, steps, created_at, fence) \
             VALUES (1, ?1, '{\"kind\":\"plan\"}', ?1, 'running', 1, 10, 0)",
            [id],
        )
        .unwrap();
    let event = serde_json::to_string(&note(10, "first").event).unwrap();
    connection
        .execute("INSERT INTO events (run, revision, at, event) VALUES (1, 1, 10, ?1)", [event])
        .unwrap();
}

#[tokio::test]
async fn an_old_file_opens_after_an_upgrade_and_a_newer_one_is_refused() {
    let folder = Folder::new();
    drop(open_with(&folder, &MIGRATIONS[..1]).unwrap());
    write_as_the_first_version(&folder);
    let store = open_with(&folder, LATER).unwrap();
    assert_eq!(store.check().await.unwrap().version, 8);
    assert_eq!(sound_length(&store).await, 1);
    let kept = store.run(run_id(1)).await.unwrap().unwrap();
    assert_eq!(kept.summary.owner, None);
    drop(store);
    let refused = open_with(&folder, &MIGRATIONS[..1]);
    assert!(matches!(refused, Err(StoreError::TooNew { found: 8, known: 1 })), "{refused:?}");
    assert_eq!(sound_length(&open_with(&folder, LATER).unwrap()).await, 1);
}

#[tokio::test]
async fn a_migration_that_fails_changes_nothing() {
    let folder = Folder::new();
    create(&open_with(&folder, LATER).unwrap()).await;
    let refused = open_with(&folder, BROKEN);
    assert!(refused.is_err(), "{refused:?}");
    let store = open_with(&folder, LATER).unwrap();
    assert_eq!(store.check().await.unwrap().version, 8);
    assert_eq!(sound_length(&store).await, 1);
    drop(store);
    let connection = rusqlite::Connection::open(folder.database()).unwrap();
    let kept: i64 = connection.query_row("SELECT key FROM later", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 7);
}

#[tokio::test]
async fn many_may_open_an_empty_folder_at_once() {
    let folder = Folder::new();
    let opened = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| folder.open())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    create(&opened[0]).await;
    for store in &opened {
        assert_eq!(sound_length(store).await, 1);
    }
}

#[tokio::test]
async fn a_backup_is_a_store_and_never_overwrites() {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    let target = folder.file("copy.db");
    store.backup(&target).await.unwrap();
    store.append(append(1, "after the copy")).await.unwrap();
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    let again = store.backup(&target).await;
    assert!(matches!(again, Err(BackupError::Exists { .. })), "{again:?}");
    let nowhere = store.backup(&folder.file("not/there.db")).await;
    assert!(matches!(nowhere, Err(BackupError::Target { .. })), "{nowhere:?}");
    let copy = SqliteStore::open(&target, SqliteOptions::default()).unwrap();
    assert_eq!(sound_length(&copy).await, 1);
    assert_eq!(sound_length(&store).await, 2);
    assert_eq!(copy.health_counts().await.unwrap(), []);
}
