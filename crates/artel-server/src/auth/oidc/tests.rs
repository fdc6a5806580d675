//! Tokens against an identity provider that is really there: on loopback, with keys of its own.

use std::sync::{Arc, Mutex};

use artel_model::limit::IDENTITY_ANSWER_BYTES_MAX;
use artel_model::time::Timestamp;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use super::*;

const NOW: i64 = 1_800_000_000;
const RSA_PEM: &[u8] = include_bytes!("../../../tests/it/keys/test-only-rsa.pem");

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis((NOW + seconds) * 1000)
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key of the provider, with both of its halves.
enum SigningPair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl SigningPair {
    fn rsa() -> Self {
        let key = PrivatePkcs8KeyDer::from_pem_slice(RSA_PEM).unwrap();
        Self::Rsa(RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).unwrap())
    }

    fn ec() -> Self {
        let random = SystemRandom::new();
        let algorithm = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap())
    }

    fn ed() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&signature::RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature)
                    .unwrap();
                signature
            }
            Self::Ec(key) => key.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Self::Ed(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    fn public(&self, id: &str) -> Value {
        match self {
            Self::Rsa(key) => {
                let parts: signature::RsaPublicKeyComponents<Vec<u8>> = key.public().into();
                json!({"kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": encoded(parts.n), "e": encoded(parts.e)})
            }
            Self::Ec(key) => {
                let point = key.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "kid": id, "x": encoded(&point[1..33]), "y": encoded(&point[33..])})
            }
            Self::Ed(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": encoded(key.public_key().as_ref())})
            }
        }
    }

    fn token(&self, id: Option<&str>, claims: &Value) -> String {
        let mut head = json!({"alg": self.algorithm(), "typ": "JWT"});
        if let Some(id) = id {
            head["kid"] = json!(id);
        }
        self.token_with(&head, claims)
    }

    fn token_with(&self, head: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encoded(head.to_string()), encoded(claims.to_string()));
        let signature = encoded(self.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}

/// How the provider answers.
enum Mood {
    Well,
    Broken,
    Elsewhere(String),
    Endless,
    AsSomebodyElse,
}

struct Provider {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    url: String,
    mood: Mutex<Mood>,
    keys: Mutex<Vec<Value>>,
    asked: Mutex<usize>,
}

impl Provider {
    async fn open(keys: Vec<Value>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            url: url.clone(),
            mood: Mutex::new(Mood::Well),
            keys: Mutex::new(keys),
            asked: Mutex::new(0),
        });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(describe))
            .route("/keys", get(keys_of))
            .with_state(shared.clone());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let service = hyper_util::service::TowerToHyperService::new(router.clone());
                let stream = hyper_util::rt::TokioIo::new(stream);
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(stream, service));
            }
        });
        Self { url, shared }
    }

    fn verifier(&self) -> OidcVerifier {
        OidcVerifier::new(OidcConfig::new(&self.url, "artel")).unwrap()
    }

    fn be(&self, mood: Mood) {
        *self.shared.mood.lock().unwrap() = mood;
    }

    fn rotate(&self, keys: Vec<Value>) {
        *self.shared.keys.lock().unwrap() = keys;
    }

    fn asked(&self) -> usize {
        *self.shared.asked.lock().unwrap()
    }

    fn claims(&self, change: &Value) -> Value {
        let mut claims = json!({"iss": self.url, "aud": "artel", "sub": "ann", "exp": NOW + 300});
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    }
}

async fn describe(State(shared): State<Arc<Shared>>) -> Response {
    *shared.asked.lock().unwrap() += 1;
    let keys = format!("{}/keys", shared.url);
    match &*shared.mood.lock().unwrap() {
        Mood::Well => axum::Json(json!({"issuer": shared.url, "jwks_uri": keys})).into_response(),
        Mood::Broken => StatusCode::BAD_GATEWAY.into_response(),
        Mood::Elsewhere(url) => (StatusCode::FOUND, [(header::LOCATION, url.clone())]).into_response(),
        Mood::Endless => " ".repeat(IDENTITY_ANSWER_BYTES_MAX + 1).into_response(),
        Mood::AsSomebodyElse => {
            axum::Json(json!({"issuer": "https://evil.example.org", "jwks_uri": keys})).into_response()
        }
    }
}

async fn keys_of(State(shared): State<Arc<Shared>>) -> Response {
    axum::Json(json!({"keys": *shared.keys.lock().unwrap()})).into_response()
}

#[tokio::test]
async fn tokens_of_all_three_kinds_are_believed() {
    for pair in [SigningPair::rsa(), SigningPair::ec(), SigningPair::ed()] {
        let provider = Provider::open(vec![pair.public("one")]).await;
        let verifier = provider.verifier();
        let claims = provider.claims(&json!({"groups": ["blue"]}));
        for id in [Some("one"), None] {
            let ann = verifier.verify(&pair.token(id, &claims), at(0)).await.unwrap().principal;
            assert_eq!((ann.viewer.user.as_str(), ann.viewer.teams.len()), ("ann", 1));
        }
        assert_eq!(provider.asked(), 1, "keys are kept");
    }
}

#[tokio::test]
async fn what_is_not_good_is_refused() {
    let pair = SigningPair::ec();
    let provider = Provider::open(vec![pair.public("one")]).await;
    let verifier = provider.verifier();
    let wrong = [
        json!({"exp": NOW - 61}),
        json!({"nbf": NOW + 61}),
        json!({"aud": "another-service"}),
        json!({"iss": "https://evil.example.org"}),
        json!({"sub": ""}),
    ];
    for change in wrong {
        let token = pair.token(Some("one"), &provider.claims(&change));
        assert_eq!(verifier.verify(&token, at(0)).await, Err(OidcRefused::Token), "{change}");
    }
    let good = pair.token(Some("one"), &provider.claims(&json!({})));
    assert!(verifier.verify(&good, at(0)).await.is_ok());
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (head, _) = message.split_once('.').unwrap();
    let other = encoded(provider.claims(&json!({"sub": "bob"})).to_string());
    let forged = format!("{head}.{other}.{signature}");
    assert_eq!(verifier.verify(&forged, at(0)).await, Err(OidcRefused::Token), "other claims");
    for signature in ["", "AAAA"] {
        let forged = format!("{message}.{signature}");
        assert_eq!(verifier.verify(&forged, at(0)).await, Err(OidcRefused::Token), "other signature");
    }
    let stranger = SigningPair::ec().token(Some("one"), &provider.claims(&json!({})));
    assert_eq!(verifier.verify(&stranger, at(0)).await, Err(OidcRefused::Token), "another key");
}

#[tokio::test]
async fn an_algorithm_that_the_token_chooses_does_not_help() {
    let pair = SigningPair::rsa();
    let provider = Provider::open(vec![pair.public("one")]).await;
    let verifier = provider.verifier();
    let claims = provider.claims(&json!({}));
    for algorithm in ["none", "None", "nOnE", ""] {
        let head = encoded(json!({"alg": algorithm, "kid": "one"}).to_string());
        let token = format!("{head}.{}.", encoded(claims.to_string()));
        assert_eq!(verifier.verify(&token, at(0)).await, Err(OidcRefused::Token), "{algorithm}");
    }
    // The public key is no secret: whoever signs with it as if it were one must not be believed.
    let public = pair.public("one");
    for secret in
        [RSA_PEM.to_vec(), public["n"].as_str().unwrap().as_bytes().to_vec(), public.to_string().into_bytes()]
    {
        let head = encoded(json!({"alg": "HS256", "kid": "one"}).to_string());
        let message = format!("{head}.{}", encoded(claims.to_string()));
        let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), message.as_bytes());
        let token = format!("{message}.{}", encoded(signature));
        assert_eq!(verifier.verify(&token, at(0)).await, Err(OidcRefused::Token));
    }
    for algorithm in ["ES256", "EdDSA", "PS256", "RS512"] {
        let token = pair.token_with(&json!({"alg": algorithm, "kid": "one"}), &claims);
        assert_eq!(verifier.verify(&token, at(0)).await, Err(OidcRefused::Token), "{algorithm}");
    }
}

#[tokio::test]
async fn a_rotated_key_is_fetched_but_not_for_everybody_who_asks() {
    let (old, fresh) = (SigningPair::ec(), SigningPair::ec());
    let provider = Provider::open(vec![old.public("old")]).await;
    let verifier = provider.verifier();
    let claims = provider.claims(&json!({}));
    let (old_token, fresh_token) = (old.token(Some("old"), &claims), fresh.token(Some("fresh"), &claims));
    assert!(verifier.verify(&old_token, at(0)).await.is_ok());
    assert_eq!(verifier.verify(&fresh_token, at(1)).await, Err(OidcRefused::Token));
    assert_eq!(provider.asked(), 1, "it was asked a moment ago");
    provider.rotate(vec![fresh.public("fresh")]);
    assert_eq!(verifier.verify(&fresh_token, at(29)).await, Err(OidcRefused::Token));
    let many = std::iter::repeat_with(|| verifier.verify(&fresh_token, at(31))).take(20);
    for one in futures_join(many).await {
        assert!(one.is_ok());
    }
    assert_eq!(provider.asked(), 2, "one asked for all");
    assert_eq!(verifier.verify(&old_token, at(32)).await, Err(OidcRefused::Token), "it was taken back");
}

/// Runs all at once.
async fn futures_join<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|future| Some(Box::pin(future))).collect();
    let mut done: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in waiting.iter_mut().zip(&mut done) {
            let polled = future.as_mut().map(|future| future.as_mut().poll(context));
            if let Some(std::task::Poll::Ready(output)) = polled {
                (*future, *done) = (None, Some(output));
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test]
async fn keys_stay_good_while_the_provider_is_away() {
    let pair = SigningPair::ed();
    let provider = Provider::open(vec![pair.public("one")]).await;
    let verifier = provider.verifier();
    let token = pair.token(Some("one"), &provider.claims(&json!({"exp": NOW + 10_000})));
    provider.be(Mood::Broken);
    assert_eq!(verifier.verify(&token, at(0)).await, Err(OidcRefused::Unavailable));
    provider.be(Mood::Well);
    assert_eq!(
        verifier.verify(&token, at(1)).await,
        Err(OidcRefused::Unavailable),
        "not asked again at once"
    );
    assert!(verifier.verify(&token, at(2)).await.is_ok());
    provider.be(Mood::Broken);
    let unknown = pair.token(Some("two"), &provider.claims(&json!({})));
    assert_eq!(verifier.verify(&unknown, at(60)).await, Err(OidcRefused::Token));
    assert!(verifier.verify(&token, at(61)).await.is_ok());
    assert!(verifier.verify(&token, at(5000)).await.is_ok());
}

#[tokio::test]
async fn a_provider_that_is_not_what_it_should_be_is_not_believed() {
    let pair = SigningPair::ed();
    let evil = Provider::open(vec![pair.public("one")]).await;
    let elsewhere = format!("{}/.well-known/openid-configuration", evil.url);
    for mood in [Mood::Elsewhere(elsewhere), Mood::Endless, Mood::AsSomebodyElse] {
        let provider = Provider::open(vec![pair.public("one")]).await;
        provider.be(mood);
        let token = pair.token(Some("one"), &provider.claims(&json!({})));
        assert_eq!(provider.verifier().verify(&token, at(0)).await, Err(OidcRefused::Unavailable));
    }
    assert_eq!(evil.asked(), 0);
    let provider = Provider::open(vec![json!({"kty": "oct", "k": "c2VjcmV0"})]).await;
    let token = pair.token(Some("one"), &provider.claims(&json!({})));
    assert_eq!(provider.verifier().verify(&token, at(0)).await, Err(OidcRefused::Unavailable), "no keys");
}
