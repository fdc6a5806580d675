//! A collector of traces for tests: it takes spans by OTLP over HTTP, on loopback, and remembers them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// A collector that takes spans until the test is over.
pub(crate) struct Collector {
    /// Where it is.
    pub(crate) url: String,
    taken: Arc<Mutex<Vec<Taken>>>,
}

/// A span that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) service: String,
    pub(crate) span: Span,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let taken = Arc::new(Mutex::new(Vec::new()));
        let keep = taken.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let keep = keep.clone();
                std::thread::spawn(move || while take(&stream, &keep).is_some() {});
            }
        });
        Self { url, taken }
    }

    /// Returns all spans so far.
    pub(crate) fn spans(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }
}

/// Takes one request; nothing when there is none any more.
fn take(mut stream: &TcpStream, keep: &Mutex<Vec<Taken>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    assert!(first.starts_with("POST /v1/traces "), "{first}");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
    keep.lock().unwrap().extend(request.resource_spans.into_iter().flat_map(|of_resource| {
        let attributes = of_resource.resource.unwrap_or_default().attributes;
        let service = attributes.iter().find(|one| one.key == "service.name").and_then(text).unwrap();
        let spans = of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
        spans.map(move |span| Taken { service: service.clone(), span })
    }));
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer.as_bytes()).ok()
}

fn text(attribute: &opentelemetry_proto::tonic::common::v1::KeyValue) -> Option<String> {
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        Value::BoolValue(_)
        | Value::DoubleValue(_)
        | Value::ArrayValue(_)
        | Value::KvlistValue(_)
        | Value::BytesValue(_)
        | Value::StringValueStrindex(_) => None,
    }
}

impl Taken {
    /// Returns an attribute as text.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.span.attributes.iter().find(|one| one.key == name).and_then(text)
    }

    /// Returns its place in its trace, as `traceparent` says it.
    pub(crate) fn place(&self) -> String {
        format!("00-{}-{}-01", hex(&self.span.trace_id), hex(&self.span.span_id))
    }

    /// Returns the place that it was begun at.
    pub(crate) fn parent(&self) -> String {
        format!("00-{}-{}-01", hex(&self.span.trace_id), hex(&self.span.parent_span_id))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
