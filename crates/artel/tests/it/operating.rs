//! What an operator sees of a server, and does to it while it runs.

use serde_json::Value;

use crate::running::{eventually, send_signal};
use crate::serve_session::Served;
use crate::session::Session;

/// Returns the entries of a log with this message.
fn entries(said: &str, message: &str) -> Vec<Value> {
    let entries = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    entries.filter(|entry| entry["message"] == message).collect()
}

/// Returns the summaries of what was done to the configuration, the last first.
fn reloads(served: &Served, token: &str) -> Vec<String> {
    let audit = served.document("/api/audit", token);
    let items = audit["items"].as_array().unwrap().iter();
    items
        .filter(|item| item["subject"] == "configuration")
        .map(|item| item["summary"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_log_of_a_server_says_what_starts_who_is_refused_and_what_ends() {
    let session = Session::new();
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    assert_eq!(served.status("a-token-that-is-wrong"), 401);
    assert_eq!(served.status(&token), 200);
    let (code, said) = served.stop();
    assert_eq!(code, Some(0));
    let start = &entries(&said, "the server starts")[0];
    assert_eq!(start["version"], env!("CARGO_PKG_VERSION"));
    assert!(start["store"].as_str().unwrap().starts_with("SQLite 3."), "{start}");
    assert_eq!(
        (&start["tls"], &start["gate"], &start["sandbox"]),
        (&false.into(), &"warn".into(), &"enforce".into())
    );
    let refused = &entries(&said, "a credential was refused")[0];
    assert_eq!((&refused["why"], &refused["route"]), (&"unknown token".into(), &"/api/skills".into()));
    let answered = entries(&said, "answered");
    assert_eq!(
        answered.iter().filter(|entry| entry["principal"] == "admin" && entry["status"] == 200).count(),
        1
    );
    assert!(answered.iter().all(|entry| entry["ms"].is_u64()), "{answered:?}");
    assert_eq!(entries(&said, "the server has stopped").len(), 1);
    assert!(!said.contains(&token) && !said.contains("a-token-that-is-wrong"), "{said}");
}

#[test]
fn a_signal_reloads_what_can_be_reloaded_and_a_wrong_file_changes_nothing() {
    let session = Session::new();
    session.write("artel.toml", "[server]\nrequest_burst = 1000\n");
    let served = Served::start(&session, &[]);
    let token = served.token.clone().unwrap();
    let hang_up = |expected: &str, count: usize| {
        send_signal("HUP", served.process());
        eventually("the audit log says so", || reloads(&served, &token).len() == count);
        assert_eq!(reloads(&served, &token)[0], expected);
    };
    session.write("artel.toml", "[server]\nrequest_bursts = 1\n");
    hang_up("not reloaded: it is wrong", 1);
    assert_eq!(served.status(&token), 200);
    session.write(
        "artel.toml",
        "[server]\nrequest_burst = 1000\nlog = \"error\"\n\n[scanner]\ngate = \"strict\"\n",
    );
    hang_up("reloaded", 2);
    session.write(
        "artel.toml",
        "store = \"other.db\"\n\n[server]\nrequest_burst = 2\nrequests_per_second = 1\nshutdown_grace = 7\nconnections = 99\n\n\
         [quotas]\nruns = 3\n\n[hubs]\nallow_file = true\n\n[clients]\nallowed = [\"codex\"]\n\n\
         [oidc]\nissuer = \"https://id.example.org\"\naudience = \"artel\"\n",
    );
    send_signal("HUP", served.process());
    eventually("requests are limited", || (0..5).any(|_| served.status(&token) == 429));
    let (code, said) = served.stop();
    assert_eq!(code, Some(0), "{said}");
    let wrong = &entries(&said, "the configuration was not reloaded; the old one stays")[0];
    assert!(
        wrong["why"].as_str().unwrap().contains("artel.toml:2: unknown field `request_bursts`"),
        "{wrong}"
    );
    assert_eq!(
        entries(&said, "the configuration was reloaded; some of it needs a restart")[0]["later"],
        "[server] connections, [server] shutdown_grace, store, [quotas], [clients], [oidc], [hubs]"
    );
}

#[test]
fn the_doctor_looks_at_what_a_server_needs() {
    let session = Session::new();
    let doctor = session.json(&["doctor"]);
    let find = |doctor: &Value, list: &str, name: &str| {
        doctor[list].as_array().unwrap().iter().find(|row| row["name"] == name).cloned().unwrap_or_default()
    };
    let git = find(&doctor, "checks", "git");
    assert_eq!(git["state"], "ok", "{git}");
    assert!(git["detail"].as_str().unwrap().contains("/git 2."), "{git}");
    assert_eq!(find(&doctor, "settings", "[server] listen")["origin"], "default");
    assert_eq!(find(&doctor, "settings", "[server] log")["value"], "info");
    assert_eq!(find(&doctor, "checks", "oidc"), Value::Null);

    let chain = include_str!("../../../artel-server/tests/it/keys/test-only-tls.pem");
    let key = include_str!("../../../artel-server/tests/it/keys/test-only-tls.key.pem");
    session.write("cert.pem", chain);
    session.write("key.pem", key);
    session.write(
        "artel.toml",
        "[server]\nrequest_burst = 7\ntls_certificate = \"cert.pem\"\ntls_key = \"key.pem\"\n\n[oidc]\nissuer = \"http://127.0.0.1:1\"\n\
         audience = \"artel\"\n\n[scanner]\ngate = \"strict\"\nprogram = \"no-such-scanner\"\n",
    );
    let doctor = session.json(&["doctor"]);
    let burst = find(&doctor, "settings", "[server] request_burst");
    assert_eq!((&burst["value"], &burst["origin"]), (&"7".into(), &"artel.toml".into()));
    assert_eq!(find(&doctor, "settings", "[server] requests_per_second")["origin"], "default");
    let certificate = find(&doctor, "checks", "certificate");
    let detail = certificate["detail"].as_str().unwrap();
    assert!(
        detail.contains("is for 127.0.0.1, localhost") && detail.contains("until 2126-10-23"),
        "{certificate}"
    );
    assert!(detail.contains("can be read by others"), "{certificate}");
    assert_eq!(find(&doctor, "checks", "oidc")["state"], "error");
    let gate = find(&doctor, "checks", "gate");
    assert_eq!(gate["state"], "error", "{gate}");
    assert!(gate["detail"].as_str().unwrap().contains("`no-such-scanner` is not found"), "{gate}");
    session.write("key.pem", chain);
    assert_eq!(find(&session.json(&["doctor"]), "checks", "certificate")["state"], "error");
}
