//! The tables. A workspace is a chain of logs: its own, and those of its bases up to where it branched off. Nothing is
//! copied: a version of an entity is one row, whichever workspaces show it.

use rusqlite::{Connection, OptionalExtension as _};

/// The number of this form of the tables, kept in the file.
const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE workspaces (
    key INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    base INTEGER REFERENCES workspaces (key),
    base_seq INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER
);
CREATE UNIQUE INDEX workspace_names ON workspaces (name) WHERE deleted_ms IS NULL;
CREATE TABLE blobs (key INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL);
CREATE TABLE versions (
    key INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    hash BLOB NOT NULL,
    data TEXT NOT NULL,
    blob INTEGER REFERENCES blobs (key)
);
-- What each entity is from a step of a workspace on; no version: it was deleted.
CREATE TABLE log (
    workspace INTEGER NOT NULL REFERENCES workspaces (key),
    entity TEXT NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER REFERENCES versions (key),
    PRIMARY KEY (workspace, entity, seq)
) WITHOUT ROWID;
CREATE INDEX log_steps ON log (workspace, seq);
CREATE TABLE operations (
    workspace INTEGER NOT NULL REFERENCES workspaces (key),
    seq INTEGER NOT NULL,
    method TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('done', 'undone', 'dropped', 'undo', 'redo')),
    PRIMARY KEY (workspace, seq)
) WITHOUT ROWID;
CREATE INDEX operation_states ON operations (workspace, state, seq);
CREATE TABLE merges (
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    source_seq INTEGER NOT NULL,
    target_seq INTEGER NOT NULL,
    PRIMARY KEY (source, target, source_seq, target_seq)
) WITHOUT ROWID;
CREATE TABLE resolutions (
    conflict TEXT NOT NULL,
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    resolution TEXT NOT NULL,
    PRIMARY KEY (conflict, source, target)
) WITHOUT ROWID;
CREATE TABLE answers (
    workspace TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    result TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace, key)
) WITHOUT ROWID;
CREATE TABLE calls (
    agent TEXT NOT NULL,
    method TEXT NOT NULL,
    successes INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    microseconds INTEGER NOT NULL,
    PRIMARY KEY (agent, method)
) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
";

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaError {
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the workspaces were written by a newer artel-cad (form {0}, this one knows {VERSION})")]
    Newer(i64),
}

/// Makes the tables in a new file, together with the workspace `main`.
pub(crate) fn prepare(connection: &mut Connection, now_ms: i64) -> Result<(), SchemaError> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    // A crash of a process loses nothing; a crash of the machine may lose the last moments, never consistency.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if version(connection)? == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    match version(&transaction)? {
        0 => {
            transaction.execute_batch(TABLES)?;
            transaction.execute(
                "INSERT INTO workspaces (name, base, base_seq, seq, created_ms) VALUES ('main', NULL, 0, 0, ?1)",
                [now_ms],
            )?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()?;
            Ok(())
        }
        VERSION => Ok(()),
        newer => Err(SchemaError::Newer(newer)),
    }
}

fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    let found = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(0))
}
