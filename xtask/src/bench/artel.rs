//! The program that is measured, with a data folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that is measured.
pub(super) struct Artel {
    pub(super) program: PathBuf,
    /// A folder for its own data, so that nothing of the user's is looked at.
    pub(super) data: PathBuf,
}

impl Artel {
    /// Returns a call of it with some folders of skills.
    pub(super) fn command(&self, words: &[&str], skills: &[&Path]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--data").arg(&self.data);
        for folder in skills {
            command.arg("--skills").arg(folder);
        }
        command
    }

    /// Returns a call that lists skills.
    pub(super) fn list(&self, skills: &[&Path]) -> Command {
        self.command(&["skill", "list"], skills)
    }
}
