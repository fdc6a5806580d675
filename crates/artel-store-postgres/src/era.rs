//! Eras of a server. An era ends when the server crashes, which may lose what was written last without a word.
//!
//! Knows who wrote and synced when, not how. A connection lives in one era, so whatever is answered on a connection
//! happened in the era in which that was opened. A store that had written something and not synced it when the era ended
//! cannot know what is left of it: it is of no use from then on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_store::StoreError;

/// The eras that a store has seen.
#[derive(Debug, Default)]
pub(crate) struct Eras(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// What the server calls the era.
    name: Option<String>,
    number: u64,
    /// Writes that were answered.
    written: u64,
    /// How many of them are synced.
    synced: u64,
    is_lost: bool,
}

/// What was known when a statement was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    era: u64,
    written: u64,
}

/// The server crashed between a write and its sync.
#[derive(Debug, thiserror::Error)]
#[error(
    "the PostgreSQL server crashed, and may have lost what was written last; start artel again, it goes on with \
     what is there"
)]
pub(crate) struct Lost;

impl Lost {
    /// Says what was being done.
    pub(crate) fn while_doing(self, what: &str) -> StoreError {
        StoreError::Lost { what: what.to_owned(), source: self.into() }
    }
}

impl Eras {
    /// Takes note of the era in which a connection was opened. Who had synced everything goes on in a new one.
    pub(crate) fn meet(&self, name: &str) {
        let mut seen = self.seen();
        let is_same = seen.name.as_deref().is_none_or(|known| known == name);
        if !is_same {
            seen.number += 1;
            seen.is_lost |= seen.written > seen.synced;
        }
        seen.name = Some(name.to_owned());
    }

    /// Says whether the server crashed between a write and its sync.
    pub(crate) fn is_lost(&self) -> bool {
        self.seen().is_lost
    }

    /// Says whether something was written and not synced.
    pub(crate) fn has_unsynced(&self) -> bool {
        let seen = self.seen();
        seen.written > seen.synced
    }

    /// Begins a statement, on a connection that is open already.
    pub(crate) fn begin(&self) -> Result<Mark, Lost> {
        let seen = self.seen();
        if seen.is_lost { Err(Lost) } else { Ok(Mark { era: seen.number, written: seen.written }) }
    }

    /// Takes note of a write that was answered.
    pub(crate) fn written(&self, mark: Mark) -> Result<(), Lost> {
        let mut seen = self.of(mark)?;
        seen.written += 1;
        Ok(())
    }

    /// Takes note of a sync that was answered: what was written when it began is synced.
    pub(crate) fn synced(&self, mark: Mark) -> Result<(), Lost> {
        let mut seen = self.of(mark)?;
        seen.synced = seen.synced.max(mark.written);
        Ok(())
    }

    /// Returns what was seen, if the era is still that of the mark.
    fn of(&self, mark: Mark) -> Result<MutexGuard<'_, Seen>, Lost> {
        let seen = self.seen();
        if seen.is_lost || seen.number != mark.era { Err(Lost) } else { Ok(seen) }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // Each change is a few assignments that cannot panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eras() -> Eras {
        let eras = Eras::default();
        eras.meet("first");
        eras
    }

    fn write(eras: &Eras) {
        eras.written(eras.begin().unwrap()).unwrap();
    }

    #[test]
    fn who_lost_nothing_goes_on() {
        let eras = eras();
        eras.meet("second");
        write(&eras);
        eras.synced(eras.begin().unwrap()).unwrap();
        eras.meet("third");
        write(&eras);
        eras.meet("third");
        assert!(eras.begin().is_ok());
    }

    #[test]
    fn a_crash_between_a_write_and_its_sync_ends_everything() {
        let eras = eras();
        write(&eras);
        let sync = eras.begin().unwrap();
        write(&eras);
        eras.synced(sync).unwrap();
        eras.meet("second");
        assert!(eras.begin().is_err(), "the second write came after the sync had begun");
        eras.meet("first");
        assert!(eras.begin().is_err());
    }

    #[test]
    fn an_answer_from_an_era_that_is_over_is_none() {
        let eras = eras();
        let (write, sync) = (eras.begin().unwrap(), eras.begin().unwrap());
        eras.meet("second");
        assert!(eras.written(write).is_err() && eras.synced(sync).is_err());
        assert!(eras.begin().is_ok(), "nobody was told anything");
    }
}
