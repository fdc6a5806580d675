//! Where a skill comes from, and who sees it.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::access::{TeamId, UserId, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a skill comes from; the earlier wins by name.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Folders of the server and the binary itself.
    Default,
    /// People, who saved it in the product.
    AgentSkills,
    /// A repository of somebody else.
    Hub,
}

/// A word that is no source.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no source; there are default, agent_skills and hub")]
pub struct UnknownSource(String);

impl SourceKind {
    /// Every source, in the order of precedence.
    pub const ALL: [Self; 3] = [Self::Default, Self::AgentSkills, Self::Hub];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AgentSkills => "agent_skills",
            Self::Hub => "hub",
        }
    }

    /// Returns what people call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Default => "Built-in",
            Self::AgentSkills => "Custom",
            Self::Hub => "Skill hub",
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for SourceKind {
    type Err = UnknownSource;

    fn from_str(text: &str) -> Result<Self, UnknownSource> {
        let found = Self::ALL.into_iter().find(|source| source.as_str() == text);
        found.ok_or_else(|| UnknownSource(text.to_owned()))
    }
}

/// Who sees a skill.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(tag = "visibility", rename_all = "snake_case")]
pub enum Visibility {
    /// Everybody.
    Global,
    /// Everybody who is in one of these teams; never none.
    Team {
        /// The teams.
        team_ids: BTreeSet<TeamId>,
    },
    /// One person.
    Personal {
        /// The person.
        owner_user_id: UserId,
    },
}

/// Why nobody can say who sees a skill.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum VisibilityError {
    /// A word that says nothing; it is refused, never widened.
    #[error("`{0}` is no visibility; there are global, team and personal")]
    Unknown(String),
    /// Teams are missing.
    #[error("`team` needs at least one team in `team_ids`")]
    NoTeams,
    /// Teams are named where they mean nothing.
    #[error("`team_ids` belong to the visibility `team` only")]
    NeedlessTeams,
    /// A person is missing.
    #[error("`personal` needs an owner")]
    NoOwner,
}

impl Visibility {
    /// Puts together what three fields of a document say.
    pub fn new(
        word: &str,
        team_ids: BTreeSet<TeamId>,
        owner: Option<UserId>,
    ) -> Result<Self, VisibilityError> {
        match word {
            "global" | "personal" if !team_ids.is_empty() => Err(VisibilityError::NeedlessTeams),
            "global" => Ok(Self::Global),
            "team" if team_ids.is_empty() => Err(VisibilityError::NoTeams),
            "team" => Ok(Self::Team { team_ids }),
            "personal" => {
                owner.map(|owner_user_id| Self::Personal { owner_user_id }).ok_or(VisibilityError::NoOwner)
            }
            unknown => Err(VisibilityError::Unknown(unknown.chars().take(64).collect())),
        }
    }

    /// The words for all of them.
    pub const WORDS: [&str; 3] = ["global", "team", "personal"];

    /// Returns the word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Team { .. } => "team",
            Self::Personal { .. } => "personal",
        }
    }

    /// Says whether somebody sees it.
    pub fn is_seen_by(&self, viewer: &Viewer) -> bool {
        match self {
            Self::Global => true,
            Self::Team { team_ids } => !team_ids.is_disjoint(&viewer.teams),
            Self::Personal { owner_user_id } => *owner_user_id == viewer.user,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewer(user: &str, teams: &[&str]) -> Viewer {
        Viewer {
            user: user.parse().unwrap(),
            teams: teams.iter().map(|team| team.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn who_sees_what() {
        let teams = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
        let team = Visibility::new("team", teams(&["red", "blue"]), None).unwrap();
        let personal = Visibility::new("personal", teams(&[]), Some("ann".parse().unwrap())).unwrap();
        assert!(Visibility::Global.is_seen_by(&viewer("bob", &[])));
        assert!(team.is_seen_by(&viewer("bob", &["green", "blue"])));
        assert!(!team.is_seen_by(&viewer("ann", &["green"])));
        assert!(personal.is_seen_by(&viewer("ann", &[])));
        assert!(!personal.is_seen_by(&viewer("bob", &["red"])));
    }

    #[test]
    fn what_is_not_said_clearly_is_refused() {
        let teams: BTreeSet<TeamId> = [("red".parse().unwrap())].into();
        let new = Visibility::new;
        assert_eq!(new("public", BTreeSet::new(), None), Err(VisibilityError::Unknown("public".to_owned())));
        assert_eq!(new("Global", BTreeSet::new(), None), Err(VisibilityError::Unknown("Global".to_owned())));
        assert_eq!(new("team", BTreeSet::new(), None), Err(VisibilityError::NoTeams));
        assert_eq!(new("global", teams.clone(), None), Err(VisibilityError::NeedlessTeams));
        assert_eq!(new("personal", teams, None), Err(VisibilityError::NeedlessTeams));
        assert_eq!(new("personal", BTreeSet::new(), None), Err(VisibilityError::NoOwner));
    }
}
