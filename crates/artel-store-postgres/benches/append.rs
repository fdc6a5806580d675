//! How many events a second the store takes on a server that flushes to the disk: written, and synced.
//!
//! It starts a server of its own. Each append is an event of 300 bytes. It prints numbers and judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop there")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[expect(dead_code, reason = "no server is restarted here")]
#[path = "../tests/it/own_server.rs"]
mod own_server;

use std::time::Instant;

use artel_model::id::RunId;
use artel_store::contract::{new_run, note, run_id};
use artel_store::{Fence, Revision, RunAppend, RunStore as _};
use artel_store_postgres::{PostgresOptions, PostgresStore};
use own_server::OwnServer;
use tokio::task::JoinSet;

const CHAIN: u64 = 5_000;
const CHAIN_SYNCED: u64 = 500;
const TASKS: u128 = 200;
const EACH: u64 = 50;
/// The rest of an event that says `approved` is 72 bytes long.
const NOTE_BYTES: usize = 228;

fn main() {
    let server = OwnServer::start_with("-c fsync=on -c full_page_writes=on").unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!("{:<52} {:>10} {:>12}", "", "appends/s", "us per append");
    runtime.block_on(async {
        let store = PostgresStore::connect(&server.url, PostgresOptions::default()).await.unwrap();
        for run in 1..=2 + TASKS {
            store.create(new_run(run_id(run), 10)).await.unwrap();
        }
        measure("one chain, written", CHAIN, chain(&store, run_id(1), CHAIN, Sync::AtTheEnd)).await;
        measure("one chain, each synced", CHAIN_SYNCED, chain(&store, run_id(2), CHAIN_SYNCED, Sync::Each))
            .await;
        measure("200 chains at once, each synced at its end", TASKS as u64 * EACH, many(&store)).await;
    });
}

async fn measure(what: &str, count: u64, work: impl Future<Output = ()>) {
    let started = Instant::now();
    work.await;
    let rate = count as f64 / started.elapsed().as_secs_f64();
    println!("{what:<52} {rate:>10.0} {:>12.1}", 1e6 / rate);
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Sync {
    Each,
    AtTheEnd,
}

async fn chain(store: &PostgresStore, run: RunId, count: u64, sync: Sync) {
    for end in 1..=count {
        let append = RunAppend {
            run,
            expected: Revision(end),
            fence: Some(Fence(1)),
            events: vec![note(5, &"x".repeat(NOTE_BYTES))],
            summary: None,
            executions: Vec::new(),
            health: Vec::new(),
        };
        store.append(append).await.unwrap();
        if sync == Sync::Each {
            store.sync().await.unwrap();
        }
    }
    store.sync().await.unwrap();
}

async fn many(store: &PostgresStore) {
    let mut chains = JoinSet::new();
    for run in 3..3 + TASKS {
        let store = store.clone();
        chains.spawn(async move { chain(&store, run_id(run), EACH, Sync::AtTheEnd).await });
    }
    chains.join_all().await;
}
