//! How often somebody may ask: a bucket of tokens for every caller, in bounded memory. Knows nothing of HTTP.
//!
//! A bucket is one number, the moment at which it is full again (the generic cell rate algorithm): taking a token moves
//! it on, and it may not be further away than a full bucket takes to fill.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use artel_model::access::UserId;
use artel_model::limit::RATE_BUCKETS_MAX;
use artel_model::time::Timestamp;

use crate::config::ServerConfig;

/// How long to let buckets be when there are too many: looking through all of them takes a while.
const SWEEP_EVERY_MICROS: u64 = 1_000_000;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// Somebody asks too often.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TooMany {
    /// When it is worth while to ask again.
    pub(crate) retry_after_seconds: u64,
}

/// Whose requests are counted together.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Asker {
    /// A user, with whatever credential: more keys give no more requests.
    User(UserId),
    /// Whoever is at an address and has not said who they are.
    Address(IpAddr),
}

/// All limits on how often somebody may ask.
pub(crate) struct Limits {
    /// Requests.
    pub(crate) requests: Buckets<Asker>,
    /// Attempts to get in that failed.
    pub(crate) refusals: Buckets<IpAddr>,
}

impl Limits {
    /// Makes the limits that the configuration says.
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self {
            requests: Buckets::new(config.requests_per_second, 1, config.request_burst),
            refusals: Buckets::new(config.refused_per_minute, 60, config.refused_per_minute),
        }
    }
}

/// A bucket for each of many askers.
pub(crate) struct Buckets<K> {
    /// How long one token takes to come back.
    interval_micros: u64,
    /// How long an empty bucket takes to be full.
    full_micros: u64,
    held: Mutex<Held<K>>,
}

struct Held<K> {
    full_at: HashMap<K, u64>,
    /// Shared by those for whom there is no room.
    others_full_at: u64,
    swept_at: u64,
}

impl<K: Clone + Eq + Hash> Buckets<K> {
    /// Makes buckets that fill with `tokens` in `seconds` and hold `burst`.
    pub(crate) fn new(tokens: u32, seconds: u64, burst: u32) -> Self {
        let interval_micros = seconds * MICROS_PER_SECOND / u64::from(tokens.max(1));
        Self {
            interval_micros,
            full_micros: interval_micros * u64::from(burst.max(1)),
            held: Mutex::new(Held { full_at: HashMap::new(), others_full_at: 0, swept_at: 0 }),
        }
    }

    /// Takes a token out of somebody's bucket.
    pub(crate) fn take(&self, asker: &K, now: Timestamp) -> Result<(), TooMany> {
        self.change(asker, now, |full_at, now| {
            let after = full_at.max(now) + self.interval_micros;
            self.within(after, now).map(|()| after)
        })
    }

    /// Puts a token back.
    pub(crate) fn give_back(&self, asker: &K, now: Timestamp) {
        let _ = self.change(asker, now, |full_at, _| Ok(full_at.saturating_sub(self.interval_micros)));
    }

    fn within(&self, full_at: u64, now: u64) -> Result<(), TooMany> {
        if self.interval_micros == 0 {
            // More than a million a second is no limit, and clocks of two threads may differ by more than that.
            return Ok(());
        }
        let too_far = (full_at - now).saturating_sub(self.full_micros);
        if too_far == 0 {
            return Ok(());
        }
        Err(TooMany { retry_after_seconds: too_far.div_ceil(MICROS_PER_SECOND) })
    }

    fn change(
        &self,
        asker: &K,
        now: Timestamp,
        change: impl FnOnce(u64, u64) -> Result<u64, TooMany>,
    ) -> Result<(), TooMany> {
        let now = micros(now);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full_at) = held.full_at.get_mut(asker) {
            *full_at = change(*full_at, now)?;
            return Ok(());
        }
        held.make_room(now);
        if held.full_at.len() >= RATE_BUCKETS_MAX {
            held.others_full_at = change(held.others_full_at, now)?;
            return Ok(());
        }
        let full_at = change(0, now)?;
        held.full_at.insert(asker.clone(), full_at);
        Ok(())
    }
}

impl<K> Held<K> {
    /// Forgets full buckets: they are as good as none.
    fn make_room(&mut self, now: u64) {
        if self.full_at.len() >= RATE_BUCKETS_MAX && now >= self.swept_at + SWEEP_EVERY_MICROS {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.swept_at = now;
        }
    }
}

fn micros(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0).saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + millis)
    }

    #[test]
    fn a_burst_is_let_through_and_then_the_average() {
        let buckets = Buckets::new(2, 1, 3);
        let taken: Vec<bool> = (0..5).map(|_| buckets.take(&"a", at(0)).is_ok()).collect();
        assert_eq!(taken, [true, true, true, false, false]);
        assert_eq!(buckets.take(&"a", at(499)), Err(TooMany { retry_after_seconds: 1 }));
        assert!(buckets.take(&"a", at(500)).is_ok());
        assert!(buckets.take(&"a", at(500)).is_err());
        assert!(buckets.take(&"b", at(500)).is_ok(), "others have their own");
    }

    #[test]
    fn millions_a_second_are_no_limit() {
        let buckets = Buckets::new(2_000_000, 1, u32::MAX);
        assert!(buckets.take(&"a", at(5)).is_ok());
        assert!(buckets.take(&"a", at(4)).is_ok(), "somebody looked at the clock before");
    }

    #[test]
    fn a_token_can_be_put_back() {
        let buckets = Buckets::new(1, 60, 1);
        assert!(buckets.take(&"a", at(0)).is_ok());
        assert_eq!(buckets.take(&"a", at(0)), Err(TooMany { retry_after_seconds: 60 }));
        buckets.give_back(&"a", at(0));
        assert!(buckets.take(&"a", at(0)).is_ok());
    }

    #[test]
    fn memory_is_bounded_and_whoever_has_no_room_shares() {
        let buckets = Buckets::new(1, 1, 1);
        for asker in 0..RATE_BUCKETS_MAX {
            assert!(buckets.take(&asker, at(0)).is_ok());
        }
        assert!(buckets.take(&RATE_BUCKETS_MAX, at(1)).is_ok());
        assert!(buckets.take(&(RATE_BUCKETS_MAX + 1), at(1)).is_err(), "the shared bucket is empty");
        let room = || buckets.held.lock().unwrap().full_at.len();
        assert_eq!(room(), RATE_BUCKETS_MAX);
        assert!(buckets.take(&(RATE_BUCKETS_MAX + 1), at(5000)).is_ok());
        assert_eq!(room(), 1, "full buckets are forgotten");
    }
}
