//! How skills are loaded: what is kept, and how much is taken in.

use artel_model::limit::{DISCOVERY_DEPTH_MAX, DISCOVERY_FOLDERS_MAX};

use crate::source::FolderLimits;

/// What to keep of what was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keep {
    /// Only what describes the skills: enough for a list.
    Descriptions,
    /// The instructions too, for search and for showing.
    Instructions,
    /// The instructions, and what every client would say, for validation.
    Everything,
}

/// Whether folders are searched that are hidden (`.claude`) or made by tools (`node_modules`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HiddenFolders {
    /// They are not: no skill is used from there.
    Skipped,
    /// They are, but for what git keeps: a client may use skills from there.
    Searched,
}

/// How skills are loaded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoadOptions {
    /// What to keep.
    pub keep: Keep,
    /// How large a skill's folder may be.
    pub folder: FolderLimits,
    /// Folders that one search visits.
    pub folders_max: usize,
    /// Levels below a skills folder that are searched.
    pub depth_max: usize,
    /// Whether folders are searched that are hidden, or made by tools.
    pub hidden: HiddenFolders,
}

impl From<Keep> for LoadOptions {
    /// The usual limits.
    fn from(keep: Keep) -> Self {
        Self {
            keep,
            folder: FolderLimits::default(),
            folders_max: DISCOVERY_FOLDERS_MAX,
            depth_max: DISCOVERY_DEPTH_MAX,
            hidden: HiddenFolders::Skipped,
        }
    }
}
