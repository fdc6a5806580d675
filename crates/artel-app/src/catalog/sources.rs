//! What every source gave, kept from one snapshot to the next: a source that fails keeps its last good content.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use artel_catalog::scan::Scanned;
use artel_catalog::shared::custom::{custom_folder, custom_tree, write_tree};
use artel_catalog::shared::{Freshness, SavedSkill, Sealed, SnapshotDraft, SourceState, seal, seal_all};
use artel_catalog::{Catalog, Keep, Loaded, load_folder};
use artel_model::access::UserId;
use artel_model::catalog::{CustomSkill, Hub, SourceKind};
use artel_model::id::{CustomSkillId, HubId};
use artel_model::time::Timestamp;
use artel_store::{CustomSkillStore, HubStore, StoreError};
use camino::{Utf8Path, Utf8PathBuf};

use super::hub_content::{HubContent, hub_content, hub_state, is_behind, is_different};
use super::scans::Candidate;
use super::service::LoadDefault;

/// What is said about a store that does not answer; what exactly is wrong is in the log.
pub(super) const STORE_FAILED: &str = "the store does not answer";

/// The folder for what people saved, inside the data folder.
const CUSTOM: &str = "custom";

/// How much a user has saved.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct SavedUse {
    /// Skills.
    pub(super) skills: u64,
    /// Bytes of all their files.
    pub(super) bytes: u64,
}

/// What every source gave.
#[derive(Default)]
pub(super) struct Sources {
    default: Option<Folders>,
    default_state: Option<Freshness>,
    custom: BTreeMap<CustomSkillId, (u64, SavedSkill)>,
    /// Who saved them.
    owners: BTreeMap<CustomSkillId, UserId>,
    custom_state: Option<(Freshness, Option<Timestamp>)>,
    hubs: Vec<(Hub, Option<HubContent>)>,
    hubs_failed: bool,
    /// What was published of hubs that are gone or switched off, as long as somebody holds it.
    retired: BTreeMap<HubId, Vec<Weak<Loaded>>>,
    /// Earlier contents of saved skills, as long as a run or a reader holds them.
    retired_custom: BTreeMap<CustomSkillId, Vec<Weak<Loaded>>>,
}

struct Folders {
    catalog: Arc<Catalog>,
    sealed: Vec<Sealed>,
    loaded_at: Timestamp,
}

impl Sources {
    pub(super) fn has_default(&self) -> bool {
        self.default.is_some()
    }

    /// Returns what was loaded from folders and the binary.
    pub(super) fn folders(&self) -> Option<Arc<Catalog>> {
        self.default.as_ref().map(|folders| Arc::clone(&folders.catalog))
    }

    /// Reads the folders of the server and what is in the binary.
    pub(super) async fn read_default(&mut self, load: &LoadDefault, now: Timestamp) {
        let load = Arc::clone(load);
        let loaded = tokio::task::spawn_blocking(move || {
            let catalog = load()?;
            let sealed = seal_all(catalog.published()).into_iter();
            // What cannot be read in full has no hash that a verdict could be about.
            let sealed = sealed.filter_map(Result::ok).collect();
            Ok::<_, String>((Arc::new(catalog), sealed))
        });
        let loaded = loaded.await.unwrap_or_else(|_| Err("loading the folders failed".to_owned()));
        match loaded {
            Ok((catalog, sealed)) => {
                self.default = Some(Folders { catalog, sealed, loaded_at: now });
                self.default_state = Some(Freshness::Fresh);
            }
            Err(reason) => {
                self.default_state = Some(failed(self.default_state.take(), self.has_default(), now, reason))
            }
        }
    }

    /// Reads what people saved; only what changed is loaded again.
    pub(super) async fn read_custom(
        &mut self,
        store: &dyn CustomSkillStore,
        data: &Utf8Path,
        now: Timestamp,
    ) {
        match self.try_custom(store, data).await {
            Ok((custom, owners)) => {
                for (id, (_, gone)) in std::mem::replace(&mut self.custom, custom) {
                    let is_same = |(_, kept): &(u64, SavedSkill)| {
                        Arc::ptr_eq(kept.sealed.loaded(), gone.sealed.loaded())
                    };
                    if !self.custom.get(&id).is_some_and(is_same) {
                        self.retired_custom.entry(id).or_default().push(Arc::downgrade(gone.sealed.loaded()));
                    }
                }
                self.owners = owners;
                self.custom_state = Some((Freshness::Fresh, Some(now)));
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "saved skills cannot be read");
                let (before, loaded_at) = self.custom_state.take().unzip();
                let loaded_at = loaded_at.flatten();
                let state = failed(before, loaded_at.is_some(), now, STORE_FAILED.to_owned());
                self.custom_state = Some((state, loaded_at));
            }
        }
    }

    async fn try_custom(
        &self,
        store: &dyn CustomSkillStore,
        data: &Utf8Path,
    ) -> Result<(BTreeMap<CustomSkillId, (u64, SavedSkill)>, BTreeMap<CustomSkillId, UserId>), StoreError>
    {
        let (mut custom, mut owners) = (BTreeMap::new(), BTreeMap::new());
        for (id, revision, _) in store.custom_skills().await? {
            if let Some((_, kept)) = self.custom.get(&id).filter(|(known, _)| *known == revision) {
                custom.insert(id, (revision, kept.clone()));
                owners.extend(self.owners.get(&id).map(|owner| (id, owner.clone())));
                continue;
            }
            // It may have been deleted in between.
            let Some(skill) = store.custom_skill(id).await? else { continue };
            owners.insert(id, skill.owner_user_id.clone());
            let (revision, root) = (skill.revision, data.join(CUSTOM));
            let loaded = tokio::task::spawn_blocking(move || saved(&skill, &root));
            match loaded.await {
                Ok(Ok(saved)) => {
                    custom.insert(id, (revision, saved));
                }
                Ok(Err(reason)) => tracing::error!(%id, reason, "a saved skill cannot be used"),
                Err(_) => tracing::error!(%id, "loading a saved skill failed"),
            }
        }
        Ok((custom, owners))
    }

    /// Reads what was published of every hub that is switched on; only what changed is loaded again.
    pub(super) async fn read_hubs(&mut self, store: &dyn HubStore, data: &Utf8Path, _now: Timestamp) {
        let hubs = match store.hubs().await {
            Ok(hubs) => hubs,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "hubs cannot be read");
                self.hubs_failed = true;
                return;
            }
        };
        self.hubs_failed = false;
        let mut before: BTreeMap<HubId, HubContent> = std::mem::take(&mut self.hubs)
            .into_iter()
            .filter_map(|(hub, published)| Some((hub.id, published?)))
            .collect();
        for hub in hubs.into_iter().filter(|hub| hub.is_enabled) {
            let known = before.remove(&hub.id);
            let published = hub_content(&hub, known, data).await;
            self.hubs.push((hub, published));
        }
        for (id, gone) in before {
            let held = gone.skills.iter().map(|(_, sealed)| Arc::downgrade(sealed.loaded()));
            self.retired.entry(id).or_default().extend(held);
        }
    }

    /// Says whether something of a saved skill may still be used.
    pub(super) fn uses_custom(&mut self, id: CustomSkillId) -> bool {
        self.retired_custom.values_mut().for_each(|held| held.retain(|loaded| loaded.strong_count() > 0));
        self.retired_custom.retain(|_, held| !held.is_empty());
        self.retired_custom.contains_key(&id) || self.custom.contains_key(&id)
    }

    /// Says whether something of a hub may still be used.
    pub(super) fn uses_hub(&mut self, id: HubId) -> bool {
        self.retired.values_mut().for_each(|held| held.retain(|loaded| loaded.strong_count() > 0));
        self.retired.retain(|_, held| !held.is_empty());
        self.retired.contains_key(&id) || self.hubs.iter().any(|(hub, _)| hub.id == id)
    }

    /// Returns the name of the content of a hub that is read here.
    pub(super) fn hub_content(&self, id: HubId) -> Option<&str> {
        let (_, content) = self.hubs.iter().find(|(hub, _)| hub.id == id)?;
        content.as_ref().map(|content| content.name.as_str())
    }

    /// Returns the hubs of which this machine does not hold what they are set up for, or what was published last.
    pub(super) fn hubs_behind(&self) -> Vec<HubId> {
        let behind = self.hubs.iter().filter(|(hub, content)| is_behind(hub, content.as_ref()));
        behind.map(|(hub, _)| hub.id).collect()
    }

    /// Returns how many hubs have another content elsewhere than here.
    pub(super) fn differing_hubs(&self) -> usize {
        self.hubs.iter().filter(|(hub, content)| is_different(hub, content.as_ref())).count()
    }

    /// Counts what a user saved, without one that is replaced.
    pub(super) fn saved_by(&self, owner: &UserId, replaced: Option<CustomSkillId>) -> SavedUse {
        let own = self.owners.iter().filter(|(id, by)| *by == owner && Some(**id) != replaced);
        let sizes = own.map(|(id, _)| {
            let saved = self.custom.get(id).map(|(_, saved)| saved.sealed.files());
            saved.unwrap_or_default().iter().map(|file| file.size).sum::<u64>()
        });
        sizes.fold(SavedUse::default(), |used, bytes| SavedUse {
            skills: used.skills + 1,
            bytes: used.bytes.saturating_add(bytes),
        })
    }

    /// Returns the revisions of what people saved.
    pub(super) fn revisions(&self) -> BTreeMap<CustomSkillId, u64> {
        self.custom.iter().map(|(id, (revision, _))| (*id, *revision)).collect()
    }

    /// Returns every skill of every source.
    pub(super) fn all(&self) -> Vec<Candidate> {
        let named = |sealed: &Sealed| {
            let skill = sealed.loaded().skill.as_ref();
            skill.map(|skill| skill.name.to_string()).unwrap_or_default()
        };
        let default = self.default.iter().flat_map(|folders| &folders.sealed);
        let default = default
            .map(|sealed| candidate(SourceKind::Default, None, format!("default/{}", named(sealed)), sealed));
        let custom = self.custom.iter().map(|(id, (_, saved))| {
            let skill_id = format!("agent_skills/{id}");
            candidate(SourceKind::AgentSkills, Some(id.to_string()), skill_id, &saved.sealed)
        });
        let hubs = self.hubs.iter().flat_map(|(hub, published)| {
            let skills = published.iter().flat_map(|published| &published.skills);
            skills.map(move |(_, sealed)| {
                let skill_id = format!("hub/{}/{}", hub.id, named(sealed));
                candidate(SourceKind::Hub, Some(hub.id.to_string()), skill_id, sealed)
            })
        });
        default.chain(custom).chain(hubs).collect()
    }

    /// Puts everything into a snapshot.
    pub(super) fn add_to(&self, draft: &mut SnapshotDraft) {
        let state = |kind: SourceKind, loaded_at, state| SourceState {
            kind,
            id: None,
            label: kind.label().to_owned(),
            audience: Vec::new(),
            loaded_at,
            state,
        };
        let unread = || Freshness::Unavailable { reason: "it has not been read".to_owned() };
        let default_state = self.default_state.clone().unwrap_or_else(unread);
        let loaded_at = self.default.as_ref().map(|folders| folders.loaded_at);
        let default_state = state(SourceKind::Default, loaded_at, default_state);
        match &self.default {
            Some(folders) => draft.add_default(default_state, &folders.catalog, folders.sealed.clone()),
            None => draft.add_source(default_state),
        }
        let (custom_state, loaded_at) = self.custom_state.clone().unwrap_or_else(|| (unread(), None));
        let custom = self.custom.values().map(|(_, saved)| saved.clone()).collect();
        draft.add_custom(state(SourceKind::AgentSkills, loaded_at, custom_state), custom);
        for (hub, published) in &self.hubs {
            let skills = published.iter().flat_map(|published| &published.skills);
            let seen_by = |(path, sealed): &(Utf8PathBuf, Sealed)| {
                (hub.visibility.of(path.as_str()).clone(), sealed.clone())
            };
            let skills = skills.map(seen_by).collect();
            let state = hub_state(hub, published.as_ref(), self.hubs_failed);
            let published_at = published.as_ref().and_then(|published| published.published_at);
            draft.add_hub(hub, state, published_at, skills);
        }
    }
}

fn candidate(source: SourceKind, source_id: Option<String>, skill_id: String, sealed: &Sealed) -> Candidate {
    let content_hash = sealed.content_hash().to_owned();
    Candidate { about: Scanned { source, source_id, skill_id, content_hash }, sealed: sealed.clone() }
}

/// Returns the saved skills that have a folder here. Blocks.
pub(super) fn custom_on_disk(data: &Utf8Path) -> Vec<CustomSkillId> {
    let entries = data.join(CUSTOM).read_dir_utf8().into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.filter_map(|entry| entry.file_name().parse().ok()).collect()
}

/// Where the contents of a saved skill are written.
pub(super) fn saved_folder(data: &Utf8Path, id: CustomSkillId) -> Utf8PathBuf {
    data.join(CUSTOM).join(id.to_string())
}

/// Returns how a source stands that just failed.
fn failed(before: Option<Freshness>, has_content: bool, now: Timestamp, reason: String) -> Freshness {
    match before {
        Some(Freshness::Stale { since, .. }) => Freshness::Stale { since, reason },
        Some(Freshness::Fresh) => Freshness::Stale { since: now, reason },
        Some(Freshness::Unavailable { .. }) | None if has_content => Freshness::Stale { since: now, reason },
        Some(Freshness::Unavailable { .. }) | None => Freshness::Unavailable { reason },
    }
}

/// Writes a saved skill to the disk, in a folder of its own for every content, so that what runs is not pulled away, and
/// loads it from there.
fn saved(skill: &CustomSkill, root: &Utf8Path) -> Result<SavedSkill, String> {
    let folder = custom_folder(root, skill);
    write_tree(&custom_tree(skill), &folder).map_err(|error| error.to_string())?;
    let sealed =
        seal(Arc::new(load_folder(&folder, Keep::Instructions))).map_err(|error| error.to_string())?;
    if sealed.content_hash() != skill.content_hash {
        return Err(format!("`{folder}` does not hold what was saved"));
    }
    Ok(SavedSkill {
        id: skill.id,
        visibility: skill.visibility.clone(),
        owner_user_id: skill.owner_user_id.clone(),
        created_at: skill.created_at,
        updated_at: skill.updated_at,
        sealed,
    })
}
