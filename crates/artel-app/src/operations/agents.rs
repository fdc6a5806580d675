//! Agents: spawned, listed, read, told something, followed.

use std::collections::BTreeSet;

use artel_agents::{CallError, ReadOptions, SpawnCaller, Spawned};
use artel_api::Paged;
use artel_api::agents::{
    AgentMetrics, AgentsQuery, LeftOver, Operation, OperationAnswer, OperationFailure, PrunedAgents,
    SpawnedAgent,
};
use artel_api::messages::{Mailbox, MailboxQuery};
use artel_api::runs::{LogLine, LogPage, LogQuery, PruneRequest};
use artel_model::access::Principal;
use artel_model::agent::{
    AgentDocument, AgentRecord, AgentState, CallOrigin, Cause, Driver, SpawnRefused, SpawnRequest,
};
use artel_model::catalog::ActivatedBy;
use artel_model::id::AgentId;
use artel_model::message::MessageDocument;
use artel_model::name::SkillName;
use artel_store::{
    AgentFilter, AgentRow, ExecutionFilter, LoggedAgentEvent, OwnerId, PageRequest, Revision, has_ended,
};
use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::owned::{own_agent, owner_filter};
use super::page::{limit, page_request, paged, words};
use super::quotas::room_for_agent;
use super::refusal::not_spawned;
use crate::app::App;
use crate::error::OperationError;
use crate::stream::{Next, Source, StreamEvent};

/// Records and events that are read at once.
const PAGE: usize = 500;

/// Says on whose behalf something happens to an agent.
pub(super) fn cause(caller: &Principal) -> Cause {
    Cause::by(caller.viewer.user.to_string())
}

/// Spawns an agent that is the caller's and sees what the caller sees.
pub async fn spawn(
    app: &App,
    caller: &Principal,
    origin: CallOrigin,
    document: &Map<String, Value>,
) -> Result<SpawnedAgent, OperationError> {
    let request =
        SpawnRequest::read(document).map_err(|errors| not_spawned(&SpawnRefused::new(errors, Vec::new())))?;
    // Below an agent, what is spawned is whoever's that agent is, and an administrator may spawn below anybody's.
    let viewer = match request.parent {
        Some(_) if caller.is_admin() => None,
        Some(_) | None => caller.owner(),
    };
    let spawner = SpawnCaller { viewer, origin };
    let room = room_for_agent(app, caller).await?;
    let Spawned { record, warnings } = app.agents().spawn(&request, spawner, cause(caller)).await?;
    drop(room);
    note_skills(app, caller, &record);
    Ok(SpawnedAgent { agent: AgentDocument::of(&record), warnings })
}

/// Notes which skills somebody took up by giving them to an agent.
fn note_skills(app: &App, caller: &Principal, record: &AgentRecord) {
    let Some(view) = app.catalogs().view(&caller.viewer) else { return };
    let given = record.spec.skills.iter().flatten();
    let own = match &record.spec.driver {
        Driver::Skill { skill, .. } => Some(skill),
        Driver::Plan { .. } | Driver::Llm | Driver::Command(_) | Driver::External => None,
    };
    let names: BTreeSet<&SkillName> = given.chain(own).collect();
    for entry in names.into_iter().filter_map(|name| view.by_name(name)) {
        app.trail().activated(caller, ActivatedBy::Agent, entry);
    }
}

/// Lists agents, the latest first.
pub async fn list_agents(
    app: &App,
    caller: &Principal,
    query: AgentsQuery,
) -> Result<Paged<AgentDocument>, OperationError> {
    let filter = AgentFilter {
        states: words("state", query.state.as_deref(), AgentState::ALL, AgentState::as_str)?,
        parent: query.parent.map(AgentId),
        name: query.name,
        created_from: query.since,
        created_before: query.until,
        owner: owner_filter(caller, query.owner.as_deref())?,
    };
    let page = app.agents().list(&filter, &page_request(query.after, query.limit)?).await?;
    Ok(paged(page, |row| AgentDocument::of(&row.record)))
}

/// Lists agents that are at work and to whom nobody alive sees, the latest first.
pub async fn left_over(app: &App, caller: &Principal) -> Result<LeftOver, OperationError> {
    let filter = AgentFilter {
        states: vec![AgentState::Running, AgentState::Paused],
        owner: owner_filter(caller, None)?,
        ..AgentFilter::default()
    };
    let mut page = PageRequest { after: None, limit: PAGE };
    let mut agent_ids = Vec::new();
    let is_left = |row: &&AgentRow| {
        let owner = row.record.standing.work().map(|work| OwnerId(work.owner.clone()));
        owner.is_some_and(|owner| !app.agents().is_alive(&owner))
    };
    loop {
        let agents = app.agents().list(&filter, &page).await?;
        agent_ids.extend(agents.items.iter().filter(is_left).map(|row| row.record.agent_id.0));
        match agents.next {
            Some(next) => page.after = Some(next),
            None => return Ok(LeftOver { agent_ids }),
        }
    }
}

/// Removes agents that ended long ago, whoever's they are, and the folders that those which are gone worked in.
pub async fn prune_agents(app: &App, wish: PruneRequest) -> Result<PrunedAgents, OperationError> {
    let agents = &*app.stores().agents;
    let removed = agents.prune_agents(wish.before).await?;
    let folders = artel_agents::prune_work_folders(&app.artifact_dirs().work, agents).await?;
    Ok(PrunedAgents { removed, folders })
}

/// Reads a part of an agent's log.
pub async fn read_agent_log(
    app: &App,
    caller: &Principal,
    id: AgentId,
    query: LogQuery,
) -> Result<LogPage, OperationError> {
    own_agent(app, caller, id).await?;
    let after = Revision(query.after.unwrap_or(0));
    let events = app.agents().events(id, after, limit(query.limit)?).await?;
    Ok(LogPage { items: events.iter().map(line).collect() })
}

/// Returns an agent.
pub async fn read_agent(app: &App, caller: &Principal, id: AgentId) -> Result<AgentDocument, OperationError> {
    Ok(AgentDocument::of(&own_agent(app, caller, id).await?.record))
}

/// What an agent can be told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Telling {
    /// To stand still.
    Pause,
    /// To go on.
    Resume,
    /// To leave its work.
    Cancel,
    /// To end.
    Terminate,
    /// That it may be used again.
    Free,
}

impl Telling {
    /// Returns the word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Terminate => "terminate",
            Self::Free => "free",
        }
    }
}

/// Tells an agent something, and everything below it.
pub async fn tell(
    app: &App,
    caller: &Principal,
    id: AgentId,
    telling: Telling,
) -> Result<AgentDocument, OperationError> {
    own_agent(app, caller, id).await?;
    let (agents, cause) = (app.agents(), cause(caller));
    let record = match telling {
        Telling::Pause => agents.pause(id, cause).await,
        Telling::Resume => agents.resume(id, cause).await,
        Telling::Cancel => agents.cancel(id, cause).await,
        Telling::Terminate => agents.terminate(id, cause).await,
        Telling::Free => agents.free(id, cause).await,
    }?;
    Ok(AgentDocument::of(&record))
}

/// Lets an agent that is free begin anew.
pub async fn start(
    app: &App,
    caller: &Principal,
    origin: CallOrigin,
    id: AgentId,
) -> Result<AgentDocument, OperationError> {
    own_agent(app, caller, id).await?;
    Ok(AgentDocument::of(&app.agents().start(id, origin, cause(caller)).await?))
}

/// Calls a tool for an agent. A tool that fails is an answer; a call that may not be made is a refusal.
pub async fn execute(
    app: &App,
    caller: &Principal,
    id: AgentId,
    operation: Operation,
) -> Result<OperationAnswer, OperationError> {
    own_agent(app, caller, id).await?;
    let Operation { operation, params } = operation;
    let (output, error) = match app.agents().execute(id, &operation, params, cause(caller)).await {
        Ok(output) => (Some(output), None),
        Err(error @ CallError::Failed(_)) => {
            (None, Some(OperationFailure { code: error.code().to_owned(), message: error.to_string() }))
        }
        Err(error) => return Err(error.into()),
    };
    Ok(OperationAnswer { agent_id: id.0, operation, ok: error.is_none(), output, error })
}

/// Says how an agent does.
pub async fn metrics(app: &App, caller: &Principal, id: AgentId) -> Result<AgentMetrics, OperationError> {
    let record = own_agent(app, caller, id).await?.record;
    let (count, success) = (record.operation_count, record.success_count);
    let average_ms = average_ms(app, id).await?;
    #[expect(clippy::cast_precision_loss, reason = "a rate and an average are shown with few digits")]
    let (rate, average) =
        ((count > 0).then(|| success as f64 / count as f64), average_ms.map(|millis| millis as f64 / 1000.0));
    Ok(AgentMetrics {
        agent_id: id.0,
        operation_count: count,
        success_count: success,
        error_count: record.error_count,
        success_rate: rate,
        average_operation_time: average,
    })
}

/// Returns the average time of what was run for the agent and has ended.
async fn average_ms(app: &App, agent: AgentId) -> Result<Option<u64>, OperationError> {
    let filter = ExecutionFilter { agent: Some(agent), ..ExecutionFilter::default() };
    let mut page = PageRequest { after: None, limit: PAGE };
    let (mut sum, mut count) = (0_u64, 0_u64);
    loop {
        let records = app.stores().executions.executions(&filter, &page).await?;
        for millis in
            records.items.iter().filter(|one| has_ended(one.status)).filter_map(|one| one.duration_ms)
        {
            sum = sum.saturating_add(millis);
            count += 1;
        }
        match records.next {
            Some(next) => page.after = Some(next),
            None => return Ok((count > 0).then(|| sum / count)),
        }
    }
}

/// Looks into an agent's mailbox; nothing counts as read because of it.
pub async fn look_into_mailbox(
    app: &App,
    caller: &Principal,
    id: AgentId,
    query: MailboxQuery,
) -> Result<Mailbox, OperationError> {
    own_agent(app, caller, id).await?;
    let options = ReadOptions { mark_read: false, with_read: query.with_read, limit: limit(query.limit)? };
    let mail = app.office().read(id, options).await?;
    let items = mail.iter().map(|mail| MessageDocument::of(&mail.message, Some(mail.is_read)));
    Ok(Mailbox { items: items.collect() })
}

/// The log of an agent as a stream.
pub struct AgentLog {
    app: App,
    id: AgentId,
    after: Revision,
    beats: watch::Receiver<u64>,
}

/// Follows the log of an agent after a revision. It ends with the agent.
pub async fn agent_log(
    app: &App,
    caller: &Principal,
    id: AgentId,
    after: Option<u64>,
) -> Result<AgentLog, OperationError> {
    own_agent(app, caller, id).await?;
    // Felt before the first look, so that nothing falls between what was and what comes.
    let beats = app.poller().subscribe();
    Ok(AgentLog { app: app.clone(), id, after: Revision(after.unwrap_or(0)), beats })
}

impl AgentLog {
    async fn look(&mut self) -> Result<Option<Next>, OperationError> {
        let row = self.app.stores().agents.agent(self.id).await?;
        let Some(row) = row else { return Ok(Some(Next::Over)) };
        let events = self.app.agents().events(self.id, self.after, PAGE).await?;
        if let Some(last) = events.last() {
            self.after = last.revision;
            return Ok(Some(Next::Events(events.iter().map(written).collect())));
        }
        let is_over = row.record.state() == AgentState::Terminated && row.revision <= self.after;
        let end = || Next::Last(StreamEvent::new(self.after.0, "end", &AgentDocument::of(&row.record)));
        Ok(is_over.then(end))
    }
}

#[async_trait]
impl Source for AgentLog {
    async fn next(&mut self) -> Next {
        loop {
            self.beats.borrow_and_update();
            match self.look().await {
                Ok(Some(next)) => return next,
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(code = error.code, agent = %self.id, "an agent cannot be followed");
                    return Next::Over;
                }
            }
            if self.beats.changed().await.is_err() {
                return Next::Over;
            }
        }
    }
}

fn written(logged: &LoggedAgentEvent) -> StreamEvent {
    let line = line(logged);
    let kind = line.event.get("type").and_then(Value::as_str).unwrap_or("event");
    StreamEvent::new(line.revision, kind, &line)
}

fn line(logged: &LoggedAgentEvent) -> LogLine {
    let event = match serde_json::to_value(&logged.event.event) {
        Ok(Value::Object(event)) => event,
        Ok(_) | Err(_) => Map::new(),
    };
    LogLine { revision: logged.revision.0, at: logged.event.at, event }
}
