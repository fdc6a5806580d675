//! What is measured about requests: every name in one place, and the handles that count. Decides nothing.
//!
//! Handles belong to the recorder that is there when the server is made; without one they cost a comparison.

use artel_model::metric::{ByLabel, Metric};
use axum::http::StatusCode;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use tokio::time::Instant;

const REQUESTS: Metric = Metric::counter("artel_http_requests_total", "Requests that were answered.")
    .by("status", &["1xx", "2xx", "3xx", "4xx", "5xx"]);
const REFUSED: Metric = Metric::counter(
    "artel_http_refused_total",
    "Requests that were refused because of who sent them, or how often.",
)
.by("reason", &["unauthorized", "forbidden", "rate_limited"]);
const DURATION: Metric = Metric::seconds(
    "artel_http_request_duration_seconds",
    "How long it took until an answer began; a stream goes on after that.",
);
const CONNECTIONS: Metric = Metric::gauge("artel_http_connections", "Connections that are open.");
const STREAMS: Metric = Metric::gauge("artel_http_streams", "Live streams that are open.");
const PANICS: Metric = Metric::counter("artel_http_panics_total", "Requests that met a bug of the server.");
const BY_GROUP: Metric =
    Metric::counter("artel_http_requests_by_group_total", "Requests that reached an endpoint.").by(
        "group",
        &[
            "agents",
            "aliases",
            "audit",
            "chat",
            "discovery",
            "events",
            "executions",
            "keys",
            "mcp",
            "messages",
            "plans",
            "runs",
            "scan findings",
            "server",
            "skill hubs",
            "skills",
            "other",
        ],
    );

/// Everything that is measured about requests.
pub const METRICS: &[Metric] = &[REQUESTS, REFUSED, DURATION, CONNECTIONS, STREAMS, PANICS, BY_GROUP];

/// Counts requests.
pub(crate) struct HttpMeters {
    requests: ByLabel<Counter>,
    refused: ByLabel<Counter>,
    by_group: ByLabel<Counter>,
    duration: Histogram,
    pub(crate) connections: Gauge,
    streams: Gauge,
    pub(crate) panics: Counter,
}

impl HttpMeters {
    pub(crate) fn new() -> Self {
        let counters =
            |metric: &Metric| metric.by_label(|label, value| counter!(metric.name, label => value));
        Self {
            requests: counters(&REQUESTS),
            refused: counters(&REFUSED),
            by_group: counters(&BY_GROUP),
            duration: histogram!(DURATION.name),
            connections: gauge!(CONNECTIONS.name),
            streams: gauge!(STREAMS.name),
            panics: counter!(PANICS.name),
        }
    }

    /// Counts a request that reached an endpoint of that group.
    pub(crate) fn reached(&self, group: &str) {
        let groups = BY_GROUP.label.map(|label| label.values).unwrap_or_default();
        count(&self.by_group, groups.iter().find(|known| **known == group).copied().unwrap_or("other"));
    }

    /// Counts an answer that begins.
    pub(crate) fn answered(&self, since: Instant, status: StatusCode) {
        self.duration.record(since.elapsed());
        let class = match status.as_u16() / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        count(&self.requests, class);
        match status {
            StatusCode::UNAUTHORIZED => count(&self.refused, "unauthorized"),
            StatusCode::FORBIDDEN => count(&self.refused, "forbidden"),
            StatusCode::TOO_MANY_REQUESTS => count(&self.refused, "rate_limited"),
            _ => {}
        }
    }

    /// Shows how many streams are open.
    pub(crate) fn streams(&self, open: usize) {
        self.streams.set(u32::try_from(open).unwrap_or(u32::MAX));
    }
}

fn count(counters: &ByLabel<Counter>, value: &str) {
    if let Some(counter) = counters.get(value) {
        counter.increment(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::endpoints;

    #[test]
    fn every_group_of_endpoints_is_counted() {
        let groups = BY_GROUP.label.map(|label| label.values).unwrap_or_default();
        for endpoint in endpoints() {
            assert!(groups.contains(&endpoint.group), "{} is of the group {}", endpoint.id, endpoint.group);
        }
    }
}
