//! The only place that reads the environment of the process.

use std::collections::BTreeMap;

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
