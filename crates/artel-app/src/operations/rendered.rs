//! Pages of the catalog as they were answered, so that the same question about the same catalog costs no second search.
//! Knows nothing of who asks: what somebody sees is named by the tag of their view.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use artel_catalog::shared::{Snapshot, View};
use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::error::OperationError;

/// Bytes of pages that are kept, their questions included.
const KEPT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of one page that is kept: a larger one would push out too many others.
const PAGE_BYTES_MAX: usize = KEPT_BYTES_MAX / 16;
/// Pages that are made at once; more would only take memory, as each keeps a core busy.
const MADE_AT_ONCE_MAX: usize = 4;

/// Pages of the catalog that is served, as long as it is.
pub struct Rendered {
    kept: Mutex<Kept>,
    making: Semaphore,
}

#[derive(Default)]
struct Kept {
    /// Whose pages they are. It holds no snapshot back, and as long as it is here no other one has its address.
    snapshot: Weak<Snapshot>,
    pages: BTreeMap<String, Bytes>,
    /// The questions, the oldest first.
    order: VecDeque<String>,
    bytes: usize,
}

impl Default for Rendered {
    fn default() -> Self {
        Self { kept: Mutex::default(), making: Semaphore::new(MADE_AT_ONCE_MAX) }
    }
}

impl Rendered {
    /// Returns the page that answers a question about what somebody sees, and makes it if it is not kept.
    pub async fn page(
        &self,
        (snapshot, view): (Arc<Snapshot>, Arc<View>),
        question: &str,
        make: impl FnOnce(&Snapshot, &View) -> Vec<u8> + Send + 'static,
    ) -> Result<Bytes, OperationError> {
        let key = [view.etag(), question].join("?");
        if let Some(page) = self.kept().of(&snapshot).pages.get(&key) {
            return Ok(page.clone());
        }
        let failed = || OperationError::internal("listing the skills failed");
        let turn = self.making.acquire().await.map_err(|_| failed())?;
        let asked = Arc::clone(&snapshot);
        // Searching many skills takes a while, and others are to be answered meanwhile.
        let made = tokio::task::spawn_blocking(move || make(&asked, &view));
        let page = Bytes::from(made.await.map_err(|_| failed())?);
        drop(turn);
        self.kept().of(&snapshot).keep(key, page.clone());
        Ok(page)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Forgets the pages of any other snapshot.
    fn of(&mut self, snapshot: &Arc<Snapshot>) -> &mut Self {
        if !std::ptr::eq(self.snapshot.as_ptr(), Arc::as_ptr(snapshot)) {
            *self = Self { snapshot: Arc::downgrade(snapshot), ..Self::default() };
        }
        self
    }

    fn keep(&mut self, key: String, page: Bytes) {
        let size = |key: &str, page: &Bytes| key.len() * 2 + page.len();
        if page.len() > PAGE_BYTES_MAX || self.pages.contains_key(&key) {
            return;
        }
        self.bytes += size(&key, &page);
        self.order.push_back(key.clone());
        self.pages.insert(key, page);
        while self.bytes > KEPT_BYTES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            if let Some(page) = self.pages.remove(&oldest) {
                self.bytes -= size(&oldest, &page);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use artel_catalog::shared::{Indexes, Judge, SnapshotDraft};
    use artel_model::access::Viewer;
    use artel_model::catalog::{Gate, Severity};
    use artel_model::time::Timestamp;

    use super::*;

    fn snapshot() -> Arc<Snapshot> {
        let judge = Judge::new(Gate::Off, Severity::High, BTreeMap::new(), Vec::new(), Vec::new());
        Arc::new(SnapshotDraft::new(0, Timestamp::from_millis(0), judge).finish(Indexes::new()))
    }

    async fn ask(rendered: &Rendered, snapshot: &Arc<Snapshot>, question: &str, bytes: usize) -> usize {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let before = MADE.load(Ordering::SeqCst);
        let viewer = Viewer { user: "ann".parse().unwrap(), teams: [].into() };
        let seen = (Arc::clone(snapshot), snapshot.view(&viewer));
        let make = move |_: &Snapshot, _: &View| {
            MADE.fetch_add(1, Ordering::SeqCst);
            vec![0; bytes]
        };
        assert_eq!(rendered.page(seen, question, make).await.unwrap().len(), bytes);
        MADE.load(Ordering::SeqCst) - before
    }

    #[tokio::test]
    async fn a_page_is_made_once_for_a_question_about_a_catalog() {
        let (rendered, first, second) = (Rendered::default(), snapshot(), snapshot());
        assert_eq!(ask(&rendered, &first, "page=1", 10).await, 1);
        assert_eq!(ask(&rendered, &first, "page=1", 10).await, 0);
        assert_eq!(ask(&rendered, &first, "page=2", 10).await, 1);
        assert_eq!(ask(&rendered, &second, "page=1", 10).await, 1, "another catalog has other pages");
        assert_eq!(ask(&rendered, &first, "page=1", 10).await, 1);

        // What is too large is not kept, and what does not fit pushes the oldest out.
        assert_eq!(ask(&rendered, &first, "huge", PAGE_BYTES_MAX + 1).await, 1);
        assert_eq!(ask(&rendered, &first, "huge", PAGE_BYTES_MAX + 1).await, 1);
        for number in 0..KEPT_BYTES_MAX / PAGE_BYTES_MAX {
            assert_eq!(ask(&rendered, &first, &number.to_string(), PAGE_BYTES_MAX).await, 1);
        }
        assert!(rendered.kept().bytes <= KEPT_BYTES_MAX);
        assert_eq!(ask(&rendered, &first, "15", PAGE_BYTES_MAX).await, 0);
        assert_eq!(ask(&rendered, &first, "page=1", 10).await, 1);
    }
}
