//! Agents and their logs as tables.

use artel_model::access::UserId;
use artel_model::agent::{AgentRecord, AgentState};
use artel_model::id::AgentId;
use artel_model::time::Timestamp;
use artel_store::{
    AgentAppend, AgentAppendError, AgentFilter, AgentRefused, AgentRow, AgentStore, LoggedAgentEvent,
    NewAgent, Page, PageRequest, Revision, StoreError, may_have_children,
};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use crate::id::Id;
use crate::row::{after, bigint, column, corrupt, count, document, fitting, json, rows_of, within};
use crate::statement::Statement;
use crate::store::{PostgresStore, Sent};

/// The columns of [`agent_row`], in its order.
const AGENT_COLUMNS: &str = "SELECT record, revision FROM agents WHERE true";
const READING: &str = "reading an agent";

/// Agents that are removed by one statement; their logs may be long.
const PRUNE_AGENTS_MAX: u64 = 100;

#[async_trait]
impl AgentStore for PostgresStore {
    async fn create_agent(&self, agent: NewAgent) -> Result<Result<(), AgentRefused>, StoreError> {
        let what = "keeping an agent";
        let answer = self.write(what, &create_statement(&agent)).await?;
        let row = answer.rows.first().ok_or_else(|| corrupt(what, "no answer"))?;
        match refusal(what, row)? {
            // It may have been kept before the connection was lost.
            Some(AgentRefused::Exists) if answer.sent == Sent::Twice && self.is_kept(&agent).await? => {
                Ok(Ok(()))
            }
            Some(refused) => Ok(Err(refused)),
            None => Ok(Ok(())),
        }
    }

    async fn append_agent(&self, append: AgentAppend) -> Result<Revision, AgentAppendError> {
        let what = "adding to the log of an agent";
        let answer = self.write(what, &append_statement(&append)).await.map_err(AgentAppendError::Store)?;
        let (is_written, end) = append_answer(what, answer.rows.first()).map_err(AgentAppendError::Store)?;
        match end {
            None => Err(AgentAppendError::Unknown),
            Some(end) if is_written => Ok(end),
            Some(_)
                if answer.sent == Sent::Twice
                    && self.has_logged_of_agent(&append).await.map_err(AgentAppendError::Store)? =>
            {
                Ok(Revision(append.expected.0 + append.events.len() as u64))
            }
            Some(actual) => Err(AgentAppendError::Conflict { actual }),
        }
    }

    async fn agent(&self, id: AgentId) -> Result<Option<AgentRow>, StoreError> {
        let statement = Statement::new(AGENT_COLUMNS).then(" AND id = ").place(Id(id.0));
        let answer = self.read(READING, &statement).await?;
        answer.rows.first().map(agent_row).transpose()
    }

    async fn agents(&self, filter: &AgentFilter, page: &PageRequest) -> Result<Page<AgentRow>, StoreError> {
        let statement = filtered(Statement::new(AGENT_COLUMNS), filter);
        let statement = after(statement, " AND (created_at, id)", page.after.as_ref())?;
        let statement = statement.then(" ORDER BY created_at DESC, id DESC LIMIT ").place(rows_of(page));
        let answer = self.read("listing agents", &statement).await?;
        let rows = answer.rows.iter().map(agent_row).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(rows, page.limit, |row| (row.record.created_at, row.record.agent_id.0)))
    }

    async fn agent_events(
        &self,
        id: AgentId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<LoggedAgentEvent>, StoreError> {
        let what = "reading the log of an agent";
        let statement = Statement::new(
            "SELECT revision, event FROM agent_events WHERE agent = $1 AND revision > $2 \
             ORDER BY revision LIMIT $3",
        );
        let statement = statement.with(Id(id.0)).with(bigint(after.0)).with(bigint(limit as u64));
        let answer = self.read(what, &statement).await?;
        let event = |row| {
            let revision = Revision(count(what, row, 0)?);
            Ok(LoggedAgentEvent { revision, event: document(what, row, 1)? })
        };
        answer.rows.iter().map(event).collect()
    }

    async fn agent_counts(&self) -> Result<Vec<(AgentState, u64)>, StoreError> {
        let what = "counting agents";
        let statement = Statement::new("SELECT state, count(*) FROM agents GROUP BY state");
        let answer = self.read(what, &statement).await?;
        let group = |row| Ok((state(what, row, 0)?, count(what, row, 1)?));
        let mut counts = answer.rows.iter().map(group).collect::<Result<Vec<_>, StoreError>>()?;
        counts.sort_by_key(|(state, _)| AgentState::ALL.iter().position(|other| other == state));
        Ok(counts)
    }

    async fn prune_agents(&self, before: Timestamp) -> Result<u64, StoreError> {
        let what = "removing agents";
        let statement = Statement::new("SELECT prune_agents($1, $2)");
        let statement = statement.with(before.as_millis()).with(bigint(PRUNE_AGENTS_MAX));
        let mut removed = 0;
        loop {
            let answer = self.write(what, &statement).await?;
            let batch = answer.rows.first().map_or(Ok(0), |row| count(what, row, 0))?;
            removed += batch;
            if batch < PRUNE_AGENTS_MAX {
                return Ok(removed);
            }
        }
    }
}

impl PostgresStore {
    /// Says whether an agent's log begins as this one's does.
    async fn is_kept(&self, agent: &NewAgent) -> Result<bool, StoreError> {
        let first = self.agent_events(agent.record.agent_id, Revision(0), 1).await?;
        Ok(first.first().is_some_and(|first| first.event == agent.event))
    }

    /// Says whether the log goes on with exactly these events: then they were written before the connection was lost.
    async fn has_logged_of_agent(&self, append: &AgentAppend) -> Result<bool, StoreError> {
        let logged = self.agent_events(append.record.agent_id, append.expected, append.events.len()).await?;
        Ok(!logged.is_empty() && logged.iter().map(|logged| &logged.event).eq(&append.events))
    }
}

fn create_statement(agent: &NewAgent) -> Statement {
    let NewAgent { record, event, agents_max } = agent;
    let parent_states = AgentState::ALL.iter().copied().filter(|state| may_have_children(*state));
    let parent_states: Vec<&str> = parent_states.map(AgentState::as_str).collect();
    let statement = Statement::new(
        "SELECT refused, parent_state, number \
         FROM create_agent($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    );
    let statement = statement
        .with(Id(record.agent_id.0))
        .with(record.spec.parent.map(|parent| Id(parent.0)))
        .with(record.spec.name.as_deref().map(str::as_bytes))
        .with(i64::from(record.spec.max_children))
        .with(record.created_at.as_millis());
    let owner = record.owner().map(UserId::as_str);
    let statement = with_record(statement, record).with(json(event)).with(parent_states);
    statement.with(bigint(*agents_max as u64)).with(owner)
}

fn append_statement(append: &AgentAppend) -> Statement {
    let events: Vec<String> = append.events.iter().map(json).collect();
    let statement =
        Statement::new("SELECT is_written, ending FROM append_agent($1, $2, $3, $4, $5, $6, $7, $8)");
    let statement = statement.with(Id(append.record.agent_id.0)).with(bigint(append.expected.0)).with(events);
    with_record(statement, &append.record)
}

/// Adds what changes about an agent.
fn with_record(statement: Statement, record: &AgentRecord) -> Statement {
    let state = record.state();
    statement
        .with(state.as_str())
        .with(state.is_live())
        .with(state.has_mailbox())
        .with(record.last_active.as_millis())
        .with(json(record))
}

/// Returns whether the events were written and where the log ends.
fn append_answer(what: &str, row: Option<&PgRow>) -> Result<(bool, Option<Revision>), StoreError> {
    let row = row.ok_or_else(|| corrupt(what, "no answer"))?;
    let end: Option<i64> = column(what, row, 1)?;
    Ok((column(what, row, 0)?, end.map(|end| Revision(end.unsigned_abs()))))
}

fn refusal(what: &str, row: &PgRow) -> Result<Option<AgentRefused>, StoreError> {
    let refused = match column::<Option<&str>>(what, row, 0)? {
        None => return Ok(None),
        Some("exists") => AgentRefused::Exists,
        Some("no_parent") => AgentRefused::NoParent,
        Some("parent_state") => AgentRefused::ParentState(state(what, row, 1)?),
        Some("children") => AgentRefused::TooManyChildren { children: count(what, row, 2)? },
        Some("agents") => AgentRefused::TooManyAgents { agents: count(what, row, 2)? },
        Some(other) => return Err(corrupt(what, &format!("`{other}` is no reason"))),
    };
    Ok(Some(refused))
}

fn filtered(mut statement: Statement, filter: &AgentFilter) -> Statement {
    if !filter.states.is_empty() {
        let states: Vec<&str> = filter.states.iter().copied().map(AgentState::as_str).collect();
        statement = statement.then(" AND state = ANY(").place(states).then(")");
    }
    if let Some(parent) = filter.parent {
        statement = statement.then(" AND parent = ").place(Id(parent.0));
    }
    if let Some(name) = &filter.name {
        statement = statement.then(" AND name = ").place(name.as_bytes());
    }
    statement = fitting(statement, " AND owner_user = ", filter.owner.as_ref().map(UserId::as_str));
    let names = [" AND created_at >= ", " AND created_at < "];
    within(statement, names, [filter.created_from, filter.created_before])
}

/// Reads [`AGENT_COLUMNS`].
fn agent_row(row: &PgRow) -> Result<AgentRow, StoreError> {
    Ok(AgentRow { record: document(READING, row, 0)?, revision: Revision(count(READING, row, 1)?) })
}

/// Reads the word for a state.
pub(crate) fn state(what: &str, row: &PgRow, index: usize) -> Result<AgentState, StoreError> {
    let word: &str = column(what, row, index)?;
    let state = AgentState::ALL.iter().copied().find(|state| state.as_str() == word);
    state.ok_or_else(|| corrupt(what, &format!("no state is called `{word}`")))
}
