//! Moments and spans in milliseconds. Time is always an argument: nothing here reads a clock.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment: milliseconds since 1970. Written as RFC 3339 in documents.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd)]
#[schemars(with = "String", inline, extend("format" = "date-time"))]
pub struct Timestamp(i64);

/// The unit of moments that have no written form.
const MILLIS: &str = " ms";

/// A text that is no moment.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a time like 2026-01-31T12:00:00Z")]
pub struct TimestampError(String);

impl Timestamp {
    /// Makes a moment of milliseconds since 1970.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the milliseconds from `earlier` until this moment; none when it is not earlier.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl Add<u64> for Timestamp {
    type Output = Self;

    fn add(self, millis: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }
}

impl Sub<u64> for Timestamp {
    type Output = Self;

    fn sub(self, millis: u64) -> Self {
        Self(self.0.saturating_sub(i64::try_from(millis).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            // Beyond the years that have a written form; it is read again below.
            Err(_) => write!(f, "{}{MILLIS}", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        if let Some(millis) = text.strip_suffix(MILLIS).and_then(|millis| millis.parse().ok()) {
            return Ok(Self(millis));
        }
        let moment: jiff::Timestamp = text.parse().map_err(|_| TimestampError(text.to_owned()))?;
        Ok(Self(moment.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339_and_read_again() {
        let moment = Timestamp::from_millis(1_766_138_400_123);
        assert_eq!(moment.to_string(), "2025-12-19T10:00:00.123Z");
        assert_eq!(moment.to_string().parse(), Ok(moment));
        assert_eq!("2025-12-19T10:00:00Z".parse(), Ok(moment - 123));
        assert!("yesterday".parse::<Timestamp>().is_err());
        for far in [i64::MIN, -62_135_596_800_001, 253_402_207_200_999, i64::MAX].map(Timestamp::from_millis)
        {
            assert_eq!(far.to_string().parse(), Ok(far));
        }
    }

    #[test]
    fn spans_never_go_backwards_or_overflow() {
        let (early, late) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        assert_eq!((late.millis_since(early), early.millis_since(late)), (4, 0));
        assert_eq!(Timestamp::from_millis(i64::MAX) + u64::MAX, Timestamp::from_millis(i64::MAX));
    }
}
