//! How what this process serves stands to what all processes on the same store have agreed on: the number of the catalog,
//! and the contents of hubs. Their folders may differ; what they share may not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number and the hash of the catalog that a store keeps; nothing before the first.
pub(super) type Numbered = Option<(u64, String)>;

/// What this process has read of what is shared.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// The number that the store kept when this process last read everything.
    read: Mutex<Option<Numbered>>,
    /// Hubs of which another content was published than this process holds.
    differing_hubs: AtomicUsize,
}

impl Agreement {
    /// Notes that everything was read. `before` is what the store kept when reading began, `numbered` what it keeps since.
    pub(super) fn note_read(
        &self,
        before: Option<Numbered>,
        numbered: Option<(u64, &str)>,
        differing_hubs: usize,
    ) {
        self.differing_hubs.store(differing_hubs, Ordering::Relaxed);
        let read = before.map(|before| match numbered {
            // Another number in between belongs to a change that was not read.
            Some((number, hash)) if number == next_number(before.as_ref()) => Some((number, hash.to_owned())),
            Some(_) | None => before,
        });
        *self.lock() = read;
    }

    /// Says whether everything was read since the store began to keep that.
    pub(super) fn has_read(&self, kept: &Numbered) -> bool {
        self.lock().as_ref() == Some(kept)
    }

    /// Says whether some hub has another content elsewhere.
    pub(super) fn has_differing_hubs(&self) -> bool {
        self.differing_hubs.load(Ordering::Relaxed) > 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Numbered>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn next_number(before: Option<&(u64, String)>) -> u64 {
    before.map_or(1, |(number, _)| number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_between_reading_and_numbering_counts_as_not_read() {
        let kept = |number: u64, hash: &str| Some((number, hash.to_owned()));
        let agreement = Agreement::default();
        assert!(!agreement.has_read(&None), "nothing was read");
        agreement.note_read(Some(None), Some((1, "a")), 0);
        assert!(agreement.has_read(&kept(1, "a")));
        agreement.note_read(Some(kept(1, "a")), Some((2, "b")), 0);
        assert!(agreement.has_read(&kept(2, "b")) && !agreement.has_read(&kept(3, "c")));
        // Number 3 is a change of another process.
        agreement.note_read(Some(kept(2, "b")), Some((4, "d")), 1);
        assert!(!agreement.has_read(&kept(4, "d")) && agreement.has_differing_hubs());
        agreement.note_read(Some(kept(4, "d")), None, 0);
        assert!(agreement.has_read(&kept(4, "d")) && !agreement.has_differing_hubs());
        // A store that did not answer says nothing about what was read.
        agreement.note_read(None, Some((5, "e")), 0);
        assert!(!agreement.has_read(&kept(5, "e")));
    }
}
