//! Proves API keys, and remembers which ones were proved, so that a key in use costs no slow hash.
//!
//! That a secret fits a hash stays true for ever, so a proof does not age: it is kept as long as the key is used, and as
//! long as its row has the same hash. A remembered key is only ever as good as its row. When it is revoked through this
//! process, it is forgotten at once. When another process revokes it, this one is not told; so a row that was read more
//! than a second ago is read again before it is believed. A key that is used all the time has its row read beside the
//! requests, before the second is over. Expiry is compared with the clock at every request.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use artel_model::access::{
    Credential, Principal, Scope, TeamId, UserId, Viewer, scopes_of_key, teams_of_key,
};
use artel_model::catalog::ApiKey;
use artel_model::limit::{KEY_REFRESH_MS, KEY_REMEMBERED_MS, KEY_REREAD_MS, KEYS_REMEMBERED_MAX};
use artel_model::time::Timestamp;
use artel_store::{KeyStore, PersonStore, StoreError};
use tokio::sync::OnceCell;

use super::key_text::KeyText;
use super::slow_hash::{Busy, Lane, SlowHash, verify};
use crate::error::OperationError;

/// How exactly the last use of a key is known.
const USE_KNOWN_TO_MS: i64 = 60_000;

/// Makes and proves API keys. Clones are the same.
#[derive(Clone)]
pub struct KeyRing {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn KeyStore>,
    /// Knows owners, when there is an identity provider.
    people: OnceLock<Owners>,
    slow: SlowHash,
    remembered: Mutex<Remembered>,
}

/// What an identity provider told of the owners of keys.
#[derive(Clone)]
pub struct Owners {
    pub people: Arc<dyn PersonStore>,
    /// The teams whose members are administrators.
    pub admin_teams: BTreeSet<TeamId>,
}

/// The digest of a whole key, so that a wrong secret finds nothing.
type KeyDigest = [u8; 32];
/// A proof that is under way, for all who wait for it.
type Flight = OnceCell<Result<Option<Known>, Busy>>;

#[derive(Default)]
struct Remembered {
    proved: HashMap<KeyDigest, Proved>,
    proving: HashMap<KeyDigest, Arc<Flight>>,
    /// How often keys were forgotten: a proof that began before must not be remembered after.
    forgotten: u64,
}

/// A key as it was last read.
#[derive(Clone, Debug)]
struct Known {
    row: Arc<ApiKey>,
    /// The teams it stands for.
    teams: Arc<BTreeSet<TeamId>>,
    /// What it may be used for.
    scopes: Arc<BTreeSet<Scope>>,
    read_at: Timestamp,
}

#[derive(Clone)]
struct Proved {
    known: Known,
    used_at: Timestamp,
    /// Held by the request that reads the row again; the others wait for it.
    reading: Arc<tokio::sync::Mutex<()>>,
}

/// Why it is not known whether a key is good.
#[derive(Debug)]
pub enum Unproved {
    /// Too many keys wait to be proved.
    Busy,
    /// The store does not answer.
    Store(StoreError),
}

/// When to come back if too many keys are waiting to be proved.
const BUSY_RETRY_SECONDS: u64 = 1;

impl From<Unproved> for OperationError {
    fn from(unproved: Unproved) -> Self {
        match unproved {
            Unproved::Busy => Busy.into(),
            Unproved::Store(error) => error.into(),
        }
    }
}

impl From<Busy> for OperationError {
    fn from(_: Busy) -> Self {
        Self::too_many(BUSY_RETRY_SECONDS)
    }
}

impl KeyRing {
    /// Makes and proves the keys of a store.
    pub fn new(store: Arc<dyn KeyStore>) -> Self {
        let shared =
            Shared { store, people: OnceLock::new(), slow: SlowHash::new(), remembered: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Takes the teams of owners into account from now on, as an identity provider told them. What was proved before is
    /// forgotten.
    pub fn know_owners(&self, owners: Owners) {
        if self.shared.people.set(owners).is_ok() {
            let mut remembered = self.remembered();
            if !remembered.proved.is_empty() || !remembered.proving.is_empty() {
                remembered.forgotten += 1;
                remembered.proved.clear();
            }
        }
    }

    /// Returns the slow hash of a key's secret, as it is kept.
    pub async fn hash(&self, key: &KeyText) -> Result<String, Busy> {
        self.shared.slow.hash(key.secret()).await
    }

    /// Takes the only turn of addresses that failed too often, so that a test sees who waits for it.
    #[doc(hidden)]
    pub async fn suspect_turn(&self) -> super::slow_hash::Turn {
        self.shared.slow.turn(Lane::Suspect).await.expect("no other test has it")
    }

    /// Forgets a key that was revoked.
    pub fn forget(&self, key_id: &str) {
        let mut remembered = self.remembered();
        remembered.forgotten += 1;
        remembered.proved.retain(|_, proved| proved.known.row.key_id != key_id);
    }

    /// Returns who presents a key that was proved before and is still good.
    pub async fn known(&self, key: &KeyText, now: Timestamp) -> Result<Option<Principal>, StoreError> {
        let digest = key.digest();
        let Some(proved) = self.recall(&digest, now) else { return Ok(None) };
        let age_ms = now.millis_since(proved.known.read_at);
        if age_ms < KEY_REFRESH_MS {
            return Ok(self.used(&digest, proved.known, now).await);
        }
        if age_ms < KEY_REREAD_MS {
            if let Ok(reading) = proved.reading.try_lock_owned() {
                let (ring, before) = (self.clone(), proved.known.clone());
                tokio::spawn(async move {
                    // The store may be away for a moment; a request finds out when the row is too old.
                    let _ = ring.reread(&digest, &before, now).await;
                    drop(reading);
                });
            }
            return Ok(self.used(&digest, proved.known, now).await);
        }
        let _reading = proved.reading.lock().await;
        let Some(Proved { known, .. }) = self.recall(&digest, now) else { return Ok(None) };
        let fresh = match now.millis_since(known.read_at) < KEY_REREAD_MS {
            true => Some(known),
            false => self.reread(&digest, &known, now).await?,
        };
        match fresh {
            Some(known) => Ok(self.used(&digest, known, now).await),
            None => Ok(None),
        }
    }

    /// Returns who presents a key, after the slow hash: one for all who present it at the same time. Whether there is
    /// such a key, whether its secret is right and whether it is good takes the same time to say.
    pub async fn prove(
        &self,
        key: &KeyText,
        lane: Lane,
        now: Timestamp,
    ) -> Result<Option<Principal>, Unproved> {
        let digest = key.digest();
        let flight = self.remembered().proving.entry(digest).or_default().clone();
        let joined = Joined { ring: self, digest, flight };
        let proved = joined.flight.get_or_try_init(|| self.proof(key, lane, now)).await;
        let known = proved.map_err(Unproved::Store)?.clone().map_err(|Busy| Unproved::Busy)?;
        drop(joined);
        match known {
            Some(known) => Ok(self.used(&digest, known, now).await),
            None => Ok(None),
        }
    }

    /// Returns whose key was refused and why, for the operator's log.
    pub async fn why_refused(&self, key: &KeyText, now: Timestamp) -> (Option<UserId>, &'static str) {
        let Ok(row) = self.shared.store.key(key.id()).await else {
            return (None, "the store does not answer");
        };
        let Some(row) = row else { return (None, "unknown key") };
        let why = match &row {
            row if row.revoked_at.is_some() => "revoked key",
            row if !row.is_good(now) => "expired key",
            _ => "wrong secret, or too many attempts",
        };
        (Some(row.owner_user_id), why)
    }

    async fn proof(
        &self,
        key: &KeyText,
        lane: Lane,
        now: Timestamp,
    ) -> Result<Result<Option<Known>, Busy>, StoreError> {
        let digest = key.digest();
        let Ok(turn) = self.shared.slow.turn(lane).await else { return Ok(Err(Busy)) };
        // Another proof may have ended between the look and the turn.
        if let Some(proved) = self.recall(&digest, now) {
            return Ok(Ok(Some(proved.known)));
        }
        let forgotten = self.remembered().forgotten;
        let mut row = self.shared.store.key(key.id()).await?;
        let fits = verify(turn, key.secret(), row.as_ref().map(|row| row.key_hash.as_str())).await;
        let forgotten_after = self.remembered().forgotten;
        if forgotten_after != forgotten {
            // It may be this key that was revoked meanwhile.
            row = self.shared.store.key(key.id()).await?;
        }
        let Some(row) = row.filter(|row| fits && row.is_good(now)) else { return Ok(Ok(None)) };
        let known = self.knowledge(row, now).await?;
        self.remembered().keep(digest, Proved::new(known.clone(), now), forgotten_after, now);
        Ok(Ok(Some(known)))
    }

    /// Adds to a row what is known of its owner.
    async fn knowledge(&self, row: ApiKey, now: Timestamp) -> Result<Known, StoreError> {
        let (teams, scopes) = match self.shared.people.get() {
            Some(Owners { people, admin_teams }) => {
                let owner = people.known_teams(&row.owner_user_id).await?;
                let teams = teams_of_key(&row.team_ids, owner.as_ref());
                (teams, scopes_of_key(&row.scopes, owner.as_ref(), admin_teams))
            }
            None => (row.team_ids.clone(), row.scopes.clone()),
        };
        Ok(Known { row: Arc::new(row), teams: Arc::new(teams), scopes: Arc::new(scopes), read_at: now })
    }

    fn recall(&self, digest: &KeyDigest, now: Timestamp) -> Option<Proved> {
        let mut remembered = self.remembered();
        let proved = remembered.proved.get_mut(digest)?;
        if now.millis_since(proved.used_at) >= KEY_REMEMBERED_MS {
            return None;
        }
        proved.used_at = proved.used_at.max(now);
        Some(proved.clone())
    }

    /// Reads a row again and remembers it, unless the key was forgotten meanwhile.
    async fn reread(
        &self,
        digest: &KeyDigest,
        before: &Known,
        now: Timestamp,
    ) -> Result<Option<Known>, StoreError> {
        let row = self.shared.store.key(&before.row.key_id).await?;
        let Some(row) = row.filter(|row| row.key_hash == before.row.key_hash) else {
            self.remembered().proved.remove(digest);
            return Ok(None);
        };
        let known = self.knowledge(row, now).await?;
        let mut remembered = self.remembered();
        let Some(kept) = remembered.proved.get_mut(digest) else { return Ok(None) };
        kept.known = known.clone();
        Ok(Some(known))
    }

    /// Returns whose key it is, if it is good, and writes down once a minute that it was used.
    async fn used(&self, digest: &KeyDigest, known: Known, now: Timestamp) -> Option<Principal> {
        let row = &known.row;
        if !row.is_good(now) {
            self.remembered().proved.remove(digest);
            return None;
        }
        let minute = Timestamp::from_millis(now.as_millis() / USE_KNOWN_TO_MS * USE_KNOWN_TO_MS);
        if row.last_used_at.is_none_or(|last| last < minute) {
            // Remembered first, so that of many requests at once only one writes.
            if let Some(kept) = self.remembered().proved.get_mut(digest) {
                Arc::make_mut(&mut kept.known.row).last_used_at = Some(minute);
            }
            if let Err(error) = self.shared.store.touch_key(&row.key_id, minute).await {
                // The caller is who they say; that the last use is not known is a smaller harm than to refuse them.
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, key = row.key_id, "cannot write down that a key was used");
            }
        }
        Some(known.principal())
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Remembered> {
        self.shared.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits for a proof. The last one to leave removes it, also when its caller goes away.
struct Joined<'a> {
    ring: &'a KeyRing,
    digest: KeyDigest,
    flight: Arc<Flight>,
}

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        let mut remembered = self.ring.remembered();
        let is_ours =
            remembered.proving.get(&self.digest).is_some_and(|kept| Arc::ptr_eq(kept, &self.flight));
        // The map has one, this has one.
        if is_ours && (self.flight.initialized() || Arc::strong_count(&self.flight) <= 2) {
            remembered.proving.remove(&self.digest);
        }
    }
}

impl Proved {
    fn new(known: Known, now: Timestamp) -> Self {
        Self { known, used_at: now, reading: Arc::default() }
    }
}

impl Remembered {
    fn keep(&mut self, digest: KeyDigest, proved: Proved, forgotten_before: u64, now: Timestamp) {
        if self.forgotten != forgotten_before {
            // It may be this key that was revoked meanwhile; the next request finds out.
            return;
        }
        if self.proved.len() >= KEYS_REMEMBERED_MAX {
            self.proved.retain(|_, proved| now.millis_since(proved.used_at) < KEY_REMEMBERED_MS);
        }
        if self.proved.len() >= KEYS_REMEMBERED_MAX {
            // Only keys that were proved are here, so wrong ones push out none.
            let idle = self.proved.iter().min_by_key(|(digest, proved)| (proved.used_at, **digest));
            if let Some(idle) = idle.map(|(digest, _)| *digest) {
                self.proved.remove(&idle);
            }
        }
        self.proved.insert(digest, proved);
    }
}

impl Known {
    fn principal(&self) -> Principal {
        Principal {
            viewer: Viewer { user: self.row.owner_user_id.clone(), teams: (*self.teams).clone() },
            scopes: (*self.scopes).clone(),
            credential: Credential::ApiKey(self.row.key_id.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
