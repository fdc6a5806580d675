//! Folders of hubs and saved skills that were removed: deleted when nothing can be using them any more. Those of hubs that
//! are only switched off stay.

use std::collections::BTreeSet;

use artel_catalog::personal_settings_folder;
use artel_catalog::shared::EntryId;
use artel_engine::remove_folder;
use artel_model::data_scope::SkillOrigin;
use artel_model::id::CustomSkillId;
use artel_model::limit::HEALTH_KEPT_MS;
use artel_model::time::Timestamp;
use artel_store::{HealthCount, SkillFiles};
use camino::Utf8PathBuf;

use super::hub_content::{hub_folder, hubs_on_disk};
use super::hubs::Hubs;
use super::sources::{custom_on_disk, saved_folder};

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
            remove(hub_folder(&data, id), "hub", id.to_string()).await;
        }
    }

    /// Deletes folders of saved skills that were deleted and that nothing here holds. A run that began before holds its
    /// skill; another process that shares the folder is given some time.
    pub async fn tidy_saved(&self, grace_ms: i64) {
        let parts = self.catalogs().parts();
        let look = parts.config.data.clone();
        // Folders first: a skill that is saved in between is in the store by then.
        let Ok(on_disk) = tokio::task::spawn_blocking(move || custom_on_disk(&look)).await else { return };
        let Ok(saved) = parts.stores.skills.custom_skills().await else { return };
        let saved: BTreeSet<CustomSkillId> = saved.into_iter().map(|(id, ..)| id).collect();
        let now = parts.clock.now();
        let mut deleted = self.deleted().lock().await;
        deleted.retain(|id, _| on_disk.contains(id) && !saved.contains(id));
        for id in on_disk.into_iter().filter(|id| !saved.contains(id)) {
            let since = *deleted.entry(id).or_insert(now);
            let is_old = now.as_millis().saturating_sub(since.as_millis()) >= grace_ms;
            if is_old && !self.catalogs().uses_custom(id).await {
                let origin = SkillOrigin { id: EntryId::Custom(id).to_string(), teams: BTreeSet::new() };
                let settings = personal_settings_folder(&parts.config.data, &origin);
                if settings.exists() {
                    remove(settings, "personal settings", id.to_string()).await;
                }
                remove(saved_folder(&parts.config.data, id), "saved skill", id.to_string()).await;
            }
        }
    }
}

impl Hubs {
    /// Forgets how badly files did that no source has any more and that have not run for long.
    pub async fn prune_health(&self) {
        let parts = self.catalogs().parts();
        let (Some(snapshot), Ok(counts)) =
            (self.catalogs().snapshot(), parts.stores.health.health_counts().await)
        else {
            return;
        };
        let kept = i64::try_from(HEALTH_KEPT_MS).unwrap_or(i64::MAX);
        let before = Timestamp::from_millis(parts.clock.now().as_millis().saturating_sub(kept));
        let known: BTreeSet<&str> =
            snapshot.entries().iter().map(|entry| entry.content_hash.as_str()).collect();
        let is_gone =
            |count: &HealthCount| count.counted.at < before && !known.contains(count.content_hash.as_str());
        let files = |count: HealthCount| SkillFiles { skill: count.skill, content_hash: count.content_hash };
        let gone: BTreeSet<SkillFiles> = counts.into_iter().filter(is_gone).map(files).collect();
        let gone: Vec<SkillFiles> = gone.into_iter().collect();
        if !gone.is_empty()
            && let Err(error) = parts.stores.health.prune_health(&gone, before).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "failures of files that are gone cannot be forgotten");
        }
    }
}

async fn remove(folder: Utf8PathBuf, what: &'static str, id: String) {
    match tokio::task::spawn_blocking(move || remove_folder(&folder)).await {
        Ok(Ok(())) => tracing::info!(what, id, "the files of what was removed are deleted"),
        Ok(Err(error)) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(what, id, error, "the files of what was removed cannot be deleted");
        }
        Err(_) => {}
    }
}
