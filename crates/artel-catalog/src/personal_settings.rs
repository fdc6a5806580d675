//! The settings that a caller has of their own over those of the operator: one file for each skill of each source and each
//! owner, beside the data of skills and out of reach of scripts.

use artel_model::access::UserId;
use artel_model::data_scope::{OwnerKey, SkillOrigin, skill_folder};
use artel_model::limit::PERSONAL_SETTINGS_BYTES_MAX;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use crate::settings::{SettingsError, object, save};
use crate::source::read_file;

/// The folder of all personal settings, inside artel's data folder.
const ROOT: &str = "skill-settings";

/// Returns the folder of all callers' settings of one skill of one source.
pub fn personal_settings_folder(data: &Utf8Path, origin: &SkillOrigin) -> Utf8PathBuf {
    data.join(ROOT).join(skill_folder(origin))
}

/// Returns where one caller's settings of a skill are kept, whether they are there or not.
pub fn personal_settings_path(data: &Utf8Path, origin: &SkillOrigin, user: &UserId) -> Utf8PathBuf {
    let owner = OwnerKey::of(Some(user));
    personal_settings_folder(data, origin).join(format!("{}.json", owner.as_str()))
}

/// Reads one caller's settings; there are none when there is no file.
pub fn read_personal_settings(path: &Utf8Path) -> Result<Map<String, Value>, SettingsError> {
    Ok(object(path, read_file(path, PERSONAL_SETTINGS_BYTES_MAX))?.unwrap_or_default())
}

/// Saves one caller's settings; without any, nothing is left of them.
pub fn write_personal_settings(path: &Utf8Path, values: &Map<String, Value>) -> Result<(), SettingsError> {
    if !values.is_empty() {
        return save(path, &Value::Object(values.clone()), PERSONAL_SETTINGS_BYTES_MAX);
    }
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(SettingsError::Write { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn each_caller_has_a_file_for_each_skill_and_it_goes_with_the_last_value() {
        let folder = tempfile::tempdir().unwrap();
        let data = Utf8Path::from_path(folder.path()).unwrap();
        let origin = |id: &str| SkillOrigin { id: id.to_owned(), teams: [].into() };
        let path = |id: &str, user: &str| personal_settings_path(data, &origin(id), &user.parse().unwrap());
        let (own, other) = (path("default/mango", "../ann"), path("default/mango", "bob"));
        assert_ne!(own, other);
        assert_ne!(own, path("hub/h1/mango", "../ann"));
        let values = json!({"style": "noir"}).as_object().unwrap().clone();
        write_personal_settings(&own, &values).unwrap();
        assert_eq!(read_personal_settings(&own).unwrap(), values);
        assert_eq!(read_personal_settings(&other).unwrap(), Map::new());
        assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        for _ in 0..2 {
            write_personal_settings(&own, &Map::new()).unwrap();
            assert!(!own.exists());
        }
        let large = json!({"style": "x".repeat(70_000)}).as_object().unwrap().clone();
        assert!(matches!(write_personal_settings(&own, &large), Err(SettingsError::TooLarge { .. })));
        assert!(!own.exists());
    }
}
