//! What can be chosen about a store in a file.

use crate::migrate::{MIGRATIONS, Migration};

/// What can be chosen about a store in a file.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// How long a write waits for another program that writes to the same file, in milliseconds.
    pub busy_ms: u64,
    /// How many writes wait before writers are held back.
    pub queue_max: usize,
    /// How many reads go on at once.
    pub readers: usize,
    /// The greatest size of the database in pages of 4 KiB; nothing for as much as the disk holds.
    pub pages_max: Option<u32>,
    /// The steps from an empty file to what this artel reads and writes.
    pub migrations: &'static [Migration],
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_ms: 10_000, queue_max: 4096, readers: 4, pages_max: None, migrations: MIGRATIONS }
    }
}
