//! A role: what an agent of a team may do, beside its skills.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::NAME_CHARS_MAX;
use crate::tool::ToolPattern;

/// The name of a role: `designer`, `constraint_solver`.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = NAME_CHARS_MAX, "pattern" = RoleName::PATTERN))]
pub struct RoleName(String);

/// A text that is no role's name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a role's name has 1 to {NAME_CHARS_MAX} letters, digits, `-` or `_`")]
pub struct RoleNameError;

/// What an agent with a role may do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Role {
    /// Its name.
    pub name: RoleName,
    /// Operations it may call.
    pub allowed: Vec<ToolPattern>,
    /// Operations it may not, whatever is allowed.
    pub forbidden: Vec<ToolPattern>,
}

impl RoleName {
    /// What a name looks like, as a JSON Schema says it; the length is said apart.
    pub const PATTERN: &str = "^[A-Za-z0-9_-]+$";

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RoleName {
    type Err = RoleNameError;

    fn from_str(text: &str) -> Result<Self, RoleNameError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_name = !text.is_empty() && text.len() <= NAME_CHARS_MAX && text.chars().all(fits);
        if is_name { Ok(Self(text.to_owned())) } else { Err(RoleNameError) }
    }
}

impl TryFrom<String> for RoleName {
    type Error = RoleNameError;

    fn try_from(text: String) -> Result<Self, RoleNameError> {
        text.parse()
    }
}

impl From<RoleName> for String {
    fn from(name: RoleName) -> Self {
        name.0
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
