//! Many messages at once, while the bus falls twice and somebody who reads is killed: every message is read once, or is a
//! dead letter with a reason.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_agents::{Office, OfficeConfig, ReadOptions, SendError};
use artel_model::id::{AgentId, MessageId};
use artel_model::message::{DeadReason, MessageKind};
use artel_store::MemoryStore;
use artel_store::contract::{AnyAgentStore, agent_id};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::post_house::{House, draft, sqlite, to, urgent};

const SENDERS: u128 = 20;
const RECEIVERS: u128 = 5;
/// Gets mail, never reads it, and is terminated in the end.
const DEAF: u128 = SENDERS + RECEIVERS + 1;
const EACH: usize = 250;
const ALL: usize = SENDERS as usize * EACH;

/// Who has worked on which message, and how often it was read. It survives the death of who reads, as a store would.
#[derive(Default)]
struct Traffic {
    worked_on: Mutex<BTreeMap<MessageId, usize>>,
}

impl Traffic {
    fn work_on(&self, id: MessageId) {
        *self.worked_on.lock().unwrap().entry(id).or_default() += 1;
    }

    fn count(&self) -> usize {
        self.worked_on.lock().unwrap().len()
    }
}

/// Reads and marks afterwards, so that whoever takes over after a death finds what was not finished.
async fn receive(office: Office, agent: AgentId, traffic: Arc<Traffic>) {
    loop {
        office.wait_for_mail(agent, Duration::from_secs(60)).await.unwrap();
        let peek = ReadOptions { mark_read: false, with_read: false, limit: 16 };
        let mail = office.read(agent, peek).await.unwrap();
        for mail in mail {
            traffic.work_on(mail.message.id);
            // Here it may be killed: the message has been worked on, and will come again.
            tokio::task::yield_now().await;
            office.mark_read(agent, &[mail.message.id]).await.unwrap();
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
        let message = urgent(u8::try_from(1 + number % 10).unwrap(), message);
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

fn begin_to_receive(house: &House, traffic: &Arc<Traffic>, number: u128) -> JoinHandle<()> {
    tokio::spawn(receive(house.office.clone(), agent_id(number), traffic.clone()))
}

async fn every_message_is_read_once_or_dead(store: Arc<dyn AnyAgentStore>) {
    let config = OfficeConfig { poll_ms: 5, ..OfficeConfig::default() };
    let house = House::open_on(store, config, DEAF).await;
    let traffic = Arc::new(Traffic::default());
    let mut receivers: Vec<JoinHandle<()>> =
        (1..=RECEIVERS).map(|number| begin_to_receive(&house, &traffic, SENDERS + number)).collect();
    let (sent, mut progress) = watch::channel(0);
    for sender in 1..=SENDERS {
        tokio::spawn(send_all(house.office.clone(), sender, sent.clone()));
    }
    for tenth in 1..=10 {
        progress.wait_for(|count| *count >= ALL * tenth / 10).await.unwrap();
        match tenth {
            2 | 6 => house.bus.fall(),
            3 | 7 => house.bus.rise(),
            4 => receivers[0].abort(),
            5 => receivers[0] = begin_to_receive(&house, &traffic, SENDERS + 1),
            _ => {}
        }
    }
    house.terminate(DEAF).await;
    let deaf = SENDERS as usize * EACH / 10;
    while traffic.count() < ALL - deaf || house.office.counts().await.unwrap().unread > 0 {
        tokio::task::yield_now().await;
    }
    receivers.iter().for_each(JoinHandle::abort);

    let counts = house.office.counts().await.unwrap();
    assert_eq!((counts.unread, counts.read), (0, (ALL - deaf) as u64));
    assert_eq!(counts.dead, [(DeadReason::RecipientEnded, deaf as u64)]);
    assert_eq!(traffic.count(), ALL - deaf, "nobody works on what is dead");
    let again = traffic.worked_on.lock().unwrap().values().filter(|times| **times > 1).count();
    assert!(again <= 16, "only what the killed one had in hand comes again: {again}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_is_read_once_or_dead_in_memory() {
    every_message_is_read_once_or_dead(Arc::new(MemoryStore::new())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_is_read_once_or_dead_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    every_message_is_read_once_or_dead(sqlite(&folder)).await;
}
