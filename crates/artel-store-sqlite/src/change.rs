//! The changes that the writer makes, each a few statements inside a transaction that somebody else began.
//!
//! A change that is refused has written nothing, so it never disturbs the others of its batch.

use std::collections::BTreeMap;

use artel_model::data_scope::OwnerKey;
use artel_model::health::{Counted, count};
use artel_model::id::RunId;
use artel_model::time::Timestamp;
use artel_store::{
    Claim, Created, Fence, HealthCount, NewRun, OwnerId, ProbeClaim, Revision, RunAppend, SkillFiles,
};
use rusqlite::{Connection, OptionalExtension, named_params, params};
use uuid::Uuid;

use crate::effort::Effort;
use crate::row::{EventColumns, ExecutionColumns, SummaryColumns};

/// A change of the database.
pub(crate) trait Change: Send + 'static {
    /// What came of it.
    type Answer: Send + 'static;
    /// What was tried, for messages.
    const WHAT: &'static str;

    /// Returns how much work it is; always the same.
    fn effort(&self) -> Effort;

    /// Makes it. It may be made again after a rollback.
    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer>;
}

/// Keeps a run.
pub(crate) struct Create {
    summary: SummaryColumns,
    events: Vec<EventColumns>,
    owner: Option<String>,
    key: Option<String>,
}

impl Create {
    pub(crate) fn new(run: NewRun) -> Self {
        Self {
            summary: SummaryColumns::of(&run.summary),
            events: run.events.iter().map(EventColumns::of).collect(),
            owner: run.owner.map(|OwnerId(owner)| owner),
            key: run.idempotency_key,
        }
    }

    fn existing(&self, connection: &Connection) -> rusqlite::Result<Option<RunId>> {
        let mut find = connection.prepare_cached(
            "SELECT id FROM runs WHERE idempotency_key = ?1 UNION ALL SELECT id FROM runs WHERE id = ?2 LIMIT 1",
        )?;
        let found = find.query_row(params![self.key, self.summary.id], |row| row.get(0)).optional()?;
        Ok(found.map(|id| RunId(Uuid::from_bytes(id))))
    }
}

impl Change for Create {
    type Answer = Created;
    const WHAT: &'static str = "keep a run";

    fn effort(&self) -> Effort {
        Effort::Brief(self.events.iter().map(|event| event.event.len()).sum())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Created> {
        if let Some(existing) = self.existing(connection)? {
            return Ok(Created::Existing(existing));
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO runs (id, kind, plan_id, agent_id, state, steps, created_at, completed_at, owner, fence, \
             idempotency_key, owner_user) VALUES (:id, :kind, :plan_id, :agent_id, :state, :steps, :created_at, \
             :completed_at, :owner, :fence, :key, :owner_user)",
        )?;
        let summary = &self.summary;
        insert.execute(named_params! {
            ":id": summary.id, ":kind": summary.kind, ":plan_id": summary.plan_id, ":agent_id": summary.agent_id,
            ":state": summary.state, ":steps": summary.steps, ":created_at": summary.created_at,
            ":completed_at": summary.completed_at, ":owner": self.owner, ":fence": i64::from(self.owner.is_some()),
            ":key": self.key, ":owner_user": summary.owner_user,
        })?;
        insert_events(connection, connection.last_insert_rowid(), 0, &self.events)?;
        Ok(Created::New)
    }
}

/// Adds events to a log, with what follows from them.
pub(crate) struct Append {
    run: [u8; 16],
    expected: Revision,
    fence: Option<Fence>,
    events: Vec<EventColumns>,
    summary: Option<SummaryColumns>,
    executions: Vec<ExecutionColumns>,
    health: Vec<artel_store::HealthChange>,
}

/// Why events were not added.
#[derive(Debug)]
pub(crate) enum Refused {
    Unknown,
    Fenced,
    Conflict { actual: Revision },
}

/// Where a log stands.
struct Log {
    run: i64,
    fence: i64,
    revision: i64,
}

impl Append {
    pub(crate) fn new(append: RunAppend) -> Self {
        Self {
            run: append.run.0.into_bytes(),
            expected: append.expected,
            fence: append.fence,
            events: append.events.iter().map(EventColumns::of).collect(),
            summary: append.summary.as_ref().map(SummaryColumns::of),
            executions: append.executions.iter().map(ExecutionColumns::of).collect(),
            health: append.health,
        }
    }

    fn log(&self, connection: &Connection) -> rusqlite::Result<Option<Log>> {
        let mut find = connection.prepare_cached(
            "SELECT key, fence, (SELECT coalesce(max(revision), 0) FROM events WHERE run = runs.key) FROM runs \
             WHERE id = ?1",
        )?;
        let log =
            |row: &rusqlite::Row<'_>| Ok(Log { run: row.get(0)?, fence: row.get(1)?, revision: row.get(2)? });
        find.query_row([self.run], log).optional()
    }

    fn refusal(&self, log: &Log) -> Option<Refused> {
        if self.fence.is_some_and(|fence| i64::try_from(fence.0) != Ok(log.fence)) {
            return Some(Refused::Fenced);
        }
        let conflict = i64::try_from(self.expected.0) != Ok(log.revision);
        conflict.then(|| Refused::Conflict { actual: revision(log.revision) })
    }
}

fn revision(number: i64) -> Revision {
    Revision(u64::try_from(number).unwrap_or(0))
}

impl Change for Append {
    type Answer = Result<Revision, Refused>;
    const WHAT: &'static str = "write a run's log";

    fn effort(&self) -> Effort {
        let events = self.events.iter().map(|event| event.event.len());
        Effort::Brief(events.chain(self.executions.iter().map(|record| record.record.len())).sum())
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        let Some(log) = self.log(connection)? else { return Ok(Err(Refused::Unknown)) };
        if let Some(refusal) = self.refusal(&log) {
            return Ok(Err(refusal));
        }
        let end = insert_events(connection, log.run, log.revision, &self.events)?;
        if let Some(summary) = &self.summary {
            update_summary(connection, log.run, summary)?;
        }
        for record in &self.executions {
            upsert_execution(connection, log.run, record)?;
        }
        for change in &self.health {
            change_health(connection, change)?;
        }
        Ok(Ok(revision(end)))
    }
}

/// Writes events behind `end`, and returns where the log ends then.
fn insert_events(
    connection: &Connection,
    run: i64,
    end: i64,
    events: &[EventColumns],
) -> rusqlite::Result<i64> {
    let mut insert =
        connection.prepare_cached("INSERT INTO events (run, revision, at, event) VALUES (?1, ?2, ?3, ?4)")?;
    let mut revision = end;
    for event in events {
        revision += 1;
        insert.execute(params![run, revision, event.at, event.event])?;
    }
    Ok(revision)
}

fn update_summary(connection: &Connection, run: i64, summary: &SummaryColumns) -> rusqlite::Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE runs SET kind = :kind, plan_id = :plan_id, agent_id = :agent_id, state = :state, steps = :steps, \
         created_at = :created_at, completed_at = :completed_at WHERE key = :run",
    )?;
    update.execute(named_params! {
        ":kind": summary.kind, ":plan_id": summary.plan_id, ":agent_id": summary.agent_id, ":state": summary.state,
        ":steps": summary.steps, ":created_at": summary.created_at, ":completed_at": summary.completed_at, ":run": run,
    })?;
    Ok(())
}

/// Writes a record. An execution keeps its run, agent, skill and beginning, so what follows its first write leaves their
/// indexes alone; one that does not is written anew.
fn upsert_execution(connection: &Connection, run: i64, record: &ExecutionColumns) -> rusqlite::Result<()> {
    let upsert = "INSERT INTO executions (id, run, agent_id, skill, status, started_at, duration_ms, retry_count, record, \
         owner_user) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT owner_user FROM runs WHERE key = ?2)) ON CONFLICT (id) DO UPDATE SET status = excluded.status, \
         duration_ms = excluded.duration_ms, retry_count = excluded.retry_count, record = excluded.record \
         WHERE run = excluded.run AND agent_id IS excluded.agent_id AND skill = excluded.skill \
         AND started_at = excluded.started_at";
    let replace = "REPLACE INTO executions (id, run, agent_id, skill, status, started_at, duration_ms, retry_count, record, \
         owner_user) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT owner_user FROM runs WHERE key = ?2))";
    if write_execution(connection, upsert, run, record)? == 0 {
        write_execution(connection, replace, run, record)?;
    }
    Ok(())
}

/// Executes a statement with all columns of a record, and returns how many rows it wrote.
fn write_execution(
    connection: &Connection,
    sql: &str,
    run: i64,
    record: &ExecutionColumns,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(params![
        record.id,
        run,
        record.agent_id,
        record.skill,
        record.status,
        record.started_at,
        record.duration_ms,
        record.retry_count,
        record.record,
    ])
}

/// Counts one outcome, as the model says, with everything that is kept about the same files.
fn change_health(connection: &Connection, change: &artel_store::HealthChange) -> rusqlite::Result<()> {
    let files = [change.skill.as_str(), change.content_hash.as_str()];
    let mut find = connection.prepare_cached(
        "SELECT skill, content_hash, principal, tally, at FROM health_counts \
         WHERE skill = ?1 AND content_hash = ?2",
    )?;
    let rows: rusqlite::Result<Vec<HealthCount>> = find.query_map(files, crate::row::health_count)?.collect();
    let mut counted: BTreeMap<OwnerKey, Counted> =
        rows?.into_iter().map(|row| (row.principal, row.counted)).collect();
    let was_there = counted.contains_key(&change.principal);
    count(&mut counted, &change.principal, change.outcome, change.at);
    let Some(own) = counted.get(&change.principal) else {
        if was_there {
            let forget =
                "DELETE FROM health_counts WHERE skill = ?1 AND content_hash = ?2 AND principal = ?3";
            let [skill, hash] = files;
            connection.prepare_cached(forget)?.execute([skill, hash, change.principal.as_str()])?;
        }
        return Ok(());
    };
    let mut replace = connection.prepare_cached(
        "INSERT OR REPLACE INTO health_counts (skill, content_hash, principal, tally, at) \
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let (principal, tally) = (change.principal.as_str(), own.tally.to_string());
    let (skill, hash) = (change.skill.as_str(), &change.content_hash);
    replace.execute(params![skill, hash, principal, tally, own.at.as_millis()])?;
    Ok(())
}

impl Change for Claim {
    type Answer = Result<Fence, ClaimRefused>;
    const WHAT: &'static str = "take a run over";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<Self::Answer> {
        let id = self.run.0.into_bytes();
        // A fence that does not fit into a column is none that was given out.
        let seen = i64::try_from(self.seen.0).unwrap_or(-1);
        let mut update = connection
            .prepare_cached("UPDATE runs SET owner = ?1, fence = fence + 1 WHERE id = ?2 AND fence = ?3")?;
        if update.execute(params![self.owner.0, id, seen])? > 0 {
            return Ok(Ok(Fence(self.seen.0 + 1)));
        }
        let mut find = connection.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?;
        Ok(Err(if find.exists([id])? { ClaimRefused::Taken } else { ClaimRefused::Unknown }))
    }
}

/// Why a run was not handed over.
#[derive(Debug)]
pub(crate) enum ClaimRefused {
    Taken,
    Unknown,
}

/// What removing some runs or agents writes: all pages that they lie on.
pub(crate) const PRUNE_BYTES: usize = 1 << 20;

/// Removes some of the runs that ended before a moment, so that other writes get their turn.
pub(crate) struct Prune {
    pub(crate) before_ms: i64,
    pub(crate) runs_max: u32,
}

impl Change for Prune {
    /// How many were removed.
    type Answer = u64;
    const WHAT: &'static str = "remove old runs";

    fn effort(&self) -> Effort {
        Effort::Long(PRUNE_BYTES)
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let mut find = connection.prepare_cached("SELECT key FROM runs WHERE completed_at < ?1 LIMIT ?2")?;
        let keys = find.query_map(params![self.before_ms, self.runs_max], |row| row.get(0))?;
        let keys: Vec<i64> = keys.collect::<Result<_, _>>()?;
        for key in &keys {
            connection.prepare_cached("DELETE FROM events WHERE run = ?1")?.execute([key])?;
            connection.prepare_cached("DELETE FROM executions WHERE run = ?1")?.execute([key])?;
            connection.prepare_cached("DELETE FROM runs WHERE key = ?1")?.execute([key])?;
        }
        Ok(keys.len() as u64)
    }
}

/// Forgets a skill's health.
pub(crate) struct ResetHealth {
    pub(crate) skill: String,
    /// Only of the files with this hash.
    pub(crate) content_hash: Option<String>,
}

/// Writes the version of the tables once more: the smallest change that goes through the log.
pub(crate) struct Touch;

impl Change for Touch {
    type Answer = ();
    const WHAT: &'static str = "write";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        connection.pragma_update(None, "user_version", version)
    }
}

impl Change for ResetHealth {
    type Answer = ();
    const WHAT: &'static str = "reset a skill's health";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let forget = "DELETE FROM health_counts WHERE skill = ?1 AND (?2 IS NULL OR content_hash = ?2)";
        connection.prepare_cached(forget)?.execute(params![self.skill, self.content_hash])?;
        let release = "DELETE FROM health_probes WHERE skill = ?1 AND (?2 IS NULL OR content_hash = ?2)";
        connection.prepare_cached(release)?.execute(params![self.skill, self.content_hash])?;
        Ok(())
    }
}

/// Takes a probe, unless another run has it.
pub(crate) struct ClaimProbe(pub(crate) ProbeClaim);

impl Change for ClaimProbe {
    type Answer = bool;
    const WHAT: &'static str = "claim a skill's probe";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let ProbeClaim { files, since, run, now, until } = &self.0;
        let forget = "DELETE FROM health_probes \
                      WHERE skill = ?1 AND content_hash = ?2 AND since < ?3 AND until <= ?4";
        let (skill, hash, now) = (files.skill.as_str(), &files.content_hash, now.as_millis());
        connection.prepare_cached(forget)?.execute(params![skill, hash, since.as_millis(), now])?;
        let claim = "INSERT INTO health_probes (skill, content_hash, since, run, until) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (skill, content_hash, since) DO UPDATE SET run = excluded.run, until = excluded.until \
                     WHERE health_probes.until <= ?6 OR health_probes.run = excluded.run";
        let changed = connection.prepare_cached(claim)?.execute(params![
            skill,
            hash,
            since.as_millis(),
            run.to_string(),
            until.as_millis(),
            now,
        ])?;
        Ok(changed > 0)
    }
}

/// Forgets the health of files that are gone.
pub(crate) struct PruneHealth {
    pub(crate) files: Vec<SkillFiles>,
    pub(crate) before: Timestamp,
}

impl Change for PruneHealth {
    type Answer = ();
    const WHAT: &'static str = "forget the health of files that are gone";

    fn effort(&self) -> Effort {
        Effort::ROW
    }

    fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
        let before = self.before.as_millis();
        let mut forget = connection
            .prepare_cached("DELETE FROM health_counts WHERE skill = ?1 AND content_hash = ?2 AND at < ?3")?;
        for SkillFiles { skill, content_hash } in &self.files {
            forget.execute(params![skill.as_str(), content_hash, before])?;
        }
        connection.prepare_cached("DELETE FROM health_probes WHERE until < ?1")?.execute([before])?;
        Ok(())
    }
}
