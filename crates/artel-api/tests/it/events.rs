//! Streams that break.

use artel_api::client::{ApiPath, ClientError};
use serde_json::Value;

use crate::stand_in::{StandIn, answer, stream};

fn events() -> ApiPath {
    ApiPath::new("/api/runs").name("1").then("events")
}

#[tokio::test(start_paused = true)]
async fn a_stream_goes_on_where_it_broke_off() {
    let server = StandIn::start(vec![
        stream("id: 1\nevent: log\ndata: {\"n\":1}\n\nid: 2\nevent: log\ndata: {\"n\""),
        stream("id: 2\nevent: log\ndata: {\"n\":2}\n\n"),
    ])
    .await;
    let mut stream = server.client(None).events(&events(), &[("replay", "3")], None).await.unwrap();
    for number in 1..=2 {
        let event = stream.next().await.unwrap();
        assert_eq!(event.kind, "log");
        assert_eq!(event.read::<Value>().unwrap()["n"], number);
    }
    let asked = server.asked();
    assert!(asked[0].starts_with("get /api/runs/1/events?replay=3 "), "{}", asked[0]);
    assert!(!asked[0].contains("last-event-id"), "{}", asked[0]);
    assert!(asked[1].contains("last-event-id: 1"), "{}", asked[1]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_only_breaks_is_given_up() {
    let server = StandIn::start((0..20).map(|_| stream(": alive\n\n")).collect()).await;
    let mut stream = server.client(None).events(&events(), &(), Some("5".to_owned())).await.unwrap();
    assert!(matches!(stream.next().await, Err(ClientError::Garbled { .. })));
    let asked = server.asked();
    assert!(asked.len() < 20 && asked.iter().all(|head| head.contains("last-event-id: 5")), "{asked:?}");
}

#[tokio::test]
async fn what_is_refused_is_told_at_once() {
    let body = r#"{"error":"forbidden","message":"This needs the scope `runs:write`.","request_id":"7"}"#;
    let server = StandIn::start(vec![answer(403, body)]).await;
    let refused = server.client(None).events(&events(), &(), None).await.map(drop).unwrap_err();
    assert_eq!(refused.status(), Some(403));
}
