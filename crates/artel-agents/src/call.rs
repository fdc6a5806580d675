//! Calls: every tool that an agent uses passes the gate, is run, and is kept with what came of it.

use std::sync::Arc;

use artel_engine::SkillShelf;
use artel_engine::trace::{self, Span, SpanKind};
use artel_model::agent::{
    Access, AgentEvent, AgentRecord, AgentState, AgentView, Cause, DENIED_IN_A_ROW_MAX, Denial, OperationEnd,
    SkillTool, ToolUse, Work, admit,
};
use artel_model::id::{AgentId, RunId};
use artel_model::name::{LocalName, SkillName};
use artel_model::plan::{Plan, SkillChoice, SkillRequest, skill_plan};
use artel_model::run::Run;
use artel_model::schema::Schema;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::agents::{Agents, Shared, Worker};
use crate::change::ChangeError;
use crate::driver::Control;
use crate::error::{AgentsError, CallError, chain};
use crate::outcome::{calls, similar_tools, why_failed};
use crate::own_tool::OwnTool;
use crate::prepare::fresh_plan;
use crate::work::failed;

/// What a name means.
enum Target {
    /// A skill, or one of its scripts.
    Skill {
        skill: SkillName,
        script: Option<LocalName>,
        schema: Schema,
    },
    /// Something that artel does itself.
    Own(OwnTool),
    Unknown,
}

impl Agents {
    /// Calls a tool for an agent that somebody outside drives, and returns what came out.
    pub async fn execute(
        &self,
        id: AgentId,
        tool: &str,
        params: Map<String, Value>,
        cause: Cause,
    ) -> Result<Map<String, Value>, CallError> {
        self.shared.refuse_while_closing()?;
        self.shared.clone().execute(id, tool, params, cause).await
    }
}

impl Shared {
    async fn execute(
        self: Arc<Self>,
        id: AgentId,
        tool: &str,
        params: Map<String, Value>,
        cause: Cause,
    ) -> Result<Map<String, Value>, CallError> {
        let since = crate::clock::now();
        let mut span = Span::begin("agent operation", SpanKind::Internal, trace::current());
        span.set("artel.agent.id", id.to_string());
        span.set("artel.operation", tool);
        let came = span.around_result(self.clone().try_execute(id, tool, params, cause)).await;
        self.meters.call_ended(since, &came);
        came
    }

    async fn try_execute(
        self: Arc<Self>,
        id: AgentId,
        tool: &str,
        params: Map<String, Value>,
        cause: Cause,
    ) -> Result<Map<String, Value>, CallError> {
        let record = self.read(id).await?;
        let shelf = self.parts.shelves.shelf(record.as_ref().and_then(AgentRecord::viewer));
        let (used, target) = find(&shelf, tool)?;
        let (record, params) = self.admit((id, record), &used, &target, params).await?;
        let retried = AgentEvent::Retried { cause: cause.clone().because("it calls something else") };
        let (skill, script) = match target {
            Target::Skill { skill, script, .. } => (skill, script),
            Target::Unknown => return Err(unknown(&shelf, &used)),
            Target::Own(own) => {
                let retry = |record: &AgentRecord| {
                    if record.state() == AgentState::Failed { vec![retried.clone()] } else { Vec::new() }
                };
                let record = self.change(record.agent_id, retry).await.map_err(call_error)?.after;
                return self.use_own_tool(&record, &used, own, params).await;
            }
        };
        let plan = plan(&shelf, &skill, script.as_ref(), params.clone())?;
        let run = RunId(Uuid::now_v7());
        let (operation, skill) = (Some(used.to_string()), Some(skill));
        let work = Work { run_id: Some(run), skill, params, operation, ..self.new_work() };
        let started = AgentEvent::Started { work: Box::new(work), cause };
        let decide = |record: &AgentRecord| match record.state() {
            AgentState::Failed => vec![retried.clone(), started.clone()],
            AgentState::Idle
            | AgentState::Running
            | AgentState::Paused
            | AgentState::Completed
            | AgentState::Cancelled
            | AgentState::Terminated => vec![started.clone()],
        };
        let record = self.change(id, decide).await.map_err(call_error)?.after;
        // Whoever waits for the answer may leave; the call comes to its end all the same.
        let shared = self.clone();
        let operation = async move { shared.operate(record, run, plan).await };
        let operation = tokio::spawn(trace::within(trace::current(), operation));
        operation.await.unwrap_or_else(|error| Err(CallError::Failed(format!("the call broke off: {error}"))))
    }

    /// Runs the one tool of an operation that has begun, and frees the agent.
    async fn operate(
        self: Arc<Self>,
        record: AgentRecord,
        run: RunId,
        plan: Plan,
    ) -> Result<Map<String, Value>, CallError> {
        self.take_on(record.agent_id, Worker::Run);
        let ran = match self.submit(&record, run, plan).await {
            Ok(()) => self
                .wait_for_run_of(&record, run)
                .await
                .map_err(|error| CallError::Failed(format!("the run was lost: {error}"))),
            Err(error) => {
                self.end_work(&record, failed(format!("its run could not begin: {}", chain(&error)))).await;
                Err(CallError::Agents(error))
            }
        };
        self.leave(record.agent_id);
        output(&ran?)
    }

    /// Passes a call through the gate; a refusal is kept. Returns the agent and the parameters with their defaults.
    async fn admit(
        &self,
        (id, record): (AgentId, Option<AgentRecord>),
        used: &ToolUse,
        target: &Target,
        mut params: Map<String, Value>,
    ) -> Result<(AgentRecord, Map<String, Value>), CallError> {
        let schema = match target {
            Target::Skill { schema, .. } => Some(schema),
            Target::Own(_) | Target::Unknown => None,
        };
        if let Some(schema) = schema {
            schema.fill_defaults(&mut params);
        }
        let state = match &record {
            Some(record) => may_retry(record, self.effective_state(record).await?),
            None => AgentState::Idle,
        };
        let view = record.as_ref().map(|record| AgentView { state, ..AgentView::from(record) });
        let access =
            Access { tool: used, parameters: schema.map(|schema| (&params, schema)), workspace: None };
        match (admit(id, view, access), record) {
            (Ok(()), Some(record)) => Ok((record, params)),
            (Err(denial), record) => {
                self.meters.denied(&denial);
                if record.is_some() {
                    self.keep_denial(&denial).await?;
                }
                Err(CallError::Denied(denial))
            }
            (Ok(()), None) => unreachable!("an agent that does not exist is refused"),
        }
    }

    /// An agent below one that stands still stands still too.
    pub(crate) async fn effective_state(&self, record: &AgentRecord) -> Result<AgentState, AgentsError> {
        let (mut parent, state) = (record.spec.parent, record.state());
        while let Some(id) = parent {
            let Some(row) = self.parts.stores.agents.agent(id).await? else { break };
            match row.record.state() {
                above @ (AgentState::Paused | AgentState::Cancelled | AgentState::Terminated) => {
                    return Ok(above);
                }
                AgentState::Idle | AgentState::Running | AgentState::Completed | AgentState::Failed => {}
            }
            parent = row.record.spec.parent;
        }
        Ok(state)
    }

    async fn keep_denial(&self, denial: &Denial) -> Result<(), CallError> {
        tracing::info!(agent = %denial.agent_id, tool = denial.tool, code = denial.code.as_str(), "a call is refused");
        let event = AgentEvent::Denied(denial.clone());
        // The log of an agent that is over is closed: whoever keeps knocking must not make it grow.
        let decide = |record: &AgentRecord| match record.state() {
            AgentState::Cancelled | AgentState::Terminated => Vec::new(),
            AgentState::Idle
            | AgentState::Running
            | AgentState::Paused
            | AgentState::Completed
            | AgentState::Failed => vec![event.clone()],
        };
        self.change(denial.agent_id, decide).await.map_err(call_error)?;
        Ok(())
    }

    /// Calls a tool for an agent that is at work.
    pub(crate) async fn call_at_work(
        self: &Arc<Self>,
        record: &AgentRecord,
        tool: &str,
        params: Map<String, Value>,
        control: Control,
    ) -> Result<Map<String, Value>, CallError> {
        let since = crate::clock::now();
        let came = self.try_call_at_work(record, tool, params, control).await;
        self.meters.call_ended(since, &came);
        came
    }

    async fn try_call_at_work(
        self: &Arc<Self>,
        record: &AgentRecord,
        tool: &str,
        params: Map<String, Value>,
        control: Control,
    ) -> Result<Map<String, Value>, CallError> {
        let shelf = self.parts.shelves.shelf(record.viewer());
        let (used, target) = find(&shelf, tool)?;
        let current = self.read(record.agent_id).await?;
        let (record, params) = self.admit((record.agent_id, current), &used, &target, params).await?;
        let (skill, script) = match target {
            Target::Skill { skill, script, .. } => (skill, script),
            Target::Own(own) => return self.use_own_tool(&record, &used, own, params).await,
            Target::Unknown => return Err(unknown(&shelf, &used)),
        };
        let plan = plan(&shelf, &skill, script.as_ref(), params)?;
        let part = self.run_part(&record, self.submission(&record, plan), control).await;
        let (state, _) = part.map_err(CallError::Failed)?;
        let events: Vec<AgentEvent> = calls(&state).into_iter().map(AgentEvent::Called).collect();
        self.change(record.agent_id, |_| events.clone()).await.map_err(call_error)?;
        output(&state)
    }
}

/// An agent whose last call failed may make the next; one that only tried what it may not stays put aside.
fn may_retry(record: &AgentRecord, state: AgentState) -> AgentState {
    let is_parked = record.denied_in_a_row >= DENIED_IN_A_ROW_MAX;
    if state == AgentState::Failed && !is_parked { AgentState::Idle } else { state }
}

/// Finds what a name means. One that means nothing is judged by its name alone, so that a refusal tells nothing about what
/// there is.
fn find(shelf: &SkillShelf, tool: &str) -> Result<(ToolUse, Target), CallError> {
    let named = ToolUse::named(tool).map_err(|error| CallError::Invalid(format!("`{tool}`: {error}")))?;
    if let Some(own) = OwnTool::named(tool) {
        return Ok((named, Target::Own(own)));
    }
    Ok(find_skill(shelf, tool).unwrap_or((named, Target::Unknown)))
}

fn unknown(shelf: &SkillShelf, used: &ToolUse) -> CallError {
    let tool = used.to_string();
    CallError::UnknownTool { hint: similar_tools(shelf, &tool), tool }
}

fn find_skill(shelf: &SkillShelf, tool: &str) -> Option<(ToolUse, Target)> {
    let find = |name: &SkillName| shelf.catalog().registry().get(name, None).ok().map(AsRef::as_ref);
    let SkillTool { tool, skill, script } = ToolUse::resolve(tool, find)?;
    let own = script.and_then(|script| script.parameters_schema.clone());
    let schema = own.unwrap_or_else(|| skill.interface.parameters.clone());
    let script = script.map(|script| script.name.clone());
    Some((tool, Target::Skill { skill: skill.name.clone(), script, schema }))
}

fn plan(
    shelf: &SkillShelf,
    skill: &SkillName,
    script: Option<&LocalName>,
    params: Map<String, Value>,
) -> Result<Plan, CallError> {
    let choice = SkillChoice { name: skill.clone(), version: None };
    let request = SkillRequest { id: fresh_plan(), skill: &choice, script, params };
    skill_plan(request, shelf).map_err(|problems| {
        let list: Vec<String> =
            problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
        CallError::Invalid(list.join("; "))
    })
}

/// Returns what the tool of a run with one tool came to.
fn output(run: &Run) -> Result<Map<String, Value>, CallError> {
    let calls = calls(run);
    let top = run.plan().steps().iter().find(|step| step.scope.is_none()).map(|step| step.id.to_string());
    let own = calls.into_iter().find(|call| Some(&call.operation) == top.as_ref());
    match own {
        Some(OperationEnd { error: None, mut results, operation, .. }) => match results.remove(&operation) {
            Some(Value::Object(output)) => Ok(output),
            Some(_) | None => Ok(Map::new()),
        },
        Some(OperationEnd { error: Some(error), .. }) => Err(CallError::Failed(error)),
        None => Err(CallError::Failed(why_failed(run))),
    }
}

pub(crate) fn call_error(error: ChangeError) -> CallError {
    match error {
        ChangeError::Unknown => CallError::Invalid("the agent is gone".to_owned()),
        ChangeError::Transition(transition) => CallError::Transition(transition),
        ChangeError::Failed(error) => CallError::Agents(error),
    }
}
