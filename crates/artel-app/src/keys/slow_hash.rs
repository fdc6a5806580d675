//! The slow hash of secrets (argon2id), a few at a time: each costs memory on purpose, so that whoever gets at the
//! hashes cannot try many, and a caller who sends many wrong keys must not get all of ours. There are three queues, none of which
//! can hold up another: secrets that were never seen, secrets from addresses that failed too often, and secrets of keys
//! that are being made.

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use artel_model::limit::{
    KEY_CHECK_WAIT_MS, KEY_CHECKS_AT_ONCE_MAX, KEY_CHECKS_SUSPECT_WAITING_MAX, KEY_CHECKS_WAITING_MAX,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::random::random_bytes;

/// What a secret is compared with when there is no such key, so that the answer takes as long. It is the hash of nothing
/// that anybody has.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5bm9ib2R5bm9ibw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// Bytes of what is mixed into every hash.
const SALT_BYTES: usize = 16;

/// There is too much to do; whoever asks may come back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Busy;

/// The right to hash one secret.
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

/// Where a secret waits to be hashed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lane {
    /// It was never seen, or not for a while.
    Usual,
    /// It comes from an address that failed too often.
    Suspect,
    /// Its key is being made.
    Making,
}

/// Secrets that wait to be hashed.
struct Queue {
    at_once: Arc<Semaphore>,
    waiting: Semaphore,
}

impl Queue {
    fn new(at_once: usize, waiting: usize) -> Self {
        Self { at_once: Arc::new(Semaphore::new(at_once)), waiting: Semaphore::new(waiting) }
    }
}

/// Hashes secrets, a few at a time.
pub(super) struct SlowHash {
    usual: Queue,
    suspect: Queue,
    making: Queue,
}

impl SlowHash {
    pub(super) fn new() -> Self {
        Self {
            usual: Queue::new(KEY_CHECKS_AT_ONCE_MAX, KEY_CHECKS_WAITING_MAX),
            suspect: Queue::new(1, KEY_CHECKS_SUSPECT_WAITING_MAX),
            making: Queue::new(1, KEY_CHECKS_WAITING_MAX),
        }
    }

    /// Waits for the right to hash one secret.
    pub(super) async fn turn(&self, lane: Lane) -> Result<Turn, Busy> {
        let queue = match lane {
            Lane::Usual => &self.usual,
            Lane::Suspect => &self.suspect,
            Lane::Making => &self.making,
        };
        let _waiting = queue.waiting.try_acquire().map_err(|_| Busy)?;
        let turn = queue.at_once.clone().acquire_owned();
        let turn = tokio::time::timeout(Duration::from_millis(KEY_CHECK_WAIT_MS), turn).await;
        let permit = turn.map_err(|_| Busy)?.expect("the semaphore is never closed");
        Ok(Turn { _permit: permit })
    }

    /// Returns the hash of a secret, as it is kept.
    pub(super) async fn hash(&self, secret: &str) -> Result<String, Busy> {
        let turn = self.turn(Lane::Making).await?;
        let secret = secret.to_owned();
        let hash = blocking(turn, move || {
            let salt: [u8; SALT_BYTES] = random_bytes();
            let hash = Argon2::default().hash_password_with_salt(secret.as_bytes(), &salt);
            hash.expect("a secret and a salt of these lengths can be hashed").to_string()
        });
        Ok(hash.await)
    }
}

/// Says whether a secret has that hash; without a hash it says no after the same time.
pub(super) async fn verify(turn: Turn, secret: &str, hash: Option<&str>) -> bool {
    let secret = secret.to_owned();
    let is_known = hash.is_some();
    let hash = hash.unwrap_or(NOBODYS).to_owned();
    let fits = blocking(turn, move || {
        let hash = PasswordHash::new(&hash).ok();
        hash.is_some_and(|hash| Argon2::default().verify_password(secret.as_bytes(), &hash).is_ok())
    });
    fits.await && is_known
}

/// The turn ends with the work, also when nobody waits for it any more.
async fn blocking<T: Send + 'static>(turn: Turn, work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = tokio::task::spawn_blocking(move || {
        let result = work();
        drop(turn);
        result
    });
    done.await.expect("hashing does not panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_secret_has_its_hash_and_no_other() {
        let slow = SlowHash::new();
        let (hash, again) = (slow.hash("secret").await.unwrap(), slow.hash("secret").await.unwrap());
        assert_ne!(hash, again, "salted");
        assert!(!hash.contains("secret"));
        let verify = async |secret: &str, hash: Option<&str>| {
            super::verify(slow.turn(Lane::Usual).await.unwrap(), secret, hash).await
        };
        assert!(verify("secret", Some(&hash)).await && verify("secret", Some(&again)).await);
        assert!(!verify("Secret", Some(&hash)).await);
        assert!(!verify("secret", None).await);
        assert!(!verify("secret", Some("no hash")).await);
    }

    #[tokio::test]
    async fn nobodys_hash_costs_as_much_as_anybodys() {
        let hash = SlowHash::new().hash("secret").await.unwrap();
        let cost = |hash: &str| hash.rsplitn(3, '$').last().unwrap().to_owned();
        assert_eq!(cost(&hash), cost(NOBODYS));
        assert!(PasswordHash::new(NOBODYS).is_ok());
        let lengths = |hash: &str| hash.split('$').map(str::len).collect::<Vec<_>>();
        assert_eq!(lengths(&hash), lengths(NOBODYS));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_or_behind_too_many_is_told() {
        let slow = Arc::new(SlowHash::new());
        let turns = [slow.turn(Lane::Usual).await.unwrap(), slow.turn(Lane::Usual).await.unwrap()];
        assert_eq!(slow.turn(Lane::Usual).await.err(), Some(Busy), "no turn is given back in time");
        let queue: Vec<_> = (0..KEY_CHECKS_WAITING_MAX)
            .map(|_| {
                let slow = slow.clone();
                tokio::spawn(async move { slow.turn(Lane::Usual).await.map(drop) })
            })
            .collect();
        while slow.usual.waiting.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(slow.turn(Lane::Usual).await.err(), Some(Busy), "the queue is full");
        assert!(slow.turn(Lane::Suspect).await.is_ok() && slow.turn(Lane::Making).await.is_ok());
        drop(turns);
        for one in queue {
            assert_eq!(one.await.unwrap(), Ok(()));
        }
    }
}
