//! Looks for what other processes wrote about the runs that are driven here. Tells drivers to look, and nothing more.

use std::sync::{PoisonError, Weak};
use std::time::Duration;

use artel_store::{PageRequest, RunFilter, StoreError};

use crate::engine::{Driven, RUNS_PAGE, Shared};

/// Looks for what other processes wrote, as long as the engine is there.
pub(crate) async fn look_around(shared: Weak<Shared>) {
    let mut seen = None;
    let mut is_away = false;
    loop {
        let Some(shared) = shared.upgrade() else { return };
        let poll = Duration::from_millis(shared.config.poll_ms);
        let has_drivers = !shared.drivers.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        if has_drivers {
            match shared.look(&mut seen).await {
                Ok(()) => is_away = false,
                // Once is enough. What was written meanwhile is found when the store is back.
                Err(_) if is_away => {}
                Err(error) => {
                    is_away = true;
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "what others tell runs is not heard"
                    );
                }
            }
        }
        drop(shared);
        tokio::time::sleep(poll).await;
    }
}

impl Shared {
    /// Looks whether anything was written since the version that was seen.
    async fn look(&self, seen: &mut Option<u64>) -> Result<(), StoreError> {
        let version = self.context.store.version().await?;
        if *seen != Some(version) {
            self.wake_drivers().await?;
            *seen = Some(version);
        }
        Ok(())
    }

    /// Wakes the drivers whose logs are longer than they know, all found in one go.
    async fn wake_drivers(&self) -> Result<(), StoreError> {
        let oldest = {
            let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
            drivers.values().map(|driven| driven.progress.borrow().summary.created_at).min()
        };
        let filter = RunFilter { created_from: oldest, ..RunFilter::default() };
        let mut page = PageRequest { after: None, limit: RUNS_PAGE };
        loop {
            let runs = self.context.store.runs(&filter, &page).await?;
            {
                let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
                for row in runs.items {
                    let driven = drivers.get(&row.summary.run_id);
                    let knows_less = |driven: &&Driven| driven.progress.borrow().revision < row.revision;
                    if let Some(driven) = driven.filter(knows_less) {
                        driven.look.notify_one();
                    }
                }
            }
            match runs.next {
                Some(next) => page.after = Some(next),
                None => return Ok(()),
            }
        }
    }
}
