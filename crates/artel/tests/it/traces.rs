//! Traces of the real binary: from who asked to the process of a script, at a collector on loopback.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::collector::{Collector, Taken};
use crate::running::eventually;
use crate::serve_session::Served;
use crate::session::Session;

const OUTER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const UNRECORDED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/// A session with a skill that says what it knows of its trace.
fn session() -> Session {
    let session = Session::new();
    let manifest = json!({"name": "tell", "version": "1.0.0", "description": "Tells. Use when testing."});
    session.write("skills/tell/skill.json", &manifest.to_string());
    let script = "#!/bin/sh\necho \"{\\\"version\\\":\\\"0\\\",\\\"type\\\":\\\"done\\\",\\\"ok\\\":true,\\\"output\\\":{\\\"place\\\":\\\"$TRACEPARENT\\\"}}\"\n";
    let path = session.write("skills/tell/scripts/run.sh", script);
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    session
}

#[track_caller]
fn one(spans: &[Taken], name: &str) -> Taken {
    let found: Vec<&Taken> = spans.iter().filter(|taken| taken.span.name == name).collect();
    let [one] = found.as_slice() else { panic!("{} spans `{name}` of {spans:#?}", found.len()) };
    (*one).clone()
}

fn told(execution: &Value) -> &str {
    execution["result"]["place"].as_str().unwrap_or_else(|| panic!("{execution}"))
}

#[test]
fn a_command_goes_on_with_the_trace_that_it_was_started_in() {
    let mut session = session();
    let collector = Collector::start();
    session.set("ARTEL_OTLP_ENDPOINT", &collector.url);
    session.set("OTEL_SERVICE_NAME", "shop");
    session.set("TRACEPARENT", OUTER);
    let execution = session.json(&["skill", "run", "tell"]);
    let spans = collector.spans();
    let (run, step, attempt) = (one(&spans, "run"), one(&spans, "step"), one(&spans, "attempt"));
    assert_eq!(run.parent(), OUTER);
    assert_eq!((step.parent(), attempt.parent()), (run.place(), step.place()));
    assert_eq!(told(&execution), attempt.place());
    assert_eq!(run.service, "shop");
    assert_eq!(run.attribute("artel.run.state").as_deref(), Some("succeeded"));
    assert_eq!(attempt.attribute("artel.skill").as_deref(), Some("tell"));
    assert_eq!(attempt.attribute("artel.attempt").as_deref(), Some("1"));
}

#[test]
fn a_collector_that_is_gone_costs_nothing_and_a_trace_that_is_not_recorded_is_handed_on() {
    let mut session = session();
    session.set("TRACEPARENT", UNRECORDED);
    let execution = session.json(&["skill", "run", "tell"]);
    assert_eq!(told(&execution), UNRECORDED);
    session.set("ARTEL_OTLP_ENDPOINT", "http://127.0.0.1:9");
    session.set("TRACEPARENT", OUTER);
    let execution = session.json(&["skill", "run", "tell"]);
    assert!(told(&execution).starts_with(&OUTER[..36]), "{execution}");
    session.set("ARTEL_OTLP_ENDPOINT", "collector:4318");
    let told = session.run(&["skill", "run", "tell"]);
    assert!(told.starts_with("exit 2\n") && told.contains("no address of a collector"), "{told}");
}

fn post(served: &Served, token: &str, path: &str, body: &Value) -> Value {
    let (mut stream, body) = (TcpStream::connect(&served.address).unwrap(), body.to_string());
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\ntraceparent: {OUTER}\r\n\r\n{body}",
        served.address,
        body.len(),
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn one_request_leaves_a_chain_of_spans_down_to_the_process() {
    let mut session = session();
    let collector = Collector::start();
    session.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    let run_of = post(&served, &token, "/api/runs", &json!({"skill": "tell", "params": {}}));
    let id = run_of["run_id"].as_str().unwrap_or_else(|| panic!("{run_of}")).to_owned();
    let executions = format!("/api/executions?run={id}&status=success");
    eventually("the run is over", || {
        !served.document(&executions, &token)["items"].as_array().unwrap().is_empty()
    });
    let execution = served.document(&executions, &token)["items"][0].clone();
    assert_eq!(served.stop().0, Some(0), "the last spans are sent at the end");
    let spans = collector.spans();
    let request = one(&spans, "POST /api/runs");
    let (run, step, attempt) = (one(&spans, "run"), one(&spans, "step"), one(&spans, "attempt"));
    assert_eq!(request.parent(), OUTER);
    let parents = [run.parent(), step.parent(), attempt.parent()];
    assert_eq!(parents, [request.place(), run.place(), step.place()]);
    assert_eq!(told(&execution), attempt.place());
    assert_eq!(request.attribute("http.response.status_code").as_deref(), Some("202"));
    assert_eq!(request.attribute("http.route").as_deref(), Some("/api/runs"));
    assert_eq!(request.attribute("artel.principal").as_deref(), Some("admin"));
    assert_eq!(run.attribute("artel.run.id"), Some(id));
    assert!(!format!("{spans:?}").contains(&token), "no token is in a trace");
    assert!(spans.iter().any(|taken| taken.span.name == "scan"), "{spans:?}");
}
