//! A process that is killed while it writes: everything it was told is written is there.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use artel_store::{Revision, RunStore};
use camino::Utf8PathBuf;

use crate::support::{Folder, append, create, sound_length};

const CHILD: &str = "ARTEL_TEST_WRITER";

/// Does nothing, unless another test started this one as the process that writes until it is killed.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "this is how a test is told that it is the process that writes"
)]
async fn writer_process() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let options = artel_store_sqlite::SqliteOptions::default();
    let store = artel_store_sqlite::SqliteStore::open(&Utf8PathBuf::from(path), options).unwrap();
    let mut end = store.run(artel_store::contract::run_id(1)).await.unwrap().unwrap().revision;
    let mut stdout = std::io::stdout();
    loop {
        end = store.append(append(end.0, &"x".repeat(300))).await.unwrap();
        writeln!(stdout, "written {}", end.0).unwrap();
        stdout.flush().unwrap();
    }
}

#[tokio::test]
async fn what_was_written_survives_kill_9() {
    let folder = Folder::new();
    let store = folder.open();
    create(&store).await;
    drop(store);
    let mut before = 1;
    for lines in [1, 2, 3, 50, 333, 700] {
        let told = killed_after(&folder, lines);
        let store = folder.open();
        let length = sound_length(&store).await;
        assert!(told > before, "the process wrote nothing: {told}, {before}");
        assert!(length >= told, "{told} events were written, {length} are there");
        assert_eq!(store.append(append(length, "goes on")).await.unwrap(), Revision(length + 1));
        before = length + 1;
    }
}

/// Starts a process that writes, kills it when it has told about so many writes, and returns the last one it told.
#[expect(clippy::disallowed_methods, reason = "a process of its own is what is killed here")]
fn killed_after(folder: &Folder, lines: usize) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::writer_process", "--nocapture"])
        .env(CHILD, folder.database())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = 0;
    let mut seen = 0;
    while let Some(Ok(line)) = output.next() {
        let Some((_, number)) = line.split_once("written ") else { continue };
        told = number.parse().unwrap_or(told);
        seen += 1;
        if seen == lines {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    told
}
