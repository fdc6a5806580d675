//! Tokens that stand for one role: the first administrator, and who reads the numbers about the process. Kept as a hash,
//! compared in constant time.

use std::collections::BTreeSet;

use artel_model::access::{Credential, Principal, UserId, Viewer};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Who the holder of the token for numbers is.
const METRICS: &str = "metrics";

/// The hash of a token. The token has far more randomness than anybody can try, so a quick hash is enough.
#[derive(Clone)]
pub(super) struct RoleToken {
    hash: String,
}

impl RoleToken {
    /// Takes the hash that is kept.
    pub(super) fn of_hash(hash: String) -> Self {
        Self { hash }
    }

    /// Says whether somebody presents the token.
    pub(super) fn is(&self, presented: &str) -> bool {
        hash_of(presented).as_bytes().ct_eq(self.hash.as_bytes()).into()
    }
}

/// Returns the hash of a token, as it is kept.
pub(super) fn hash_of(token: &str) -> String {
    let digest = Sha256::digest(token.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Says whether a user's name belongs to whoever holds one of the tokens.
pub(super) fn is_reserved(user: &UserId) -> bool {
    [Principal::ADMIN_USER, METRICS].iter().any(|name| user.as_str().eq_ignore_ascii_case(name))
}

/// Returns the principal that holds the token for numbers: it may do nothing else.
pub(super) fn metrics_reader() -> Principal {
    Principal {
        viewer: Viewer { user: METRICS.parse().expect("a constant name is valid"), teams: BTreeSet::new() },
        scopes: BTreeSet::new(),
        credential: Credential::MetricsToken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_the_token() {
        let token = RoleToken::of_hash(hash_of("secret"));
        assert!(token.is("secret"));
        for wrong in ["", "secre", "secret ", "Secret", &hash_of("secret")] {
            assert!(!token.is(wrong), "{wrong}");
        }
    }
}
