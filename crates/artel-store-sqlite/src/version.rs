//! Which SQLite keeps the tables.

/// Returns the version of SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
