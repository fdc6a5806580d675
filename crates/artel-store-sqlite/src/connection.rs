//! Opens the file: who may read it, and how SQLite treats it.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::time::Duration;

use artel_store::StoreError;
use camino::Utf8Path;
use rusqlite::{Connection, OpenFlags};

use crate::failure::store_error;
use crate::options::SqliteOptions;

/// How many statements a connection keeps prepared: more than we have.
const STATEMENTS_MAX: usize = 128;
/// How much of the file a connection keeps in memory, in KiB.
const CACHE_KIB: i64 = 16 * 1024;

/// Makes the folder and the file for nobody but us, where they are missing.
pub(crate) fn create_file(path: &Utf8Path) -> Result<(), StoreError> {
    let unavailable =
        |what: String| move |source: io::Error| StoreError::Unavailable { what, source: source.into() };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_str().is_empty()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(unavailable(format!("create the folder `{folder}`")))?;
    }
    // A file that is there must not be opened here: closing it would drop the locks that SQLite holds on it in this
    // process. What SQLite puts beside it has the same mode.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(unavailable(format!("create `{path}`"))(error)),
    }
}

/// Opens a connection that writes.
pub(crate) fn open_writer(path: &Utf8Path, options: &SqliteOptions) -> Result<Connection, StoreError> {
    let what = format!("open `{path}`");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let prepare = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_millis(options.busy_ms))?;
        let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        // The log is written before anything is acted on; `sync` makes it survive a power cut. See docs/design/0006.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        // Rows that refer to others are written and removed together with them, in one place; `check` looks after them.
        connection.pragma_update(None, "foreign_keys", false)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        if let Some(pages) = options.pages_max {
            let _: i64 =
                connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| row.get(0))?;
        }
        Ok(connection)
    };
    prepare().map_err(|error| store_error(&what, &error))
}

/// Opens a connection that cannot write.
pub(crate) fn open_reader(path: &Utf8Path, options: &SqliteOptions) -> Result<Connection, StoreError> {
    let what = format!("open `{path}`");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let prepare = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_millis(options.busy_ms))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(connection)
    };
    prepare().map_err(|error| store_error(&what, &error))
}
