//! How much is taken from one hub. Values only.

use artel_model::limit::{
    HUB_BYTES_MAX, HUB_DEPTH_MAX, HUB_ENTRIES_MAX, HUB_FILES_MAX, HUB_TEXT_FILE_BYTES_MAX,
    HUB_UNPACKED_BYTES_MAX,
};

/// How much is taken from one hub.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HubLimits {
    /// Files of all skills together.
    pub files_max: usize,
    /// Bytes of all skills together.
    pub bytes_max: u64,
    /// Bytes of one text file.
    pub text_file_bytes_max: u64,
    /// Levels of folders in which skills are looked for.
    pub depth_max: usize,
    /// Files and folders that are looked at.
    pub entries_max: usize,
    /// Bytes that one archive may unpack to.
    pub unpacked_bytes_max: u64,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self {
            files_max: HUB_FILES_MAX,
            bytes_max: HUB_BYTES_MAX,
            text_file_bytes_max: HUB_TEXT_FILE_BYTES_MAX,
            depth_max: HUB_DEPTH_MAX,
            entries_max: HUB_ENTRIES_MAX,
            unpacked_bytes_max: HUB_UNPACKED_BYTES_MAX,
        }
    }
}
