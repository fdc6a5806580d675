//! Moments as people type them: so long ago, or a time.

use std::str::FromStr;

use artel_model::time::Timestamp;

/// A moment that is known once it is known what time it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Moment {
    /// So many milliseconds ago.
    Ago(u64),
    /// A time.
    At(Timestamp),
}

const UNITS: [(&str, u64); 6] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 7 * 86_400_000)];

impl Moment {
    /// Returns the time that is meant.
    pub(crate) fn before(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(millis) => now - millis,
            Self::At(time) => time,
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "`{text}` is neither so long ago, like 30m, 24h or 7d, nor a time like 2026-01-31T12:00:00Z"
            )
        };
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        if let Some((_, millis)) = UNITS.iter().find(|(name, _)| *name == unit) {
            let number: u64 = number.parse().map_err(|_| unknown())?;
            return Ok(Self::Ago(number.saturating_mul(*millis)));
        }
        let date = format!("{text}T00:00:00Z");
        text.parse().or_else(|_| date.parse()).map(Self::At).map_err(|_| unknown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read() {
        let now = Timestamp::from_millis(1_000_000_000);
        let at = |text: &str| text.parse::<Moment>().map(|moment| moment.before(now).as_millis());
        assert_eq!(at("30s"), Ok(999_970_000));
        assert_eq!(at("2h"), Ok(992_800_000));
        assert_eq!(at("1d"), Ok(913_600_000));
        assert_eq!(at("1970-01-02T00:00:00Z"), Ok(86_400_000));
        assert_eq!(at("1970-01-02"), Ok(86_400_000));
        for wrong in ["", "d", "5", "5y", "yesterday", "99999999999999999999s"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
