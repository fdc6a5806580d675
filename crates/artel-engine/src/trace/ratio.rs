//! How many of all traces are recorded. The same trace is recorded everywhere or nowhere, because its id decides.

use std::fmt;

use artel_model::trace::TraceId;

/// The part of an id that is random in every version of the format, and so decides.
const RANDOM_BITS: u32 = 56;

/// How many of all traces are recorded: from none to all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRatio(f64);

/// Why a number is no ratio.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a ratio is from 0 (no traces) to 1 (all traces), not {0}")]
pub struct SampleRatioError(pub f64);

impl SampleRatio {
    /// All of them.
    pub const ALL: Self = Self(1.0);

    /// Says whether a trace that begins here is recorded.
    pub(super) fn takes(self, trace: TraceId) -> bool {
        let all = 1_u128 << RANDOM_BITS;
        // Compared as whole numbers, because the greatest of them are all the same as floating ones.
        trace.get() % all < (self.0 * all as f64) as u128
    }
}

impl fmt::Display for SampleRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<f64> for SampleRatio {
    type Error = SampleRatioError;

    fn try_from(ratio: f64) -> Result<Self, SampleRatioError> {
        if (0.0..=1.0).contains(&ratio) { Ok(Self(ratio)) } else { Err(SampleRatioError(ratio)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_decides() {
        let trace = |number| TraceId::new(number).unwrap();
        let half = SampleRatio::try_from(0.5).unwrap();
        assert!(half.takes(trace(1)));
        assert!(!half.takes(trace(0x00ff_ffff_ffff_ffff)));
        assert!(SampleRatio::ALL.takes(trace(u128::MAX)));
        assert!(!SampleRatio::try_from(0.0).unwrap().takes(trace(1 << 100)));
    }

    #[test]
    fn a_ratio_is_a_part_of_all() {
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(SampleRatio::try_from(wrong).is_err(), "{wrong}");
        }
    }
}
