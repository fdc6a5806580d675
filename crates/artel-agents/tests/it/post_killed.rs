//! Mail while Redis is killed twice, and so is the process that reads: every message is read once, or is a dead letter with a
//! reason.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use artel_agents::{Office, ReadOptions, SendError};
use artel_engine::Clock;
use artel_model::agent::AgentPhase;
use artel_model::message::{DeadReason, MessageKind};
use artel_store::AgentAppend;
use artel_store::contract::{AnyAgentStore, agent_id, agent_record, new_agent, said};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use camino::{Utf8Path, Utf8PathBuf};
use tokio::sync::watch;

use crate::post_house::{draft, text, to};
use crate::post_redis::open;
use crate::redis_server::{OwnServer, Place};

const SENDERS: u128 = 4;
const RECEIVERS: u128 = 3;
/// Gets mail, never reads it, and is terminated in the end.
const DEAF: u128 = SENDERS + RECEIVERS + 1;
const EACH: usize = 500;
const ALL: usize = SENDERS as usize * EACH;
const FOR_DEAF: usize = ALL / 10;
/// Messages that a reader takes at once.
const AT_ONCE: usize = 16;
/// Tells a test that it is the process that reads: the store's file, Redis and the prefix of its keys.
const READER: &str = "ARTEL_TEST_READER";

fn open_store(path: &Utf8Path) -> Arc<dyn AnyAgentStore> {
    Arc::new(SqliteStore::open(path, SqliteOptions::default()).unwrap())
}

/// Looks into the store often: who reads is killed at any moment.
async fn open_office(store: &Arc<dyn AnyAgentStore>, place: &Place) -> Office {
    open(place, store, Clock::system(), 5).await
}

/// Does nothing, unless another test started this one as the process that reads until it is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "this is how a test is told that it is the process that reads")]
async fn reader_process() {
    let Ok(told) = std::env::var(READER) else { return };
    let [path, url, prefix] = told.split(' ').collect::<Vec<_>>()[..] else { panic!("{told}") };
    let store = open_store(&Utf8PathBuf::from(path));
    let mut place = Place::at(url);
    place.prefix = prefix.parse().unwrap();
    let office = open_office(&store, &place).await;
    let receivers = (1..=RECEIVERS).map(|number| tokio::spawn(receive(office.clone(), SENDERS + number)));
    for receiver in receivers.collect::<Vec<_>>() {
        receiver.await.unwrap();
    }
}

/// Works on mail, which is to say so, and marks it afterwards.
async fn receive(office: Office, number: u128) {
    let agent = agent_id(number);
    loop {
        office.wait_for_mail(agent, Duration::from_secs(60)).await.unwrap();
        let peek = ReadOptions { mark_read: false, with_read: false, limit: AT_ONCE };
        for mail in office.read(agent, peek).await.unwrap() {
            // One write, which is there as a whole or not at all.
            let line = format!("worked {}\n", text(&mail.message));
            std::io::stdout().write_all(line.as_bytes()).unwrap();
            office.mark_read(agent, &[mail.message.id]).await.unwrap();
        }
    }
}

/// Starts a process that reads, and counts what it has worked on.
#[expect(clippy::disallowed_methods, reason = "a process of its own is what is killed here")]
fn start_reader(told: &str, worked_on: &Arc<watch::Sender<BTreeMap<String, usize>>>) -> Reader {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "post_killed::reader_process", "--nocapture"])
        .env(READER, told)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let worked_on = worked_on.clone();
    let listening = std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if let Some((_, message)) = line.split_once("worked ") {
                worked_on.send_modify(|all| *all.entry(message.to_owned()).or_default() += 1);
            }
        }
    });
    Reader { child, listening: Some(listening) }
}

/// A process that reads; it does not outlive the test.
struct Reader {
    child: Child,
    listening: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Reader {
    /// Kills it as `kill -9` does, and waits until all is heard that it said.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

async fn send_all(office: Office, sender: u128, sent: watch::Sender<usize>) {
    for number in 0..EACH {
        let recipient = match number % 10 {
            0 => DEAF,
            _ => SENDERS + 1 + (sender + number as u128) % RECEIVERS,
        };
        let message = draft(sender, to(recipient), MessageKind::Event, &format!("{sender}/{number}"));
        loop {
            match office.send(message.clone()).await {
                Ok(_) => break,
                Err(SendError::MailboxFull(_)) => tokio::task::yield_now().await,
                Err(error) => panic!("{error}"),
            }
        }
        sent.send_modify(|count| *count += 1);
    }
}

async fn terminate(store: &dyn AnyAgentStore, number: u128) {
    let row = store.agent(agent_id(number)).await.unwrap().unwrap();
    let mut record = row.record;
    record.standing = AgentPhase::Terminated;
    let append = AgentAppend { expected: row.revision, events: vec![said(20, "over")], record };
    store.append_agent(append).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_is_read_once_or_dead_although_redis_and_the_reader_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("artel.db");
    let store = open_store(&path);
    for number in 1..=DEAF {
        store.create_agent(new_agent(agent_record(number, None, 10))).await.unwrap().unwrap();
    }
    let mut server = OwnServer::start();
    let place = Place::at(&server.url);
    let told = format!("{path} {} {}", server.url, place.prefix);
    let office = open_office(&store, &place).await;
    let worked_on = Arc::new(watch::Sender::new(BTreeMap::new()));
    let mut reader = Some(start_reader(&told, &worked_on));
    let (sent, mut progress) = watch::channel(0);
    for sender in 1..=SENDERS {
        tokio::spawn(send_all(office.clone(), sender, sent.clone()));
    }
    for tenth in 1..=10 {
        progress.wait_for(|count| *count >= ALL * tenth / 10).await.unwrap();
        match tenth {
            3 | 7 => tokio::task::block_in_place(|| server.order("restart")),
            4 => {
                // It must have had something in hand.
                worked_on.subscribe().wait_for(|all| !all.is_empty()).await.unwrap();
                tokio::task::block_in_place(|| drop(reader.take()));
            }
            5 => reader = Some(start_reader(&told, &worked_on)),
            _ => {}
        }
    }
    worked_on.subscribe().wait_for(|all| all.len() == ALL - FOR_DEAF).await.unwrap();
    while office.counts().await.unwrap().unread > FOR_DEAF as u64 {
        tokio::task::yield_now().await;
    }
    terminate(&*store, DEAF).await;
    let counts = office.counts().await.unwrap();
    assert_eq!((counts.unread, counts.read), (0, (ALL - FOR_DEAF) as u64));
    assert_eq!(counts.dead, [(DeadReason::RecipientEnded, FOR_DEAF as u64)]);
    tokio::task::block_in_place(|| drop(reader.take()));
    let again = worked_on.borrow().values().filter(|times| **times > 1).count();
    assert!(again <= RECEIVERS as usize, "only what the killed one had in hand comes again: {again}");
}
