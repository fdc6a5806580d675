//! Attacks on the HTTP API, as data: `fixtures/hostile/api.toml`. All of them go to one server, byte by byte as they are
//! written, and each must be refused as expected; afterwards the server serves as before.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use artel_model::time::Timestamp;
use artel_store::KeyStore as _;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::agents::spawn;
use crate::client::Client;
use crate::hostile_tokens::forged;
use crate::place::{ADMIN_TOKEN, Place, TestSkill, done};
use crate::plans::end_of;
use crate::provider::Provider;

const ATTACKS: &str = include_str!("../../../../fixtures/hostile/api.toml");
/// The fewest attacks there may be.
const ATTACKS_MIN: usize = 60;
/// How long an attack may take until the server has answered and closed the connection.
const PATIENCE: Duration = Duration::from_secs(30);
const METRICS_TOKEN: &str = "the-token-for-the-numbers-of-attacks";
/// Everything that the prepared things of `ann` contain, and no answer to an attack may.
const SECRET: &str = "annssecretword";

#[derive(Deserialize)]
struct Attacks {
    attack: Vec<Attack>,
}

/// One attack. Either `raw`, which is sent as it is, or `send` with what belongs to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    name: String,
    /// Whose credential it carries: the name of a token that the test prepared.
    #[serde(rename = "as")]
    caller: Option<String>,
    /// The method and the path.
    send: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    /// A body with `Content-Type: application/json`.
    json: Option<String>,
    /// A body of another type, which `media` names.
    body: Option<String>,
    /// A JSON body as hexadecimal digits.
    bytes: Option<String>,
    media: Option<String>,
    /// How often the body is repeated.
    repeat: Option<usize>,
    raw: Option<String>,
    /// The status that is expected; 0 when the connection is closed without an answer.
    status: u16,
    /// The code of the error that is expected; for 401 it is always `unauthorized`.
    error: Option<String>,
}

impl Attack {
    fn request(&self, prepared: &BTreeMap<String, String>) -> Vec<u8> {
        let filled = |text: &str| {
            prepared
                .iter()
                .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
        };
        if let Some(raw) = &self.raw {
            return filled(raw).into_bytes();
        }
        let (method, path) = self.send.as_deref().unwrap().split_once(' ').unwrap();
        let mut head = format!("{method} {} HTTP/1.1\r\nHost: artel\r\nConnection: close\r\n", filled(path));
        if let Some(caller) = &self.caller {
            head.push_str(&format!("Authorization: Bearer {}\r\n", prepared[caller]));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {}\r\n", filled(value)));
        }
        let is_sent = self.json.is_some() || self.body.is_some() || self.bytes.is_some();
        let text = self.json.as_deref().or(self.body.as_deref()).map(filled).unwrap_or_default();
        let mut body = text.repeat(self.repeat.unwrap_or(1)).into_bytes();
        body.extend(self.bytes.iter().flat_map(|digits| unhex(digits)));
        if is_sent {
            let media = self.media.as_deref().unwrap_or("application/json");
            head.push_str(&format!("Content-Type: {media}\r\nContent-Length: {}\r\n", body.len()));
        }
        [head.as_bytes(), b"\r\n", &body].concat()
    }

    /// Says what is wrong with an answer.
    fn judge(&self, answer: &str) -> Result<(), String> {
        let status = answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let expected =
            self.error.as_deref().or((self.status == 401 && !body.is_null()).then_some("unauthorized"));
        let head = head.to_lowercase();
        if status.unwrap_or(0) != self.status || expected.is_some_and(|code| body["error"] != code) {
            let expected = expected.unwrap_or("any code");
            return Err(format!("{}: expected {} {expected}, got {answer}", self.name, self.status));
        }
        if answer.contains(SECRET) || answer.contains(ADMIN_TOKEN) || head.contains("access-control-allow") {
            return Err(format!("{}: tells too much: {answer}", self.name));
        }
        Ok(())
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

async fn answer(address: SocketAddr, request: &[u8]) -> String {
    let talk = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut piece).await {
            answer.extend_from_slice(&piece[..count]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    };
    tokio::time::timeout(PATIENCE, talk).await.expect("the server answers and closes")
}

/// Makes what is attacked: things of `ann`, credentials of everyone else.
async fn prepared(place: &Place, provider: &Provider) -> BTreeMap<String, String> {
    let ann = place.admin.with(Some(&provider.token("ann", &["red"])));
    let person = provider.token("bob", &["blue"]);
    let bob = place.admin.with(Some(&person));
    let skill = json!({"name": "annsown", "description": SECRET, "content": SECRET});
    let skill = ann.post("/api/skills", skill).await.expect(201)["id"].as_str().unwrap().to_owned();
    let run = ann.post("/api/runs", json!({"skill": "bake"})).await.expect(202);
    end_of(&ann, &run).await;
    let key = |client: Client, wish: Value| async move {
        client.post("/api/catalog-api-keys", wish).await.expect(201)
    };
    let ann_key = key(ann.clone(), json!({"label": SECRET, "scopes": ["catalog:read"]})).await;
    let reader = key(bob.clone(), json!({"scopes": ["catalog:read"]})).await;
    let all = json!({"scopes": ["catalog:read", "catalog:write", "runs:write", "agents:write"]});
    let all = key(bob.clone(), all).await;
    let revoked = key(bob.clone(), json!({"scopes": ["catalog:read"]})).await;
    let gone = format!("/api/catalog-api-keys/{}", revoked["record"]["key_id"].as_str().unwrap());
    assert_eq!(bob.call("DELETE", &gone, &[], None).await.status, 204);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let halves = |key: &Value| {
        text(&key["key"]).split_once('.').map(|(id, secret)| (id.to_owned(), secret.to_owned())).unwrap()
    };
    let (id, _) = halves(&ann_key);
    let (_, secret) = halves(&reader);
    let agent = spawn(&ann, json!({"driver": "external", "name": SECRET})).await;
    let mut prepared: BTreeMap<String, String> =
        forged(provider).into_iter().map(|(name, token)| (name.to_owned(), token)).collect();
    prepared.extend(
        [
            ("admin", ADMIN_TOKEN.to_owned()),
            ("admin-cut", ADMIN_TOKEN[..ADMIN_TOKEN.len() - 1].to_owned()),
            ("admin-capitals", ADMIN_TOKEN.to_uppercase()),
            ("metrics", METRICS_TOKEN.to_owned()),
            ("person", person),
            ("reader", text(&reader["key"])),
            ("key", text(&all["key"])),
            ("revoked", text(&revoked["key"])),
            ("expired", expired(place, &reader).await),
            ("mixed", format!("{id}.{secret}")),
            ("ann-run", text(&run["run_id"])),
            ("ann-agent", agent),
            ("ann-key", text(&ann_key["record"]["key_id"])),
            ("ann-skill", skill.replace('/', "%2F")),
            ("ann-skill-id", skill),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    prepared
}

/// Puts a key that has expired beside a good one: none can be made that way.
async fn expired(place: &Place, good: &Value) -> String {
    let mut row = place.store.key(good["record"]["key_id"].as_str().unwrap()).await.unwrap().unwrap();
    row.expires_at = Some(Timestamp::from_millis(1));
    row.key_id = "expiredexpir".to_owned();
    assert!(place.store.create_key(&row, 1000).await.unwrap());
    format!("artel_expiredexpir.{}", good["key"].as_str().unwrap().split_once('.').unwrap().1)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attack_is_refused_as_expected() {
    let Attacks { attack: attacks } = toml::from_str(ATTACKS).unwrap();
    let names: BTreeSet<&str> = attacks.iter().map(|attack| attack.name.as_str()).collect();
    assert_eq!(names.len(), attacks.len(), "every attack has a name of its own");
    assert!(attacks.len() >= ATTACKS_MIN);
    let provider = Provider::open().await;
    let skills = [TestSkill("bake", json!({}), &done("{}")), TestSkill("fails", json!({}), "exit 3")];
    let place = Place::open_with_parts(&skills, |mut parts| {
        parts.http.config.refused_per_minute = 1_000_000;
        parts.http.authenticator = parts.http.authenticator.with_metrics_token(METRICS_TOKEN);
        provider.trusted_by(parts)
    })
    .await;
    let prepared = prepared(&place, &provider).await;
    let before = place.admin.get("/api/skills").await.expect(200);
    let mut wrong = Vec::new();
    for attack in &attacks {
        let request = attack.request(&prepared);
        let answer = answer(place.address, &request).await;
        wrong.extend(attack.judge(&answer).err());
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), attacks.len(), wrong.join("\n\n"));
    assert_eq!(place.admin.get("/healthz").await.status, 200);
    assert_eq!(place.admin.get("/api/skills").await.expect(200), before, "nothing was changed");
}
