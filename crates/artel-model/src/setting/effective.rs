//! The settings a script gets, and what of them may be seen.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

/// What is shown instead of a secret.
pub const MASK: &str = "********";

/// The settings a script gets. Debug output hides every secret.
#[derive(Clone, PartialEq)]
pub struct EffectiveConfig {
    values: Map<String, Value>,
    hidden: BTreeSet<String>,
}

impl EffectiveConfig {
    /// Settings of which those in `hidden` are secret.
    pub(super) fn new(values: Map<String, Value>, hidden: BTreeSet<String>) -> Self {
        Self { values, hidden }
    }

    /// Settings of a skill that has no schema: as they are, and all hidden, since nobody says which are secret.
    pub fn unchecked(values: Map<String, Value>) -> Self {
        let hidden = values.keys().cloned().collect();
        Self { values, hidden }
    }

    /// Returns the values themselves, for the script only.
    pub fn reveal(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Returns the values with every secret hidden.
    pub fn masked(&self) -> Map<String, Value> {
        let show = |(name, value): (&String, &Value)| {
            let value = if self.hidden.contains(name) { Value::from(MASK) } else { value.clone() };
            (name.clone(), value)
        };
        self.values.iter().map(show).collect()
    }
}

impl fmt::Debug for EffectiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EffectiveConfig").field(&self.masked()).finish()
    }
}
