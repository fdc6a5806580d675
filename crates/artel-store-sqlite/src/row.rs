//! Our types as columns, and columns as our types.

use std::error::Error;

use artel_model::access::{IdentityError, UserId};
use artel_model::data_scope::OwnerKey;
use artel_model::health::Counted;
use artel_model::id::{AgentId, PlanId, RunId};
use artel_model::run::{ExecutionRecord, ExecutionStatus, RunState, RunSummary, StampedEvent};
use artel_model::time::Timestamp;
use artel_store::{Fence, HealthCount, LoggedEvent, OwnerId, Revision, RunRow};
use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// The columns that [`run_row`] reads.
pub(crate) const RUN_COLUMNS: &str = "id, kind, plan_id, agent_id, state, steps, created_at, completed_at, owner, fence, \
     (SELECT coalesce(max(revision), 0) FROM events WHERE run = runs.key), owner_user";

/// Reads what is kept about a run.
pub(crate) fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let state: String = row.get(4)?;
    let summary = RunSummary {
        run_id: RunId(uuid(row, 0)?),
        kind: parsed(row, 1)?,
        plan_id: PlanId(uuid(row, 2)?),
        agent_id: row.get::<_, Option<[u8; 16]>>(3)?.map(|bytes| AgentId(Uuid::from_bytes(bytes))),
        owner: row.get::<_, Option<String>>(11)?.map(|user| user_of(11, user)).transpose()?,
        state: run_state(&state).ok_or_else(|| unreadable(4, format!("`{state}` is not a state")))?,
        steps: usize::try_from(row.get::<_, i64>(5)?).map_err(|error| unreadable(5, error))?,
        created_at: Timestamp::from_millis(row.get(6)?),
        completed_at: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_millis),
    };
    Ok(RunRow {
        summary,
        owner: row.get::<_, Option<String>>(8)?.map(OwnerId),
        fence: Fence(natural(row, 9)?),
        revision: Revision(natural(row, 10)?),
    })
}

/// Reads the name of a user that was found in a column.
pub(crate) fn user_of(column: usize, name: String) -> rusqlite::Result<UserId> {
    name.try_into().map_err(|error: IdentityError| unreadable(column, error))
}

fn run_state(text: &str) -> Option<RunState> {
    RunState::ALL.iter().copied().find(|state| state.as_str() == text)
}

/// Reads `revision, at, event`.
pub(crate) fn logged_event(row: &Row<'_>) -> rusqlite::Result<LoggedEvent> {
    let event = StampedEvent { at: Timestamp::from_millis(row.get(1)?), event: parsed(row, 2)? };
    Ok(LoggedEvent { revision: Revision(natural(row, 0)?), event })
}

/// Reads `record`.
pub(crate) fn execution(row: &Row<'_>) -> rusqlite::Result<ExecutionRecord> {
    parsed(row, 0)
}

/// An event as it is written.
pub(crate) struct EventColumns {
    pub(crate) at: i64,
    pub(crate) event: String,
}

impl EventColumns {
    pub(crate) fn of(event: &StampedEvent) -> Self {
        Self { at: event.at.as_millis(), event: json(&event.event) }
    }
}

/// A summary as it is written.
pub(crate) struct SummaryColumns {
    pub(crate) id: [u8; 16],
    pub(crate) kind: String,
    pub(crate) plan_id: [u8; 16],
    pub(crate) agent_id: Option<[u8; 16]>,
    pub(crate) owner_user: Option<String>,
    pub(crate) state: &'static str,
    pub(crate) steps: i64,
    pub(crate) created_at: i64,
    pub(crate) completed_at: Option<i64>,
}

impl SummaryColumns {
    pub(crate) fn of(summary: &RunSummary) -> Self {
        Self {
            id: summary.run_id.0.into_bytes(),
            kind: json(&summary.kind),
            plan_id: summary.plan_id.0.into_bytes(),
            agent_id: summary.agent_id.map(|agent| agent.0.into_bytes()),
            owner_user: summary.owner.as_ref().map(UserId::to_string),
            state: summary.state.as_str(),
            steps: i64::try_from(summary.steps).unwrap_or(i64::MAX),
            created_at: summary.created_at.as_millis(),
            completed_at: summary.completed_at.map(Timestamp::as_millis),
        }
    }
}

/// A record as it is written: whole, with the columns by which it is found and counted beside it.
pub(crate) struct ExecutionColumns {
    pub(crate) id: [u8; 16],
    pub(crate) agent_id: Option<[u8; 16]>,
    pub(crate) skill: String,
    pub(crate) status: &'static str,
    pub(crate) started_at: i64,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) retry_count: u32,
    pub(crate) record: String,
}

impl ExecutionColumns {
    pub(crate) fn of(record: &ExecutionRecord) -> Self {
        Self {
            id: record.execution_id.0.into_bytes(),
            agent_id: record.agent_id.map(|agent| agent.0.into_bytes()),
            skill: record.skill_name.to_string(),
            status: record.status.as_str(),
            started_at: record.started_at.as_millis(),
            duration_ms: record.duration_ms.map(|millis| i64::try_from(millis).unwrap_or(i64::MAX)),
            retry_count: record.retry_count,
            record: json(record),
        }
    }
}

/// Returns the words of the statuses of executions that have ended, for SQL.
pub(crate) fn ended_statuses() -> String {
    let ended = ExecutionStatus::ALL.iter().filter(|status| artel_store::has_ended(**status));
    ended.map(|status| format!("'{}'", status.as_str())).collect::<Vec<_>>().join(", ")
}

pub(crate) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value)
        .expect("what is kept has text for keys, and nothing in it fails to be written")
}

pub(crate) fn parsed<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| unreadable(column, error))
}

fn uuid(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    Ok(Uuid::from_bytes(row.get(column)?))
}

/// Reads a number that is never negative.
pub(crate) fn natural(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|error| unreadable(column, error))
}

pub(crate) fn unreadable(column: usize, why: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

/// Reads `skill, content_hash, principal, tally, at`.
pub(crate) fn health_count(row: &Row<'_>) -> rusqlite::Result<HealthCount> {
    let (skill, principal, tally): (String, String, String) = (row.get(0)?, row.get(2)?, row.get(3)?);
    let counted = Counted {
        tally: tally.parse().map_err(|error| unreadable(3, error))?,
        at: Timestamp::from_millis(row.get(4)?),
    };
    let key = OwnerKey::kept(&principal);
    Ok(HealthCount {
        skill: skill.parse().map_err(|error| unreadable(0, error))?,
        content_hash: row.get(1)?,
        principal: key.ok_or_else(|| unreadable(2, format!("`{principal}` is no principal")))?,
        counted,
    })
}
