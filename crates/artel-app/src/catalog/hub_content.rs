//! What this machine holds of a hub, and how that stands to what the hub is set up for and to what was published last.
//! Other machines share the store, not the folder.

use std::sync::Arc;

use artel_catalog::hub::{PublishedSkill, published_content, read_published};
use artel_catalog::shared::{Freshness, Sealed, SourceState, seal_all};
use artel_catalog::{Keep, Loaded};
use artel_model::catalog::{Hub, SourceKind};
use artel_model::id::HubId;
use artel_model::time::Timestamp;
use camino::{Utf8Path, Utf8PathBuf};

use super::sources::STORE_FAILED;

/// The folder for what hubs published, inside the data folder.
const HUBS: &str = "hubs";

/// The content of a hub that was read from the disk.
#[derive(Clone)]
pub(super) struct HubContent {
    /// The name of the content.
    pub(super) name: String,
    /// The settings that it was fetched with.
    pub(super) settings: String,
    /// When it was first read here: asking the hub again changes nothing about its skills.
    pub(super) published_at: Option<Timestamp>,
    /// The skills, each with its folder in the hub.
    pub(super) skills: Vec<(Utf8PathBuf, Sealed)>,
}

/// Where the content of hubs is written.
pub(super) fn hub_folder(data: &Utf8Path, hub: HubId) -> Utf8PathBuf {
    data.join(HUBS).join(hub.to_string())
}

/// Returns the hubs that have a folder here. Blocks.
pub(super) fn hubs_on_disk(data: &Utf8Path) -> Vec<HubId> {
    let entries = data.join(HUBS).read_dir_utf8().into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.filter_map(|entry| entry.file_name().parse().ok()).collect()
}

/// Returns what this machine holds of a hub; what is known is read again only when another content is in use.
pub(super) async fn hub_content(hub: &Hub, known: Option<HubContent>, data: &Utf8Path) -> Option<HubContent> {
    let folder = hub_folder(data, hub.id);
    let (name, published_at) = (known.as_ref().map(|known| known.name.clone()), hub.status.last_success_at);
    let read = tokio::task::spawn_blocking(move || {
        if name.is_some() && published_content(&folder) == name {
            return None;
        }
        let published = read_published(&folder).ok().flatten()?;
        let load = |skill: &PublishedSkill| (skill.path.clone(), Arc::new(skill.load(Keep::Instructions)));
        let usable = published.skills.iter().map(load).filter(|(_, loaded)| loaded.is_usable());
        let (paths, usable): (Vec<Utf8PathBuf>, Vec<Arc<Loaded>>) = usable.unzip();
        let sealed = paths.into_iter().zip(seal_all(usable));
        let skills = sealed.filter_map(|(path, sealed)| Some((path, sealed.ok()?))).collect();
        Some(HubContent { name: published.content, settings: published.settings, published_at, skills })
    });
    read.await.ok().flatten().or(known)
}

/// Says whether a hub has to be fetched here before what it gives is what everybody else serves.
pub(super) fn is_behind(hub: &Hub, content: Option<&HubContent>) -> bool {
    content.is_none_or(|content| difference(hub, content).is_some())
}

/// Says whether another content was published than this machine holds.
pub(super) fn is_different(hub: &Hub, content: Option<&HubContent>) -> bool {
    hub.status.content.is_some()
        && hub.status.content.as_deref() != content.map(|content| content.name.as_str())
}

/// Returns what is different about the content of this machine; harmless to show.
fn difference(hub: &Hub, content: &HubContent) -> Option<&'static str> {
    if content.settings != hub.content_key() {
        Some("its settings were changed, and it has not been fetched with them")
    } else if is_different(hub, Some(content)) {
        Some("another server fetched a newer content, which this one has not fetched")
    } else {
        None
    }
}

/// Says how current what is served of a hub is.
pub(super) fn hub_state(hub: &Hub, content: Option<&HubContent>, store_failed: bool) -> SourceState {
    let status = &hub.status;
    let failure = status.is_failing().then(|| {
        let message = status.last_failure_message.clone();
        let reason = message.unwrap_or_else(|| "it could not be fetched".to_owned());
        (status.last_failure_at.unwrap_or(hub.created_at), reason)
    });
    let state = match (failure, content) {
        (Some((since, reason)), Some(_)) => Freshness::Stale { since, reason },
        (Some((_, reason)), None) => Freshness::Unavailable { reason },
        (None, None) if status.revision.is_some() => Freshness::Unavailable {
            reason: "its content is not on this machine; it is fetched in the background".to_owned(),
        },
        (None, None) => Freshness::Unavailable { reason: "it has not been fetched".to_owned() },
        (None, Some(_)) if store_failed => {
            Freshness::Stale { since: hub.updated_at, reason: STORE_FAILED.to_owned() }
        }
        (None, Some(content)) => match difference(hub, content) {
            Some(reason) => Freshness::Stale { since: hub.updated_at, reason: reason.to_owned() },
            None => Freshness::Fresh,
        },
    };
    SourceState {
        kind: SourceKind::Hub,
        id: Some(hub.id.to_string()),
        label: hub.location.clone(),
        audience: hub.visibility.audience().cloned().collect(),
        loaded_at: status.last_success_at,
        state,
    }
}
