//! How well a skill has been doing: failures are counted for each principal and each content of the skill, and what one
//! principal sees follows from their own failures and from those of several others, never from one other alone.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::data_scope::OwnerKey;
use crate::limit::{HEALTH_PRINCIPALS_MIN, HEALTH_PROBE_DOUBLINGS_MAX, HEALTH_PROBE_MS};
use crate::time::Timestamp;

/// Failures in a row after which a healthy skill is degraded, and a degraded one has failed for good.
pub const FAILURES_PER_STAGE: u32 = 3;
/// Failures of one principal that are counted; more change nothing.
const FAILURES_MAX: u32 = 2 * FAILURES_PER_STAGE + HEALTH_PROBE_DOUBLINGS_MAX;

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

/// What a script says as `errorCode` when its caller gave it something that it cannot use.
pub const INPUT_ERROR_CODES: &[&str] = &[
    "BAD_REQUEST",
    "CONFLICT",
    "FORBIDDEN",
    "NOT_FOUND",
    "OUT_OF_RANGE",
    "UNAUTHORIZED",
    "UNSUPPORTED",
    "VALIDATION_ERROR",
];

/// How codes begin that say the same of one thing: `INVALID_INPUT`, `UNKNOWN_LOCATION`.
pub const INPUT_ERROR_PREFIXES: &[&str] = &["INVALID_", "UNKNOWN_"];

/// Says whether an `errorCode` is one of [`INPUT_ERROR_CODES`] or begins with one of [`INPUT_ERROR_PREFIXES`], whatever its
/// case, with `-` or `_`.
pub fn is_input_error(code: &str) -> bool {
    let code = code.replace('-', "_").to_ascii_uppercase();
    INPUT_ERROR_CODES.contains(&code.as_str())
        || INPUT_ERROR_PREFIXES.iter().any(|prefix| code.len() > prefix.len() && code.starts_with(prefix))
}

/// The health of a skill, as one principal sees it.
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
    /// Neither planned nor run until its next probe, or until an operator or a changed skill resets it.
    PermanentFailure,
}

/// How one run of a skill ended, as far as its health is concerned. A run that says nothing about the skill, because its caller,
/// the operator or the machine caused its end, has no outcome.
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

    /// Says whether the skill may be planned and run.
    pub fn is_usable(self) -> bool {
        self != Self::PermanentFailure
    }

    /// The names people and documents use.
    pub const WORDS: [&str; 4] = ["healthy", "degraded", "temporaryFailure", "permanentFailure"];

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

    fn rank(self) -> u8 {
        match self {
            Self::Healthy { .. } => 0,
            Self::TemporaryFailure { .. } => 1,
            Self::Degraded { .. } => 2,
            Self::PermanentFailure => 3,
        }
    }

    fn worse(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

impl Serialize for Health {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What one principal went through with one content of a skill since their last success there.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Tally {
    failures: u32,
    has_transient: bool,
}

/// A text that is no tally.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("this is no tally of failures: it is a number, with a `t` behind it after a time-out")]
pub struct TallyError;

impl Tally {
    /// No failure since the last success.
    pub const CLEAR: Self = Self { failures: 0, has_transient: false };

    /// Returns every tally there can be.
    pub fn all() -> impl Iterator<Item = Self> {
        let both = |failures| [false, true].map(|has_transient| Self { failures, has_transient });
        (0..=FAILURES_MAX).flat_map(both)
    }

    /// Returns the tally after one more run.
    #[must_use]
    pub fn after(self, outcome: RunOutcome) -> Self {
        match outcome {
            RunOutcome::Success => Self::CLEAR,
            RunOutcome::Transient => Self { has_transient: true, ..self },
            RunOutcome::Failure => {
                let failures = (self.failures + 1).min(FAILURES_MAX);
                Self { failures, has_transient: self.has_transient && failures < FAILURES_PER_STAGE }
            }
        }
    }

    /// Says whether these failures end a skill until its next probe.
    fn has_ended(self) -> bool {
        self.failures >= 2 * FAILURES_PER_STAGE && !self.has_transient
    }

    /// Returns the health that these failures alone mean at a moment, when the last of them was at another.
    fn health(self, at: Timestamp, now: Timestamp) -> Health {
        let failures = self.failures;
        match failures.checked_sub(2 * FAILURES_PER_STAGE) {
            _ if self.has_transient => Health::TemporaryFailure { failures },
            Some(probes) if !is_probe_due(at, probes, now) => Health::PermanentFailure,
            _ if failures >= FAILURES_PER_STAGE => Health::Degraded { failures },
            _ => Health::Healthy { failures },
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.failures, if self.has_transient { "t" } else { "" })
    }
}

impl FromStr for Tally {
    type Err = TallyError;

    fn from_str(text: &str) -> Result<Self, TallyError> {
        let (number, has_transient) = match text.strip_suffix('t') {
            Some(number) => (number, true),
            None => (text, false),
        };
        let failures = number.parse().map_err(|_| TallyError)?;
        let tally = Self { failures, has_transient };
        // What is kept was written by this type, in one way only.
        if failures <= FAILURES_MAX && tally.to_string() == text { Ok(tally) } else { Err(TallyError) }
    }
}

/// The tally of one principal, and when it last changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counted {
    /// What they went through.
    pub tally: Tally,
    /// When their last run ended that counted.
    pub at: Timestamp,
}

/// Counts one more run of a principal among the tallies of one content of a skill. A success is kept only while failures of
/// other principals are, which it came after.
pub fn count(
    counted: &mut BTreeMap<OwnerKey, Counted>,
    principal: &OwnerKey,
    outcome: RunOutcome,
    at: Timestamp,
) {
    let before = counted.remove(principal).map_or(Tally::CLEAR, |known| known.tally);
    let tally = before.after(outcome);
    if tally != Tally::CLEAR || counted.values().any(|other| other.tally != Tally::CLEAR) {
        counted.insert(principal.clone(), Counted { tally, at });
    }
}

/// Returns the health of one content of a skill, as one principal sees it at a moment.
///
/// One's own failures degrade a skill for oneself. Those of others show only when [`HEALTH_PRINCIPALS_MIN`] of them failed
/// since the last success of any principal, each counting for one stage at most; and only those end a skill. The local owner,
/// who has the machine alone, ends it alone, and only for their own runs.
pub fn seen_by(counted: &BTreeMap<OwnerKey, Counted>, principal: &OwnerKey, now: Timestamp) -> Health {
    let own = counted.get(principal).map_or(Health::NEW, |known| known.tally.health(known.at, now));
    let own = match own {
        Health::PermanentFailure if !principal.is_local() => {
            Health::Degraded { failures: 2 * FAILURES_PER_STAGE }
        }
        Health::Healthy { .. }
        | Health::Degraded { .. }
        | Health::TemporaryFailure { .. }
        | Health::PermanentFailure => own,
    };
    own.worse(shared(counted, now))
}

/// Returns the moment of the last failure when a skill has ended for a principal and its time to be tried again has come: one
/// run may try it, and that moment names the try.
pub fn due_probe(
    counted: &BTreeMap<OwnerKey, Counted>,
    principal: &OwnerKey,
    now: Timestamp,
) -> Option<Timestamp> {
    let own = counted.get(principal).filter(|_| principal.is_local()).copied();
    let due = [own, shared_tally(counted)].into_iter().flatten();
    due.filter(|known| known.tally.has_ended() && known.tally.health(known.at, now).is_usable())
        .map(|known| known.at)
        .max()
}

/// Returns the health that the failures of several principals mean for all of them.
fn shared(counted: &BTreeMap<OwnerKey, Counted>, now: Timestamp) -> Health {
    shared_tally(counted).map_or(Health::NEW, |known| known.tally.health(known.at, now))
}

fn shared_tally(counted: &BTreeMap<OwnerKey, Counted>) -> Option<Counted> {
    let clear = counted.values().filter(|known| known.tally == Tally::CLEAR).map(|known| known.at).max();
    let is_later = |known: &&Counted| clear.is_none_or(|clear| known.at > clear);
    let failing: Vec<&Counted> =
        counted.values().filter(|known| known.tally.failures > 0).filter(is_later).collect();
    let at = failing.iter().map(|known| known.at).max().filter(|_| failing.len() >= HEALTH_PRINCIPALS_MIN)?;
    let failures = failing.iter().map(|known| known.tally.failures.min(FAILURES_PER_STAGE)).sum();
    Some(Counted { tally: Tally { failures, has_transient: false }, at })
}

/// Says whether a skill that ended may be tried again: after a time that doubles with each try.
fn is_probe_due(at: Timestamp, probes: u32, now: Timestamp) -> bool {
    now >= at + (HEALTH_PROBE_MS << probes.min(HEALTH_PROBE_DOUBLINGS_MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: i64 = 1_700_000_000_000;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(START) + millis
    }

    fn key(name: char) -> OwnerKey {
        match name {
            'l' => OwnerKey::of(None),
            other => OwnerKey::of(Some(&other.to_string().parse().unwrap())),
        }
    }

    fn outcome(letter: char) -> RunOutcome {
        match letter {
            '.' => RunOutcome::Success,
            'x' => RunOutcome::Failure,
            't' => RunOutcome::Transient,
            other => panic!("unknown outcome {other}"),
        }
    }

    /// `ax` is a failure of `a`, `b.` a success of `b`, `lt` a time-out of the local owner; one each millisecond.
    fn told(story: &str) -> BTreeMap<OwnerKey, Counted> {
        let mut counted = BTreeMap::new();
        for (place, event) in (0..).zip(story.split_whitespace()) {
            let mut letters = event.chars();
            let (who, what) = (letters.next().unwrap(), letters.next().unwrap());
            count(&mut counted, &key(who), outcome(what), at(place));
        }
        counted
    }

    /// What `who` sees right after a story.
    #[track_caller]
    fn check(story: &str, who: char, expected: &str) {
        let now = at(story.split_whitespace().count() as u64);
        assert_eq!(seen_by(&told(story), &key(who), now).as_str(), expected, "{who} after {story}");
    }

    #[test]
    fn the_local_owner_sees_failures_in_a_row_degrade_and_then_end_a_skill() {
        let story = |outcomes: &str| outcomes.chars().map(|one| format!("l{one} ")).collect::<String>();
        for (outcomes, expected) in [
            ("", "healthy"),
            ("xx", "healthy"),
            ("xxx", "degraded"),
            ("xxxxx", "degraded"),
            ("xxxxxx", "permanentFailure"),
            ("xx.xx", "healthy"),
            ("xxxxx.", "healthy"),
            ("xxxxxx.", "healthy"),
            ("t", "temporaryFailure"),
            ("tttttttttt", "temporaryFailure"),
            ("t.", "healthy"),
            ("tx", "temporaryFailure"),
            ("xxxt", "temporaryFailure"),
            ("xxxtx", "degraded"),
            ("xxxtxtxx", "permanentFailure"),
        ] {
            check(&story(outcomes), 'l', expected);
        }
    }

    #[test]
    fn one_principal_alone_ends_nothing_and_shows_nothing_to_others() {
        let story = "ax ".repeat(40);
        check(&story, 'a', "degraded");
        check(&story, 'b', "healthy");
        check(&story, 'l', "healthy");
        let story = "lx ".repeat(40);
        check(&story, 'l', "permanentFailure");
        check(&story, 'a', "healthy");
    }

    #[test]
    fn several_principals_together_end_a_skill_for_all() {
        check("ax bx", 'c', "healthy");
        check("ax bx cx", 'd', "degraded");
        check("ax ax bx bx cx", 'd', "degraded");
        check("ax ax bx bx cx cx", 'd', "permanentFailure");
        check("ax ax bx bx cx cx", 'a', "permanentFailure");
        // One who fails a hundred times counts for one stage.
        check(&format!("{}bx cx", "ax ".repeat(100)), 'd', "degraded");
        // A success of any of them says that it works.
        check("ax ax bx bx cx cx d.", 'e', "healthy");
        check("ax ax ax bx bx cx cx d.", 'a', "degraded");
    }

    #[test]
    fn a_skill_that_ended_is_tried_again_after_a_time_that_doubles() {
        let counted = told("lx lx lx lx lx lx");
        let seen = |counted: &BTreeMap<_, _>, millis| seen_by(counted, &key('l'), at(5 + millis)).as_str();
        assert_eq!(seen(&counted, HEALTH_PROBE_MS - 1), "permanentFailure");
        assert_eq!(seen(&counted, HEALTH_PROBE_MS), "degraded");
        let counted = told("lx lx lx lx lx lx lx");
        assert_eq!(seen(&counted, 2 * HEALTH_PROBE_MS), "permanentFailure");
        assert_eq!(seen(&counted, 2 * HEALTH_PROBE_MS + 1), "degraded");
        let counted = told(&"lx ".repeat(1000));
        let longest = HEALTH_PROBE_MS << HEALTH_PROBE_DOUBLINGS_MAX;
        assert_eq!(seen(&counted, 1000 + longest), "degraded");
        let counted = told("ax ax bx bx cx cx");
        assert_eq!(seen_by(&counted, &key('d'), at(5 + HEALTH_PROBE_MS)).as_str(), "degraded");
    }

    #[test]
    fn a_probe_is_named_by_the_last_failure() {
        let due = |story: &str, who, millis| due_probe(&told(story), &key(who), at(millis));
        let six = "lx lx lx lx lx lx";
        assert_eq!(due(six, 'l', 5 + HEALTH_PROBE_MS - 1), None);
        assert_eq!(due(six, 'l', 5 + HEALTH_PROBE_MS), Some(at(5)));
        assert_eq!(due(six, 'a', 5 + HEALTH_PROBE_MS), None, "it has not ended for others");
        assert_eq!(due("lx lx lx lx lx", 'l', 5 + HEALTH_PROBE_MS), None, "it has not ended");
        assert_eq!(due(&format!("{six} l."), 'l', 9 + HEALTH_PROBE_MS), None, "it works");
        assert_eq!(due(&format!("{six} lx"), 'l', 6 + 2 * HEALTH_PROBE_MS), Some(at(6)));
        for who in ['a', 'd', 'l'] {
            assert_eq!(due("ax ax bx bx cx cx", who, 5 + HEALTH_PROBE_MS), Some(at(5)));
        }
    }

    #[test]
    fn errors_are_told_by_their_codes() {
        for code in ["NETWORK_ERROR", "network-error", "Dns_Error", "TIMEOUT", "connection-REFUSED"] {
            assert!(is_network_error(code) && !is_input_error(code), "{code}");
        }
        for code in ["invalid_input", "INVALID-INPUT", "unknown_location", "Not_Found", "validation_error"] {
            assert!(is_input_error(code) && !is_network_error(code), "{code}");
        }
        for code in
            ["", "ERROR", "NETWORK", "NETWORK_ERRORS", "NETWORK ERROR", "TIME_OUT", "INVALID", "UNKNOWN_"]
        {
            assert!(!is_network_error(code) && !is_input_error(code), "{code}");
        }
        assert!(NETWORK_ERROR_CODES.is_sorted() && INPUT_ERROR_CODES.is_sorted());
    }

    #[test]
    fn tallies_and_health_are_read_again() {
        for tally in Tally::all() {
            assert_eq!(tally.to_string().parse(), Ok(tally));
            for outcome in ['.', 'x', 't'].map(outcome) {
                assert!(Tally::all().any(|known| known == tally.after(outcome)));
            }
        }
        for text in ["", "t", "-1", "+1", "01", "1T", "99", "1 t"] {
            assert_eq!(text.parse::<Tally>(), Err(TallyError), "{text}");
        }
        assert_eq!(Health::from_parts("degraded", 3), Some(Health::Degraded { failures: 3 }));
        assert_eq!(Health::from_parts("poorly", 0), None);
    }

    proptest! {
        /// Whatever one principal does, another one sees the same.
        #[test]
        fn what_one_principal_does_changes_nothing_for_another(
            mine in prop::collection::vec(prop::sample::select(vec!["b.", "bx", "bt"]), 0..12),
            theirs in prop::collection::vec(prop::sample::select(vec!["a.", "ax", "at"]), 0..30),
            order in prop::collection::vec(any::<bool>(), 42),
        ) {
            let (mut left, mut right) = (mine.iter(), theirs.iter());
            let both: Vec<&str> =
                order.iter().filter_map(|first| if *first { left.next() } else { right.next() }).copied().collect();
            let alone: Vec<&str> = both.iter().copied().filter(|event| event.starts_with('b')).collect();
            let seen = |story: &[&str]| seen_by(&told(&story.join(" ")), &key('b'), at(100));
            prop_assert_eq!(seen(&both), seen(&alone));
        }

        #[test]
        fn a_success_heals_for_oneself_and_only_remote_principals_together_end_a_skill(
            story in prop::collection::vec(prop::sample::select(vec!["a.", "ax", "at", "bx", "b.", "bt"]), 0..40),
        ) {
            let story = story.join(" ");
            let counted = told(&story);
            prop_assert!(seen_by(&counted, &key('a'), at(50)).is_usable());
            let healed = told(&format!("{story} a."));
            prop_assert_eq!(seen_by(&healed, &key('a'), at(50)), Health::NEW);
        }
    }
}
