//! How far a fetch has come, for somebody who waits for it.

/// A step of a fetch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HubProgress {
    /// The hub is asked what it has.
    Resolving,
    /// Its content is on its way.
    Fetching {
        /// How much of it has come.
        bytes: u64,
    },
    /// Its files are read.
    Reading {
        /// How many were read.
        done: usize,
        /// How many there are.
        total: usize,
    },
    /// Everything was read.
    Done {
        /// How many skills there are.
        skills: usize,
    },
}

/// Hears of progress; must not wait.
pub(super) type Listener<'a> = &'a (dyn Fn(HubProgress) + Send + Sync);
