//! Messages through the post office: how long one takes to somebody who waits, and what becomes of a hundred thousand under
//! load while the bus falls twice, be it one in the process or a Redis that is killed, and somebody who reads is killed.
//!
//! `cargo bench -p artel-agents --bench post` prints a table and the sums; it fails when they do not add up.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures and prints"
)]

#[path = "../tests/it/post_house.rs"]
#[expect(dead_code, reason = "the tests need more of the house than this")]
mod post_house;
#[path = "../../artel-bus/tests/it/server.rs"]
#[expect(dead_code, reason = "the tests of the bus need more of it")]
mod redis_server;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use artel_agents::{DeadLetterBox, Office, OfficeConfig, OfficeParts, ReadOptions, SendError};
use artel_bus::BusConfig;
use artel_model::message::{Message, MessageKind};
use artel_store::MemoryStore;
use artel_store::contract::{AnyAgentStore, agent_id};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;

use post_house::{House, draft, event, sqlite, text, to, urgent};
use redis_server::{OwnServer, Place};

const CALM_MESSAGES: usize = 10_000;
const MESSAGES: usize = 100_000;
const SENDERS: u128 = 50;
const RECEIVERS: u128 = 20;
/// Gets a hundredth of the mail, never reads it, and is terminated in the end.
const DEAF: u128 = SENDERS + RECEIVERS + 1;
const BATCH: usize = 64;
/// Messages that are sent and not yet worked on: with more, only the waiting in mailboxes would be measured.
const IN_FLIGHT_MAX: usize = 1000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!(
        "{:<8} {:<6} {:>9} {:>10} {:>11} {:>11} {:>11} {:>11}",
        "store", "case", "messages", "per s", "kept p50 us", "kept p99 us", "read p50 us", "read p99 us"
    );
    runtime.block_on(measure("memory", |_| Arc::new(MemoryStore::new())));
    runtime.block_on(measure("sqlite", sqlite));
    let folder = tempfile::tempdir().unwrap();
    runtime.block_on(load("redis", sqlite(&folder), Some(OwnServer::start())));
}

async fn measure(store: &str, open: impl Fn(&tempfile::TempDir) -> Arc<dyn AnyAgentStore>) {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    calm(store, open(&folders[0])).await;
    load(store, open(&folders[1]), None).await;
}

/// One message at a time, to somebody who waits for it.
async fn calm(name: &str, store: Arc<dyn AnyAgentStore>) {
    let house = House::open_on(store, OfficeConfig::default(), 2).await;
    let (read, mut reads) = mpsc::channel(1);
    let office = house.office.clone();
    let receiver = tokio::spawn(async move {
        loop {
            office.wait_for_mail(agent_id(2), Duration::from_secs(60)).await.unwrap();
            office.read(agent_id(2), ReadOptions::default()).await.unwrap();
            read.send(Instant::now()).await.unwrap();
        }
    });
    let (begin, mut times) = (Instant::now(), Times::default());
    for number in 0..CALM_MESSAGES {
        let sent = Instant::now();
        house.office.send(event(1, 2, &number.to_string())).await.unwrap();
        times.kept.push(micros_between(sent, Instant::now()));
        times.read.push(micros_between(sent, reads.recv().await.unwrap()));
    }
    receiver.abort();
    row(name, "calm", CALM_MESSAGES, begin, times);
}

/// Microseconds from sending messages until they were kept, which is when the sender may go on, and until they were read.
#[derive(Default)]
struct Times {
    kept: Vec<u64>,
    read: Vec<u64>,
}

/// What a sender tells when it is done.
#[derive(Default)]
struct SenderReport {
    kept_micros: Vec<u64>,
    refused: usize,
}

/// What is known about every message: when it was sent and how often it was worked on.
struct Traffic {
    begin: Instant,
    sent_at: Vec<AtomicU64>,
    worked_on: Vec<AtomicU32>,
    micros: Mutex<Vec<u64>>,
    in_flight: Semaphore,
}

impl Traffic {
    fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_micros()).unwrap()
    }

    /// Works on a message; only the first time counts.
    fn work_on(&self, message: &Message) {
        let number: usize = text(message).parse().unwrap();
        if self.worked_on[number].fetch_add(1, Ordering::Relaxed) == 0 {
            let took = self.now().saturating_sub(self.sent_at[number].load(Ordering::Relaxed));
            self.micros.lock().unwrap().push(took);
            self.in_flight.add_permits(1);
        }
    }

    fn done(&self) -> usize {
        self.micros.lock().unwrap().len()
    }
}

async fn receive(office: Office, number: u128, traffic: Arc<Traffic>) {
    let agent = agent_id(number);
    loop {
        office.wait_for_mail(agent, Duration::from_secs(60)).await.unwrap();
        let peek = ReadOptions { mark_read: false, with_read: false, limit: BATCH };
        let mail = office.read(agent, peek).await.unwrap();
        let ids: Vec<_> = mail.iter().map(|mail| mail.message.id).collect();
        mail.iter().for_each(|mail| traffic.work_on(&mail.message));
        // Here it may be killed: what it has worked on comes again.
        tokio::task::yield_now().await;
        office.mark_read(agent, &ids).await.unwrap();
    }
}

async fn send(
    office: Office,
    sender: u128,
    traffic: Arc<Traffic>,
    sent: watch::Sender<usize>,
) -> SenderReport {
    let mut report = SenderReport::default();
    for number in (usize::try_from(sender).unwrap() - 1..MESSAGES).step_by(usize::try_from(SENDERS).unwrap())
    {
        let recipient = if is_for_deaf(number) { DEAF } else { SENDERS + 1 + number as u128 % RECEIVERS };
        let message = draft(sender, to(recipient), MessageKind::Event, &number.to_string());
        let message = urgent(u8::try_from(1 + number % 10).unwrap(), message);
        if !is_for_deaf(number) {
            traffic.in_flight.acquire().await.unwrap().forget();
        }
        traffic.sent_at[number].store(traffic.now(), Ordering::Relaxed);
        loop {
            match office.send(message.clone()).await {
                Ok(_) => break,
                Err(SendError::MailboxFull(_)) => report.refused += 1,
                Err(error) => panic!("{error}"),
            }
            tokio::task::yield_now().await;
        }
        report.kept_micros.push(traffic.now() - traffic.sent_at[number].load(Ordering::Relaxed));
        sent.send_modify(|count| *count += 1);
    }
    report
}

fn is_for_deaf(number: usize) -> bool {
    number.is_multiple_of(100)
}

/// An office whose bus is a Redis, beside that of a house.
async fn redis_office(house: &House, server: &OwnServer) -> Office {
    let (store, clock) = (&house.store, house.clock);
    let dead = DeadLetterBox::open(store.clone());
    let bus_clock = artel_bus::Clock::new(move || clock.now());
    let config = BusConfig { clock: bus_clock, dead_letters: Arc::new(dead.clone()) };
    let parts = OfficeParts {
        mail: store.clone(),
        waits: store.clone(),
        agents: store.clone(),
        runs: store.clone(),
        bus: Arc::new(Place::at(&server.url).bus(config).await),
        clock,
    };
    Office::with_dead_letters(OfficeConfig { poll_ms: 5, ..OfficeConfig::default() }, parts, dead)
}

/// Lets the bus fall or rise: the Redis, or else that of the house.
fn turn(house: &House, redis: Option<&mut OwnServer>, is_up: bool) {
    match (redis, is_up) {
        (Some(server), true) => tokio::task::block_in_place(|| server.order("start")),
        (Some(server), false) => tokio::task::block_in_place(|| server.order("stop")),
        (None, true) => house.bus.rise(),
        (None, false) => house.bus.fall(),
    }
}

async fn load(name: &str, store: Arc<dyn AnyAgentStore>, mut redis: Option<OwnServer>) {
    let house = House::open_on(store, OfficeConfig { poll_ms: 5, ..OfficeConfig::default() }, DEAF).await;
    let office = match &redis {
        Some(server) => redis_office(&house, server).await,
        None => house.office.clone(),
    };
    let traffic = Arc::new(Traffic {
        begin: Instant::now(),
        sent_at: (0..MESSAGES).map(|_| AtomicU64::new(0)).collect(),
        worked_on: (0..MESSAGES).map(|_| AtomicU32::new(0)).collect(),
        micros: Mutex::default(),
        in_flight: Semaphore::new(IN_FLIGHT_MAX),
    });
    let begin_to_receive = |number| tokio::spawn(receive(office.clone(), SENDERS + number, traffic.clone()));
    let mut receivers: Vec<JoinHandle<()>> = (1..=RECEIVERS).map(begin_to_receive).collect();
    let (sent, mut progress) = watch::channel(0);
    let senders: Vec<JoinHandle<SenderReport>> = (1..=SENDERS)
        .map(|sender| tokio::spawn(send(office.clone(), sender, traffic.clone(), sent.clone())))
        .collect();
    for tenth in 1..=10 {
        progress.wait_for(|count| *count >= MESSAGES * tenth / 10).await.unwrap();
        match tenth {
            2 | 6 => turn(&house, redis.as_mut(), false),
            3 | 7 => turn(&house, redis.as_mut(), true),
            4 => receivers[0].abort(),
            5 => receivers[0] = begin_to_receive(1),
            _ => {}
        }
    }
    let (mut kept, mut refused) = (Vec::new(), 0);
    for sender in senders {
        let report = sender.await.unwrap();
        kept.extend(report.kept_micros);
        refused += report.refused;
    }
    let deaf = (0..MESSAGES).filter(|number| is_for_deaf(*number)).count();
    while traffic.done() < MESSAGES - deaf {
        tokio::task::yield_now().await;
    }
    let read = std::mem::take(&mut *traffic.micros.lock().unwrap());
    row(name, "load", MESSAGES, traffic.begin, Times { kept, read });
    sums(&house, &traffic, refused).await;
    receivers.iter().for_each(JoinHandle::abort);
}

/// Prints what became of every message, and fails when something is missing.
async fn sums(house: &House, traffic: &Traffic, refused: usize) {
    while house.office.counts().await.unwrap().unread > (MESSAGES / 100) as u64 {
        tokio::task::yield_now().await;
    }
    house.terminate(DEAF).await;
    let counts = house.office.counts().await.unwrap();
    let dead: u64 = counts.dead.iter().map(|(_, count)| count).sum();
    let again = traffic.worked_on.iter().filter(|times| times.load(Ordering::Relaxed) > 1).count();
    println!(
        "sums: {MESSAGES} sent = {} read + {} unread + {dead} dead {:?}; {again} came again, {refused} told MAILBOX_FULL",
        counts.read, counts.unread, counts.dead
    );
    assert_eq!(counts.read + counts.unread + dead, MESSAGES as u64);
    assert_eq!(counts.unread, 0);
}

fn row(store: &str, case: &str, messages: usize, begin: Instant, mut times: Times) {
    let per_second = messages as f64 / begin.elapsed().as_secs_f64();
    let [kept_50, kept_99] = percentiles(&mut times.kept);
    let [read_50, read_99] = percentiles(&mut times.read);
    println!(
        "{store:<8} {case:<6} {messages:>9} {per_second:>10.0} {kept_50:>11} {kept_99:>11} {read_50:>11} {read_99:>11}"
    );
}

fn percentiles(micros: &mut [u64]) -> [u64; 2] {
    micros.sort_unstable();
    [50, 99].map(|percent| micros[(micros.len() - 1) * percent / 100])
}

fn micros_between(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_micros()).unwrap()
}
