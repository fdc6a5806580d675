//! How much of a server one user may use. Knows nothing of who counts it, or how.

use crate::limit::{QUOTA_AGENTS, QUOTA_DATA_BYTES, QUOTA_RUNS, QUOTA_SAVED_BYTES, QUOTA_SAVED_SKILLS};

/// Something of which one user may have only so much.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Quota {
    /// Skills that the user saved.
    SavedSkills,
    /// Bytes of all files of these skills.
    SavedBytes,
    /// Agents of the user that live.
    Agents,
    /// Runs of the user that have not ended.
    Runs,
    /// Bytes that skills keep for the user in `data/`, or in one folder that is shared.
    DataBytes,
}

impl Quota {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SavedSkills => "saved_skills",
            Self::SavedBytes => "saved_bytes",
            Self::Agents => "agents",
            Self::Runs => "runs",
            Self::DataBytes => "data_bytes",
        }
    }

    /// Returns what the user can do about it.
    fn remedy(self) -> &'static str {
        match self {
            Self::SavedSkills | Self::SavedBytes => "delete skills that are not needed",
            Self::Agents => "terminate agents that are not needed",
            Self::Runs => "wait until a run has ended, or cancel one",
            Self::DataBytes => "remove what a skill keeps for you with `artel skill forget-data NAME`",
        }
    }
}

/// How much each user may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quotas {
    /// See [`Quota::SavedSkills`].
    pub saved_skills: u64,
    /// See [`Quota::SavedBytes`].
    pub saved_bytes: u64,
    /// See [`Quota::Agents`].
    pub agents: u64,
    /// See [`Quota::Runs`].
    pub runs: u64,
    /// See [`Quota::DataBytes`].
    pub data_bytes: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            saved_skills: QUOTA_SAVED_SKILLS,
            saved_bytes: QUOTA_SAVED_BYTES,
            agents: QUOTA_AGENTS,
            runs: QUOTA_RUNS,
            data_bytes: QUOTA_DATA_BYTES,
        }
    }
}

/// A user would have more than they may.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the quota `{}` is used up ({used} of {limit}); {}", .quota.as_str(), .quota.remedy())]
pub struct QuotaExceeded {
    /// Of what.
    pub quota: Quota,
    /// How much there is already.
    pub used: u64,
    /// How much there may be.
    pub limit: u64,
}

impl Quotas {
    /// Returns how much there may be.
    pub fn limit(&self, quota: Quota) -> u64 {
        match quota {
            Quota::SavedSkills => self.saved_skills,
            Quota::SavedBytes => self.saved_bytes,
            Quota::Agents => self.agents,
            Quota::Runs => self.runs,
            Quota::DataBytes => self.data_bytes,
        }
    }

    /// Says whether a user who has `used` may have `more`.
    pub fn allow(&self, quota: Quota, used: u64, more: u64) -> Result<(), QuotaExceeded> {
        let limit = self.limit(quota);
        match used.saturating_add(more) <= limit {
            true => Ok(()),
            false => Err(QuotaExceeded { quota, used, limit }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_full_when_the_next_does_not_fit() {
        let quotas = Quotas { saved_bytes: 100, runs: 2, ..Quotas::default() };
        assert_eq!(quotas.allow(Quota::Runs, 1, 1), Ok(()));
        let full = QuotaExceeded { quota: Quota::Runs, used: 2, limit: 2 };
        assert_eq!(quotas.allow(Quota::Runs, 2, 1), Err(full));
        assert_eq!(quotas.allow(Quota::SavedBytes, 40, 60), Ok(()));
        assert!(quotas.allow(Quota::SavedBytes, 40, 61).is_err());
        assert!(quotas.allow(Quota::SavedBytes, u64::MAX, u64::MAX).is_err());
        assert_eq!(
            full.to_string(),
            "the quota `runs` is used up (2 of 2); wait until a run has ended, or cancel one"
        );
    }
}
