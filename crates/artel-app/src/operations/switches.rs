//! What an operator switched: skills that are off, and versions that were chosen. It is about the server's own folders, so it
//! is kept beside them.

use std::sync::Arc;

use artel_api::ErrorKind;
use artel_api::operator::{SkillSwitch, SkillSwitches, SwitchChange, SwitchedOff};
use artel_catalog::shared::{EntryId, Sealed, seal};
use artel_catalog::{Catalog, Loaded, SettingsError, Switches};
use artel_model::access::Principal;
use artel_model::name::SkillName;
use artel_model::registry::LookupError;
use serde_json::json;

use super::skills::served;
use crate::app::App;
use crate::catalog::Reread;
use crate::convert::skill_file;
use crate::error::OperationError;

/// Returns what is switched.
pub async fn switches(app: &App) -> Result<SkillSwitches, OperationError> {
    let Switches { disabled, chosen } = read(app).await?;
    let off = switched_off(app).await.into_iter();
    Ok(SkillSwitches {
        disabled: disabled.into_iter().collect(),
        chosen,
        off: off.map(|(name, sealed)| told(name, &sealed)).collect(),
    })
}

/// Switches a skill, and serves what comes of it.
pub async fn switch(app: &App, name: SkillName, change: SwitchChange) -> Result<SkillSwitch, OperationError> {
    let _alone = app.operating().lock().await;
    let folders = app.catalogs().folders().await.ok_or_else(|| OperationError::not_found("skill"))?;
    folders.find(&name, change.version.as_ref()).map_err(|error| unknown(&folders, &error))?;
    let mut switches = read(app).await?;
    if change.enabled {
        switches.disabled.remove(&name);
        match change.version {
            Some(version) => switches.chosen.insert(name.clone(), version),
            // Without a version the usual choice is back.
            None => switches.chosen.remove(&name),
        };
    } else {
        switches.disabled.insert(name.clone());
    }
    let data = app.catalogs().parts().config.data.clone();
    let answer = SkillSwitch {
        enabled: !switches.disabled.contains(&name),
        version: switches.chosen.get(&name).cloned(),
        name,
    };
    let written = tokio::task::spawn_blocking(move || switches.write(&data)).await;
    written.map_err(|_| interrupted())?.map_err(|error| unusable(&error))?;
    if change.enabled {
        // An operator who switches a skill on says that it may be tried again.
        app.stores().health.reset_health(&answer.name, None).await?;
    }
    app.catalogs().refresh(Reread::Folders).await?;
    app.catalogs().rebuild_supervisor();
    Ok(answer)
}

/// Returns a skill that somebody may look into, and the hashes of its files: what they see, and what is switched off for an
/// administrator.
pub(super) async fn within_reach(
    app: &App,
    caller: &Principal,
    id: &EntryId,
) -> Result<Option<Arc<Loaded>>, OperationError> {
    let (_, view) = served(app, caller)?;
    if let Some(seen) = view.get(id) {
        return Ok(Some(Arc::clone(&seen.entry.loaded)));
    }
    let off = if caller.is_admin() { switched_off(app).await } else { Vec::new() };
    let found = off.into_iter().find(|(name, _)| EntryId::Default(name.clone()) == *id);
    Ok(found.map(|(_, sealed)| Arc::clone(sealed.loaded())))
}

/// Returns the skills that are there and switched off, by name.
pub(super) async fn switched_off(app: &App) -> Vec<(SkillName, Sealed)> {
    let Some(folders) = app.catalogs().folders().await else { return Vec::new() };
    let sealed = tokio::task::spawn_blocking(move || {
        let is_off =
            |entry: &&Loaded| entry.skill.as_ref().is_some_and(|skill| !folders.is_enabled(&skill.name));
        let off: Vec<&Loaded> = folders.list().into_iter().filter(is_off).collect();
        let owned = |entry: &Loaded| {
            let same = folders.entries().iter().find(|own| std::ptr::eq(&raw const ***own, entry))?;
            let name = entry.skill.as_ref()?.name.clone();
            // What cannot be read in full is shown to nobody.
            seal(Arc::clone(same)).ok().map(|sealed| (name, sealed))
        };
        off.into_iter().filter_map(owned).collect()
    });
    sealed.await.unwrap_or_default()
}

fn told(name: SkillName, sealed: &Sealed) -> SwitchedOff {
    SwitchedOff {
        id: EntryId::Default(name.clone()).to_string(),
        name,
        content_hash: sealed.content_hash().to_owned(),
        files: sealed.files().iter().map(skill_file).collect(),
    }
}

async fn read(app: &App) -> Result<Switches, OperationError> {
    let data = app.catalogs().parts().config.data.clone();
    let read = tokio::task::spawn_blocking(move || Switches::read(&data)).await;
    read.map_err(|_| interrupted())?.map_err(|error| unusable(&error))
}

fn unknown(folders: &Catalog, error: &LookupError) -> OperationError {
    match error {
        LookupError::Unknown(_) | LookupError::Disabled(_) => {
            OperationError::new(ErrorKind::NotFound, "unknown_skill", error.to_string())
        }
        LookupError::UnknownVersion { name, .. } => {
            let all = folders.registry().all().filter(|skill| skill.name == *name);
            let versions: Vec<String> = all.map(|skill| skill.version.to_string()).collect();
            OperationError::new(ErrorKind::NotFound, "unknown_version", error.to_string())
                .with_details(json!({"versions": versions}))
        }
    }
}

pub(super) fn interrupted() -> OperationError {
    OperationError::unavailable("interrupted", "the request was interrupted")
}

/// What exactly is wrong with a file is the operator's to know, who reads the log.
pub(super) fn unusable(error: &SettingsError) -> OperationError {
    tracing::error!(error = error as &dyn std::error::Error, "settings cannot be read or written");
    OperationError::unavailable(
        "settings_unavailable",
        "The settings cannot be read or written on the server.",
    )
}
