//! The settings of skills: shown with secrets masked, changed by an operator for all, and by callers for themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_api::operator::{SettingsChange, SkillSetting, SkillSettings};
use artel_catalog::shared::EntryId;
use artel_catalog::{
    Loaded, SettingsError, config_path, personal_settings_path, read_config, read_personal_settings,
    write_config, write_personal_settings,
};
use artel_engine::OwnEnvironment;
use artel_model::access::{Principal, Viewer};
use artel_model::data_scope::SkillOrigin;
use artel_model::setting::{
    ConfigProblem, ConfigProblemKind, ConfigSchema, EffectiveConfig, EnvAllowList, ShownField,
};
use camino::Utf8PathBuf;
use serde_json::{Map, Value};

use super::switches::{interrupted, unusable, within_reach};
use crate::app::App;
use crate::catalog::Reread;
use crate::error::OperationError;

/// Which variables the settings of skills may name, and what they hold.
#[derive(Clone)]
pub struct SettingsRules {
    /// Which.
    pub allowed: EnvAllowList,
    /// What they hold.
    pub environment: Arc<dyn OwnEnvironment>,
}

/// One skill, and what its settings depend on.
pub struct SettingsOperations {
    /// The skill.
    pub loaded: Arc<Loaded>,
    /// The data folder, for the settings of skills without a folder of their own.
    pub data: Utf8PathBuf,
    /// Where the caller's own values are kept; nothing for the person who has the data folder: the operator's are theirs.
    pub personal: Option<Utf8PathBuf>,
    /// Which variables they may name.
    pub rules: SettingsRules,
}

/// Why settings are not shown or changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsRefused {
    /// There is nothing to set.
    #[error("the skill has no settings")]
    NoSettings,
    /// There is no such setting.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// It is not set.
    #[error("`{0}` is not set")]
    NotSet(String),
    /// The caller has no values of their own.
    #[error("the settings of the data folder are its owner's: there are no others")]
    NoPersonal,
    /// They do not fit, or a file is not as it should be.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// Returns what is set for a skill.
pub async fn skill_settings(
    app: &App,
    caller: &Principal,
    id: &EntryId,
) -> Result<SkillSettings, OperationError> {
    let settings_operations = settings_operations(app, caller, id).await?;
    blocking(move || settings_operations.settings()).await
}

/// Changes what is set for a skill of the server's own folders, and serves what comes of it.
pub async fn change_settings(
    app: &App,
    caller: &Principal,
    id: &EntryId,
    change: SettingsChange,
) -> Result<SkillSettings, OperationError> {
    let _alone = app.operating().lock().await;
    let settings_operations = settings_operations(app, caller, id).await?;
    match id {
        EntryId::Default(_) => {}
        EntryId::Custom(_) | EntryId::Hub(..) => {
            let message = "The settings of a saved skill or of a hub's come with its files; save them there.";
            return Err(OperationError::conflict("settings_with_files", message));
        }
    }
    let settings = blocking(move || settings_operations.change(change)).await?;
    // Settings in a skill's folder are part of its content.
    app.catalogs().refresh(Reread::Folders).await?;
    Ok(settings)
}

/// Changes what a caller set for their own runs and agents of a skill that they see, from any source.
pub async fn change_personal_settings(
    app: &App,
    caller: &Principal,
    id: &EntryId,
    change: SettingsChange,
) -> Result<SkillSettings, OperationError> {
    let settings_operations = settings_operations(app, caller, id).await?;
    let _alone = app.changing_personal_settings().lock().await;
    blocking(move || settings_operations.change_personal(change)).await
}

/// Removes what a skill that the caller sees keeps for them.
pub async fn forget_data(app: &App, caller: &Principal, id: &EntryId) -> Result<(), OperationError> {
    within_reach(app, caller, id).await?.ok_or_else(|| OperationError::not_found("skill"))?;
    let (folders, owner) = (app.artifact_dirs().data.clone(), caller.owner().cloned());
    let origin = SkillOrigin { id: id.to_string(), teams: BTreeSet::new() };
    let removed = tokio::task::spawn_blocking(move || folders.forget_owner(&origin, owner.as_ref())).await;
    removed.map_err(|_| interrupted())?.map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "the data of a skill cannot be removed");
        OperationError::unavailable("data_unavailable", "The data cannot be removed on the server.")
    })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SettingsRefused> + Send + 'static,
) -> Result<T, OperationError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| interrupted())?;
    done.map_err(|refused| told(&refused))
}

async fn settings_operations(
    app: &App,
    caller: &Principal,
    id: &EntryId,
) -> Result<SettingsOperations, OperationError> {
    let loaded = within_reach(app, caller, id).await?.ok_or_else(|| OperationError::not_found("skill"))?;
    let data = app.catalogs().parts().config.data.clone();
    let origin = SkillOrigin { id: id.to_string(), teams: BTreeSet::new() };
    let path = |owner: &Viewer| personal_settings_path(&data, &origin, &owner.user);
    let personal = caller.owner().map(path);
    Ok(SettingsOperations { loaded, personal, data, rules: app.settings_rules().clone() })
}

fn told(refused: &SettingsRefused) -> OperationError {
    match refused {
        SettingsRefused::NoSettings => OperationError::conflict("no_settings", refused.to_string()),
        SettingsRefused::NoPersonal => OperationError::conflict("no_personal_settings", refused.to_string()),
        SettingsRefused::Unknown(_) => OperationError::unprocessable("unknown_setting", refused.to_string()),
        SettingsRefused::NotSet(_) => OperationError::unprocessable("not_set", refused.to_string()),
        SettingsRefused::Settings(error) => match error {
            SettingsError::Invalid(problems) => {
                OperationError::unprocessable("invalid_settings", all_problems(problems))
            }
            SettingsError::TooLarge { .. } => {
                OperationError::unprocessable("invalid_settings", error.to_string())
            }
            SettingsError::Read(_) | SettingsError::Damaged { .. } | SettingsError::Write { .. } => {
                unusable(error)
            }
        },
    }
}

/// Writes why settings do not fit, on one line.
pub fn all_problems(problems: &[ConfigProblem]) -> String {
    let line = |problem: &ConfigProblem| format!("`{}`: {}", problem.field, problem.message);
    problems.iter().map(line).collect::<Vec<_>>().join("; ")
}

impl SettingsOperations {
    /// Returns what is set, secrets masked.
    pub fn settings(&self) -> Result<SkillSettings, SettingsRefused> {
        Ok(self.shown(&read_config(&self.loaded, &self.data)?, &self.personal()?))
    }

    /// Changes what is set, all of it or nothing.
    pub fn change(&self, change: SettingsChange) -> Result<SkillSettings, SettingsRefused> {
        let schema = self.loaded.config_schema.as_ref().ok_or(SettingsRefused::NoSettings)?;
        let mut config = read_config(&self.loaded, &self.data)?;
        apply(schema, &mut config, change)?;
        write_config(&self.loaded, &self.data, &config)?;
        let saved_in = Some(config_path(&self.loaded, &self.data).into_string());
        Ok(SkillSettings { saved_in, ..self.shown(&config, &self.personal()?) })
    }

    /// Changes what the caller set for themselves, all of it or nothing.
    pub fn change_personal(&self, change: SettingsChange) -> Result<SkillSettings, SettingsRefused> {
        let path = self.personal.as_ref().ok_or(SettingsRefused::NoPersonal)?;
        let schema = self.loaded.config_schema.as_ref().ok_or(SettingsRefused::NoSettings)?;
        let base = read_config(&self.loaded, &self.data)?;
        let mut personal = read_personal_settings(path)?;
        let given: BTreeSet<String> = change.set.keys().cloned().collect();
        apply(schema, &mut personal, change)?;
        // What was saved under an earlier schema does not keep the caller from changing something else.
        personal.retain(|name, _| given.contains(name) || schema.may_be_personal(name, &base));
        let problems = schema.check_personal(&base, &personal);
        if !problems.is_empty() {
            return Err(SettingsError::Invalid(problems).into());
        }
        write_personal_settings(path, &personal)?;
        Ok(self.shown(&base, &personal))
    }

    fn personal(&self) -> Result<Map<String, Value>, SettingsError> {
        self.personal.as_deref().map_or_else(|| Ok(Map::new()), read_personal_settings)
    }

    fn shown(&self, base: &Map<String, Value>, personal: &Map<String, Value>) -> SkillSettings {
        let nothing = SkillSettings {
            items: Vec::new(),
            effective: None,
            problems: Vec::new(),
            warnings: Vec::new(),
            saved_in: None,
        };
        let Some(schema) = &self.loaded.config_schema else {
            let config = EffectiveConfig::unchecked(base.clone()).masked();
            return SkillSettings { effective: (!config.is_empty()).then_some(config), ..nothing };
        };
        let allowed = &self.rules.allowed;
        let stored = &schema.overlay(base, personal);
        let own = schema.shown(personal).into_iter().map(|shown| shown.value);
        let items = schema.shown(base).into_iter().zip(own);
        let items = items.map(|(shown, own)| {
            let may_be_personal = schema.may_be_personal(&shown.field.name, base);
            SkillSetting { personal: own, may_be_personal, ..setting(shown) }
        });
        let items = items.collect();
        // What the variables hold does not matter for whether scripts get them.
        let named = schema.resolve(stored, allowed, |_| Some(String::new())).err().unwrap_or_default();
        let is_warning = |problem: &&ConfigProblem| problem.kind == ConfigProblemKind::VariableNotAllowed;
        let warnings = named.iter().filter(is_warning).map(|problem| problem.message.clone()).collect();
        let (effective, problems) =
            match schema.resolve(stored, allowed, |name| self.rules.environment.variable(name)) {
                Ok(config) => (Some(config.masked()), Vec::new()),
                Err(problems) => {
                    let line = |problem: &ConfigProblem| format!("{}: {}", problem.field, problem.message);
                    (None, problems.iter().map(line).collect())
                }
            };
        SkillSettings { items, effective, problems, warnings, ..nothing }
    }
}

fn setting(shown: ShownField<'_>) -> SkillSetting {
    let ShownField { field, value, default } = shown;
    SkillSetting {
        name: field.name.clone(),
        kind: field.kind.to_string(),
        description: field.description.clone(),
        required: field.required,
        sensitive: field.sensitive,
        env_var: field.env_var.clone(),
        category: field.category.clone(),
        default,
        value,
        personal: None,
        may_be_personal: false,
    }
}

fn apply(
    schema: &ConfigSchema,
    values: &mut Map<String, Value>,
    change: SettingsChange,
) -> Result<(), SettingsRefused> {
    for (name, value) in change.set {
        if schema.field(&name).is_none() {
            return Err(SettingsRefused::Unknown(name));
        }
        values.insert(name, value);
    }
    for name in change.unset {
        if values.remove(&name).is_none() {
            return Err(SettingsRefused::NotSet(name));
        }
    }
    Ok(())
}
