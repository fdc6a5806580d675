//! What can be typed about API keys.

use std::str::FromStr;

use artel_model::access::{Scope, TeamId, UserId};
use artel_model::time::Timestamp;
use clap::{Args, Subcommand};

use super::moment::Moment;
use super::run::PageArgs;

/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key for the server; it is printed once, and only its hash is kept
    #[command(
        after_help = "Examples:\n  artel key create --label \"nightly build\"\n  artel key create --owner ann --team red --scope catalog:read --scope runs:write --expires 30\n  KEY=$(artel key create --quiet)\n\nScopes: catalog:read, catalog:write, runs:write, agents:write, admin."
    )]
    Create(KeyCreateArgs),
    /// List keys, the last made first, without their secrets
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  artel key list\n  artel key list --owner ann --json"
    )]
    List(KeyListArgs),
    /// Revoke a key; a server that runs refuses it within a second
    #[command(after_help = "Example:\n  artel key revoke 3kTq9ZpWx0aB")]
    Revoke {
        /// The key's id, as `artel key list` shows it
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct KeyCreateArgs {
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) label: String,
    /// Whose it is; calls with it are theirs [default: you]
    #[arg(long, value_name = "USER")]
    pub(crate) owner: Option<UserId>,
    /// What it may be used for (repeatable) [default: catalog:read]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<Scope>,
    /// A team whose skills it sees (repeatable)
    #[arg(long, value_name = "TEAM")]
    pub(crate) team: Vec<TeamId>,
    /// Until when it is good: so many days, 12h, or a time like 2026-01-31T12:00:00Z [default: for ever]
    #[arg(long, value_name = "DAYS|TIME")]
    pub(crate) expires: Option<Expiry>,
}

#[derive(Debug, Args)]
pub(crate) struct KeyListArgs {
    /// Only keys of this user
    #[arg(long, value_name = "USER")]
    pub(crate) owner: Option<UserId>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// When a key ends, known once it is known what time it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expiry {
    /// In so many milliseconds.
    In(u64),
    /// At that time.
    At(Timestamp),
}

impl Expiry {
    /// Returns the time that is meant.
    pub(crate) fn after(self, now: Timestamp) -> Timestamp {
        match self {
            Self::In(millis) => now + millis,
            Self::At(time) => time,
        }
    }
}

impl FromStr for Expiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(days) = text.parse::<u32>() {
            return Ok(Self::In(u64::from(days) * DAY_MS));
        }
        match text.parse() {
            Ok(Moment::Ago(millis)) => Ok(Self::In(millis)),
            Ok(Moment::At(time)) => Ok(Self::At(time)),
            Err(_) => Err(format!(
                "`{text}` is neither a number of days, nor a while like 12h, nor a time like 2026-01-31T12:00:00Z"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_key_is_days_a_while_or_a_time() {
        let now = Timestamp::from_millis(1_000);
        let at = |text: &str| text.parse::<Expiry>().map(|expiry| expiry.after(now).as_millis());
        assert_eq!(at("1"), Ok(86_401_000));
        assert_eq!(at("2h"), Ok(7_201_000));
        assert_eq!(at("1970-01-02"), Ok(86_400_000));
        for wrong in ["", "-1", "soon", "99999999999"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
