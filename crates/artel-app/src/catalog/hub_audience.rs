//! Who shall see the skills of a hub, in the words of who registers it, and what the catalog makes of them.

use std::collections::BTreeSet;

use artel_catalog::hub::{IncludePath, PathProblem};
use artel_model::access::{TeamId, UserId};
use artel_model::catalog::{HubVisibility, HubVisibilityError, PathRule, Visibility, VisibilityError};

/// Who shall see the skills of a hub.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HubAudience {
    /// Who sees what no rule is about.
    pub whole: AudienceRule,
    /// Rules for folders of the hub.
    pub paths: Vec<(String, AudienceRule)>,
}

/// Who shall see some skills, in words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AudienceRule {
    /// `global`, `team` or `personal`.
    pub visibility: String,
    /// The teams.
    pub team_ids: Vec<String>,
    /// The person; nothing for who registered the hub.
    pub owner_user_id: Option<String>,
}

/// Why it is not clear who shall see the skills of a hub.
#[derive(Debug, thiserror::Error)]
pub enum AudienceError {
    /// A rule that says nothing.
    #[error(transparent)]
    Visibility(#[from] VisibilityError),
    /// A name that is no team or no user.
    #[error("`{0}` cannot be the name of a team or a user")]
    Name(String),
    /// A person who is not asked for.
    #[error("`owner_user_id` belongs to the visibility `personal` only")]
    NeedlessOwner,
    /// A folder that cannot be one.
    #[error("entry {number} of `paths` cannot be used: {problem}")]
    Path {
        /// Which one, from 0.
        number: usize,
        /// Why.
        problem: PathProblem,
    },
    /// Rules that do not go together.
    #[error(transparent)]
    Rules(#[from] HubVisibilityError),
}

impl Default for AudienceRule {
    fn default() -> Self {
        Self { visibility: "global".to_owned(), team_ids: Vec::new(), owner_user_id: None }
    }
}

impl AudienceRule {
    fn parse(&self, registered_by: &UserId) -> Result<Visibility, AudienceError> {
        let named = |text: &String| AudienceError::Name(text.chars().take(64).collect());
        let team = |text: &String| text.parse::<TeamId>().map_err(|_| named(text));
        let teams: BTreeSet<TeamId> = self.team_ids.iter().map(team).collect::<Result<_, _>>()?;
        let owner = match &self.owner_user_id {
            Some(_) if self.visibility != "personal" => return Err(AudienceError::NeedlessOwner),
            Some(owner) => owner.parse().map_err(|_| named(owner))?,
            None => registered_by.clone(),
        };
        Ok(Visibility::new(&self.visibility, teams, Some(owner))?)
    }

    /// Writes a rule down in words.
    pub fn of(visibility: &Visibility) -> Self {
        let (team_ids, owner_user_id) = match visibility {
            Visibility::Global => (Vec::new(), None),
            Visibility::Team { team_ids } => (team_ids.iter().map(ToString::to_string).collect(), None),
            Visibility::Personal { owner_user_id } => (Vec::new(), Some(owner_user_id.to_string())),
        };
        Self { visibility: visibility.as_str().to_owned(), team_ids, owner_user_id }
    }
}

impl HubAudience {
    /// Reads the words; a personal rule without a person means who registered the hub.
    pub(super) fn parse(&self, registered_by: &UserId) -> Result<HubVisibility, AudienceError> {
        let rule = |(number, (path, rule)): (usize, &(String, AudienceRule))| {
            let path = path.parse::<IncludePath>();
            let path = path.map_err(|problem| AudienceError::Path { number, problem })?;
            let visibility = rule.parse(registered_by)?;
            Ok::<_, AudienceError>(PathRule { path: path.path().to_string(), visibility })
        };
        let paths = self.paths.iter().enumerate().map(rule).collect::<Result<_, _>>()?;
        Ok(HubVisibility::new(self.whole.parse(registered_by)?, paths)?)
    }

    /// Writes down in words who sees the skills of a hub.
    pub(super) fn of(visibility: &HubVisibility) -> Self {
        let rule = |rule: &PathRule| (rule.path.clone(), AudienceRule::of(&rule.visibility));
        Self {
            whole: AudienceRule::of(&visibility.whole),
            paths: visibility.paths.iter().map(rule).collect(),
        }
    }
}
