//! The names of skills across all sources. They say where a skill comes from, and stay as they are while it is changed.

use std::fmt;
use std::str::FromStr;

use artel_model::catalog::SourceKind;
use artel_model::id::{CustomSkillId, HubId};
use artel_model::name::SkillName;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The id of a skill in the shared catalog; for others than this crate a text without parts.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum EntryId {
    /// `default/<name>`.
    Default(SkillName),
    /// `agent_skills/<id>`.
    Custom(CustomSkillId),
    /// `hub/<hub>/<name>`.
    Hub(HubId, SkillName),
}

/// A text that is no id of a skill.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("this is no id of a skill: they look like default/NAME, agent_skills/ID or hub/ID/NAME")]
pub struct EntryIdError;

impl EntryId {
    /// Returns where the skill comes from.
    pub fn source(&self) -> SourceKind {
        match self {
            Self::Default(_) => SourceKind::Default,
            Self::Custom(_) => SourceKind::AgentSkills,
            Self::Hub(..) => SourceKind::Hub,
        }
    }

    /// Returns the hub or the saved skill.
    pub fn source_id(&self) -> Option<String> {
        match self {
            Self::Default(_) => None,
            Self::Custom(id) => Some(id.to_string()),
            Self::Hub(hub, _) => Some(hub.to_string()),
        }
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.source();
        match self {
            Self::Default(name) => write!(f, "{source}/{name}"),
            Self::Custom(id) => write!(f, "{source}/{id}"),
            Self::Hub(hub, name) => write!(f, "{source}/{hub}/{name}"),
        }
    }
}

impl FromStr for EntryId {
    type Err = EntryIdError;

    fn from_str(text: &str) -> Result<Self, EntryIdError> {
        let (source, rest) = text.split_once('/').ok_or(EntryIdError)?;
        let id = match source.parse().map_err(|_| EntryIdError)? {
            SourceKind::Default => Self::Default(rest.parse().map_err(|_| EntryIdError)?),
            SourceKind::AgentSkills => Self::Custom(rest.parse().map_err(|_| EntryIdError)?),
            SourceKind::Hub => {
                let (hub, name) = rest.split_once('/').ok_or(EntryIdError)?;
                let hub = hub.parse().map_err(|_| EntryIdError)?;
                Self::Hub(hub, name.parse().map_err(|_| EntryIdError)?)
            }
        };
        // A uuid can be written in several ways, an id in one.
        if id.to_string() == text { Ok(id) } else { Err(EntryIdError) }
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written_and_in_no_other_way() {
        let uuid = "0190f5c2-7a3b-7c4d-8e5f-0123456789ab";
        for text in ["default/git", &format!("agent_skills/{uuid}"), &format!("hub/{uuid}/git")] {
            let id: EntryId = text.parse().unwrap();
            assert_eq!(id.to_string(), text);
            assert_eq!(serde_json::from_value::<EntryId>(serde_json::to_value(&id).unwrap()).unwrap(), id);
        }
        let upper = uuid.to_uppercase();
        for text in [
            "",
            "git",
            "default",
            "default/",
            "default/a/b",
            "default/Git",
            "custom/git",
            "hub/git",
            "hub//git",
            &format!("hub/{uuid}"),
            &format!("hub/{uuid}/"),
            &format!("agent_skills/{upper}"),
            &format!("agent_skills/{}", uuid.replace('-', "")),
            &format!("hub/{uuid}/../x"),
            " default/git",
        ] {
            assert_eq!(text.parse::<EntryId>(), Err(EntryIdError), "{text:?}");
        }
    }
}
