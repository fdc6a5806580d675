//! Which request something belongs to. The ids of a process are a hash of a count with a key that is drawn at its start, so
//! that a request costs no call of the system, and no caller learns from two ids how many requests of others came between.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use artel_app::random_bytes;
use artel_model::time::Timestamp;
use axum::http::HeaderValue;
use uuid::{Builder, fmt::Hyphenated};

/// Bytes of an id after its time.
const TAIL_BYTES: usize = 10;
/// Bytes at its end that are hashed from the count.
const HASH_BYTES: usize = 8;

/// Which request something belongs to.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// Returns it as it is written.
    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// Returns it as a header has it.
    pub(crate) fn to_header(&self) -> HeaderValue {
        self.0.clone()
    }
}

/// Gives every request of this process an id of its own: a UUID of version 7, sorted by time.
pub(crate) struct RequestIds {
    first: [u8; TAIL_BYTES],
    key: RandomState,
    given: AtomicU64,
}

impl RequestIds {
    /// Begins with a random id.
    pub(crate) fn new() -> Self {
        Self { first: random_bytes(), key: RandomState::new(), given: AtomicU64::new(0) }
    }

    /// Returns the next id.
    pub(crate) fn next(&self, now: Timestamp) -> RequestId {
        let count = self.given.fetch_add(1, Ordering::Relaxed);
        let mut tail = self.first;
        tail[TAIL_BYTES - HASH_BYTES..].copy_from_slice(&self.key.hash_one(count).to_be_bytes());
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        let id = Builder::from_unix_timestamp_millis(millis, &tail).into_uuid();
        let mut text = [0; Hyphenated::LENGTH];
        let text = id.hyphenated().encode_lower(&mut text);
        RequestId(HeaderValue::from_str(text).expect("digits and hyphens are a header"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use uuid::Uuid;

    use super::*;

    #[test]
    fn ids_are_of_version_7_and_never_the_same() {
        let (here, there) = (RequestIds::new(), RequestIds::new());
        let now = Timestamp::from_millis(1_700_000_000_000);
        let ids: BTreeSet<String> = (0..1000)
            .flat_map(|_| [here.next(now), there.next(now)])
            .map(|id| id.as_str().to_owned())
            .collect();
        assert_eq!(ids.len(), 2000);
        for id in ids {
            let id: Uuid = id.parse().unwrap();
            assert_eq!(id.get_version_num(), 7);
            assert_eq!(id.get_timestamp().unwrap().to_unix().0, 1_700_000_000);
        }
    }

    #[test]
    fn two_ids_do_not_tell_how_many_came_between() {
        let (ids, now) = (RequestIds::new(), Timestamp::from_millis(1_700_000_000_000));
        let tail =
            |id: &RequestId| id.as_str().parse::<Uuid>().unwrap().as_u128() & u128::from(u64::MAX >> 2);
        let tails: Vec<u128> = (0..100).map(|_| tail(&ids.next(now))).collect();
        let steps: BTreeSet<u128> = tails.windows(2).map(|two| two[1].wrapping_sub(two[0])).collect();
        assert!(steps.len() > 90, "{steps:?}");
    }
}
