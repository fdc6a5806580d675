//! API keys, as they are kept: never the secret.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::access::{Scope, TeamId, UserId};
use crate::time::Timestamp;

/// An API key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ApiKey {
    /// The part that may be shown.
    pub key_id: String,
    /// The slow hash of the secret part.
    pub key_hash: String,
    /// What it is for, in its owner's words.
    pub label: String,
    /// Whose it is; calls with it are theirs.
    pub owner_user_id: UserId,
    /// The teams whose skills it may see.
    pub team_ids: BTreeSet<TeamId>,
    /// What it may be used for.
    pub scopes: BTreeSet<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it is good; nothing for ever.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

impl ApiKey {
    /// Says whether it is good at that moment.
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_good_until_it_expires_or_is_revoked() {
        let at = Timestamp::from_millis;
        let key = |expires_at: Option<i64>, revoked_at: Option<i64>| ApiKey {
            key_id: "k".to_owned(),
            key_hash: String::new(),
            label: String::new(),
            owner_user_id: "ann".parse().unwrap(),
            team_ids: BTreeSet::new(),
            scopes: BTreeSet::new(),
            created_at: at(0),
            expires_at: expires_at.map(at),
            revoked_at: revoked_at.map(at),
            last_used_at: None,
        };
        assert!(key(None, None).is_good(at(i64::MAX)));
        assert!(key(Some(10), None).is_good(at(9)));
        assert!(!key(Some(10), None).is_good(at(10)));
        assert!(!key(None, Some(5)).is_good(at(1)));
    }
}
