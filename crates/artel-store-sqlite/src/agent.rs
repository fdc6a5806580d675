//! Agents and their logs as tables.

use artel_model::access::UserId;
use artel_model::agent::{AgentRecord, AgentState, StampedAgentEvent};
use artel_model::id::AgentId;
use artel_model::time::Timestamp;
use artel_store::{
    AgentAppend, AgentAppendError, AgentFilter, AgentRefused, AgentRow, AgentStore, Cursor, LoggedAgentEvent,
    NewAgent, Page, PageRequest, Revision, StoreError, may_have_children,
};
use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use uuid::Uuid;

use crate::change::{Change, PRUNE_BYTES};
use crate::dead::bury_unread;
use crate::effort::Effort;
use crate::listing::{Conditions, Query};
use crate::row::{json, natural, parsed, unreadable};
use crate::store::SqliteStore;

/// How many agents are removed in one transaction.
const PRUNE_AGENTS_MAX: usize = 100;
/// The columns that [`agent_row`] reads.
const AGENT_COLUMNS: &str =
    "(SELECT record FROM agent_records WHERE agent = agents.key) AS record, revision, last_active";

#[async_trait]
impl AgentStore for SqliteStore {
    async fn create_agent(&self, agent: NewAgent) -> Result<Result<(), AgentRefused>, StoreError> {
        let agents_max = i64::try_from(agent.agents_max).unwrap_or(i64::MAX);
        let (record, event) = (RecordColumns::of(&agent.record), json(&agent.event));
        self.writer.write(Create { record, event, agents_max }).await
    }

    async fn append_agent(&self, append: AgentAppend) -> Result<Revision, AgentAppendError> {
        let change = Append {
            record: RecordColumns::of(&append.record),
            expected: append.expected,
            events: append.events.iter().map(json).collect(),
        };
        match self.writer.write(change).await {
            Ok(Appended::Written(end)) => Ok(end),
            Ok(Appended::Conflict(actual)) => Err(AgentAppendError::Conflict { actual }),
            Ok(Appended::Unknown) => Err(AgentAppendError::Unknown),
            Err(error) => Err(AgentAppendError::Store(error)),
        }
    }

    async fn append_said(
        &self,
        id: AgentId,
        events: Vec<StampedAgentEvent>,
    ) -> Result<Revision, AgentAppendError> {
        let change = AppendSaid {
            agent: id.0.into_bytes(),
            last_active: events.last().map(|last| last.at.as_millis()),
            events: events.iter().map(json).collect(),
        };
        let end = self.writer.write(change).await.map_err(AgentAppendError::Store)?;
        end.ok_or(AgentAppendError::Unknown)
    }

    async fn agent(&self, id: AgentId) -> Result<Option<AgentRow>, StoreError> {
        let query = move |connection: &Connection| {
            let sql = format!("SELECT {AGENT_COLUMNS} FROM agents WHERE id = ?1");
            connection.prepare_cached(&sql)?.query_row([id.0.into_bytes()], agent_row).optional()
        };
        self.readers.read("read an agent", query).await
    }

    async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<AgentRow>, StoreError> {
        let (filter, limit) = (filter.clone(), page.limit);
        let after = page.after.as_ref().map(Cursor::place).transpose()?;
        let query = move |connection: &Connection| {
            let mut conditions = Conditions::default();
            conditions.any_of("state", filter.states.iter().copied().map(AgentState::as_str));
            let parent = filter.parent.map(|parent| Value::Blob(parent.0.into_bytes().to_vec()));
            conditions.one("parent = ?", parent);
            conditions.text("name = ?", filter.name.as_deref());
            conditions.text("owner_user = ?", filter.owner.as_ref().map(UserId::as_str));
            conditions.within("created_at", filter.created_from, filter.created_before);
            let query = Query { columns: AGENT_COLUMNS, table: "agents", time: "created_at" };
            let rows = query.rows(connection, conditions, after, limit, agent_row)?;
            Ok(Page::cut(rows, limit, |row| (row.record.created_at, row.record.agent_id.0)))
        };
        self.readers.read("list agents", query).await
    }

    async fn children(&self, id: AgentId, live_only: bool) -> Result<Vec<AgentId>, StoreError> {
        let query = move |connection: &Connection| {
            let filter = if live_only { "AND is_live = 1" } else { "" };
            let sql = format!("SELECT id FROM agents WHERE parent = ?1 {filter} ORDER BY created_at, id");
            let mut statement = connection.prepare_cached(&sql)?;
            let child = |row: &Row<'_>| Ok(AgentId(Uuid::from_bytes(row.get(0)?)));
            statement.query_map([id.0.into_bytes()], child)?.collect()
        };
        self.readers.read("list the children of an agent", query).await
    }

    async fn agent_events(
        &self,
        id: AgentId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedAgentEvent>, StoreError> {
        let after = i64::try_from(after.0).unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = move |connection: &Connection| {
            let mut statement = connection.prepare_cached(
                "SELECT revision, event FROM agent_events WHERE agent = ?1 AND revision > ?2 \
                 ORDER BY revision LIMIT ?3",
            )?;
            let event = |row: &Row<'_>| {
                Ok(LoggedAgentEvent { revision: Revision(natural(row, 0)?), event: parsed(row, 1)? })
            };
            statement.query_map(params![id.0.into_bytes(), after, limit], event)?.collect()
        };
        self.readers.read("read an agent's log", query).await
    }

    async fn agent_counts(&self) -> Result<Vec<(AgentState, u64)>, StoreError> {
        let query = |connection: &Connection| {
            let mut statement =
                connection.prepare_cached("SELECT state, count(*) FROM agents GROUP BY state")?;
            let counts = statement.query_map([], |row| Ok((state(row, 0)?, natural(row, 1)?)))?;
            counts.collect::<rusqlite::Result<Vec<(AgentState, u64)>>>()
        };
        let mut counts = self.readers.read("count agents", query).await?;
        counts.sort_by_key(|(state, _)| AgentState::ALL.iter().position(|other| other == state));
        Ok(counts)
    }

    async fn prune_agents(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let batch = self.writer.write(Prune { before_ms: before.as_millis() }).await?;
            removed += batch;
            if batch == 0 {
                return Ok(removed);
            }
        }
    }
}

/// Reads [`AGENT_COLUMNS`]. When somebody was last active is written in the column only, when they just said something.
fn agent_row(row: &Row<'_>) -> rusqlite::Result<AgentRow> {
    let mut record: AgentRecord = parsed(row, 0)?;
    record.last_active = Timestamp::from_millis(row.get(2)?);
    Ok(AgentRow { record, revision: Revision(natural(row, 1)?) })
}

/// Reads the word for a state.
pub(crate) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<AgentState> {
    let word = row.get_ref(column)?.as_str()?;
    let state = AgentState::ALL.iter().copied().find(|state| state.as_str() == word);
    state.ok_or_else(|| unreadable(column, format!("`{word}` is not a state")))
}

/// A record as it is written: whole, with the columns by which it is found beside it.
struct RecordColumns {
    id: [u8; 16],
    parent: Option<[u8; 16]>,
    name: Option<String>,
    owner_user: Option<String>,
    max_children: u32,
    created_at: i64,
    state: AgentState,
    last_active: i64,
    record: String,
}

impl RecordColumns {
    fn of(record: &AgentRecord) -> Self {
        Self {
            id: record.agent_id.0.into_bytes(),
            parent: record.spec.parent.map(|parent| parent.0.into_bytes()),
            name: record.spec.name.clone(),
            owner_user: record.owner().map(UserId::to_string),
            max_children: record.spec.max_children,
            created_at: record.created_at.as_millis(),
            state: record.state(),
            last_active: record.last_active.as_millis(),
            record: json(record),
        }
    }
}

/// Keeps an agent.
struct Create {
    record: RecordColumns,
    event: String,
    agents_max: i64,
}

impl Create {
    fn refusal(&self, connection: &Connection) -> rusqlite::Result<Option<AgentRefused>> {
        if connection.prepare_cached("SELECT 1 FROM agents WHERE id = ?1")?.exists([self.record.id])? {
            return Ok(Some(AgentRefused::Exists));
        }
        if let Some(parent) = self.record.parent
            && let Some(refused) = refusal_of_parent(connection, parent)?
        {
            return Ok(Some(refused));
        }
        let mut living = connection.prepare_cached("SELECT living FROM agent_totals")?;
        let agents: i64 = living.query_row([], |row| row.get(0))?;
        let is_full = agents >= self.agents_max;
        Ok(is_full.then(|| AgentRefused::TooManyAgents { agents: agents.unsigned_abs() }))
    }
}

fn refusal_of_parent(connection: &Connection, parent: [u8; 16]) -> rusqlite::Result<Option<AgentRefused>> {
    let mut find = connection.prepare_cached("SELECT state, max_children FROM agents WHERE id = ?1")?;
    let found = find.query_row([parent], |row| Ok((state(row, 0)?, natural(row, 1)?))).optional()?;
    let Some((state, children_max)) = found else { return Ok(Some(AgentRefused::NoParent)) };
    if !may_have_children(state) {
        return Ok(Some(AgentRefused::ParentState(state)));
    }
    let mut count =
        connection.prepare_cached("SELECT count(*) FROM agents WHERE parent = ?1 AND is_live = 1")?;
    let children = count.query_row([parent], |row| natural(row, 0))?;
    Ok((children >= children_max).then_some(AgentRefused::TooManyChildren { children }))
}

impl Change for Create {
    type Answer = Result<(), AgentRefused>;
    const WHAT: &'static str = "keep an agent";

    fn effort(&self) -> Effort {
        Effort::Brief(self.record.record.len() + self.event.len())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        if let Some(refused) = self.refusal(connection)? {
            return Ok(Err(refused));
        }
        let record = &self.record;
        let mut insert = connection.prepare_cached(
            "INSERT INTO agents (id, parent, name, max_children, created_at, state, is_live, has_mailbox, last_active, \
             revision, owner_user) VALUES (:id, :parent, :name, :max_children, :created_at, :state, :is_live, \
             :has_mailbox, :last_active, 1, :owner_user)",
        )?;
        insert.execute(named_params! {
            ":id": record.id, ":parent": record.parent, ":name": record.name, ":max_children": record.max_children,
            ":created_at": record.created_at, ":state": record.state.as_str(), ":is_live": record.state.is_live(),
            ":has_mailbox": record.state.has_mailbox(), ":last_active": record.last_active,
            ":owner_user": record.owner_user,
        })?;
        let mut insert =
            connection.prepare_cached("INSERT INTO agent_records (agent, record) VALUES (?1, ?2)")?;
        insert.execute(params![connection.last_insert_rowid(), record.record])?;
        insert_events(connection, record.id, 0, std::slice::from_ref(&self.event))?;
        change_living(connection, i64::from(record.state.is_live()))?;
        Ok(Ok(()))
    }
}

/// Writes events behind `end`, and returns where the log ends then.
fn insert_events(
    connection: &Connection,
    agent: [u8; 16],
    end: i64,
    events: &[String],
) -> rusqlite::Result<i64> {
    let mut insert =
        connection.prepare_cached("INSERT INTO agent_events (agent, revision, event) VALUES (?1, ?2, ?3)")?;
    let mut revision = end;
    for event in events {
        revision += 1;
        insert.execute(params![agent, revision, event])?;
    }
    Ok(revision)
}

fn change_living(connection: &Connection, by: i64) -> rusqlite::Result<()> {
    if by != 0 {
        connection.prepare_cached("UPDATE agent_totals SET living = living + ?1")?.execute([by])?;
    }
    Ok(())
}

/// Adds events to an agent's log.
struct Append {
    record: RecordColumns,
    expected: Revision,
    events: Vec<String>,
}

/// What came of that.
enum Appended {
    Written(Revision),
    Conflict(Revision),
    Unknown,
}

impl Change for Append {
    type Answer = Appended;
    const WHAT: &'static str = "write an agent's log";

    fn effort(&self) -> Effort {
        let bytes = self.record.record.len() + self.events.iter().map(String::len).sum::<usize>();
        // All that lies unread in the mailbox may have to be buried.
        if self.record.state.has_mailbox() { Effort::Brief(bytes) } else { Effort::Long(bytes) }
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Appended> {
        let record = &self.record;
        let mut find =
            connection.prepare_cached("SELECT key, revision, is_live FROM agents WHERE id = ?1")?;
        let found =
            find.query_row([record.id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
        let Some((key, end, was_live)): Option<(i64, i64, bool)> = found else {
            return Ok(Appended::Unknown);
        };
        if i64::try_from(self.expected.0) != Ok(end) {
            return Ok(Appended::Conflict(Revision(end.unsigned_abs())));
        }
        let revision = insert_events(connection, record.id, end, &self.events)?;
        let mut update = connection.prepare_cached(
            "UPDATE agents SET state = :state, is_live = :is_live, has_mailbox = :has_mailbox, \
             last_active = :last_active, revision = :revision WHERE key = :key",
        )?;
        let is_live = record.state.is_live();
        update.execute(named_params! {
            ":state": record.state.as_str(), ":is_live": is_live, ":has_mailbox": record.state.has_mailbox(),
            ":last_active": record.last_active, ":revision": revision, ":key": key,
        })?;
        let mut update =
            connection.prepare_cached("UPDATE agent_records SET record = ?1 WHERE agent = ?2")?;
        update.execute(params![record.record, key])?;
        if !record.state.has_mailbox() {
            bury_unread(connection, &[record.id], record.last_active)?;
        }
        change_living(connection, i64::from(is_live) - i64::from(was_live))?;
        Ok(Appended::Written(Revision(revision.unsigned_abs())))
    }
}

/// Adds to an agent's log what changes nothing about it.
struct AppendSaid {
    agent: [u8; 16],
    events: Vec<String>,
    /// When it was last active; nothing when there are no events.
    last_active: Option<i64>,
}

impl Change for AppendSaid {
    /// Where the log ends, if there is such an agent.
    type Answer = Option<Revision>;
    const WHAT: &'static str = "write what an agent said";

    fn effort(&self) -> Effort {
        Effort::Brief(self.events.iter().map(String::len).sum())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Option<Revision>> {
        let mut update = connection.prepare_cached(
            "UPDATE agents SET revision = revision + ?2, last_active = coalesce(?3, last_active) WHERE id = ?1 \
             RETURNING revision",
        )?;
        let added = i64::try_from(self.events.len()).unwrap_or(i64::MAX);
        let values = params![self.agent, added, self.last_active];
        let Some(end): Option<i64> = update.query_row(values, |row| row.get(0)).optional()? else {
            return Ok(None);
        };
        insert_events(connection, self.agent, end - added, &self.events)?;
        Ok(Some(Revision(end.unsigned_abs())))
    }
}

/// Removes some of the agents that ended before a moment, those without children first.
struct Prune {
    before_ms: i64,
}

impl Change for Prune {
    /// How many were removed.
    type Answer = u64;
    const WHAT: &'static str = "remove old agents";

    fn effort(&self) -> Effort {
        Effort::Long(PRUNE_BYTES)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let mut gone = Vec::new();
        // With the last of its children gone, a parent is one without children.
        loop {
            let found = self.find(connection, PRUNE_AGENTS_MAX.saturating_sub(gone.len()))?;
            if found.is_empty() {
                break;
            }
            for (key, id) in found {
                connection.prepare_cached("DELETE FROM agent_events WHERE agent = ?1")?.execute([id])?;
                connection.prepare_cached("DELETE FROM agent_records WHERE agent = ?1")?.execute([key])?;
                connection.prepare_cached("DELETE FROM agents WHERE key = ?1")?.execute([key])?;
                gone.push(id);
            }
        }
        bury_unread(connection, &gone, self.before_ms)?;
        for id in &gone {
            connection.prepare_cached("DELETE FROM deliveries WHERE recipient = ?1")?.execute([id])?;
            connection.prepare_cached("DELETE FROM mailboxes WHERE agent = ?1")?.execute([id])?;
        }
        Ok(gone.len() as u64)
    }
}

impl Prune {
    /// Returns some agents that can be removed, by key and id.
    fn find(&self, connection: &Connection, limit: usize) -> rusqlite::Result<Vec<(i64, [u8; 16])>> {
        let mut find = connection.prepare_cached(
            "SELECT key, id FROM agents AS old WHERE is_live = 0 AND last_active < ?1 \
             AND NOT EXISTS (SELECT 1 FROM agents AS child WHERE child.parent = old.id) LIMIT ?2",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        find.query_map([self.before_ms, limit], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }
}
