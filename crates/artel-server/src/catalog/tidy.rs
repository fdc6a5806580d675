//! Folders of hubs that were removed: deleted when nobody can be using them any more. Those that are only switched off stay.

use artel_engine::remove_folder;

use super::hub_content::{hub_folder, hubs_on_disk};
use super::hubs::Hubs;

/// How long the folder of a hub stays after it was noticed that the hub is gone: another process that shares the folder may
/// not know it yet, or be running something out of it.
pub(super) const ORPHAN_GRACE_MS: i64 = 60 * 60 * 1000;

impl Hubs {
    /// Deletes folders of hubs that have been gone for that long and that nothing here holds. What cannot be deleted, or
    /// found out about, stays until the next time.
    pub async fn tidy(&self, grace_ms: i64) {
        let data = self.catalogs().parts().config.data.clone();
        let look = data.clone();
        // Folders first: a hub that is registered in between is in the store by then.
        let Ok(on_disk) = tokio::task::spawn_blocking(move || hubs_on_disk(&look)).await else { return };
        let Ok(hubs) = self.list().await else { return };
        let now = self.catalogs().parts().clock.now();
        let mut orphans = self.orphans().lock().await;
        orphans.retain(|id, _| on_disk.contains(id) && hubs.iter().all(|hub| hub.id != *id));
        for id in on_disk.into_iter().filter(|id| hubs.iter().all(|hub| hub.id != *id)) {
            let since = *orphans.entry(id).or_insert(now);
            let is_old = now.as_millis().saturating_sub(since.as_millis()) >= grace_ms;
            if !is_old || self.catalogs().uses_hub(id).await {
                continue;
            }
            let folder = hub_folder(&data, id);
            let removed = tokio::task::spawn_blocking(move || remove_folder(&folder)).await;
            match removed {
                Ok(Ok(())) => tracing::info!(hub = %id, "the files of a hub that was removed are deleted"),
                Ok(Err(error)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(hub = %id, error, "the files of a hub that was removed cannot be deleted");
                }
                Err(_) => {}
            }
        }
    }
}
