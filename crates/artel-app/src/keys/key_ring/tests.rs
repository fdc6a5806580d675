//! Keys that are proved, remembered, refreshed, revoked and forgotten.

use artel_model::access::{KnownTeams, Scope};
use artel_model::limit::{KEY_CHECKS_AT_ONCE_MAX, KEY_CHECKS_WAITING_MAX};
use artel_store::MemoryStore;

use super::*;
use crate::keys::slow_hash::Turn;

struct Keys {
    store: Arc<MemoryStore>,
    ring: KeyRing,
}

/// What the identity provider told; `bosses` are the administrators.
fn owners(store: &Arc<MemoryStore>) -> Owners {
    Owners { people: store.clone(), admin_teams: ["bosses".parse().unwrap()].into() }
}

impl Keys {
    fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let ring = KeyRing::new(store.clone());
        ring.know_owners(owners(&store));
        Self { ring, store }
    }

    /// Another process on the same store.
    fn elsewhere(&self) -> KeyRing {
        let ring = KeyRing::new(self.store.clone());
        ring.know_owners(owners(&self.store));
        ring
    }

    async fn make(&self, expires_at: Option<Timestamp>) -> KeyText {
        self.make_for(expires_at, &[Scope::RunsWrite]).await
    }

    async fn make_for(&self, expires_at: Option<Timestamp>, scopes: &[Scope]) -> KeyText {
        let key = KeyText::fresh();
        let row = ApiKey {
            key_id: key.id().to_owned(),
            key_hash: self.ring.hash(&key).await.unwrap(),
            label: String::new(),
            owner_user_id: "ann".parse().unwrap(),
            team_ids: ["blue".parse().unwrap(), "red".parse().unwrap()].into(),
            scopes: scopes.iter().copied().collect(),
            created_at: at(0),
            expires_at,
            revoked_at: None,
            last_used_at: None,
        };
        assert!(self.store.create_key(&row, 10).await.unwrap());
        key
    }

    async fn prove(&self, key: &KeyText, now: Timestamp) -> Option<Principal> {
        self.ring.prove(key, Lane::Usual, now).await.unwrap()
    }

    async fn known(&self, key: &KeyText, now: Timestamp) -> bool {
        self.ring.known(key, now).await.unwrap().is_some()
    }

    /// Takes every turn of the usual lane, so that a key which needs the slow hash has to wait.
    async fn all_turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        for _ in 0..KEY_CHECKS_AT_ONCE_MAX {
            turns.push(self.ring.shared.slow.turn(Lane::Usual).await.unwrap());
        }
        turns
    }

    async fn row(&self, key: &KeyText) -> ApiKey {
        self.store.key(key.id()).await.unwrap().unwrap()
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_040_000 + millis)
}

fn millis(limit: u64) -> i64 {
    i64::try_from(limit).unwrap()
}

#[tokio::test]
async fn a_proved_key_is_its_owners_and_is_known_while_it_is_used() {
    let keys = Keys::new();
    let key = keys.make(None).await;
    assert!(!keys.known(&key, at(0)).await);
    let principal = keys.prove(&key, at(0)).await.unwrap();
    assert_eq!(principal.viewer.user.as_str(), "ann");
    assert_eq!(principal.viewer.teams.len(), 2);
    assert_eq!(principal.scopes, [Scope::RunsWrite].into());
    assert_eq!(principal.credential, Credential::ApiKey(key.id().to_owned()));
    let pause = millis(KEY_REMEMBERED_MS) - 1;
    for number in 1..20 {
        assert!(keys.known(&key, at(number * pause)).await, "a key in use is never forgotten");
    }
    assert!(!keys.known(&key, at(20 * pause + 1)).await, "one that is not used is");
}

#[tokio::test]
async fn a_hot_key_never_waits_for_the_slow_hash() {
    let keys = Keys::new();
    let key = keys.make(None).await;
    assert!(keys.prove(&key, at(0)).await.is_some());
    let turns = keys.all_turns().await;
    for minute in 0..24 * 60 {
        assert!(keys.known(&key, at(minute * 60_000)).await, "minute {minute}");
    }
    drop(turns);
}

#[tokio::test]
async fn one_slow_hash_is_enough_for_all_who_wait_for_it() {
    let keys = Arc::new(Keys::new());
    let key = Arc::new(keys.make(None).await);
    let turns = keys.all_turns().await;
    // More than may wait, so each with a hash of its own would be refused.
    let waiting: Vec<_> = (0..KEY_CHECKS_WAITING_MAX * 2)
        .map(|_| {
            let (keys, key) = (keys.clone(), key.clone());
            tokio::spawn(async move { keys.prove(&key, at(0)).await.is_some() })
        })
        .collect();
    while Arc::strong_count(&key) <= KEY_CHECKS_WAITING_MAX * 2 {
        tokio::task::yield_now().await;
    }
    drop(turns);
    for one in waiting {
        assert!(one.await.unwrap());
    }
    assert!(keys.ring.remembered().proving.is_empty(), "what is proved is not waited for any more");
}

#[tokio::test]
async fn who_goes_away_leaves_nothing_behind() {
    let keys = Keys::new();
    let turns = keys.all_turns().await;
    let key = KeyText::fresh();
    let waiting = tokio::time::timeout(std::time::Duration::ZERO, keys.prove(&key, at(0))).await;
    assert!(waiting.is_err() && keys.ring.remembered().proving.is_empty());
    drop(turns);
}

#[tokio::test]
async fn a_row_is_read_beside_the_requests_before_it_is_too_old() {
    let keys = Keys::new();
    let key = keys.make(None).await;
    assert!(keys.prove(&key, at(0)).await.is_some());
    let digest = key.digest();
    let read_at = || keys.ring.remembered().proved[&digest].known.read_at;
    assert!(keys.known(&key, at(millis(KEY_REFRESH_MS))).await);
    while read_at() == at(0) {
        tokio::task::yield_now().await;
    }
    assert_eq!(read_at(), at(millis(KEY_REFRESH_MS)));
    keys.store.revoke_key(key.id(), at(millis(KEY_REFRESH_MS) + 1)).await.unwrap();
    assert!(!keys.known(&key, at(millis(KEY_REFRESH_MS + KEY_REREAD_MS))).await, "a second is the most");
}

#[tokio::test]
async fn a_key_stands_for_no_team_that_its_owner_has_left() {
    let keys = Keys::new();
    let key = keys.make(None).await;
    let teams = |principal: Principal| -> Vec<String> {
        principal.viewer.teams.iter().map(ToString::to_string).collect()
    };
    assert_eq!(teams(keys.prove(&key, at(0)).await.unwrap()), ["blue", "red"], "no provider knows her");
    let known = |names: &[&str], moment: i64| KnownTeams {
        teams: names.iter().map(|name| name.parse().unwrap()).collect(),
        at: at(moment),
    };
    let ann = "ann".parse().unwrap();
    keys.store.remember_teams(&ann, &known(&["red", "green"], 1)).await.unwrap();
    let later = keys.ring.known(&key, at(1000)).await.unwrap().unwrap();
    assert_eq!(teams(later), ["red"], "not those she has left, nor those the key was not made for");
    keys.store.remember_teams(&ann, &known(&[], 2)).await.unwrap();
    assert_eq!(teams(keys.elsewhere().prove(&key, Lane::Usual, at(1001)).await.unwrap().unwrap()), [""; 0]);
    let unaware = KeyRing::new(keys.store.clone());
    let found = unaware.prove(&key, Lane::Usual, at(1001)).await.unwrap().unwrap();
    assert_eq!(teams(found), ["blue", "red"], "without a provider the key decides");
}

#[tokio::test]
async fn a_key_loses_admin_when_its_owner_leaves_the_administrators() {
    let keys = Keys::new();
    let key = keys.make_for(None, &[Scope::Admin, Scope::RunsWrite]).await;
    assert!(keys.prove(&key, at(0)).await.unwrap().is_admin(), "no provider knows her");
    let known = |names: &[&str], moment: i64| KnownTeams {
        teams: names.iter().map(|name| name.parse().unwrap()).collect(),
        at: at(moment),
    };
    let ann = "ann".parse().unwrap();
    keys.store.remember_teams(&ann, &known(&["bosses"], 1)).await.unwrap();
    assert!(keys.ring.known(&key, at(1000)).await.unwrap().unwrap().is_admin());
    keys.store.remember_teams(&ann, &known(&["blue"], 2)).await.unwrap();
    let later = keys.ring.known(&key, at(2000)).await.unwrap().unwrap();
    assert_eq!(later.scopes, [Scope::RunsWrite].into(), "within a second, without another proof");
    let elsewhere = keys.elsewhere().prove(&key, Lane::Usual, at(2001)).await.unwrap().unwrap();
    assert!(!elsewhere.is_admin());
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
    assert_eq!(keys.ring.remembered().proved.len(), 1, "what proves nothing is not remembered");
}

#[tokio::test]
async fn a_revoked_key_is_forgotten_here_at_once_and_elsewhere_within_a_second() {
    let keys = Keys::new();
    let key = keys.make(None).await;
    let elsewhere = keys.elsewhere();
    assert!(keys.prove(&key, at(0)).await.is_some());
    assert!(elsewhere.prove(&key, Lane::Usual, at(0)).await.unwrap().is_some());
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
    let known = keys.ring.knowledge(keys.row(&key).await, at(0)).await.unwrap();
    let before = keys.ring.remembered().forgotten;
    keys.ring.forget(key.id());
    keys.ring.remembered().keep(key.digest(), Proved::new(known, at(0)), before, at(0));
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
    let last_used = async || keys.row(&key).await.last_used_at;
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
async fn memory_is_bounded_and_what_is_used_stays() {
    let keys = Keys::new();
    let key = keys.make(None).await;
    let row = keys.row(&key).await;
    assert!(keys.prove(&key, at(0)).await.is_some());
    for number in 0..=KEYS_REMEMBERED_MAX {
        let now = at(i64::try_from(number).unwrap() / 1000);
        assert!(keys.known(&key, now).await);
        let known =
            Known { row: Arc::new(row.clone()), teams: Arc::default(), scopes: Arc::default(), read_at: now };
        keys.ring.remembered().keep(KeyText::fresh().digest(), Proved::new(known, now), 0, now);
    }
    assert_eq!(keys.ring.remembered().proved.len(), KEYS_REMEMBERED_MAX);
    assert!(keys.known(&key, at(11)).await);
}
