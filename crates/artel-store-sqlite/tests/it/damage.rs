//! A full disk, a damaged file, a file of somebody else: a clear error, and no half-written run.

use std::fs;
use std::os::unix::fs::FileExt;

use artel_model::time::Timestamp;
use artel_store::contract::{api_key, custom_skill, new_hub, new_run, note, run_id, summary};
use artel_store::{
    AppendError, CustomSkillStore, HubStore, KeyStore, NewRun, Revision, RunAppend, RunStore, StoreError,
};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

use crate::support::{Folder, append, create, sound_length};

/// Returns options that leave room for a few pages beside those of an empty store, which is made for it.
fn little_space(folder: &Folder) -> SqliteOptions {
    drop(folder.open());
    let connection = Connection::open(folder.database()).unwrap();
    let empty: u32 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    SqliteOptions { pages_max: Some(empty + 16), ..SqliteOptions::default() }
}

#[tokio::test]
async fn a_full_disk_writes_nothing_and_works_again_when_there_is_space() {
    let folder = Folder::new();
    let options = little_space(&folder);
    let store = SqliteStore::open(&folder.database(), options).unwrap();
    let ended = artel_model::run::RunSummary {
        state: artel_model::run::RunState::Succeeded,
        completed_at: Some(Timestamp::from_millis(50)),
        ..summary(run_id(2), 10)
    };
    let old =
        NewRun { summary: ended, events: vec![note(10, &"x".repeat(50_000))], ..new_run(run_id(2), 10) };
    store.create(old).await.unwrap();
    create(&store).await;
    let big = RunAppend {
        events: (0..30).map(|number| note(number, &"y".repeat(4_000))).collect(),
        ..append(1, "")
    };
    let refused = store.append(big).await;
    assert!(matches!(refused, Err(AppendError::Store(StoreError::Full { .. }))), "{refused:?}");
    assert_eq!(sound_length(&store).await, 1);
    assert_eq!(store.append(append(1, "small")).await.unwrap(), Revision(2));
    assert_eq!(store.prune(Timestamp::from_millis(51)).await.unwrap(), 1);
    let fits = RunAppend { events: vec![note(1, &"z".repeat(40_000))], ..append(2, "") };
    assert_eq!(store.append(fits).await.unwrap(), Revision(3));
    assert_eq!(sound_length(&store).await, 3);
}

/// Both writes wait in the queue before the writer may begin, so they are in one batch.
#[tokio::test]
async fn one_write_that_fails_does_not_fail_its_batch() {
    let folder = Folder::new();
    let options = little_space(&folder);
    let store = SqliteStore::open(&folder.database(), options).unwrap();
    create(&store).await;
    store.create(new_run(run_id(2), 10)).await.unwrap();
    let other = Connection::open(folder.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let too_big = RunAppend { events: vec![note(1, &"x".repeat(900_000))], ..append(1, "") };
    let fits = RunAppend { run: run_id(2), ..append(1, "small") };
    let claim = artel_store::Claim {
        run: run_id(2),
        seen: artel_store::Fence(1),
        owner: artel_store::OwnerId("two".to_owned()),
    };
    let release = async { other.execute_batch("ROLLBACK").unwrap() };
    let (first, second, third, ()) =
        tokio::join!(store.append(too_big), store.append(fits), store.claim(claim), release);
    assert!(matches!(first, Err(AppendError::Store(StoreError::Full { .. }))), "{first:?}");
    assert_eq!(second.unwrap(), Revision(2));
    assert_eq!(third.unwrap(), artel_store::Fence(2));
    assert_eq!(sound_length(&store).await, 1);
}

#[track_caller]
fn refused(folder: &Folder) -> StoreError {
    SqliteStore::open(&folder.database(), SqliteOptions::default()).unwrap_err()
}

#[tokio::test]
async fn what_is_no_database_is_said_to_be_none() {
    let folder = Folder::new();
    fs::create_dir(folder.file("data")).unwrap();
    fs::write(folder.database(), "just a text, but longer than the header of a database: ".repeat(100))
        .unwrap();
    let error = refused(&folder);
    assert!(matches!(&error, StoreError::Corrupt { what, .. } if what.contains("artel.db")), "{error:?}");
}

#[tokio::test]
async fn a_database_of_somebody_else_is_left_alone() {
    let folder = Folder::new();
    fs::create_dir(folder.file("data")).unwrap();
    let other = Connection::open(folder.database()).unwrap();
    other.execute_batch("CREATE TABLE notes (note TEXT)").unwrap();
    let error = refused(&folder);
    assert!(matches!(&error, StoreError::Corrupt { .. }), "{error:?}");
    let tables: i64 = other.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[tokio::test]
async fn a_folder_that_cannot_be_is_unavailable() {
    let folder = Folder::new();
    fs::write(folder.file("data"), "a file where the folder should be").unwrap();
    let error = refused(&folder);
    assert!(matches!(&error, StoreError::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_damaged_file_is_found_out() {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    for revision in 1..50 {
        store.append(append(revision, &"x".repeat(1000))).await.unwrap();
    }
    drop(store);
    let file = fs::OpenOptions::new().write(true).open(folder.database()).unwrap();
    let length = file.metadata().unwrap().len();
    for page in 2..length / 4096 {
        file.write_all_at(&[0xee; 200], page * 4096).unwrap();
    }
    drop(file);
    let opened = SqliteStore::open(&folder.database(), SqliteOptions::default());
    let told = match opened {
        Ok(store) => store.events(run_id(1), Revision(0), 100).await.map(drop),
        Err(error) => Err(error),
    };
    assert!(matches!(told, Err(StoreError::Corrupt { .. })), "{told:?}");
}

/// Changes a sound store behind its back and returns what the check says.
async fn check_after(sql: &str) -> String {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    for revision in 1..4 {
        store.append(append(revision, "next")).await.unwrap();
    }
    assert_eq!(sound_length(&store).await, 4);
    Connection::open(folder.database()).unwrap().execute_batch(sql).unwrap();
    store.check().await.unwrap().problems.join("\n")
}

#[tokio::test]
async fn the_check_finds_what_does_not_fit_together() {
    let gap = check_after("DELETE FROM events WHERE revision = 2").await;
    let run = "00000000000000000000000000000001";
    assert_eq!(gap, format!("the log of run {run} has 3 events, numbered from 1 to 4"));
    let orphan = check_after("PRAGMA foreign_keys = OFF; DELETE FROM runs").await;
    assert!(orphan.starts_with("row 1 of `events` belongs to nothing in `runs`"), "{orphan}");
    let unreadable =
        check_after("UPDATE events SET event = '{\"type\":\"nothing\"}' WHERE revision = 3").await;
    assert!(unreadable.starts_with("the event in row 3 cannot be read: "), "{unreadable}");
    let ended = check_after("UPDATE runs SET state = 'failed'").await;
    assert_eq!(ended, format!("run {run} is failed, which does not fit with when it ended"));
    let strange = check_after("UPDATE runs SET state = 'bored'").await;
    assert!(strange.starts_with(&format!("the run {run} cannot be read: ")), "{strange}");
}

#[tokio::test]
async fn the_check_finds_what_is_wrong_with_the_catalog() {
    let check_after = async |sql: &str| {
        let folder = Folder::new();
        let store = folder.open();
        store.create_skill(&custom_skill(1, 10), 9).await.unwrap().unwrap();
        store.create_hub(&new_hub(1), 9).await.unwrap().unwrap();
        store.create_key(&api_key("one", "ann", 10), 9).await.unwrap();
        assert_eq!(store.check().await.unwrap().problems, [""; 0]);
        Connection::open(folder.database()).unwrap().execute_batch(sql).unwrap();
        store.check().await.unwrap().problems.join("\n")
    };
    let content = check_after("UPDATE blobs SET content = x'00'").await;
    assert!(content.starts_with("the content in row 1 cannot be read: "), "{content}");
    let skill = check_after("UPDATE custom_skill_changes SET document = '{}'").await;
    let id = "00000000000000000000000000000001";
    assert!(skill.starts_with(&format!("the skill {id} at revision 1 cannot be read: ")), "{skill}");
    let hub = check_after("UPDATE hubs SET status = 'bored'").await;
    assert!(hub.starts_with(&format!("the hub {id} cannot be read: ")), "{hub}");
    let key = check_after("UPDATE api_keys SET document = '[]'").await;
    assert!(key.starts_with("the key one cannot be read: "), "{key}");
}
