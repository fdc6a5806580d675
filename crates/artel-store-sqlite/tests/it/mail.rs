//! Mailboxes in a file: what is counted along fits with what lies there, whatever happened, and much is read in pieces.

use std::sync::Arc;

use artel_model::agent::{AgentPhase, AgentRecord};
use artel_model::id::AgentId;
use artel_model::message::{Address, Message, Payload, Ttl};
use artel_model::time::Timestamp;
use artel_store::contract::{agent_id, agent_record, message, message_id, new_agent, peek, post, said, to};
use artel_store::{AgentAppend, AgentAppendError, AgentStore, MailQuery, MailStore, Post, Posted};
use artel_store_sqlite::SqliteStore;
use rusqlite::Connection;
use tokio::task::JoinSet;

use crate::support::Folder;

/// When messages of the contract are sent.
const SENT: i64 = 1000;
const AGENTS: u128 = 6;

async fn spawn(store: &SqliteStore, number: u128) {
    let created = store.create_agent(new_agent(agent_record(number, None, 10))).await.unwrap();
    assert_eq!(created, Ok(()));
}

#[tokio::test]
async fn a_reading_ends_with_the_message_that_reaches_the_limit_of_bytes() {
    let folder = Folder::new();
    let store = folder.open();
    spawn(&store, 1).await;
    let object = serde_json::Map::from_iter([("text".to_owned(), "x".repeat(260_000).into())]);
    let payload = Payload::new(object).unwrap();
    for number in 1..=67 {
        store.post(post(Message { payload: payload.clone(), ..to(number, 1) })).await.unwrap();
    }
    let looking = MailQuery { with_read: true, ..peek(1, SENT) };
    assert_eq!(store.mailbox(looking).await.unwrap().len(), 65);
    let reading = MailQuery { mark_read: true, ..peek(1, SENT) };
    for expected in [65, 2, 0] {
        assert_eq!(store.mailbox(reading).await.unwrap().len(), expected);
    }
    // Several transactions are needed for as many bytes of dead letters, and each is counted once.
    for number in 101..=140 {
        store.post(post(Message { payload: payload.clone(), ..to(number, 1) })).await.unwrap();
    }
    assert_eq!(store.sweep(Timestamp::from_millis(SENT + 60_000), 10).await.unwrap(), 40);
    let counts = store.mail_counts().await.unwrap();
    assert_eq!((counts.unread, counts.read), (0, 0));
    assert_eq!(counts.dead.iter().map(|(_, letters)| letters).sum::<u64>(), 40);
}

/// Ends an agent for good, however much others say about it meanwhile.
async fn terminate(store: &SqliteStore, id: AgentId) {
    loop {
        let row = store.agent(id).await.unwrap().unwrap();
        let record = AgentRecord { standing: AgentPhase::Terminated, ..row.record };
        let append = AgentAppend { expected: row.revision, events: vec![said(20, "the end")], record };
        match store.append_agent(append).await {
            Ok(_) => return,
            Err(AgentAppendError::Conflict { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Posts, reads, marks and sweeps, each in its turn.
async fn restless(store: Arc<SqliteStore>, worker: u128) {
    for turn in 0..60 {
        let (number, agent) = (worker * 1000 + turn, turn % AGENTS + 1);
        let now = SENT + i64::try_from(turn).unwrap() * 100;
        let ttl = Ttl::try_from(1 + u32::try_from(turn % 3).unwrap()).unwrap();
        let address = if turn % 10 == 9 { Address::Broadcast } else { Address::Agent(agent_id(agent)) };
        let sent = Message { ttl, timestamp: Timestamp::from_millis(now), ..message(number, address) };
        let posted = Post { mailbox_max: 20, ..post(sent) };
        store.post(posted).await.unwrap();
        store.append_said(agent_id(agent), vec![said(now, "hello")]).await.unwrap();
        match turn % 4 {
            0 => {
                let reading = MailQuery { mark_read: true, limit: 3, ..peek(agent, now) };
                store.mailbox(reading).await.unwrap();
            }
            1 => {
                let ids: Vec<_> = (0..=turn).map(|turn| message_id(worker * 1000 + turn)).collect();
                store.mark_read(agent_id(agent), &ids).await.unwrap();
            }
            2 if turn % 20 == 2 => {
                store.sweep(Timestamp::from_millis(now), 100).await.unwrap();
            }
            _ => {}
        }
        if (worker, turn) == (1, 40) {
            terminate(&store, agent_id(2)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_counted_along_is_what_lies_there() {
    let folder = Folder::new();
    // The second is another program on the same file.
    let stores = [Arc::new(folder.open()), Arc::new(folder.open())];
    for number in 1..=AGENTS {
        spawn(&stores[0], number).await;
    }
    let mut tasks = JoinSet::new();
    for worker in 1..=6 {
        let store = stores[usize::from(worker % 2 == 0)].clone();
        tasks.spawn(restless(store, worker));
    }
    tasks.join_all().await;
    let report = stores[0].check().await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert!(stores[0].mail_counts().await.unwrap().unread > 0);
    assert_eq!(stores[1].prune_agents(Timestamp::from_millis(i64::MAX)).await.unwrap(), 1);
    stores[1].sweep(Timestamp::from_millis(SENT + 1_000_000), 100).await.unwrap();
    assert!(stores[0].check().await.unwrap().is_sound());
    let connection = Connection::open(folder.database()).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM mailboxes WHERE unread <> 0"), 0);
    assert_eq!(count("SELECT count(*) FROM agent_records"), i64::try_from(AGENTS).unwrap() - 1);
}

#[tokio::test]
async fn the_check_finds_what_is_counted_wrongly() {
    let folder = Folder::new();
    let store = folder.open();
    spawn(&store, 1).await;
    assert_eq!(store.post(post(to(1, 1))).await.unwrap(), Posted::Delivered(vec![agent_id(1)]));
    let problems = async |sql: &str| {
        Connection::open(folder.database()).unwrap().execute_batch(sql).unwrap();
        store.check().await.unwrap().problems
    };
    let agent = "00000000000000000000000000000001";
    let unread = |counted| format!("{counted} unread messages of agent {agent} are counted, and there are 1");
    assert_eq!(problems("UPDATE mailboxes SET unread = 3").await, [unread(3)]);
    assert_eq!(problems("DELETE FROM mailboxes").await, [unread(0)]);
    assert_eq!(
        problems("INSERT INTO mailboxes SELECT recipient, 1 FROM deliveries; UPDATE agents SET revision = 2")
            .await,
        [format!("2 events of agent {agent} are counted, and there are 1")]
    );
    assert_eq!(
        problems("UPDATE agents SET revision = 1; UPDATE agent_totals SET living = 7").await,
        ["7 living agents are counted, and there are 1"]
    );
}
