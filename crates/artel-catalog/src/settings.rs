//! The settings a user gave a skill, and the switches an operator set: read and written as files.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::limit::MANIFEST_BYTES_MAX;
use artel_model::name::SkillName;
use artel_model::setting::ConfigProblem;
use artel_model::version::Version;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::file::{Access, write_atomically};
use crate::load::{Loaded, Location};
use crate::source::{DiskTree, FileEntry, FileTree, ReadError, read_file};

/// Why settings or switches could not be read or saved.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file cannot be read.
    #[error("cannot read the settings")]
    Read(#[source] ReadError),
    /// A file is not what it should be.
    #[error("`{path}` is not valid: {message}; mend or remove it")]
    Damaged {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A file cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// They are too large; nothing was saved.
    #[error("the settings are larger than {limit} bytes")]
    TooLarge {
        /// How large they may be.
        limit: u64,
    },
    /// The settings do not fit the skill's schema; nothing was saved.
    #[error("the settings do not fit `config-schema.json`")]
    Invalid(Vec<ConfigProblem>),
}

/// The settings of a skill, in its folder.
const CONFIG_FILE: &str = "config.json";

/// Returns where a skill's settings are kept: in its folder, or in the data folder when it has none of its own.
pub fn config_path(entry: &Loaded, data: &Utf8Path) -> Utf8PathBuf {
    match &entry.location {
        Location::Folder(path) => path.join(CONFIG_FILE),
        Location::RegistryFile { .. } | Location::BuiltIn(_) => {
            let name = entry.skill.as_ref().map_or("unnamed", |skill| skill.name.as_str());
            data.join("config").join(format!("{name}.json"))
        }
    }
}

/// Returns what the user set, else what the skill ships with.
pub fn read_config(entry: &Loaded, data: &Utf8Path) -> Result<Map<String, Value>, SettingsError> {
    let path = config_path(entry, data);
    let bytes = match &entry.location {
        // A skill's folder is not trusted: a link in it may lead to anybody's file.
        Location::Folder(folder) => {
            DiskTree::new(folder.clone()).read(CONFIG_FILE.as_ref(), MANIFEST_BYTES_MAX)
        }
        Location::RegistryFile { .. } | Location::BuiltIn(_) => read_file(&path, MANIFEST_BYTES_MAX),
    };
    match object(&path, bytes)? {
        Some(config) => Ok(config),
        None => Ok(entry.config.clone().unwrap_or_default()),
    }
}

/// Says whether a file of a skill holds a user's settings, which stay with the user: by its name, or by a link.
pub fn holds_settings(entry: &Loaded, file: &FileEntry) -> bool {
    let leads_there = || {
        let root = entry.location.path()?;
        Some(root.join(&file.path).canonicalize().ok()? == root.join(CONFIG_FILE).canonicalize().ok()?)
    };
    file.path == CONFIG_FILE || (file.is_link && leads_there().unwrap_or(false))
}

/// Checks the settings and saves them.
pub fn write_config(
    entry: &Loaded,
    data: &Utf8Path,
    config: &Map<String, Value>,
) -> Result<(), SettingsError> {
    if let Some(schema) = &entry.config_schema {
        let problems = schema.check(config);
        if !problems.is_empty() {
            return Err(SettingsError::Invalid(problems));
        }
    }
    save(&config_path(entry, data), &Value::Object(config.clone()), MANIFEST_BYTES_MAX)
}

/// What an operator switched.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Switches {
    /// Skills that are off.
    pub disabled: BTreeSet<SkillName>,
    /// Versions that look-ups by name give.
    pub chosen: BTreeMap<SkillName, Version>,
}

/// The file's form; names that are no names any more are dropped when it is read.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct SwitchesFile {
    #[serde(default)]
    disabled: Vec<String>,
    #[serde(default)]
    chosen: BTreeMap<String, Version>,
}

impl Switches {
    /// Reads the switches in the data folder; there are none when there is no file.
    pub fn read(data: &Utf8Path) -> Result<Self, SettingsError> {
        let path = switches_path(data);
        let Some(object) = object(&path, read_file(&path, MANIFEST_BYTES_MAX))? else {
            return Ok(Self::default());
        };
        let file: SwitchesFile = serde_json::from_value(Value::Object(object))
            .map_err(|error| SettingsError::Damaged { path, message: error.to_string() })?;
        Ok(Self {
            disabled: file.disabled.iter().filter_map(|name| name.parse().ok()).collect(),
            chosen: file
                .chosen
                .into_iter()
                .filter_map(|(name, version)| Some((name.parse().ok()?, version)))
                .collect(),
        })
    }

    /// Saves the switches in the data folder.
    pub fn write(&self, data: &Utf8Path) -> Result<(), SettingsError> {
        let file = SwitchesFile {
            disabled: self.disabled.iter().map(ToString::to_string).collect(),
            chosen: self.chosen.iter().map(|(name, version)| (name.to_string(), version.clone())).collect(),
        };
        let value = serde_json::to_value(file).expect("names and versions are text");
        save(&switches_path(data), &value, MANIFEST_BYTES_MAX)
    }
}

fn switches_path(data: &Utf8Path) -> Utf8PathBuf {
    data.join("skills.json")
}

/// Parses what was read; nothing when there is no file.
pub(crate) fn object(
    path: &Utf8Path,
    bytes: Result<Vec<u8>, ReadError>,
) -> Result<Option<Map<String, Value>>, SettingsError> {
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(ReadError::Missing(_)) => return Ok(None),
        Err(error) => return Err(SettingsError::Read(error)),
    };
    let damaged = |message: String| SettingsError::Damaged { path: path.to_owned(), message };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(damaged("it must be an object".to_owned())),
        Err(error) => Err(damaged(error.to_string())),
    }
}

/// Saves a document that can be read again: within the limit of reading.
pub(crate) fn save(path: &Utf8Path, value: &Value, limit: u64) -> Result<(), SettingsError> {
    let failed = |source| SettingsError::Write { path: path.to_owned(), source };
    let text = format!("{value:#}\n");
    if text.len() as u64 > limit {
        return Err(SettingsError::TooLarge { limit });
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    write_atomically(path, text.as_bytes(), Access::Private).map_err(failed)
}
