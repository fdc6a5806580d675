//! Spans as OpenTelemetry knows them, and what sends them. The only place that knows its crates.

use std::sync::Arc;
use std::time::Duration;

use artel_engine::trace::{AttributeValue, EndedSpan, SpanKind};
use opentelemetry::trace::{SpanContext, SpanId, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};
use rustls::crypto::CryptoProvider;

use crate::config::TelemetrySettings;
use crate::failure::{Failure, chain};

/// How long a collector may take to take one batch.
const SEND_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends spans to one collector.
pub(super) struct Exporter {
    exporter: SpanExporter,
    scope: InstrumentationScope,
}

impl Exporter {
    /// Makes what sends to a collector. Nothing is sent yet, so it need not be there.
    pub(super) fn new(url: &str, settings: &TelemetrySettings) -> Result<Self, Failure> {
        let failed = |error: &dyn std::error::Error| {
            Failure::usage(format!("traces cannot be sent to `{url}`: {}", chain(error)))
        };
        let client = client(url).map_err(|error| failed(&error))?;
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .with_timeout(SEND_TIMEOUT)
            .build()
            .map_err(|error| failed(&error))?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder_empty()
            .with_service_name(settings.service_name.clone())
            .with_attribute(version)
            .build();
        exporter.set_resource(&resource);
        let scope = InstrumentationScope::builder("artel").with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Self { exporter, scope })
    }

    /// Sends spans; says why they were not taken.
    pub(super) async fn send(&self, spans: Vec<EndedSpan>) -> Result<(), String> {
        let spans = spans.into_iter().map(|span| self.converted(span)).collect();
        match tokio::time::timeout(SEND_TIMEOUT, self.exporter.export(spans)).await {
            Ok(sent) => sent.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no answer within {} s", SEND_TIMEOUT.as_secs())),
        }
    }

    fn converted(&self, span: EndedSpan) -> SpanData {
        let place = span.place;
        let (trace, own) = (TraceId::from(place.trace.get()), SpanId::from(place.span.get()));
        SpanData {
            span_context: SpanContext::new(trace, own, TraceFlags::SAMPLED, false, TraceState::NONE),
            parent_span_id: span.parent.map_or(SpanId::INVALID, |parent| SpanId::from(parent.get())),
            // Whoever answers somebody was asked from elsewhere.
            parent_span_is_remote: span.parent.is_some() && span.kind == SpanKind::Server,
            span_kind: match span.kind {
                SpanKind::Server => opentelemetry::trace::SpanKind::Server,
                SpanKind::Internal => opentelemetry::trace::SpanKind::Internal,
            },
            name: span.name.into(),
            start_time: span.began,
            end_time: span.ended,
            attributes: span.attributes.into_iter().map(attribute).collect(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: span.failure.map_or(Status::Unset, Status::error),
            instrumentation_scope: self.scope.clone(),
        }
    }
}

fn attribute((name, value): (&'static str, AttributeValue)) -> KeyValue {
    KeyValue::new(
        name,
        match value {
            AttributeValue::Text(text) => Value::from(text),
            AttributeValue::Number(number) => Value::from(number),
        },
    )
}

fn client(url: &str) -> Result<reqwest::Client, reqwest::Error> {
    let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let provider = rustls::crypto::ring::default_provider();
    if url.starts_with("https:") {
        // Whoever was first has chosen; it is the same everywhere in artel.
        let _ = CryptoProvider::install_default(provider);
        return builder.build();
    }
    // A collector without encryption must also work on a machine that has no certificates at all.
    let trusting_nobody = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("ring speaks the usual versions of TLS")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    builder.tls_backend_preconfigured(trusting_nobody).build()
}
