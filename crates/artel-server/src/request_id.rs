//! Which request something belongs to. The ids of a process count on from a random one, so that a request costs no call of
//! the system; they say nothing secret and need not be hard to guess.

use std::sync::atomic::{AtomicU64, Ordering};

use artel_model::time::Timestamp;
use axum::http::HeaderValue;
use uuid::{Builder, fmt::Hyphenated};

use crate::auth::random_bytes;

/// Bytes of an id after its time.
const TAIL_BYTES: usize = 10;
/// Bytes at its end that count.
const COUNT_BYTES: usize = 6;

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
    given: AtomicU64,
}

impl RequestIds {
    /// Begins with a random id.
    pub(crate) fn new() -> Self {
        let first: [u8; TAIL_BYTES] = random_bytes();
        let mut count = [0; 8];
        count[8 - COUNT_BYTES..].copy_from_slice(&first[TAIL_BYTES - COUNT_BYTES..]);
        Self { first, given: AtomicU64::new(u64::from_be_bytes(count)) }
    }

    /// Returns the next id.
    pub(crate) fn next(&self, now: Timestamp) -> RequestId {
        let count = self.given.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut tail = self.first;
        tail[TAIL_BYTES - COUNT_BYTES..].copy_from_slice(&count[8 - COUNT_BYTES..]);
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
}
