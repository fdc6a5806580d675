//! How well a skill has been doing, as a state machine over the outcomes of its runs.

use serde::{Serialize, Serializer};

/// Failures in a row after which a healthy skill is degraded, and a degraded one has failed for good.
pub const FAILURES_PER_STAGE: u32 = 3;

/// What a script says as `errorCode` when the network failed it.
pub const NETWORK_ERROR_CODES: &[&str] = &[
    "CONNECTION_REFUSED",
    "CONNECTION_RESET",
    "DNS_ERROR",
    "HOST_UNREACHABLE",
    "NETWORK_ERROR",
    "NETWORK_UNREACHABLE",
    "TIMEOUT",
];

/// Says whether an `errorCode` is one of [`NETWORK_ERROR_CODES`], whatever its case, with `-` or `_`.
pub fn is_network_error(code: &str) -> bool {
    NETWORK_ERROR_CODES.iter().any(|known| known.eq_ignore_ascii_case(&code.replace('-', "_")))
}

/// The health of a skill.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Health {
    /// Works; fewer than [`FAILURES_PER_STAGE`] failures in a row.
    Healthy {
        /// Failures since the last success.
        failures: u32,
    },
    /// Unreliable but usable.
    Degraded {
        /// Failures since the last success.
        failures: u32,
    },
    /// A run since the last success timed out or could not reach the network; another try may succeed.
    TemporaryFailure {
        /// Ordinary failures since the last success.
        failures: u32,
    },
    /// Neither planned nor run until an operator or a changed skill resets it.
    PermanentFailure,
}

/// How one run of a skill ended, as far as its health is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunOutcome {
    /// It did what it should.
    Success,
    /// It failed.
    Failure,
    /// It timed out or the network failed.
    Transient,
}

impl Health {
    /// The health of a skill that has not run.
    pub const NEW: Self = Self::Healthy { failures: 0 };

    /// Returns the health after one more run.
    #[must_use]
    pub fn after(self, outcome: RunOutcome) -> Self {
        let Some(failures) = self.failures() else { return Self::PermanentFailure };
        match outcome {
            RunOutcome::Success => Self::NEW,
            RunOutcome::Transient => Self::TemporaryFailure { failures },
            RunOutcome::Failure => self.with_failures(failures + 1),
        }
    }

    /// Returns the health after an operator enabled the skill, or its content changed.
    #[must_use]
    pub fn reset(self) -> Self {
        Self::NEW
    }

    /// Says whether the skill may be planned and run.
    pub fn is_usable(self) -> bool {
        self != Self::PermanentFailure
    }

    /// Returns the name people and documents use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy { .. } => "healthy",
            Self::Degraded { .. } => "degraded",
            Self::TemporaryFailure { .. } => "temporaryFailure",
            Self::PermanentFailure => "permanentFailure",
        }
    }

    /// Returns the health with this name and so many failures since the last success; nothing when there is none.
    pub fn from_parts(name: &str, failures: u32) -> Option<Self> {
        let all = [
            Self::Healthy { failures },
            Self::Degraded { failures },
            Self::TemporaryFailure { failures },
            Self::PermanentFailure,
        ];
        all.into_iter().find(|health| health.as_str() == name)
    }

    /// Returns the ordinary failures since the last success; nothing once they do not count any more.
    pub fn failures(self) -> Option<u32> {
        match self {
            Self::Healthy { failures }
            | Self::Degraded { failures }
            | Self::TemporaryFailure { failures } => Some(failures),
            Self::PermanentFailure => None,
        }
    }

    fn with_failures(self, failures: u32) -> Self {
        if failures >= 2 * FAILURES_PER_STAGE {
            Self::PermanentFailure
        } else if failures >= FAILURES_PER_STAGE {
            Self::Degraded { failures }
        } else if let Self::TemporaryFailure { .. } = self {
            Self::TemporaryFailure { failures }
        } else {
            Self::Healthy { failures }
        }
    }
}

impl Serialize for Health {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `.` is a success, `x` a failure, `t` a time-out.
    #[track_caller]
    fn check(outcomes: &str, expected: &str) {
        let health = outcomes.chars().fold(Health::NEW, |health, outcome| {
            health.after(match outcome {
                '.' => RunOutcome::Success,
                'x' => RunOutcome::Failure,
                't' => RunOutcome::Transient,
                other => panic!("unknown outcome {other}"),
            })
        });
        assert_eq!(health.as_str(), expected, "{outcomes}");
    }

    #[test]
    fn failures_in_a_row_degrade_and_then_end_a_skill() {
        check("", "healthy");
        check("xx", "healthy");
        check("xxx", "degraded");
        check("xxxxx", "degraded");
        check("xxxxxx", "permanentFailure");
        check("xx.xx", "healthy");
        check("xxxxx.", "healthy");
    }

    #[test]
    fn a_time_out_is_temporary_and_never_permanent() {
        check("t", "temporaryFailure");
        check("tttttttttt", "temporaryFailure");
        check("t.", "healthy");
        check("tx", "temporaryFailure");
        check("xxxt", "temporaryFailure");
        check("xxxtx", "degraded");
        check("xxxtxtxx", "permanentFailure");
    }

    #[test]
    fn network_errors_are_told_by_their_codes() {
        for code in ["NETWORK_ERROR", "network-error", "Dns_Error", "TIMEOUT", "connection-REFUSED"] {
            assert!(is_network_error(code), "{code}");
        }
        for code in ["", "ERROR", "NETWORK", "NETWORK_ERRORS", "NETWORK ERROR", "TIME_OUT"] {
            assert!(!is_network_error(code), "{code}");
        }
        assert!(NETWORK_ERROR_CODES.is_sorted());
    }

    #[test]
    fn only_a_reset_ends_a_permanent_failure() {
        check("xxxxxx...", "permanentFailure");
        assert_eq!(Health::PermanentFailure.reset(), Health::NEW);
        assert!(!Health::PermanentFailure.is_usable());
    }

    #[test]
    fn health_is_made_of_its_parts_again() {
        let mut health = Health::NEW;
        for outcome in [RunOutcome::Failure, RunOutcome::Transient, RunOutcome::Failure].repeat(4) {
            health = health.after(outcome);
            let again = Health::from_parts(health.as_str(), health.failures().unwrap_or(0));
            assert_eq!(again, Some(health));
        }
        assert_eq!(health, Health::PermanentFailure);
        assert_eq!(Health::from_parts("poorly", 0), None);
    }

    proptest! {
        #[test]
        fn one_success_heals_whatever_is_not_permanent(outcomes in "[.xt]{0,20}") {
            let health = outcomes.chars().fold(Health::NEW, |health, outcome| match outcome {
                'x' => health.after(RunOutcome::Failure),
                't' => health.after(RunOutcome::Transient),
                _ => health.after(RunOutcome::Success),
            });
            let healed = health.after(RunOutcome::Success);
            prop_assert_eq!(healed, if health.is_usable() { Health::NEW } else { Health::PermanentFailure });
        }
    }
}
