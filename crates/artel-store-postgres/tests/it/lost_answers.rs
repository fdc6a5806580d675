//! A write whose answer is lost with the connection is done once, and told as done.

use artel_store::contract::{new_run, note, run_id};
use artel_store::{AppendError, Claim, Created, Fence, NewRun, OwnerId, Revision, RunAppend, RunStore as _};
use artel_store_postgres::{PostgresOptions, PostgresStore};

use crate::proxy::{Break, MARK, breaking_way};
use crate::server::OwnServer;

const WORKS: &str = "the store works";

/// Returns two ways to one store that keeps one run: one that breaks at the mark, and one that does not.
async fn stores(server: &OwnServer, at: Break) -> (PostgresStore, PostgresStore) {
    let way = breaking_way(server, at).await;
    let breaking = PostgresStore::connect(&way, PostgresOptions::default()).await.expect(WORKS);
    let whole = PostgresStore::connect(&server.url, PostgresOptions::default()).await.expect(WORKS);
    whole.create(new_run(run_id(1), 10)).await.expect(WORKS);
    (breaking, whole)
}

fn append(expected: u64, text: &str) -> RunAppend {
    RunAppend {
        run: run_id(1),
        expected: Revision(expected),
        fence: Some(Fence(1)),
        events: vec![note(11, text), note(12, "and more")],
        summary: None,
        executions: Vec::new(),
        health: Vec::new(),
    }
}

async fn appends_once(at: Break) {
    let server = OwnServer::start();
    let (breaking, whole) = stores(&server, at).await;
    assert_eq!(breaking.append(append(1, MARK)).await.expect(WORKS), Revision(3), "{at:?}");
    let log = whole.events(run_id(1), Revision(0), 10).await.expect(WORKS);
    let log: Vec<_> = log.into_iter().map(|logged| logged.event).collect();
    assert_eq!(log, [note(10, "submitted"), note(11, MARK), note(12, "and more")], "{at:?}");
}

#[tokio::test]
async fn an_append_that_did_not_arrive_is_sent_again() {
    appends_once(Break::Before).await;
}

#[tokio::test]
async fn an_append_that_arrived_is_not_done_twice() {
    appends_once(Break::After).await;
}

#[tokio::test]
async fn an_append_that_did_not_arrive_may_still_lose_to_another() {
    let server = OwnServer::start();
    let (breaking, whole) = stores(&server, Break::Before).await;
    whole.append(append(1, "somebody else's")).await.unwrap();
    let answer = breaking.append(append(1, MARK)).await;
    assert!(matches!(answer, Err(AppendError::Conflict { actual: Revision(3) })), "{answer:?}");
}

#[tokio::test]
async fn a_run_whose_answer_was_lost_is_kept_once() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let run = NewRun {
            events: vec![note(10, MARK)],
            idempotency_key: Some("key".to_owned()),
            ..new_run(run_id(2), 10)
        };
        assert_eq!(breaking.create(run).await.unwrap(), Created::New, "{at:?}");
        assert_eq!(whole.events(run_id(2), Revision(0), 10).await.unwrap().len(), 1, "{at:?}");
    }
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_ours() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let claim = Claim { run: run_id(1), seen: Fence(1), owner: OwnerId(MARK.to_owned()) };
        assert_eq!(breaking.claim(claim).await.unwrap(), Fence(2), "{at:?}");
        assert_eq!(whole.run(run_id(1)).await.unwrap().unwrap().fence, Fence(2), "{at:?}");
    }
}
