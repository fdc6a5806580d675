//! What is to be said about a hub after it was fetched: caps that were reached, skills that were left out.

use artel_model::limit::HUB_WARNINGS_MAX;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::message::harmless;

/// A skill of a hub that is not published.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SkippedSkill {
    /// Its folder in the hub; empty for the hub itself.
    pub path: Utf8PathBuf,
    /// Why, harmless to show.
    pub reason: String,
}

/// Warnings and skipped skills, both bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    warnings: Vec<String>,
    warnings_left_out: usize,
    skipped: Vec<SkippedSkill>,
    skipped_left_out: usize,
}

impl Notes {
    pub(crate) fn warn(&mut self, warning: &str) {
        if self.warnings.len() < HUB_WARNINGS_MAX {
            self.warnings.push(harmless(warning, &[]));
        } else {
            self.warnings_left_out += 1;
        }
    }

    /// Warns, unless the last warning said the same.
    pub(crate) fn warn_once(&mut self, warning: &str) {
        if self.warnings.last().is_none_or(|last| last != &harmless(warning, &[])) {
            self.warn(warning);
        }
    }

    pub(crate) fn skip(&mut self, path: &Utf8Path, reason: &str) {
        if self.skipped.len() < HUB_WARNINGS_MAX {
            self.skipped.push(SkippedSkill { path: path.to_owned(), reason: harmless(reason, &[]) });
        } else {
            self.skipped_left_out += 1;
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        other.warnings.iter().for_each(|warning| self.warn(warning));
        other.skipped.iter().for_each(|skipped| self.skip(&skipped.path, &skipped.reason));
        self.warnings_left_out += other.warnings_left_out;
        self.skipped_left_out += other.skipped_left_out;
    }

    /// Returns the warnings alone.
    pub(crate) fn without_skipped(self) -> Self {
        Self { skipped: Vec::new(), skipped_left_out: 0, ..self }
    }

    /// Returns the warnings and the skipped skills, and says how many of both are not among them.
    pub(crate) fn finish(mut self) -> (Vec<String>, Vec<SkippedSkill>) {
        if self.skipped_left_out > 0 {
            self.warnings.push(format!("{} more skills were skipped", self.skipped_left_out));
        }
        if self.warnings_left_out > 0 {
            self.warnings.push(format!("{} more warnings are not shown", self.warnings_left_out));
        }
        (self.warnings, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_bounded_and_say_so() {
        let mut notes = Notes::default();
        for number in 0..HUB_WARNINGS_MAX + 7 {
            notes.warn(&format!("warning {number}"));
            notes.skip(Utf8Path::new("a"), "no");
        }
        let (warnings, skipped) = notes.finish();
        assert_eq!((warnings.len(), skipped.len()), (HUB_WARNINGS_MAX + 2, HUB_WARNINGS_MAX));
        assert_eq!(warnings[HUB_WARNINGS_MAX], "7 more skills were skipped");
        assert_eq!(warnings[HUB_WARNINGS_MAX + 1], "7 more warnings are not shown");
    }
}
