//! How far a stream was read, and where to go on after Redis was away. Pure: what Redis says of a stream is an argument.

use std::fmt;
use std::str::FromStr;

/// The id of an entry of a stream: milliseconds and a number.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct EntryId {
    millis: u64,
    number: u64,
}

/// A text that is no id of an entry.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{}` is not the id of an entry in a stream", .0.escape_default())]
pub(super) struct EntryIdError(String);

impl FromStr for EntryId {
    type Err = EntryIdError;

    fn from_str(text: &str) -> Result<Self, EntryIdError> {
        let parts = text.split_once('-').and_then(|(millis, number)| {
            Some(Self { millis: millis.parse().ok()?, number: number.parse().ok()? })
        });
        parts.ok_or_else(|| EntryIdError(text.to_owned()))
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.millis, self.number)
    }
}

/// What Redis says of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Survey {
    /// There is none, or none any more.
    Gone,
    /// It is there.
    There {
        /// The id of the entry that was added last.
        last: EntryId,
        /// How many entries were ever added.
        added: u64,
        /// How many are still there.
        kept: u64,
    },
}

/// How far a stream was read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Position {
    /// The last entry that was read.
    pub(super) last: EntryId,
    /// How many entries had been added then.
    added: u64,
}

/// What happened to a stream while it was not read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Resumed {
    /// Nothing is missing.
    Whole,
    /// Entries were let go of before they were read.
    Trimmed(u64),
    /// Redis lost what it had; what is there is read from the beginning.
    Restarted,
}

impl Position {
    /// Returns the end of a stream as it is.
    pub(super) fn end(survey: Survey) -> Self {
        match survey {
            Survey::Gone => Self::default(),
            Survey::There { last, added, kept: _ } => Self { last, added },
        }
    }

    /// Goes past an entry.
    pub(super) fn pass(&mut self, entry: EntryId) {
        self.last = entry;
        self.added += 1;
    }

    /// Decides where to go on, given what the stream looks like after a pause.
    pub(super) fn resume(&mut self, survey: Survey) -> Resumed {
        match survey {
            Survey::Gone if *self == Self::default() => Resumed::Whole,
            Survey::Gone => {
                *self = Self::default();
                Resumed::Restarted
            }
            // Ids and numbers only grow, unless Redis came back with less than it had.
            Survey::There { last, added, kept } if last < self.last || added < self.added => {
                *self = Self { last: EntryId::default(), added: added.saturating_sub(kept) };
                Resumed::Restarted
            }
            Survey::There { last, added, kept } => {
                // At the end, what was not read is missing; before it, what is kept may still be read.
                let unread = if last == self.last { 0 } else { kept };
                let missing = (added - self.added).saturating_sub(unread);
                self.added += missing;
                if missing == 0 { Resumed::Whole } else { Resumed::Trimmed(missing) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(millis: u64) -> EntryId {
        EntryId { millis, number: 0 }
    }

    #[track_caller]
    fn check(survey: Survey, resumed: Resumed, last: u64, added: u64) {
        let mut position = Position { last: entry(5), added: 10 };
        assert_eq!(position.resume(survey), resumed);
        assert_eq!(position, Position { last: entry(last), added });
    }

    fn there(last: u64, added: u64, kept: u64) -> Survey {
        Survey::There { last: entry(last), added, kept }
    }

    #[test]
    fn reading_goes_on_where_it_stopped() {
        check(there(5, 10, 10), Resumed::Whole, 5, 10);
        check(there(9, 14, 4), Resumed::Whole, 5, 10);
    }

    #[test]
    fn what_was_trimmed_is_counted() {
        check(there(9, 14, 3), Resumed::Trimmed(1), 5, 11);
        check(there(5, 14, 9), Resumed::Trimmed(4), 5, 14);
    }

    #[test]
    fn lost_data_is_noticed() {
        check(Survey::Gone, Resumed::Restarted, 0, 0);
        check(there(4, 9, 9), Resumed::Restarted, 0, 0);
        check(there(9, 3, 2), Resumed::Restarted, 0, 1);
        assert_eq!(Position::default().resume(Survey::Gone), Resumed::Whole);
    }

    #[test]
    fn ids_are_ordered_by_their_numbers() {
        let [early, late] = ["9-10", "10-9"].map(|text| text.parse::<EntryId>().unwrap());
        assert!(early < late);
        assert_eq!(late.to_string(), "10-9");
        assert_eq!("10".parse::<EntryId>(), Err(EntryIdError("10".to_owned())));
    }
}
