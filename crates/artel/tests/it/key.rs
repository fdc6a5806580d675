//! `artel key`: keys for the server, made and revoked beside it.

use serde_json::json;

use crate::running::eventually;
use crate::serve_session::Served;
use crate::session::Session;

#[test]
fn a_key_lets_its_owner_in_until_it_is_revoked() {
    let session = Session::new();
    session.write("artel.toml", "[server]\nrequests_per_second = 100000\nrequest_burst = 100000\n");
    let served = Served::start(&session, &[]);
    let made = session.output(&["key", "create", "--label", "nightly", "--owner", "ann", "--expires", "30"]);
    assert!(made.status.success());
    let key = String::from_utf8(made.stdout).unwrap();
    let key = key.strip_suffix('\n').unwrap();
    let said = String::from_utf8(made.stderr).unwrap();
    let secret = key.split_once('.').unwrap().1;
    assert!(key.starts_with("artel_") && !said.contains(secret), "{said}");
    assert!(said.contains("of ann for catalog:read, until "), "{said}");
    assert_eq!(served.status(key), 200);
    assert_eq!(served.get("/api/skill-hubs", key).0, 403);

    let listed = session.json(&["key", "list", "--owner", "ann"]);
    let id = listed["items"][0]["key_id"].as_str().unwrap();
    assert_eq!(listed["items"][0]["label"], json!("nightly"));
    assert!(!listed.to_string().contains(secret) && !listed.to_string().contains("hash"), "{listed}");
    assert_eq!(session.json(&["key", "list", "--owner", "bob"])["items"], json!([]));

    assert_eq!(session.json(&["key", "revoke", id]), json!({"key_id": id, "revoked": true}));
    eventually("the server refuses the key", || served.status(key) == 401);
    let admin = served.token.clone().unwrap();
    let audit = served.document("/api/audit", &admin);
    let actions: Vec<&str> =
        audit["items"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["key_revoked", "key_created"]);
    assert_eq!(audit["items"][0]["credential"], json!("local"));
}

#[test]
fn keys_are_made_before_there_is_a_server_and_cost_it_no_token() {
    let session = Session::new();
    let key = session.json(&["key", "create", "--scope", "catalog:read", "--scope", "runs:write"]);
    assert_eq!(key["record"]["scopes"], json!(["catalog:read", "runs:write"]));
    let served = Served::start(&session, &[]);
    assert!(served.token.is_some());
    assert_eq!(served.status(key["key"].as_str().unwrap()), 200);
}

#[test]
fn mistakes_with_keys_are_told() {
    let session = Session::new();
    insta::assert_snapshot!(session.run(&["key", "list"]), @r"
    exit 0
    --- stderr
    0 keys
    ");
    insta::assert_snapshot!(session.run(&["key", "revoke", "nobody"]), @r"
    exit 1
    --- stderr
    error: there is no key `nobody`
    hint: `artel key list` shows the keys there are; a key's id stands between `artel_` and the dot
    ");
    insta::assert_snapshot!(session.run(&["key", "create", "--expires", "2001-01-01"]), @r"
    exit 2
    --- stderr
    error: `expires_at` must be in the future
    ");
    let told = session.run(&["key", "create", "--scope", "everything"]);
    assert!(told.starts_with("exit 2\n") && told.contains("`everything` is no scope"), "{told}");
}
