//! Proves API keys, and remembers for a while which ones were proved, so that a key in use costs no slow hash.
//!
//! A remembered key is only ever as good as its row. When it is revoked through this process, it is forgotten at once.
//! When another process revokes it, nobody tells this one; so a row that was read more than a second ago is read again
//! before it is believed. Expiry is compared with the clock at every request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use artel_model::access::{Credential, Principal, UserId, Viewer};
use artel_model::catalog::ApiKey;
use artel_model::limit::{KEY_REMEMBERED_MS, KEY_REREAD_MS, KEYS_REMEMBERED_MAX};
use artel_model::time::Timestamp;
use artel_store::{KeyStore, StoreError};

use super::key_text::KeyText;
use super::slow_hash::{Busy, SlowHash, Turn, verify};

/// How exactly the last use of a key is known.
const USE_KNOWN_TO_MS: i64 = 60_000;

/// Proves API keys.
pub(crate) struct KeyRing {
    store: Arc<dyn KeyStore>,
    slow: SlowHash,
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    /// By the digest of the whole key, so that a wrong secret finds nothing.
    proved: HashMap<[u8; 32], Proved>,
    /// How often keys were forgotten: a proof that began before must not be remembered after.
    forgotten: u64,
}

#[derive(Clone)]
struct Proved {
    row: Arc<ApiKey>,
    proved_at: Timestamp,
    row_read_at: Timestamp,
}

impl KeyRing {
    pub(super) fn new(store: Arc<dyn KeyStore>) -> Self {
        Self { store, slow: SlowHash::new(), remembered: Mutex::default() }
    }

    /// Returns the slow hash of a key's secret, as it is kept.
    pub(crate) async fn hash(&self, key: &KeyText) -> Result<String, Busy> {
        self.slow.hash(key.secret()).await
    }

    /// Forgets a key that was revoked.
    pub(crate) fn forget(&self, key_id: &str) {
        let mut remembered = self.remembered();
        remembered.forgotten += 1;
        remembered.proved.retain(|_, proved| proved.row.key_id != key_id);
    }

    /// Waits for the right to prove one key.
    pub(super) async fn turn(&self) -> Result<Turn, Busy> {
        self.slow.turn().await
    }

    /// Returns who presents a key that was proved a short while ago and is still good.
    pub(super) async fn known(&self, key: &KeyText, now: Timestamp) -> Result<Option<Principal>, StoreError> {
        let digest = key.digest();
        let Some(proved) = self.recall(&digest, now) else { return Ok(None) };
        if now.millis_since(proved.row_read_at) < KEY_REREAD_MS {
            return Ok(self.used(&digest, proved.row, now).await);
        }
        let row = self.store.key(key.id()).await?.filter(|row| row.key_hash == proved.row.key_hash);
        match self.reread(&digest, row.map(Arc::new), now) {
            Some(row) => Ok(self.used(&digest, row, now).await),
            None => Ok(None),
        }
    }

    /// Returns who presents a key, after the slow hash. Whether there is such a key, whether its secret is right and
    /// whether it is good takes the same time to say.
    pub(super) async fn prove(
        &self,
        key: &KeyText,
        turn: Turn,
        now: Timestamp,
    ) -> Result<Option<Principal>, StoreError> {
        let forgotten = self.remembered().forgotten;
        let row = self.store.key(key.id()).await?;
        let fits = verify(turn, key.secret(), row.as_ref().map(|row| row.key_hash.as_str())).await;
        let Some(row) = row.filter(|row| fits && row.is_good(now)).map(Arc::new) else { return Ok(None) };
        let digest = key.digest();
        let proved = Proved { row: row.clone(), proved_at: now, row_read_at: now };
        self.remembered().keep(digest, proved, forgotten, now);
        Ok(self.used(&digest, row, now).await)
    }

    /// Returns whose key was refused and why, for the operator's log.
    pub(super) async fn why_refused(&self, key: &KeyText, now: Timestamp) -> (Option<UserId>, &'static str) {
        let Ok(row) = self.store.key(key.id()).await else { return (None, "the store does not answer") };
        let Some(row) = row else { return (None, "unknown key") };
        let why = match &row {
            row if row.revoked_at.is_some() => "revoked key",
            row if !row.is_good(now) => "expired key",
            _ => "wrong secret, or too many attempts",
        };
        (Some(row.owner_user_id), why)
    }

    fn recall(&self, digest: &[u8; 32], now: Timestamp) -> Option<Proved> {
        let remembered = self.remembered();
        let proved = remembered.proved.get(digest)?;
        (now.millis_since(proved.proved_at) < KEY_REMEMBERED_MS).then(|| proved.clone())
    }

    /// Remembers a row that was read again, unless the key was forgotten meanwhile.
    fn reread(&self, digest: &[u8; 32], row: Option<Arc<ApiKey>>, now: Timestamp) -> Option<Arc<ApiKey>> {
        let mut remembered = self.remembered();
        let Some(row) = row else {
            remembered.proved.remove(digest);
            return None;
        };
        let kept = remembered.proved.get_mut(digest)?;
        kept.row = row.clone();
        kept.row_read_at = now;
        Some(row)
    }

    /// Returns whose key it is, if it is good, and writes down once a minute that it was used.
    async fn used(&self, digest: &[u8; 32], row: Arc<ApiKey>, now: Timestamp) -> Option<Principal> {
        if !row.is_good(now) {
            self.remembered().proved.remove(digest);
            return None;
        }
        let minute = Timestamp::from_millis(now.as_millis() / USE_KNOWN_TO_MS * USE_KNOWN_TO_MS);
        if row.last_used_at.is_none_or(|last| last < minute) {
            // Remembered first, so that of many requests at once only one writes.
            if let Some(kept) = self.remembered().proved.get_mut(digest) {
                Arc::make_mut(&mut kept.row).last_used_at = Some(minute);
            }
            if let Err(error) = self.store.touch_key(&row.key_id, minute).await {
                // The caller is who they say; that the last use is not known is a smaller harm than to refuse them.
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, key = row.key_id, "cannot write down that a key was used");
            }
        }
        Some(principal(&row))
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remembered {
    fn keep(&mut self, digest: [u8; 32], proved: Proved, forgotten_before: u64, now: Timestamp) {
        if self.forgotten != forgotten_before {
            // It may be this key that was revoked meanwhile; the next request finds out.
            return;
        }
        if self.proved.len() >= KEYS_REMEMBERED_MAX {
            self.proved.retain(|_, proved| now.millis_since(proved.proved_at) < KEY_REMEMBERED_MS);
        }
        if self.proved.len() >= KEYS_REMEMBERED_MAX {
            let oldest = self.proved.iter().min_by_key(|(digest, proved)| (proved.proved_at, **digest));
            if let Some(oldest) = oldest.map(|(digest, _)| *digest) {
                self.proved.remove(&oldest);
            }
        }
        self.proved.insert(digest, proved);
    }
}

fn principal(row: &ApiKey) -> Principal {
    Principal {
        viewer: Viewer { user: row.owner_user_id.clone(), teams: row.team_ids.clone() },
        scopes: row.scopes.clone(),
        credential: Credential::ApiKey(row.key_id.clone()),
    }
}

#[cfg(test)]
mod tests {
    use artel_model::access::Scope;
    use artel_store::MemoryStore;

    use super::*;

    struct Keys {
        store: Arc<MemoryStore>,
        ring: KeyRing,
    }

    impl Keys {
        fn new() -> Self {
            let store = Arc::new(MemoryStore::new());
            Self { ring: KeyRing::new(store.clone()), store }
        }

        /// Another process on the same store.
        fn elsewhere(&self) -> KeyRing {
            KeyRing::new(self.store.clone())
        }

        async fn make(&self, expires_at: Option<Timestamp>) -> KeyText {
            let key = KeyText::fresh();
            let row = ApiKey {
                key_id: key.id().to_owned(),
                key_hash: self.ring.hash(&key).await.unwrap(),
                label: String::new(),
                owner_user_id: "ann".parse().unwrap(),
                team_ids: ["blue".parse().unwrap()].into(),
                scopes: [Scope::RunsWrite].into(),
                created_at: at(0),
                expires_at,
                revoked_at: None,
                last_used_at: None,
            };
            assert!(self.store.create_key(&row, 10).await.unwrap());
            key
        }

        async fn prove(&self, key: &KeyText, now: Timestamp) -> Option<Principal> {
            self.ring.prove(key, self.ring.turn().await.unwrap(), now).await.unwrap()
        }

        async fn known(&self, key: &KeyText, now: Timestamp) -> bool {
            self.ring.known(key, now).await.unwrap().is_some()
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_040_000 + millis)
    }

    #[tokio::test]
    async fn a_proved_key_is_its_owners_and_is_known_for_a_minute() {
        let keys = Keys::new();
        let key = keys.make(None).await;
        assert!(!keys.known(&key, at(0)).await);
        let principal = keys.prove(&key, at(0)).await.unwrap();
        assert_eq!(principal.viewer.user.as_str(), "ann");
        assert_eq!(principal.viewer.teams.len(), 1);
        assert_eq!(principal.scopes, [Scope::RunsWrite].into());
        assert_eq!(principal.credential, Credential::ApiKey(key.id().to_owned()));
        assert!(keys.known(&key, at(59_999)).await);
        assert!(!keys.known(&key, at(60_000)).await);
    }

    #[tokio::test]
    async fn a_wrong_secret_proves_nothing_even_when_the_key_is_known() {
        let keys = Keys::new();
        let key = keys.make(None).await;
        assert!(keys.prove(&key, at(0)).await.is_some());
        let text = key.reveal();
        let other = if text.ends_with('a') { "b" } else { "a" };
        let wrong = KeyText::read(&format!("{}{other}", &text[..text.len() - 1])).unwrap();
        assert!(!keys.known(&wrong, at(1)).await);
        assert!(keys.prove(&wrong, at(1)).await.is_none());
        assert!(keys.prove(&KeyText::fresh(), at(1)).await.is_none());
    }

    #[tokio::test]
    async fn a_revoked_key_is_forgotten_here_at_once_and_elsewhere_within_a_second() {
        let keys = Keys::new();
        let key = keys.make(None).await;
        let elsewhere = keys.elsewhere();
        assert!(keys.prove(&key, at(0)).await.is_some());
        assert!(elsewhere.prove(&key, elsewhere.turn().await.unwrap(), at(0)).await.unwrap().is_some());
        keys.store.revoke_key(key.id(), at(1)).await.unwrap();
        keys.ring.forget(key.id());
        assert!(!keys.known(&key, at(2)).await);
        assert!(keys.prove(&key, at(2)).await.is_none());
        assert!(elsewhere.known(&key, at(1000)).await.unwrap().is_none());
        assert!(elsewhere.known(&key, at(1001)).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_proof_that_began_before_a_revocation_is_not_remembered_after_it() {
        let keys = Keys::new();
        let key = keys.make(None).await;
        let row = keys.store.key(key.id()).await.unwrap().unwrap();
        let before = keys.ring.remembered().forgotten;
        keys.ring.forget(key.id());
        let proved = Proved { row: row.into(), proved_at: at(0), row_read_at: at(0) };
        keys.ring.remembered().keep(key.digest(), proved, before, at(0));
        assert!(!keys.known(&key, at(0)).await);
    }

    #[tokio::test]
    async fn a_key_that_expires_is_refused_at_that_moment() {
        let keys = Keys::new();
        let key = keys.make(Some(at(500))).await;
        assert!(keys.prove(&key, at(0)).await.is_some());
        assert!(keys.known(&key, at(499)).await);
        assert!(!keys.known(&key, at(500)).await);
        assert!(keys.prove(&key, at(500)).await.is_none());
    }

    #[tokio::test]
    async fn the_last_use_is_written_once_a_minute() {
        let keys = Keys::new();
        let key = keys.make(None).await;
        let last_used = async || keys.store.key(key.id()).await.unwrap().unwrap().last_used_at;
        let minute = Timestamp::from_millis(at(0).as_millis() / 60_000 * 60_000);
        assert!(keys.prove(&key, at(30_000)).await.is_some());
        assert_eq!(last_used().await, Some(minute));
        keys.store.touch_key(key.id(), minute + 1).await.unwrap();
        assert!(keys.known(&key, at(30_010)).await);
        assert_eq!(last_used().await, Some(minute + 1), "nothing was written");
        assert!(keys.known(&key, at(61_000)).await);
        assert_eq!(last_used().await, Some(minute + 60_000));
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let keys = Keys::new();
        let key = keys.make(None).await;
        let row = Arc::new(keys.store.key(key.id()).await.unwrap().unwrap());
        for number in 0..=KEYS_REMEMBERED_MAX {
            let now = at(i64::try_from(number).unwrap() / 1000);
            let proved = Proved { row: row.clone(), proved_at: now, row_read_at: now };
            keys.ring.remembered().keep(KeyText::fresh().digest(), proved, 0, now);
        }
        assert_eq!(keys.ring.remembered().proved.len(), KEYS_REMEMBERED_MAX);
    }
}
