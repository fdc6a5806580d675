//! Events of topics over HTTP, live and taken up again.

use serde_json::{Value, json};

use crate::agents::spawn;
use crate::client::Client;
use crate::place::Place;

async fn publish(client: &Client, from: &str, topic: &str, n: u64) {
    let event = json!({"sender_id": from, "topic": topic, "payload": {"n": n}});
    client.post("/api/messages/publish", event).await.expect(201);
}

fn numbers(events: &[crate::client::StreamEvent]) -> Vec<Value> {
    events.iter().map(|event| event.data["payload"]["n"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_topics_that_is_taken_up_again_misses_nothing() {
    let place = Place::open(&[]).await;
    let ann = place.person("ann").await;
    let agent = spawn(&ann, json!({"driver": "external"})).await;
    publish(&ann, &agent, "work.done", 0).await;
    let mut reader = ann.stream("/api/events?topic=work.*", None).await;
    publish(&ann, &agent, "work.done", 1).await;
    publish(&ann, &agent, "play.done", 2).await;
    publish(&ann, &agent, "work.begun", 3).await;
    let heard = [reader.next().await.unwrap(), reader.next().await.unwrap()];
    assert_eq!(numbers(&heard), [1, 3]);
    assert_eq!((&heard[0].data["topic"], &heard[0].data["sender_id"]), (&json!("work.done"), &json!(agent)));
    drop(reader);
    publish(&ann, &agent, "work.done", 4).await;
    let mut reader = ann.stream("/api/events?topic=work.*", Some(&heard[0].id)).await;
    let heard = [reader.next().await.unwrap(), reader.next().await.unwrap()];
    assert_eq!(numbers(&heard), [3, 4]);
    let mut late = ann.stream("/api/events?topic=work.*&replay=2", None).await;
    let heard = [late.next().await.unwrap(), late.next().await.unwrap()];
    assert_eq!(numbers(&heard), [3, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_hears_what_is_about_agents_of_others() {
    let place = Place::open(&[]).await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    let (hers, his) =
        (spawn(&ann, json!({"driver": "external"})).await, spawn(&bob, json!({"driver": "external"})).await);
    publish(&ann, &hers, "work.done", 1).await;
    publish(&bob, &his, "work.done", 2).await;
    let mut hears = bob.stream("/api/events?topic=%3E&replay=1000", None).await;
    let heard = [hears.next().await.unwrap(), hears.next().await.unwrap()];
    let topics: Vec<&str> = heard.iter().map(|event| event.data["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, [format!("agents.{his}.spawned").as_str(), "work.done"]);
    assert_eq!(heard[1].data["payload"]["n"], 2);
    let mut all = place.admin.stream("/api/events?topic=work.done&replay=2", None).await;
    assert_eq!(numbers(&[all.next().await.unwrap(), all.next().await.unwrap()]), [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_topic_is_refused() {
    let place = Place::open(&[]).await;
    for query in ["", "?topic=", "?topic=a..b", "?topic=a&replay=1001"] {
        place.admin.get(&format!("/api/events{query}")).await.refused(400, "invalid_query");
    }
    place.admin.get("/api/events?topic=a&odd=1").await.refused(400, "unknown_parameter");
    place.somebody("ann", &["runs:write"]).await.get("/api/events?topic=a").await.refused(403, "forbidden");
}
