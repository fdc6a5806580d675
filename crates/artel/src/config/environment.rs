//! The only place that reads the environment of the process.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};

/// The environment as it was when artel started.
#[derive(Clone, Debug)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Takes the environment of this process. Variables that are not UTF-8 are left out.
    #[expect(clippy::disallowed_methods, reason = "the environment is read here and nowhere else")]
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// Returns every variable, by name.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        self.0.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Returns a program that is found on `PATH`.
    pub(crate) fn on_path(&self, program: &str) -> Option<Utf8PathBuf> {
        let folders = self.get("PATH")?.split(':').filter(|folder| !folder.is_empty());
        let is_executable = |path: &Utf8PathBuf| {
            path.metadata()
                .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        };
        folders.map(|folder| Utf8Path::new(folder).join(program)).find(is_executable)
    }

    /// Returns a variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
impl Environment {
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }
}
