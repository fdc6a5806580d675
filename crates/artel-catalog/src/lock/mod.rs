//! `artel.lock`: which skills a project uses, pinned by source, revision and content, and what each of them may do.
//!
//! Deciding is pure: [`LockFile::parse`] and [`LockFile::to_text`] know only text, [`compare`] and [`repin`] only
//! lock files. [`pin`] reads the files of one skill, [`used`] asks a catalog; [`read_lock`] and [`write_lock`] are the only
//! ones that touch `artel.lock` itself. Knows nothing of servers, hubs or terminals.

mod compare;
mod file;
mod locked;
mod permission;
mod pin;
mod read;
mod repin;
#[cfg(test)]
mod tests;
mod used;
mod write;

pub use compare::{
    Comparison, Drift, FileChange, LockedSkillState, PermissionChange, Rights, SkillChange, compare,
};
pub use file::{LockFileError, read_lock, write_lock};
pub use locked::{LockFile, LockScope, LockedFile, LockedSkill, Origin};
pub use permission::{Permission, permissions};
pub use pin::{PinError, pin};
pub use read::{LockProblem, LockProblemKind};
pub use repin::{Repin, repin};
pub use used::{Used, used};
