//! The file: opening it, reading from it, waiting for other processes that write.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::schema::prepare;
use super::view::{self, Stored, VersionKey, VersionRef, View, WorkspaceRow};
use crate::entity::{EntityId, EntityKind, WorkspaceId};
use crate::error::{CadError, CadResult, Code};

/// How often a process that finds the file locked tries again before it gives up, one or two milliseconds apart.
const BUSY_TRIES_MAX: i32 = 10_000;

/// The workspaces of one data folder.
pub struct Store {
    pub(super) connection: Connection,
}

/// Says that the store failed, which is never the caller's fault.
pub(super) fn failed(error: rusqlite::Error) -> CadError {
    let busy = error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy);
    if busy {
        return CadError::new(Code::Timeout, "other processes write to the workspaces without a pause")
            .hint("repeat the call");
    }
    CadError::new(Code::InternalError, format!("the workspaces cannot be read or written: {error}"))
        .hint("check the data folder's disk and permissions")
}

impl Store {
    /// Opens the workspaces of a folder, and makes them in an empty one.
    pub fn open(folder: &Path, now_ms: i64) -> CadResult<Self> {
        let unusable = |error: String| {
            let message = format!("cannot use the data folder `{}`: {error}", folder.display());
            CadError::new(Code::InternalError, message).hint("say where the workspaces are with --data")
        };
        std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
        // Making the file and switching it to its journal fails when several processes try at once, whatever they wait for.
        let lock = File::create(folder.join("opening")).and_then(|file| file.lock().map(|()| file));
        let _lock = lock.map_err(|error| unusable(error.to_string()))?;
        let mut connection = Connection::open(folder.join("workspaces.sqlite"))
            .map_err(|error| unusable(error.to_string()))?;
        connection.busy_handler(Some(wait_a_little)).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        prepare(&mut connection, now_ms).map_err(|error| unusable(error.to_string()))?;
        Ok(Self { connection })
    }

    /// Makes workspaces that no file holds.
    pub fn in_memory(now_ms: i64) -> CadResult<Self> {
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        prepare(&mut connection, now_ms).map_err(|error| {
            CadError::new(Code::InternalError, format!("no workspaces in memory: {error}"))
        })?;
        Ok(Self { connection })
    }

    /// Asks SQLite whether the file is whole; the answer is `ok` when it is.
    pub fn integrity(&mut self) -> CadResult<String> {
        self.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(failed)
    }

    /// Runs reads that all see the same moment.
    pub(super) fn reading<T>(&mut self, read: impl FnOnce(&Connection) -> CadResult<T>) -> CadResult<T> {
        let transaction = self.connection.transaction().map_err(failed)?;
        read(&transaction)
    }

    /// Runs writes that happen together or not at all.
    pub(super) fn writing<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>) -> CadResult<T>,
    ) -> CadResult<T> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let result = write(&transaction)?;
        transaction.commit().map_err(failed)?;
        Ok(result)
    }

    /// Returns a workspace and what it shows.
    pub fn view(&mut self, name: &WorkspaceId) -> CadResult<(WorkspaceRow, View)> {
        self.reading(|connection| {
            let row = view::workspace(connection, name)?;
            let view = view::view_at(connection, &row, row.seq)?;
            Ok((row, view))
        })
    }

    /// Returns an entity that a view shows, or says what is there instead.
    pub fn entity(&mut self, view: &View, id: &EntityId) -> CadResult<Stored> {
        self.reading(|connection| match view::version_of(connection, view, id)? {
            Some(version) => view::entity(connection, id, version),
            None => Err(not_found(id, &view::versions(connection, view)?)),
        })
    }

    /// Returns every entity of some kinds that a view shows, by id.
    pub fn entities(&mut self, view: &View, kinds: &[EntityKind]) -> CadResult<Vec<Stored>> {
        self.reading(|connection| {
            let wanted = |reference: &VersionRef| kinds.iter().any(|kind| kind.word() == reference.kind);
            let versions = view::versions(connection, view)?;
            let chosen = versions.iter().filter(|(_, reference)| wanted(reference));
            chosen.map(|(id, reference)| view::entity(connection, id, reference.version)).collect()
        })
    }

    /// Returns which version of each entity a view shows.
    pub fn versions(&mut self, view: &View) -> CadResult<BTreeMap<EntityId, VersionRef>> {
        self.reading(|connection| view::versions(connection, view))
    }

    /// Reads one version.
    pub fn version(&mut self, id: &EntityId, version: VersionKey) -> CadResult<Stored> {
        view::entity(&self.connection, id, version)
    }

    /// Reads the bytes of a solid or mesh.
    pub fn blob(&mut self, version: VersionKey) -> CadResult<Vec<u8>> {
        view::blob(&self.connection, version)
    }
}

/// The pause between two tries is short, because transactions are: waiting longer only adds to the latency of others.
fn wait_a_little(tries: i32) -> bool {
    std::thread::sleep(Duration::from_micros(if tries < 20 { 200 } else { 1_000 }));
    tries < BUSY_TRIES_MAX
}

fn not_found(id: &EntityId, there: &BTreeMap<EntityId, VersionRef>) -> CadError {
    let error = CadError::new(Code::EntityNotFound, format!("the workspace has no entity `{id}`"))
        .fact("entity_id", id.to_string());
    let word = id.as_ref().split(['_', '-', '.']).next().unwrap_or_default();
    let alike = there.keys().filter(|other| other.as_ref().starts_with(word)).chain(there.keys());
    let mut names: Vec<String> = Vec::new();
    for name in alike.map(|other| format!("`{other}`")) {
        if !names.contains(&name) && names.len() < 5 {
            names.push(name);
        }
    }
    match names.len() {
        0 => error.hint("it is empty; create entities first"),
        _ => error.hint(format!("it has {} of {}; entity.list shows all", names.join(", "), there.len())),
    }
}
