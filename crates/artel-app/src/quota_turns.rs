//! Who counts and takes: what one user has is counted and taken by one request at a time, so that no two requests together
//! go over a quota. Another node takes turns of its own, so that with several nodes a user may get one more on each of
//! them at the same moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use artel_model::access::{Principal, UserId};
use artel_model::limit::QUOTA_TURNS_MAX;
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

/// Whose turn it is to take more of something.
#[derive(Default)]
pub struct QuotaTurns {
    queues: Mutex<HashMap<UserId, Arc<Queue<()>>>>,
}

/// The right to count and to take, until it is dropped.
pub struct QuotaTurn {
    _turn: OwnedMutexGuard<()>,
}

impl QuotaTurns {
    /// Waits for the turn of a caller; nothing for an administrator, who is not counted.
    pub async fn turn(&self, caller: &Principal) -> Option<QuotaTurn> {
        if caller.is_admin() {
            return None;
        }
        let queue = {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            if queues.len() >= QUOTA_TURNS_MAX {
                queues.retain(|_, queue| Arc::strong_count(queue) > 1);
            }
            queues.entry(caller.viewer.user.clone()).or_default().clone()
        };
        Some(QuotaTurn { _turn: queue.lock_owned().await })
    }
}
