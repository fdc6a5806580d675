//! The suite that every bus must pass.

use std::sync::Arc;
use std::time::Duration;

use artel_bus::{
    Bell, Bus, BusConfig, BusError, Heard, InProcessBus, Origin, RequestError, RespondError, SubscribeError,
    SubscribeOptions,
};
use artel_model::id::AgentId;
use artel_model::limit::{SUBSCRIPTION_QUEUE_MAX, TOPIC_REPLAY_MAX};
use artel_model::message::{Address, DeadReason, Message, MessageKind};
use tokio::time::timeout;
use uuid::Uuid;

use crate::sample::{PATIENCE, World, answer_to, event, message, next, number, request, take, urgent};
use crate::server::Place;

async fn in_process(config: BusConfig) -> (Arc<dyn Bus>, ()) {
    (Arc::new(InProcessBus::new(config)), ())
}

async fn through_redis(config: BusConfig) -> (Arc<dyn Bus>, Place) {
    let place = Place::any();
    let mut config = place.config(config);
    config.heard_wait = Duration::from_millis(200);
    let bus = artel_bus::RedisBus::connect(config).await.expect("Redis is there");
    (Arc::new(bus), place)
}

macro_rules! contract_suite {
    ($($case:ident)*) => {
        contract_suite! { @bus in_process: $($case)* }
        contract_suite! { @bus through_redis: $($case)* }
    };
    (@bus $bus:ident: $($case:ident)*) => {
        mod $bus {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let world = super::World::default();
                    let (bus, _place) = super::$bus(world.config()).await;
                    super::$case(&world, bus).await;
                }
            )*
        }
    };
}

contract_suite! {
    every_matching_subscriber_gets_a_message_once
    urgent_messages_overtake_those_that_wait
    a_message_that_comes_twice_is_delivered_once
    what_is_too_late_is_not_delivered
    what_waited_too_long_is_not_delivered
    a_subscriber_that_is_behind_is_refused_and_told
    what_waited_for_someone_who_left_is_a_dead_letter
    those_who_come_late_get_the_last_messages_first
    there_is_no_gap_between_kept_and_live
    only_messages_about_topics_are_carried
    limits_of_subscriptions_are_told
    a_request_gets_its_answer
    many_requests_get_their_own_answers
    the_first_answer_wins
    an_answer_without_a_question_is_refused
    a_request_that_nobody_hears_is_told_so
    a_request_that_nobody_answers_times_out
    what_is_no_request_is_refused
    giving_up_the_wait_loses_nothing
    a_closed_bus_ends_its_subscriptions
    a_bell_rings_for_its_agent_only
    rings_are_no_messages
    a_closed_bus_ends_its_bells
}

fn options(queue_max: usize, replay: usize) -> SubscribeOptions {
    SubscribeOptions { queue_max, replay, subscriber: None }
}

/// Publishes a message on a topic of its own and waits for it, so that everything before it has arrived.
async fn settle(bus: &Arc<dyn Bus>, number: u128) {
    let mut own = bus.subscribe("settled".parse().unwrap(), SubscribeOptions::default()).unwrap();
    bus.publish(event(number, "settled")).await.unwrap();
    assert_eq!(take(&mut own, 1).await, [number]);
}

async fn every_matching_subscriber_gets_a_message_once(_: &World, bus: Arc<dyn Bus>) {
    let patterns = ["a.b", "a.*", "a.>", ">", "b.*"];
    let mut subscriptions =
        patterns.map(|text| bus.subscribe(text.parse().unwrap(), SubscribeOptions::default()).unwrap());
    assert_eq!(bus.publish(event(1, "a.b")).await.unwrap().subscribers, 4);
    assert_eq!(bus.publish(event(2, "b.c")).await.unwrap().subscribers, 2);
    for (subscription, expected) in
        subscriptions.iter_mut().zip([vec![1], vec![1], vec![1], vec![1, 2], vec![2]])
    {
        assert_eq!(take(subscription, expected.len()).await, expected, "{}", subscription.pattern());
    }
    let counts = bus.counts();
    assert!(counts.is_balanced(), "{counts:?}");
    assert_eq!((counts.published, counts.matched, counts.delivered, counts.waiting), (2, 6, 6, 0));
}

async fn urgent_messages_overtake_those_that_wait(_: &World, bus: Arc<dyn Bus>) {
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    for (number, priority) in [(1, 5), (2, 10), (3, 1), (4, 5), (5, 1)] {
        bus.publish(urgent(number, "a", priority)).await.unwrap();
    }
    settle(&bus, 6).await;
    assert_eq!(take(&mut subscription, 5).await, [3, 5, 1, 4, 2]);
}

async fn a_message_that_comes_twice_is_delivered_once(_: &World, bus: Arc<dyn Bus>) {
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    for number in [1, 1, 2, 1] {
        bus.publish(event(number, "a")).await.unwrap();
    }
    settle(&bus, 3).await;
    assert_eq!(take(&mut subscription, 2).await, [1, 2]);
    assert!(subscription.try_next().is_none());
    assert_eq!(bus.counts().repeated, 2);
}

async fn what_is_too_late_is_not_delivered(world: &World, bus: Arc<dyn Bus>) {
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    world.time.pass(60);
    assert!(matches!(bus.publish(event(1, "a")).await, Err(BusError::Expired)));
    assert!(subscription.try_next().is_none());
    assert_eq!(world.dead(), [(1, DeadReason::Expired)]);
    let counts = bus.counts();
    assert!(counts.is_balanced() && counts.expired == 1, "{counts:?}");
}

async fn what_waited_too_long_is_not_delivered(world: &World, bus: Arc<dyn Bus>) {
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    bus.publish(event(1, "a")).await.unwrap();
    settle(&bus, 2).await;
    world.time.pass(60);
    assert!(subscription.try_next().is_none());
    assert_eq!(world.dead(), [(1, DeadReason::Expired)]);
    let counts = bus.counts();
    assert!(counts.is_balanced() && counts.expired == 1, "{counts:?}");
}

async fn a_subscriber_that_is_behind_is_refused_and_told(world: &World, bus: Arc<dyn Bus>) {
    let mut slow = bus.subscribe("a".parse().unwrap(), options(2, 0)).unwrap();
    let mut quick = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    for number in 1..=4 {
        bus.publish(event(number, "a")).await.unwrap();
    }
    settle(&bus, 5).await;
    assert_eq!(take(&mut quick, 4).await, [1, 2, 3, 4]);
    assert_eq!(take(&mut slow, 2).await, [1, 2]);
    assert_eq!((slow.missed(), quick.missed()), (2, 0));
    assert_eq!(world.dead(), [(3, DeadReason::SubscriberBehind), (4, DeadReason::SubscriberBehind)]);
    let counts = bus.counts();
    assert!(counts.is_balanced() && counts.refused == 2, "{counts:?}");
}

async fn what_waited_for_someone_who_left_is_a_dead_letter(world: &World, bus: Arc<dyn Bus>) {
    let subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    bus.publish(event(1, "a")).await.unwrap();
    settle(&bus, 2).await;
    drop(subscription);
    assert_eq!(world.dead(), [(1, DeadReason::RecipientEnded)]);
    let counts = bus.counts();
    assert!(counts.is_balanced() && counts.abandoned == 1, "{counts:?}");
    assert_eq!(bus.publish(event(3, "a")).await.unwrap().subscribers, 0);
}

async fn those_who_come_late_get_the_last_messages_first(world: &World, bus: Arc<dyn Bus>) {
    for number in 1..=3 {
        bus.publish(event(number, "a")).await.unwrap();
    }
    settle(&bus, 4).await;
    let mut late = bus.subscribe("a".parse().unwrap(), options(10, 2)).unwrap();
    bus.publish(event(5, "a")).await.unwrap();
    let origins = [next(&mut late).await, next(&mut late).await, next(&mut late).await];
    let origins = origins.map(|delivery| (number(&delivery.message), delivery.origin));
    assert_eq!(origins, [(2, Origin::Replay), (3, Origin::Replay), (5, Origin::Live)]);
    let counts = bus.counts();
    assert!(counts.is_balanced() && counts.replayed == 2, "{counts:?}");
    world.time.pass(60);
    let mut too_late = bus.subscribe("a".parse().unwrap(), options(10, 10)).unwrap();
    assert!(too_late.try_next().is_none());
}

async fn there_is_no_gap_between_kept_and_live(_: &World, bus: Arc<dyn Bus>) {
    const MESSAGES: u128 = 500;
    let publisher = tokio::spawn({
        let bus = bus.clone();
        async move {
            for number in 1..=MESSAGES {
                bus.publish(event(number, "a")).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
    });
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let mut late = bus.subscribe("a".parse().unwrap(), options(SUBSCRIPTION_QUEUE_MAX, 1000)).unwrap();
        readers.spawn(async move { take(&mut late, MESSAGES as usize).await });
        tokio::task::yield_now().await;
    }
    publisher.await.unwrap();
    for numbers in readers.join_all().await {
        assert!(numbers.into_iter().eq(1..=MESSAGES));
    }
    assert!(bus.counts().is_balanced());
}

async fn only_messages_about_topics_are_carried(_: &World, bus: Arc<dyn Bus>) {
    for address in [Address::Broadcast, Address::Agent(AgentId(Uuid::nil()))] {
        let mail = Arc::new(Message { address, ..message(1, "a", MessageKind::Event) });
        assert!(matches!(bus.publish(mail.clone()).await, Err(BusError::NoTopic)));
        let asked = Arc::new(Message { kind: MessageKind::Request, ..(*request(1, "a")).clone() });
        let asked = Arc::new(Message { address: mail.address.clone(), ..(*asked).clone() });
        let answer = bus.request(asked, PATIENCE).await;
        assert!(matches!(answer, Err(RequestError::Bus(BusError::NoTopic))), "{answer:?}");
    }
}

async fn limits_of_subscriptions_are_told(_: &World, bus: Arc<dyn Bus>) {
    let subscribe =
        |queue_max, replay| bus.subscribe("a".parse().unwrap(), options(queue_max, replay)).map(drop);
    assert_eq!(subscribe(SUBSCRIPTION_QUEUE_MAX, TOPIC_REPLAY_MAX), Ok(()));
    assert_eq!(subscribe(0, 0), Err(SubscribeError::Queue(0)));
    let over = SUBSCRIPTION_QUEUE_MAX + 1;
    assert_eq!(subscribe(over, 0), Err(SubscribeError::Queue(over)));
    let over = TOPIC_REPLAY_MAX + 1;
    assert_eq!(subscribe(1, over), Err(SubscribeError::Replay(over)));
}

/// Answers `count` requests on a topic.
fn answer_requests(bus: &Arc<dyn Bus>, topic: &str, count: usize) -> tokio::task::JoinHandle<()> {
    let mut requests = bus.subscribe(topic.parse().unwrap(), SubscribeOptions::default()).unwrap();
    let bus = bus.clone();
    tokio::spawn(async move {
        for _ in 0..count {
            let asked = next(&mut requests).await;
            bus.respond(answer_to(&asked.message)).await.unwrap();
        }
    })
}

async fn a_request_gets_its_answer(_: &World, bus: Arc<dyn Bus>) {
    let responder = answer_requests(&bus, "ask", 1);
    let asked = request(1, "ask");
    assert_eq!(bus.request(asked.clone(), PATIENCE).await.unwrap(), answer_to(&asked));
    responder.await.unwrap();
}

async fn many_requests_get_their_own_answers(_: &World, bus: Arc<dyn Bus>) {
    const REQUESTS: usize = 200;
    let responder = answer_requests(&bus, "ask", REQUESTS);
    let mut askers = tokio::task::JoinSet::new();
    for number in 0..REQUESTS as u128 {
        let bus = bus.clone();
        askers.spawn(async move {
            let asked = request(number, "ask");
            assert_eq!(bus.request(asked.clone(), PATIENCE).await.unwrap(), answer_to(&asked));
        });
    }
    askers.join_all().await;
    responder.await.unwrap();
}

async fn the_first_answer_wins(_: &World, bus: Arc<dyn Bus>) {
    let mut requests = bus.subscribe("ask".parse().unwrap(), SubscribeOptions::default()).unwrap();
    let asker = tokio::spawn({
        let bus = bus.clone();
        async move { bus.request(request(1, "ask"), PATIENCE).await.unwrap() }
    });
    let answer = answer_to(&next(&mut requests).await.message);
    bus.respond(answer.clone()).await.unwrap();
    let again = bus.respond(answer.clone()).await;
    assert!(matches!(again, Err(RespondError::NobodyWaits(_))), "{again:?}");
    assert_eq!(asker.await.unwrap(), answer);
}

async fn an_answer_without_a_question_is_refused(world: &World, bus: Arc<dyn Bus>) {
    let refused = bus.respond(answer_to(&request(1, "ask"))).await;
    assert!(matches!(refused, Err(RespondError::NobodyWaits(_))), "{refused:?}");
    let refused = bus.respond(event(1, "ask")).await;
    assert!(matches!(refused, Err(RespondError::NoResponse)), "{refused:?}");
    world.time.pass(60);
    let refused = bus.respond(answer_to(&request(1, "ask"))).await;
    assert!(matches!(refused, Err(RespondError::Expired)), "{refused:?}");
}

async fn a_request_that_nobody_hears_is_told_so(_: &World, bus: Arc<dyn Bus>) {
    let answer = bus.request(request(1, "ask"), PATIENCE).await;
    assert!(matches!(answer, Err(RequestError::NoResponder)), "{answer:?}");
}

async fn a_request_that_nobody_answers_times_out(_: &World, bus: Arc<dyn Bus>) {
    let mut requests = bus.subscribe("ask".parse().unwrap(), SubscribeOptions::default()).unwrap();
    let wait = Duration::from_millis(400);
    let answer = bus.request(request(1, "ask"), wait).await;
    assert!(matches!(answer, Err(RequestError::Timeout(waited)) if waited == wait), "{answer:?}");
    assert_eq!(take(&mut requests, 1).await, [1]);
}

async fn what_is_no_request_is_refused(_: &World, bus: Arc<dyn Bus>) {
    let _requests = bus.subscribe("ask".parse().unwrap(), SubscribeOptions::default()).unwrap();
    let mut without = (*request(1, "ask")).clone();
    without.correlation = None;
    for wrong in [event(1, "ask"), Arc::new(without)] {
        let answer = bus.request(wrong, PATIENCE).await;
        assert!(matches!(answer, Err(RequestError::NoRequest)), "{answer:?}");
    }
    let same = request(2, "ask");
    let both = tokio::join!(
        bus.request(same.clone(), Duration::from_millis(100)),
        bus.request(same.clone(), Duration::from_millis(100)),
    );
    assert!(matches!(both.1, Err(RequestError::CorrelationInUse(_))), "{both:?}");
}

async fn giving_up_the_wait_loses_nothing(_: &World, bus: Arc<dyn Bus>) {
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    for number in 1..=100 {
        assert!(timeout(Duration::ZERO, subscription.next()).await.is_err());
        bus.publish(event(number, "a")).await.unwrap();
        assert_eq!(take(&mut subscription, 1).await, [number]);
    }
}

async fn a_closed_bus_ends_its_subscriptions(_: &World, bus: Arc<dyn Bus>) {
    let mut subscription = bus.subscribe("a".parse().unwrap(), SubscribeOptions::default()).unwrap();
    bus.publish(event(1, "a")).await.unwrap();
    settle(&bus, 2).await;
    drop(bus);
    assert_eq!(take(&mut subscription, 1).await, [1]);
    assert!(timeout(PATIENCE, subscription.next()).await.unwrap().is_none());
}

fn agent(number: u128) -> AgentId {
    AgentId(Uuid::from_u128(number))
}

async fn heard(bell: &mut Bell) -> Heard {
    timeout(PATIENCE, bell.rings()).await.expect("the bell rings")
}

async fn a_bell_rings_for_its_agent_only(_: &World, bus: Arc<dyn Bus>) {
    let [mut one, mut same, mut other] = [1, 1, 2].map(|number| bus.hang_bell(agent(number)).unwrap());
    bus.ring(&[agent(2), agent(3)]);
    assert_eq!(heard(&mut other).await, Heard::Ring);
    bus.ring(&[agent(1)]);
    assert_eq!((heard(&mut one).await, heard(&mut same).await), (Heard::Ring, Heard::Ring));
    // A ring that comes before somebody waits is heard as well.
    bus.ring(&[agent(1)]);
    tokio::task::yield_now().await;
    assert_eq!(heard(&mut one).await, Heard::Ring);
}

async fn rings_are_no_messages(_: &World, bus: Arc<dyn Bus>) {
    let mut everything = bus.subscribe(">".parse().unwrap(), SubscribeOptions::default()).unwrap();
    let before = bus.counts();
    let mut bell = bus.hang_bell(agent(1)).unwrap();
    bus.ring(&[agent(1)]);
    assert_eq!(heard(&mut bell).await, Heard::Ring);
    assert_eq!(bus.counts(), before);
    settle(&bus, 1).await;
    assert_eq!(take(&mut everything, 1).await, [1]);
}

async fn a_closed_bus_ends_its_bells(_: &World, bus: Arc<dyn Bus>) {
    let mut bell = bus.hang_bell(agent(1)).unwrap();
    drop(bus);
    while heard(&mut bell).await == Heard::Ring {}
    assert_eq!(heard(&mut bell).await, Heard::Closed);
}
