//! Brings a database up to date, one step after another, never back.

use artel_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use crate::failure::store_error;

/// One step: its place in the list, from 1, is the version of the database after it.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// What it does, in SQL.
    pub sql: &'static str,
}

/// All steps. A step that was released is never changed.
pub const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("../migrations/0001_runs.sql") },
    Migration { sql: include_str!("../migrations/0002_agents.sql") },
    Migration { sql: include_str!("../migrations/0003_owners.sql") },
    Migration { sql: include_str!("../migrations/0004_catalog.sql") },
    Migration { sql: include_str!("../migrations/0005_trail.sql") },
    Migration { sql: include_str!("../migrations/0006_health.sql") },
    Migration { sql: include_str!("../migrations/0007_people.sql") },
    Migration { sql: include_str!("../migrations/0008_health_probes.sql") },
];

/// `artl`, in the header of our files.
const APPLICATION_ID: i64 = 0x6172_746c;

/// Takes the missing steps, all in one transaction, so that a crash leaves the old version.
pub(crate) fn migrate(
    connection: &mut Connection,
    migrations: &[Migration],
    what: &str,
) -> Result<(), StoreError> {
    let failed = |error| store_error(what, &error);
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let version = version(connection).map_err(failed)?;
    if version == known && is_ours(connection).map_err(failed)? {
        return Ok(());
    }
    // Another process may migrate at the same time, so the version is read again under the lock.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let version = self::version(&transaction).map_err(failed)?;
    if version > known {
        return Err(StoreError::TooNew { found: version, known });
    }
    if !is_empty(&transaction).map_err(failed)? && !is_ours(&transaction).map_err(failed)? {
        let source = "it has tables that artel did not make".into();
        return Err(StoreError::Corrupt { what: what.to_owned(), source });
    }
    let done = usize::try_from(version).unwrap_or(0);
    for migration in &migrations[done..] {
        transaction.execute_batch(migration.sql).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Returns how many steps a database has seen.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    let id: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    Ok(id == APPLICATION_ID)
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}
