//! How the cost of a message, a wait and a word grows with how many there are: first and last of many, and their ratio.
//!
//! It prints numbers and judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop there")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;

use artel_model::message::{Address, Wait};
use artel_model::time::Timestamp;
use artel_store::contract::{agent_id, agent_record, correlation, message, new_agent, post, said, to};
use artel_store::{AgentStore, MailStore, NewAgent, Post, PostRefused, Posted, WaitStore};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use camino::Utf8Path;
use serde_json::Value;

/// How many of a kind are measured together, and how many times.
const BLOCK: u128 = 1_000;
const BLOCKS: u128 = 10;
const BROADCAST_AGENTS: u128 = 20_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    println!("{:<52} {:>12} {:>12} {:>8}", "us each", "first 1,000", "last 1,000", "ratio");
    runtime.block_on(posts());
    runtime.block_on(waits());
    runtime.block_on(words());
    runtime.block_on(broadcast());
}

/// Calls `each` with every number, and prints what the first and the last block took.
async fn measure(what: &str, mut each: impl AsyncFnMut(u128)) {
    let mut taken = Vec::new();
    for block in 0..BLOCKS {
        let started = Instant::now();
        for number in 1..=BLOCK {
            each(block * BLOCK + number).await;
        }
        taken.push(started.elapsed().as_secs_f64() * 1e6 / BLOCK as f64);
    }
    let (first, last) = (taken[0], taken[taken.len() - 1]);
    println!("{what:<52} {first:>12.1} {last:>12.1} {:>8.2}", last / first);
}

struct Opened {
    store: SqliteStore,
    _folder: tempfile::TempDir,
}

fn open() -> Opened {
    let folder = tempfile::tempdir_in(".").unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("artel.db");
    Opened { store: SqliteStore::open(&path, SqliteOptions::default()).unwrap(), _folder: folder }
}

async fn spawn(store: &SqliteStore, number: u128) {
    let agent = NewAgent { agents_max: usize::MAX, ..new_agent(agent_record(number, None, 10)) };
    assert_eq!(store.create_agent(agent).await.unwrap(), Ok(()));
}

async fn posts() {
    let Opened { store, _folder } = open();
    spawn(&store, 1).await;
    measure("messages into one mailbox that fills", async |number| {
        assert_eq!(store.post(post(to(number, 1))).await.unwrap(), Posted::Delivered(vec![agent_id(1)]));
    })
    .await;
    let full = Posted::Refused(PostRefused::MailboxFull(agent_id(1)));
    measure("messages that a full mailbox refuses", async |number| {
        assert_eq!(store.post(post(to(BLOCK * BLOCKS + number, 1))).await.unwrap(), full);
    })
    .await;
}

async fn waits() {
    let Opened { store, _folder } = open();
    measure("waits, two agents each", async |number| {
        let wait = Wait {
            waiter: agent_id(number * 2),
            awaited: agent_id(number * 2 + 1),
            correlation: correlation(number),
            since: Timestamp::from_millis(0),
            until: Timestamp::from_millis(1000),
        };
        assert_eq!(store.begin_wait(wait, Timestamp::from_millis(1)).await.unwrap(), Ok(()));
    })
    .await;
}

async fn words() {
    for (what, bytes) in
        [("an agent of which little is known", 10), ("an agent of which 1 MiB is known", 1 << 20)]
    {
        let Opened { store, _folder } = open();
        let mut record = agent_record(1, None, 10);
        record.spec.metadata.insert("known".to_owned(), Value::from("x".repeat(bytes)));
        assert_eq!(store.create_agent(new_agent(record)).await.unwrap(), Ok(()));
        measure(&format!("words of {what}"), async |_| {
            store.append_said(agent_id(1), vec![said(20, "hello")]).await.unwrap();
        })
        .await;
    }
}

async fn broadcast() {
    let Opened { store, _folder } = open();
    for number in 1..=BROADCAST_AGENTS {
        spawn(&store, number).await;
    }
    let started = Instant::now();
    let posted = store.post(Post { mailbox_max: 10, ..post(message(1, Address::Broadcast)) }).await.unwrap();
    assert!(matches!(posted, Posted::Delivered(agents) if agents.len() as u128 == BROADCAST_AGENTS));
    let millis = started.elapsed().as_secs_f64() * 1e3;
    println!("a message to {BROADCAST_AGENTS} agents: {millis:.0} ms, on the thread that writes");
}
