//! The provider's public keys, and whether one of them signed something.
//!
//! A key is good for one algorithm only, which comes from the key and not from the token: so nobody can have an RSA key
//! taken for the secret of an HMAC.

use artel_model::limit::IDENTITY_KEYS_MAX;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;

/// The ways of signing that are accepted; there are no others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Algorithm {
    /// RSA with SHA-256, PKCS#1 v1.5.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Reads the name that a token gives.
    pub(super) fn of_token(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

enum PublicKey {
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// An uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// One key of the provider.
pub(super) struct SigningKey {
    id: Option<String>,
    key: PublicKey,
}

impl SigningKey {
    fn algorithm(&self) -> Algorithm {
        match self.key {
            PublicKey::Rsa(_) => Algorithm::Rs256,
            PublicKey::P256(_) => Algorithm::Es256,
            PublicKey::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    /// Says whether the key signed the message.
    pub(super) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let checked = match &self.key {
            PublicKey::Rsa(key) => key.verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, signature),
            PublicKey::P256(point) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            PublicKey::Ed25519(key) => {
                UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature)
            }
        };
        checked.is_ok()
    }
}

/// All keys of the provider.
#[derive(Default)]
pub(super) struct KeySet {
    keys: Vec<SigningKey>,
}

impl KeySet {
    /// Reads the provider's keys. One of a kind that we do not use is left out: it may be for somebody else.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let set: WrittenSet = serde_json::from_slice(bytes)?;
        Ok(Self { keys: set.keys.into_iter().filter_map(WrittenKey::read).take(IDENTITY_KEYS_MAX).collect() })
    }

    /// Returns the key that a token says it was signed with. Without a name it is the only one for its algorithm.
    pub(super) fn key(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&SigningKey> {
        let mut fitting = self
            .keys
            .iter()
            .filter(|key| key.algorithm() == algorithm)
            .filter(|key| id.is_none() || key.id.as_deref() == id);
        let first = fitting.next()?;
        (id.is_some() || fitting.next().is_none()).then_some(first)
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}

#[derive(Deserialize)]
struct WrittenSet {
    keys: Vec<WrittenKey>,
}

#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl WrittenKey {
    fn read(self) -> Option<SigningKey> {
        if self.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let key = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => {
                let (n, e) = (number(&self.n)?, number(&self.e)?);
                PublicKey::Rsa(RsaPublicKeyComponents { n, e })
            }
            ("EC", Some("P-256")) => PublicKey::P256(point(&bytes(&self.x)?, &bytes(&self.y)?)?),
            ("OKP", Some("Ed25519")) => PublicKey::Ed25519(bytes(&self.x)?),
            _ => return None,
        };
        let key = SigningKey { id: self.kid, key };
        let fits = self.alg.is_none_or(|name| Algorithm::of_token(&name) == Some(key.algorithm()));
        fits.then_some(key)
    }
}

fn bytes(text: &Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.as_deref()?.trim_end_matches('=')).ok()
}

/// A number without leading zeros, which some providers write.
fn number(text: &Option<String>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let start = bytes.iter().position(|byte| *byte != 0)?;
    Some(bytes[start..].to_vec())
}

fn point(x: &[u8], y: &[u8]) -> Option<Vec<u8>> {
    const COORDINATE_BYTES: usize = 32;
    let fits = x.len() == COORDINATE_BYTES && y.len() == COORDINATE_BYTES;
    fits.then(|| [&[4], x, y].concat())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(keys: &[Value]) -> KeySet {
        KeySet::read(&serde_json::to_vec(&json!({"keys": keys})).unwrap()).unwrap()
    }

    fn octets(bytes: usize) -> String {
        URL_SAFE_NO_PAD.encode(vec![7; bytes])
    }

    #[test]
    fn keys_that_are_not_for_us_are_left_out() {
        let ed = json!({"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": octets(32)});
        assert_eq!(read(std::slice::from_ref(&ed)).len(), 1);
        let left_out = [
            json!({"kty": "oct", "k": octets(32), "kid": "b"}),
            json!({"kty": "EC", "crv": "P-384", "x": octets(48), "y": octets(48)}),
            json!({"kty": "EC", "crv": "P-256", "x": octets(31), "y": octets(32)}),
            json!({"kty": "RSA", "n": octets(256)}),
            json!({"kty": "RSA", "n": "AAAA", "e": "AQAB"}),
            json!({"kty": "RSA", "n": octets(256), "e": "AQAB", "alg": "RS512"}),
            json!({"kty": "RSA", "n": octets(256), "e": "AQAB", "use": "enc"}),
            json!({"kty": "OKP", "crv": "X25519", "x": octets(32)}),
        ];
        assert_eq!(read(&left_out).len(), 0);
        assert!(KeySet::read(b"[]").is_err());
    }

    #[test]
    fn a_key_is_found_by_its_name_and_its_algorithm() {
        let ed = |kid: &str| json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": octets(32)});
        let ec = json!({"kty": "EC", "crv": "P-256", "kid": "c", "x": octets(32), "y": octets(32)});
        let keys = read(&[ed("a"), ed("b"), ec]);
        assert!(keys.key(Some("a"), Algorithm::EdDsa).is_some());
        assert!(keys.key(Some("a"), Algorithm::Es256).is_none());
        assert!(keys.key(Some("x"), Algorithm::EdDsa).is_none());
        assert!(keys.key(None, Algorithm::Es256).is_some(), "there is only one");
        assert!(keys.key(None, Algorithm::EdDsa).is_none(), "there are two");
    }

    #[test]
    fn many_keys_are_cut_off() {
        let ed = json!({"kty": "OKP", "crv": "Ed25519", "x": octets(32)});
        assert_eq!(read(&vec![ed; IDENTITY_KEYS_MAX + 5]).len(), IDENTITY_KEYS_MAX);
    }
}
