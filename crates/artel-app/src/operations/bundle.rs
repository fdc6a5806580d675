//! The files of several skills at once, and how well skills do: for whoever keeps a copy of what they see.

use std::sync::Arc;

use artel_api::operator::{SkillHealthEntry, SkillHealthList};
use artel_catalog::Loaded;
use artel_catalog::mirror::{BundleWriter, bundled};
use artel_catalog::shared::{EntryFile, EntryId};
use artel_model::access::Principal;
use artel_model::data_scope::OwnerKey;
use artel_model::limit::BUNDLE_SKILLS_MAX;
use artel_model::name::SkillName;
use artel_store::{SkillHealth, seen_health};

use super::skills::served;
use super::switches::{interrupted, switched_off};
use crate::app::App;
use crate::error::OperationError;

/// A skill that is packed.
struct Wanted {
    /// Where it stands in the request.
    place: usize,
    loaded: Arc<Loaded>,
    /// Its files, as they are listed.
    files: Arc<[EntryFile]>,
}

/// Packs the skills of these ids. What is not the caller's to see, or does not fit, is simply not in it; what an
/// administrator switched off is in it for administrators.
pub async fn bundle(app: &App, caller: &Principal, ids: &[String]) -> Result<Vec<u8>, OperationError> {
    if ids.len() > BUNDLE_SKILLS_MAX {
        let message = format!("At most {BUNDLE_SKILLS_MAX} skills are packed at once.");
        return Err(OperationError::unprocessable("too_many_skills", message));
    }
    let (_, view) = served(app, caller)?;
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut missing: Vec<(usize, EntryId)> = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let Ok(id) = id.parse::<EntryId>() else { continue };
        match view.get(&id) {
            Some(seen) => {
                let (loaded, files) = (Arc::clone(&seen.entry.loaded), Arc::clone(&seen.entry.files));
                wanted.push(Wanted { place, loaded, files });
            }
            None => missing.push((place, id)),
        }
    }
    if caller.is_admin() && !missing.is_empty() {
        for (name, sealed) in switched_off(app).await {
            let id = EntryId::Default(name);
            let places = missing.iter().filter(|(_, known)| *known == id).map(|(place, _)| *place);
            let files: Arc<[EntryFile]> = sealed.files().into();
            wanted.extend(places.map(|place| Wanted {
                place,
                loaded: Arc::clone(sealed.loaded()),
                files: Arc::clone(&files),
            }));
        }
    }
    let packed = tokio::task::spawn_blocking(move || pack(&wanted)).await.map_err(|_| interrupted())?;
    packed.map_err(|_| OperationError::internal("packing skills failed"))
}

fn pack(wanted: &[Wanted]) -> std::io::Result<Vec<u8>> {
    let mut bundle = BundleWriter::new();
    for Wanted { place, loaded, files } in wanted {
        // What changed since it was read is listed otherwise soon, and asked for again.
        if let Some(files) = bundled(loaded, files) {
            bundle.add(*place, &files)?;
        }
    }
    bundle.finish()
}

/// Forgets how often a skill of any source failed, and returns its name.
pub async fn reset_skill_health(app: &App, id: &EntryId) -> Result<SkillName, OperationError> {
    let snapshot = app.catalogs().snapshot().ok_or_else(|| OperationError::not_found("skill"))?;
    let entry = snapshot.entries().iter().find(|entry| entry.id == *id);
    let entry = entry.ok_or_else(|| OperationError::not_found("skill"))?;
    app.stores().health.reset_health(&entry.name, Some(&entry.content_hash)).await?;
    app.catalogs().read_health().await;
    Ok(entry.name.clone())
}

/// Returns how well the skills do that the caller sees, as far as the caller's own runs and those of several others tell.
pub async fn skill_health(app: &App, caller: &Principal) -> Result<SkillHealthList, OperationError> {
    let (_, view) = served(app, caller)?;
    let counts = app.stores().health.health_counts().await?;
    let key = OwnerKey::of(caller.owner().map(|viewer| &viewer.user));
    let known = seen_health(&counts, &key, app.clock().now());
    let is_seen = |known: &SkillHealth| {
        let entry = view.by_name(&known.skill);
        entry.is_some_and(|entry| entry.content_hash == known.content_hash) || caller.is_admin()
    };
    let told = |known: SkillHealth| SkillHealthEntry {
        health: known.health.as_str().to_owned(),
        failures: known.health.failures().unwrap_or_default(),
        skill: known.skill,
        content_hash: known.content_hash,
    };
    Ok(SkillHealthList { items: known.into_iter().filter(is_seen).map(told).collect() })
}
