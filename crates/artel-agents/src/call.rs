//! Calls: every tool that an agent uses passes the gate, is run, and is kept with what came of it.

use std::sync::Arc;

use artel_engine::{Command, SkillShelf};
use artel_model::agent::{
    Access, AgentEvent, AgentRecord, AgentState, AgentView, Cause, DENIED_IN_A_ROW_MAX, Denial, OperationEnd,
    SpawnRequest, ToolUse, Work, admit,
};
use artel_model::id::{AgentId, RunId};
use artel_model::message::{MessageDraft, Sender};
use artel_model::name::{LocalName, SkillName};
use artel_model::plan::{Plan, SkillChoice, SkillRequest, skill_plan};
use artel_model::run::Run;
use artel_model::schema::Schema;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::agents::{Agents, Shared, Worker};
use crate::change::ChangeError;
use crate::driver::{Control, Wish};
use crate::error::{AgentsError, CallError, SpawnFailed, chain};
use crate::outcome::{calls, similar_tools, split_tool, why_failed};
use crate::prepare::fresh_plan;
use crate::seat::may_read;
use crate::work::failed;

/// Reads a file of a skill that the agent was given.
pub(crate) const READ_SKILL_FILE: &str = "read_skill_file";
/// Sends a message.
pub(crate) const SEND_MESSAGE: &str = "send_message";
/// Spawns an agent below.
pub(crate) const SPAWN_AGENT: &str = "spawn_agent";
/// What an agent may say of one that it spawns.
pub(crate) const SPAWN_FIELDS: &[&str] =
    &["task", "label", "name", "skills", "skill", "params", "chain", "driver", "timeout"];
/// Bytes of a skill's file that are shown to an agent.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// What a name means.
enum Target {
    /// A skill, or one of its scripts.
    Skill {
        skill: SkillName,
        script: Option<LocalName>,
        schema: Schema,
    },
    ReadSkillFile,
    SendMessage,
    SpawnAgent,
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
        let came = self.clone().try_execute(id, tool, params, cause).await;
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
        let shelf = self.parts.shelf.borrow().clone();
        let (used, target) = find(&shelf, tool)?;
        let (record, params) = self.admit(id, &used, &target, params).await?;
        let retried = AgentEvent::Retried { cause: cause.clone().because("it calls something else") };
        let (skill, script) = match target {
            Target::Skill { skill, script, .. } => (skill, script),
            Target::ReadSkillFile | Target::SendMessage | Target::SpawnAgent | Target::Unknown => {
                let retry = |record: &AgentRecord| {
                    if record.state() == AgentState::Failed { vec![retried.clone()] } else { Vec::new() }
                };
                let record = self.change(record.agent_id, retry).await.map_err(call_error)?.after;
                return self.own_tool(&record, &used, target, params).await;
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
        let operation = tokio::spawn(async move { shared.operate(record, run, plan).await });
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
        id: AgentId,
        used: &ToolUse,
        target: &Target,
        mut params: Map<String, Value>,
    ) -> Result<(AgentRecord, Map<String, Value>), CallError> {
        let row = self.parts.stores.agents.agent(id).await.map_err(AgentsError::Store)?;
        let record = row.map(|row| row.record);
        let schema = match target {
            Target::Skill { schema, .. } => Some(schema),
            Target::ReadSkillFile | Target::SendMessage | Target::SpawnAgent | Target::Unknown => None,
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
        let shelf = self.parts.shelf.borrow().clone();
        let (used, target) = find(&shelf, tool)?;
        let (record, params) = self.admit(record.agent_id, &used, &target, params).await?;
        let Target::Skill { skill, script, .. } = target else {
            return self.own_tool(&record, &used, target, params).await;
        };
        let plan = plan(&shelf, &skill, script.as_ref(), params)?;
        let run = RunId(Uuid::now_v7());
        self.note_run(&record, Some(run)).await.map_err(CallError::Failed)?;
        let state = self.follow_with(&record, run, plan, control).await?;
        let events: Vec<AgentEvent> = calls(&state).into_iter().map(AgentEvent::Called).collect();
        self.change(record.agent_id, |_| events.clone()).await.map_err(call_error)?;
        output(&state)
    }

    /// Runs a plan, and tells the run what its agent is told.
    async fn follow_with(
        self: &Arc<Self>,
        record: &AgentRecord,
        run: RunId,
        plan: Plan,
        mut control: Control,
    ) -> Result<Run, CallError> {
        // If nobody waits for the call any more, its run has no purpose.
        let mut guard = RunGuard { shared: self.clone(), run, is_over: false };
        self.parts.engine.submit_as(run, self.submission(record, plan)).await.map_err(AgentsError::Submit)?;
        let mut following = std::pin::pin!(self.follow(record.agent_id, run));
        let mut wish = control.wish();
        let mut told = Wish::Go;
        loop {
            if wish != told {
                let command = match wish {
                    Wish::Go => Command::Resume,
                    Wish::Pause => Command::Pause,
                    Wish::End => Command::Cancel,
                };
                if let Err(error) = self.command_run(run, &command).await {
                    tracing::warn!(%run, %error, "the run of a call was not told");
                }
                told = wish;
            }
            tokio::select! {
                followed = &mut following => {
                    guard.is_over = true;
                    let lost = |error| CallError::Failed(format!("the run was lost: {error}"));
                    return followed.map(|(state, _)| state).map_err(lost);
                }
                // After the end there is nothing more to be told.
                changed = control.changed(), if told != Wish::End => wish = changed,
            }
        }
    }

    /// Does what artel itself does for agents.
    async fn own_tool(
        self: &Arc<Self>,
        record: &AgentRecord,
        used: &ToolUse,
        target: Target,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        let came = match target {
            Target::ReadSkillFile => read_skill_file(&self.parts.shelf.borrow().clone(), record, &params),
            Target::SendMessage => self.send_message(record, params).await,
            Target::SpawnAgent => Box::pin(self.spawn_below(record, params)).await,
            Target::Skill { .. } | Target::Unknown => {
                let hint = similar_tools(&self.parts.shelf.borrow().clone(), &used.to_string());
                return Err(CallError::UnknownTool { tool: used.to_string(), hint });
            }
        };
        let error = came.as_ref().err().map(ToString::to_string);
        let end =
            OperationEnd { operation: used.to_string(), results: Map::new(), error, entities: Vec::new() };
        let event = AgentEvent::Called(end);
        self.change(record.agent_id, |_| vec![event.clone()]).await.map_err(call_error)?;
        came
    }

    async fn send_message(
        &self,
        record: &AgentRecord,
        mut params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        // An agent speaks for itself only.
        params.insert("sender_id".to_owned(), Value::String(Sender::Agent(record.agent_id).to_string()));
        let draft = MessageDraft::read(&params).map_err(|problems| {
            let list: Vec<String> =
                problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
            CallError::Invalid(list.join("; "))
        })?;
        let sent = self.parts.announce.send(draft).await.map_err(CallError::Failed)?;
        Ok(Map::from_iter([
            ("message_id".to_owned(), json!(sent.id)),
            ("correlation_id".to_owned(), json!(sent.correlation)),
        ]))
    }

    async fn spawn_below(
        self: &Arc<Self>,
        record: &AgentRecord,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        // What is not offered is not taken: an agent cannot give another a role, a workspace or a program.
        if let Some(field) = params.keys().find(|field| !SPAWN_FIELDS.contains(&field.as_str())) {
            return Err(CallError::Invalid(format!("an agent cannot say `{field}` of an agent below it")));
        }
        let mut request = SpawnRequest::read(&params).map_err(|errors| {
            let list: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            CallError::Invalid(list.join("; "))
        })?;
        // Whatever it says, the agent below is its own.
        request.parent = Some(record.agent_id);
        let cause = Cause::by(record.agent_id.to_string());
        match self.clone().spawn(&request, cause).await {
            Ok(spawned) => Ok(Map::from_iter([
                ("agent_id".to_owned(), json!(spawned.record.agent_id)),
                ("state".to_owned(), json!(spawned.record.state())),
                ("warnings".to_owned(), json!(spawned.warnings)),
            ])),
            Err(SpawnFailed::Refused(refused)) => Err(CallError::Invalid(refused.to_string())),
            Err(SpawnFailed::Failed(error)) => Err(CallError::Agents(error)),
        }
    }
}

/// An agent whose last call failed may make the next; one that only tried what it may not stays put aside.
fn may_retry(record: &AgentRecord, state: AgentState) -> AgentState {
    let is_parked = record.denied_in_a_row >= DENIED_IN_A_ROW_MAX;
    if state == AgentState::Failed && !is_parked { AgentState::Idle } else { state }
}

/// Cancels the run of a call that nobody waits for any more.
struct RunGuard {
    shared: Arc<Shared>,
    run: RunId,
    is_over: bool,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (shared, run) = (self.shared.clone(), self.run);
        tokio::spawn(async move {
            if let Err(error) = shared.command_run(run, &Command::Cancel).await {
                tracing::warn!(%run, %error, "the run of a call was not cancelled");
            }
        });
    }
}

/// Finds what a name means. One that means nothing is judged by its name alone, so that a refusal tells nothing about what
/// there is.
fn find(shelf: &SkillShelf, tool: &str) -> Result<(ToolUse, Target), CallError> {
    let named = ToolUse::named(tool).map_err(|error| CallError::Invalid(format!("`{tool}`: {error}")))?;
    let own = match tool {
        READ_SKILL_FILE => Some(Target::ReadSkillFile),
        SEND_MESSAGE => Some(Target::SendMessage),
        SPAWN_AGENT => Some(Target::SpawnAgent),
        _ => None,
    };
    if let Some(own) = own {
        return Ok((named, own));
    }
    Ok(find_skill(shelf, tool).unwrap_or((named, Target::Unknown)))
}

fn find_skill(shelf: &SkillShelf, tool: &str) -> Option<(ToolUse, Target)> {
    let (skill, script) = split_tool(tool);
    let name: SkillName = skill.parse().ok()?;
    let skill = shelf.catalog().registry().get(&name, None).ok()?;
    let script = match script {
        Some(script) => {
            let script: LocalName = script.parse().ok()?;
            Some(skill.script(&script)?)
        }
        None if skill.composite.is_some() => None,
        None => Some(skill.script(skill.entrypoint.as_ref()?)?),
    };
    let own = script.and_then(|script| script.parameters_schema.clone());
    let schema = own.unwrap_or_else(|| skill.interface.parameters.clone());
    let used = match script {
        Some(script) => ToolUse::script(&name, &script.name, skill.entrypoint.as_ref() == Some(&script.name)),
        None => ToolUse::skill(&name),
    };
    let script = script.map(|script| script.name.clone());
    Some((used, Target::Skill { skill: name, script, schema }))
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

/// Reads a file of a skill that the agent may read.
fn read_skill_file(
    shelf: &SkillShelf,
    record: &AgentRecord,
    params: &Map<String, Value>,
) -> Result<Map<String, Value>, CallError> {
    let text = |name: &str| {
        let missing = || CallError::Invalid(format!("`{name}` is missing, or not a text"));
        params.get(name).and_then(Value::as_str).ok_or_else(missing)
    };
    let (skill, path) = (text("skill")?, text("path")?);
    let none = || CallError::Invalid(format!("you have no skill `{skill}`"));
    let name: SkillName = skill.parse().map_err(|_| none())?;
    let entry = shelf.catalog().find(&name, None).map_err(|_| none())?;
    if !entry.skill.as_deref().is_some_and(|skill| may_read(&record.spec, skill)) {
        return Err(none());
    }
    let tree = entry.location.tree().ok_or_else(|| CallError::Invalid(format!("`{skill}` has no files")))?;
    // Only what the listing holds can be read: nothing outside the skill's folder.
    if tree.listing().file(path).is_none() {
        return Err(CallError::Invalid(format!("`{skill}` has no file `{path}`")));
    }
    let read = tree.read(path.as_ref(), FILE_BYTES_MAX);
    let bytes = read.map_err(|error| CallError::Invalid(error.to_string()))?;
    let content =
        String::from_utf8(bytes).map_err(|_| CallError::Invalid(format!("`{path}` is not text")))?;
    Ok(Map::from_iter([
        ("skill".to_owned(), json!(skill)),
        ("path".to_owned(), json!(path)),
        ("content".to_owned(), json!(content)),
    ]))
}

fn call_error(error: ChangeError) -> CallError {
    match error {
        ChangeError::Unknown => CallError::Invalid("the agent is gone".to_owned()),
        ChangeError::Transition(transition) => CallError::Transition(transition),
        ChangeError::Failed(error) => CallError::Agents(error),
    }
}
