//! Tokens that look like those of an identity provider, and are none.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::provider::{Provider, unsigned};

/// Returns forged tokens by the name of the trick.
pub(crate) fn forged(provider: &Provider) -> Vec<(&'static str, String)> {
    let head = json!({"alg": "EdDSA", "kid": "one"});
    let claims = provider.claims("bob", &["blue"]);
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        provider.signed(&head, &claims)
    };
    let good = provider.signed(&head, &claims);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let changed = unsigned(&head, &provider.claims("ann", &["red"]));
    let mut endless = claims.clone();
    endless.as_object_mut().unwrap().remove("exp");
    let now = claims["exp"].as_i64().unwrap() - 300;
    let mut boss = claims.clone();
    for (name, value) in [("scope", json!("admin")), ("roles", json!(["admin"])), ("is_admin", json!(true))] {
        boss[name] = value;
    }
    let none = |word: &str| format!("{}.", unsigned(&json!({"alg": word, "kid": "one"}), &claims));
    vec![
        ("jwt-none", none("none")),
        ("jwt-none-mixed", none("nOnE")),
        ("jwt-hmac", hmac_signed(provider, &claims)),
        ("jwt-other-kid", provider.signed(&json!({"alg": "EdDSA", "kid": "two"}), &claims)),
        ("jwt-path-kid", provider.signed(&json!({"alg": "EdDSA", "kid": "../../dev/null"}), &claims)),
        ("jwt-own-key", with_own_key(&claims)),
        ("jwt-key-address", with_key_address(&claims)),
        ("jwt-expired", with("exp", json!(now - 3600))),
        ("jwt-endless", provider.signed(&head, &endless)),
        ("jwt-early", with("nbf", json!(now + 3600))),
        ("jwt-audience", with("aud", json!("another"))),
        ("jwt-issuer", with("iss", json!("https://evil.example"))),
        ("jwt-admin", with("sub", json!("admin"))),
        ("jwt-changed", format!("{changed}.{signature}")),
        ("jwt-cut", format!("{message}.")),
        ("jwt-claims", provider.signed(&head, &boss)),
    ]
}

/// Signs as if the key that everyone may know were a shared secret.
fn hmac_signed(provider: &Provider, claims: &Value) -> String {
    let message = unsigned(&json!({"alg": "HS256", "kid": "one"}), claims);
    let key = hmac::Key::new(hmac::HMAC_SHA256, provider.public_key());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes())))
}

fn with_own_key(claims: &Value) -> String {
    let key = own_key();
    let public = URL_SAFE_NO_PAD.encode(key.public_key());
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "kid": "one", "x": public});
    signed_with(&key, &json!({"alg": "EdDSA", "kid": "one", "jwk": jwk}), claims)
}

fn with_key_address(claims: &Value) -> String {
    let head = json!({"alg": "EdDSA", "kid": "one", "jku": "http://127.0.0.1:9/keys", "x5u": "http://127.0.0.1:9/x"});
    signed_with(&own_key(), &head, claims)
}

fn own_key() -> Ed25519KeyPair {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap()
}

fn signed_with(key: &Ed25519KeyPair, head: &Value, claims: &Value) -> String {
    let message = unsigned(head, claims);
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(key.sign(message.as_bytes())))
}
