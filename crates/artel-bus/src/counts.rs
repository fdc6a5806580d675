//! How many messages went where. The numbers always add up, see [`Counts::is_balanced`].

use std::ops::AddAssign;

/// What became of the messages of one bus since it was made.
///
/// A message is counted once as `published`, and once for each matching subscription as `matched`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Messages that came, from here or through Redis from elsewhere, without repetitions.
    pub published: u64,
    /// Messages that came a second time and were left out.
    pub repeated: u64,
    /// Messages times the subscriptions they matched.
    pub matched: u64,
    /// Kept messages that were given to subscribers who came late.
    pub replayed: u64,
    /// Messages that subscribers took.
    pub delivered: u64,
    /// Messages whose time was up before a subscriber took them.
    pub expired: u64,
    /// Messages that found the queue of a subscriber full.
    pub refused: u64,
    /// Messages that still waited for a subscriber when it left.
    pub abandoned: u64,
    /// Messages that wait for a subscriber.
    pub waiting: u64,
    /// Answers that came when nobody waited for them any longer.
    pub unclaimed: u64,
    /// Messages that Redis let go of before they were read here.
    pub lost: u64,
    /// Entries in Redis that are no messages.
    pub unreadable: u64,
}

impl Counts {
    /// Says whether every message that somebody was to get is accounted for. It always is.
    pub fn is_balanced(&self) -> bool {
        let ended = self.delivered + self.expired + self.refused + self.abandoned;
        self.matched + self.replayed == ended + self.waiting
    }
}

/// What became of the messages of one queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tally {
    pub(crate) delivered: u64,
    pub(crate) expired: u64,
    pub(crate) waiting: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        let Self { published, repeated, matched, replayed, delivered, expired, .. } = other;
        let Self { refused, abandoned, waiting, unclaimed, lost, unreadable, .. } = other;
        self.published += published;
        self.repeated += repeated;
        self.matched += matched;
        self.replayed += replayed;
        self.delivered += delivered;
        self.expired += expired;
        self.refused += refused;
        self.abandoned += abandoned;
        self.waiting += waiting;
        self.unclaimed += unclaimed;
        self.lost += lost;
        self.unreadable += unreadable;
    }
}

impl AddAssign<Tally> for Counts {
    fn add_assign(&mut self, tally: Tally) {
        self.delivered += tally.delivered;
        self.expired += tally.expired;
        self.waiting += tally.waiting;
    }
}
