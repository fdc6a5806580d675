//! Requests that may be repeated: the same key with the same body is the same request, and is answered alike.
//!
//! Runs keep their key in the store. What has no key there is remembered in this process only.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use artel_model::access::Principal;
use artel_model::limit::{IDEMPOTENCY_KEY_CHARS_MAX, REMEMBERED_ANSWERS_MAX};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::error::OperationError;

/// The key of a request, as its sender chose it.
#[derive(Clone, Debug)]
pub struct IdempotencyKey(Option<String>);

impl IdempotencyKey {
    /// Reads a key as its sender chose it.
    pub fn read(text: &str) -> Result<Self, OperationError> {
        let text = text.trim();
        let is_key = (1..=IDEMPOTENCY_KEY_CHARS_MAX).contains(&text.len())
            && text.chars().all(|char| char.is_ascii_graphic() || char == ' ');
        match is_key {
            true => Ok(Self(Some(text.to_owned()))),
            false => Err(OperationError::bad_request(
                "invalid_idempotency_key",
                format!("an Idempotency-Key has 1 to {IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters"),
            )),
        }
    }

    /// Returns the key of a request that is not repeated.
    pub fn none() -> Self {
        Self(None)
    }

    /// Returns the key as it is kept: two callers never share a key.
    pub fn scoped(&self, caller: &Principal) -> Option<String> {
        let key = self.0.as_ref()?;
        Some(format!("http-{}", digest(&[caller.viewer.user.as_str(), key])))
    }
}

/// The key was used for something else.
pub(crate) fn conflict() -> OperationError {
    let message = "this Idempotency-Key was used before, with another request; use another key";
    OperationError::conflict("idempotency_conflict", message)
}

/// What was answered to requests with a key.
#[derive(Default)]
pub struct Remembered {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    answers: BTreeMap<String, Arc<Entry>>,
    /// The keys, the oldest first.
    order: VecDeque<String>,
}

struct Entry {
    fingerprint: String,
    /// A caller who repeats a request while it is being answered waits for the answer.
    answer: OnceCell<Value>,
}

impl Remembered {
    /// Does the work of a request once for all requests with its key. What failed may be tried again.
    pub async fn once<T: Serialize>(
        &self,
        key: Option<String>,
        asked: &impl Serialize,
        work: impl Future<Output = Result<T, OperationError>>,
    ) -> Result<Value, OperationError> {
        let work = async { work.await.map(|answer| serde_json::to_value(answer).unwrap_or_default()) };
        let Some(key) = key else { return work.await };
        let fingerprint = digest(&[&serde_json::to_string(asked).unwrap_or_default()]);
        let entry = self.entry(key, &fingerprint);
        if entry.fingerprint != fingerprint {
            return Err(conflict());
        }
        entry.answer.get_or_try_init(|| work).await.cloned()
    }

    fn entry(&self, key: String, fingerprint: &str) -> Arc<Entry> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = table.answers.get(&key) {
            return entry.clone();
        }
        if table.order.len() >= REMEMBERED_ANSWERS_MAX
            && let Some(oldest) = table.order.pop_front()
        {
            table.answers.remove(&oldest);
        }
        let entry = Arc::new(Entry { fingerprint: fingerprint.to_owned(), answer: OnceCell::new() });
        table.order.push_back(key.clone());
        table.answers.insert(key, entry.clone());
        entry
    }
}

/// Returns a hash of texts that no other texts have.
fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_key_is_for_one_request_and_its_work_is_done_once() {
        let (remembered, done) = (Remembered::default(), Cell::new(0));
        let ask = |key: Option<&str>, body: Value| {
            let (remembered, done, key) = (&remembered, &done, key.map(str::to_owned));
            async move {
                let work = async {
                    done.set(done.get() + 1);
                    Ok(done.get())
                };
                remembered.once(key, &body, work).await
            }
        };
        assert_eq!(ask(Some("a"), json!({"x": 1})).await.unwrap(), 1);
        assert_eq!(ask(Some("a"), json!({"x": 1})).await.unwrap(), 1);
        assert_eq!(ask(Some("a"), json!({"x": 2})).await.unwrap_err().code, "idempotency_conflict");
        assert_eq!(ask(Some("b"), json!({"x": 1})).await.unwrap(), 2);
        assert_eq!(ask(None, json!({"x": 1})).await.unwrap(), 3);
    }

    #[tokio::test]
    async fn what_failed_may_be_tried_again() {
        let remembered = Remembered::default();
        let failing = async { Err::<u8, _>(OperationError::not_found("thing")) };
        assert!(remembered.once(Some("a".to_owned()), &1, failing).await.is_err());
        assert_eq!(remembered.once(Some("a".to_owned()), &1, async { Ok(7) }).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn the_oldest_are_forgotten() {
        let remembered = Remembered::default();
        for number in 0..=REMEMBERED_ANSWERS_MAX {
            remembered.once(Some(number.to_string()), &1, async { Ok(1) }).await.unwrap();
        }
        assert_eq!(remembered.once(Some("0".to_owned()), &2, async { Ok(2) }).await.unwrap(), 2);
        assert!(remembered.once(Some("2".to_owned()), &2, async { Ok(2) }).await.is_err());
    }
}
