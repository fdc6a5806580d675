//! What is counted about messages, as Prometheus is shown it: the same as the bus itself counts.

use artel_bus::{Bus, InProcessBus, METRICS, SubscribeOptions};
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::sample::{World, event, next};

#[tokio::test]
async fn every_message_is_accounted_for() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let world = World::default();
    let bus = metrics::with_local_recorder(&recorder, || InProcessBus::new(world.config()));
    let pattern = || "a.*".parse().unwrap();
    let options = SubscribeOptions { queue_max: 2, ..SubscribeOptions::default() };
    let mut quick = bus.subscribe(pattern(), SubscribeOptions::default()).unwrap();
    let slow = bus.subscribe(pattern(), options).unwrap();
    for number in 1..=3 {
        bus.publish(event(number, "a.b")).await.unwrap();
    }
    bus.publish(event(3, "a.b")).await.unwrap();
    next(&mut quick).await;
    let late = bus.subscribe(pattern(), SubscribeOptions { replay: 1, ..options }).unwrap();
    drop(slow);
    let counts = bus.counts();
    assert!(counts.is_balanced());
    let text = recorder.handle().render();
    for line in [
        "artel_bus_published_total 3",
        "artel_bus_repeated_total 1",
        "artel_bus_matched_total 6",
        "artel_bus_replayed_total 1",
        "artel_bus_delivered_total 1",
        "artel_bus_missed_total{reason=\"refused\"} 1",
        "artel_bus_missed_total{reason=\"abandoned\"} 2",
        "artel_bus_missed_total{reason=\"expired\"} 0",
        "artel_bus_subscriptions 2",
        &format!("artel_bus_waiting {}", counts.waiting),
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing in\n{text}");
    }
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in kinds.filter_map(|line| line.split(' ').next()) {
        assert!(METRICS.iter().any(|metric| metric.name == name), "{name}");
    }
    // What waits when its time is up is counted where it is found.
    world.time.pass(1_000_000);
    assert!(quick.try_next().is_none());
    drop((quick, late));
    let text = recorder.handle().render();
    assert!(text.contains("artel_bus_missed_total{reason=\"expired\"} 2"), "{text}");
    assert!(text.contains("artel_bus_waiting 0"), "{text}");
}
