//! An identity provider for tests, on loopback, with one key.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::sync::{Arc, Mutex};

use artel_engine::Clock;
use artel_server::OidcConfig;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::place::ServerParts;

/// An identity provider.
pub(crate) struct Provider {
    url: String,
    key: Arc<Ed25519KeyPair>,
    kept: Mutex<Vec<String>>,
}

impl Provider {
    /// Opens a provider that answers until the test is over.
    pub(crate) async fn open() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let key = Arc::new(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let described = json!({"issuer": url, "jwks_uri": format!("{url}/keys")});
        let public = URL_SAFE_NO_PAD.encode(key.public_key());
        let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "x": public}]});
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, described.clone(), keys.clone()));
            }
        });
        Self { url, key, kept: Mutex::default() }
    }

    /// Makes a server believe the provider; the team `bosses` are its administrators.
    pub(crate) fn trusted_by(&self, mut parts: ServerParts) -> ServerParts {
        let mut config = OidcConfig::new(&self.url, "artel");
        config.admin_teams.insert("bosses".parse().unwrap());
        parts.http.authenticator = parts.http.authenticator.with_oidc(config).unwrap();
        parts
    }

    /// Returns a token of somebody in these teams.
    pub(crate) fn token(&self, user: &str, teams: &[&str]) -> String {
        let token = self.signed(&json!({"alg": "EdDSA", "kid": "one"}), &self.claims(user, teams));
        self.kept.lock().unwrap().push(token.clone());
        token
    }

    /// Returns what a token of somebody in these teams claims.
    pub(crate) fn claims(&self, user: &str, teams: &[&str]) -> Value {
        let ends = Clock::system().now().as_millis() / 1000 + 300;
        json!({"iss": self.url, "aud": "artel", "sub": user, "exp": ends, "groups": teams})
    }

    /// Returns a token with this head and these claims, signed with the provider's key.
    pub(crate) fn signed(&self, head: &Value, claims: &Value) -> String {
        let message = unsigned(head, claims);
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(self.key.sign(message.as_bytes())))
    }

    /// Returns the key that everyone may know.
    pub(crate) fn public_key(&self) -> &[u8] {
        self.key.public_key().as_ref()
    }

    /// Returns every token it gave.
    pub(crate) fn given(&self) -> Vec<String> {
        self.kept.lock().unwrap().clone()
    }
}

/// Returns the part of a token that is signed.
pub(crate) fn unsigned(head: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(head), part(claims))
}

async fn answer(mut stream: TcpStream, described: Value, keys: Value) {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(bytes) => head.extend_from_slice(&piece[..bytes]),
        }
    }
    let body = if head.starts_with(b"GET /keys ") { keys } else { described }.to_string();
    let length = body.len();
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    let _ = stream.write_all(answer.as_bytes()).await;
}
