//! The numbers of users that scripts run under where artel is root. Pure: knows nothing of the machine.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Numbers below this one belong to the system and to people who log in.
pub const FIRST_USER: u32 = 10_000;
/// The largest number that is a user; the one above means "no change" to the kernel.
const LAST_USER: u32 = u32::MAX - 1;
/// The user that the kernel shows for files of users it cannot show.
const OVERFLOW_USER: u32 = 65_534;

/// A range of user numbers, both ends included. Each user has a group of the same number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UserRange {
    first: u32,
    last: u32,
}

/// Why a text is no range of users.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum UserRangeError {
    /// It is no pair of numbers.
    #[error("write two numbers with a dash between them, such as `700000-765535`")]
    Form,
    /// The end comes before the beginning.
    #[error("the second number is smaller than the first")]
    Order,
    /// The system's own users are in it.
    #[error("it begins below {FIRST_USER}, where users of the system and people are")]
    System,
    /// It holds a number that is no user of its own.
    #[error("it holds {0}, which the kernel uses for something else")]
    Reserved(u32),
}

impl UserRange {
    /// A million users where, by the conventions of Linux, neither people nor containers are.
    pub const USUAL: Self = Self { first: 1_900_000_000, last: 1_900_999_999 };

    /// Returns the smallest number.
    pub fn first(self) -> u32 {
        self.first
    }

    /// Returns the largest number.
    pub fn last(self) -> u32 {
        self.last
    }

    /// Says whether a user is in the range.
    pub fn contains(self, user: u32) -> bool {
        (self.first..=self.last).contains(&user)
    }

    /// Returns every user once, beginning at a place that the seed decides, so that two who choose rarely meet.
    pub fn from_seed(self, seed: u64) -> impl Iterator<Item = u32> {
        let count = u64::from(self.last - self.first) + 1;
        let begin = seed % count;
        (0..count).map(move |step| {
            let offset = (begin + step) % count;
            self.first + u32::try_from(offset).expect("an offset is smaller than the range")
        })
    }
}

impl FromStr for UserRange {
    type Err = UserRangeError;

    fn from_str(text: &str) -> Result<Self, UserRangeError> {
        let (first, last) = text.split_once('-').ok_or(UserRangeError::Form)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| UserRangeError::Form);
        let range = Self { first: number(first)?, last: number(last)? };
        if range.last < range.first {
            return Err(UserRangeError::Order);
        }
        if range.first < FIRST_USER {
            return Err(UserRangeError::System);
        }
        match [OVERFLOW_USER, LAST_USER + 1].into_iter().find(|user| range.contains(*user)) {
            Some(user) => Err(UserRangeError::Reserved(user)),
            None => Ok(range),
        }
    }
}

impl fmt::Display for UserRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_mistakes_are_told() {
        let range: UserRange = "700000-765535".parse().unwrap();
        assert_eq!(
            (range.first(), range.last(), range.to_string().as_str()),
            (700_000, 765_535, "700000-765535")
        );
        assert!("20000-20000".parse::<UserRange>().is_ok());
        assert_eq!(UserRange::USUAL.to_string().parse(), Ok(UserRange::USUAL));
        for (text, error) in [
            ("", UserRangeError::Form),
            ("700000", UserRangeError::Form),
            ("a-b", UserRangeError::Form),
            ("-5-10", UserRangeError::Form),
            ("1-99999999999", UserRangeError::Form),
            ("800000-700000", UserRangeError::Order),
            ("0-65535", UserRangeError::System),
            ("60000-70000", UserRangeError::Reserved(65_534)),
            ("4294967000-4294967295", UserRangeError::Reserved(u32::MAX)),
        ] {
            assert_eq!(text.parse::<UserRange>(), Err(error), "{text}");
        }
    }

    #[test]
    fn every_user_is_tried_once_from_any_seed() {
        let range: UserRange = "20000-20006".parse().unwrap();
        for seed in [0, 3, 6, 7, u64::MAX] {
            let mut users: Vec<u32> = range.from_seed(seed).collect();
            users.sort_unstable();
            assert_eq!(users, (20_000..=20_006).collect::<Vec<_>>());
        }
        assert_ne!(range.from_seed(1).next(), range.from_seed(2).next());
    }
}
