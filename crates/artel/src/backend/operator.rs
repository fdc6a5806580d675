//! What an operator sets and switches, and how well skills do.

use std::sync::Arc;

use artel_api::client::{ApiPath, ClientError};
use artel_api::operator::{SettingsChange, SkillHealthList, SkillSettings, SkillSwitch, SwitchChange};
use artel_app::operations::{SettingsOperations, SettingsRefused, all_problems};
use artel_catalog::shared::EntryId;
use artel_catalog::{Catalog, Loaded, SettingsError};
use artel_engine::DataFolders;
use artel_model::data_scope::SkillOrigin;
use artel_model::health::Health;
use artel_model::name::SkillName;
use artel_store::SkillHealth;

use crate::command::Context;
use crate::failure::{Failure, refused};
use crate::runtime::{Store, local_health, settings_rules, wait_for};

/// Returns how well skills have been doing, if anything was ever run.
pub(crate) fn health(context: Context<'_>) -> Result<Vec<SkillHealth>, Failure> {
    wait_for(async {
        if let Some(client) = context.remote()? {
            let path = ApiPath::new("/api/skills/health");
            let list: SkillHealthList = client.get(&path).await.map_err(|error| refused(&error))?;
            let known = list.items.into_iter().filter_map(|item| {
                let health = Health::from_parts(&item.health, item.failures)?;
                Some(SkillHealth { skill: item.skill, content_hash: item.content_hash, health })
            });
            return Ok(known.collect());
        }
        match Store::open_existing(context.config).await? {
            Some(store) => local_health(&store).await,
            None => Ok(Vec::new()),
        }
    })
}

/// Switches a skill on or off, or chooses its version. One that is switched on may be tried again, however badly it did.
pub(crate) fn switch(
    context: Context<'_>,
    name: &SkillName,
    change: SwitchChange,
) -> Result<SkillSwitch, Failure> {
    if context.config.remote.value.is_some() {
        return wait_for(switch_there(context, name, change));
    }
    let mut switches = context.switches()?;
    let is_on = change.enabled;
    if is_on {
        switches.disabled.remove(name);
        match change.version {
            Some(version) => switches.chosen.insert(name.clone(), version),
            // Without a version the usual choice is back.
            None => switches.chosen.remove(name),
        };
    } else {
        switches.disabled.insert(name.clone());
    }
    switches.write(&context.config.data.value).map_err(|error| Failure::unavailable(&error))?;
    if is_on {
        wait_for(reset_health(context, name))?;
    }
    let version = switches.chosen.get(name).cloned();
    Ok(SkillSwitch { name: name.clone(), enabled: !switches.disabled.contains(name), version })
}

async fn switch_there(
    context: Context<'_>,
    name: &SkillName,
    change: SwitchChange,
) -> Result<SkillSwitch, Failure> {
    let Some(client) = context.remote()? else { return Err(Failure::usage("there is no server")) };
    let switched = client.put(&ApiPath::new("/api/skill-switches").name(name), &change).await;
    switched.map_err(|error| match (&error, error.code()) {
        (ClientError::Refused { body, .. }, Some("unknown_version")) => {
            let versions = body.details.as_ref().and_then(|details| details["versions"].as_array());
            let versions: Vec<&str> =
                versions.into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
            Failure::failed(body.message.clone()).hint(format!("there is {}", versions.join(", ")))
        }
        _ => refused(&error),
    })
}

async fn reset_health(context: Context<'_>, skill: &SkillName) -> Result<(), Failure> {
    match Store::open_existing(context.config).await? {
        Some(store) => {
            store.health.reset_health(skill, None).await.map_err(|error| Failure::unavailable(&error))
        }
        None => Ok(()),
    }
}

/// Makes artel forget how often a skill of any source failed, by its id in the catalog.
pub(crate) fn reset_health_of(context: Context<'_>, id: &EntryId) -> Result<(), Failure> {
    wait_for(async {
        if let Some(client) = context.remote()? {
            let path = ApiPath::new("/api/skills").name(id).then("health");
            return client.delete(&path).await.map_err(|error| refused(&error));
        }
        let name = match id {
            EntryId::Default(name) | EntryId::Hub(_, name) => name.clone(),
            EntryId::Custom(id) => {
                let Some(store) = Store::open_existing(context.config).await? else {
                    return Err(Failure::failed(format!("there is no saved skill {id}")));
                };
                let found = store.catalog.skills.custom_skill(*id).await;
                let found = found.map_err(|error| Failure::unavailable(&error))?;
                found.ok_or_else(|| Failure::failed(format!("there is no saved skill {id}")))?.name
            }
        };
        reset_health(context, &name).await
    })
}

/// Removes what a skill keeps for the caller in its data folder.
pub(crate) fn forget_data(context: Context<'_>, entry: &Loaded) -> Result<(), Failure> {
    let Some(id) = entry.id() else { return Err(Failure::failed("it is no skill")) };
    wait_for(async {
        if let Some(client) = context.remote()? {
            let path = ApiPath::new("/api/skills").name(&id).then("data");
            return client.delete(&path).await.map_err(|error| refused(&error));
        }
        let origin = SkillOrigin { id: id.to_string(), teams: [].into() };
        let removed = DataFolders::new(&context.config.data.value).forget_owner(&origin, None);
        removed.map_err(|error| Failure::unavailable(&error))
    })
}

/// Returns what is set for a skill, secrets masked.
pub(crate) fn settings(
    context: Context<'_>,
    catalog: &Catalog,
    entry: &Loaded,
) -> Result<SkillSettings, Failure> {
    match &entry.offer {
        Some(offer) => wait_for(async {
            let Some(client) = context.remote()? else { return Err(Failure::usage("there is no server")) };
            let path = ApiPath::new("/api/skills").name(&offer.id).then("config");
            client.get(&path).await.map_err(|error| refused(&error))
        }),
        None => backend(context, catalog, entry)?.settings().map_err(|error| unset(&error)),
    }
}

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SettingsOf {
    /// Everyone's, as the operator.
    Everyone,
    /// The caller's own.
    Caller,
}

/// Changes what is set for a skill, all of it or nothing.
pub(crate) fn change_settings(
    context: Context<'_>,
    catalog: &Catalog,
    entry: &Loaded,
    whose: SettingsOf,
    change: SettingsChange,
) -> Result<SkillSettings, Failure> {
    match &entry.offer {
        Some(offer) => wait_for(async {
            let Some(client) = context.remote()? else { return Err(Failure::usage("there is no server")) };
            let path = ApiPath::new("/api/skills").name(&offer.id).then("config");
            let path = match whose {
                SettingsOf::Everyone => path,
                SettingsOf::Caller => path.then("personal"),
            };
            client.patch(&path, &change).await.map_err(|error| match (&error, error.code()) {
                (ClientError::Refused { body, .. }, Some("invalid_settings")) => invalid(&body.message),
                (_, Some("forbidden")) if whose == SettingsOf::Everyone => {
                    refused(&error).hint("with `--personal` you change your own values")
                }
                _ => refused(&error),
            })
        }),
        None if whose == SettingsOf::Caller => {
            Err(Failure::usage("the settings on this machine are yours already")
                .hint("leave `--personal` out; it is for the settings of a server that others use too"))
        }
        None => backend(context, catalog, entry)?.change(change).map_err(|error| unset(&error)),
    }
}

fn backend(context: Context<'_>, catalog: &Catalog, entry: &Loaded) -> Result<SettingsOperations, Failure> {
    let own = catalog.entries().iter().find(|own| std::ptr::eq(Arc::as_ptr(own), entry));
    let own = own.ok_or_else(|| Failure::failed("the skill is not one of the catalog"))?;
    Ok(SettingsOperations {
        loaded: Arc::clone(own),
        data: context.config.data.value.clone(),
        personal: None,
        rules: settings_rules(context.config),
    })
}

fn invalid(problems: &str) -> Failure {
    Failure::failed(problems).hint("nothing was saved")
}

fn unset(refused: &SettingsRefused) -> Failure {
    match refused {
        SettingsRefused::NoSettings
        | SettingsRefused::Unknown(_)
        | SettingsRefused::NotSet(_)
        | SettingsRefused::NoPersonal => Failure::usage(refused.to_string()),
        SettingsRefused::Settings(error) => match error {
            SettingsError::Invalid(problems) => invalid(&all_problems(problems)),
            SettingsError::TooLarge { .. } => invalid(&error.to_string()),
            SettingsError::Read(_) | SettingsError::Damaged { .. } | SettingsError::Write { .. } => {
                Failure::unavailable(error)
            }
        },
    }
}
