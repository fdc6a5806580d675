//! Spawning: everything is decided first; then the agent is kept, and begins.

use artel_engine::SubmitError;
use artel_model::access::Viewer;
use artel_model::agent::{
    AgentEvent, AgentRecord, AgentSpec, AgentState, CallOrigin, Cause, InvalidTransition, Parent,
    SpawnContext, SpawnError, SpawnErrorCode, SpawnRefused, SpawnRequest, StampedAgentEvent, prepare,
};
use artel_model::id::AgentId;
use artel_model::skill::Skill;
use artel_store::{AgentRefused, NewAgent, may_have_children};
use uuid::Uuid;

use crate::agents::{Agents, Shared};
use crate::clock::{from_now, now};
use crate::error::{AgentsError, SpawnFailed, StartRefused};

/// An agent that was spawned.
#[derive(Clone, Debug)]
pub struct Spawned {
    /// What is known about it.
    pub record: AgentRecord,
    /// What is odd about what it was given.
    pub warnings: Vec<String>,
}

/// Who spawns an agent.
#[derive(Clone, Copy, Debug)]
pub struct SpawnCaller<'a> {
    /// Whose eyes the agent sees skills with; nothing for the owner of the data folder.
    pub viewer: Option<&'a Viewer>,
    /// Where the call comes from, which decides which programs may be started.
    pub origin: CallOrigin,
}

impl SpawnCaller<'_> {
    /// The owner of the data folder, on the command line of this machine.
    pub const LOCAL: Self = Self { viewer: None, origin: CallOrigin::Local };
}

impl Agents {
    /// Lets an agent that is free begin anew what it was spawned for. When this returns, that survives a power cut.
    pub async fn start(
        &self,
        id: AgentId,
        origin: CallOrigin,
        cause: Cause,
    ) -> Result<AgentRecord, StartRefused> {
        self.shared.refuse_while_closing()?;
        let record = self.shared.read(id).await?.ok_or(StartRefused::Unknown(id))?;
        match record.state() {
            AgentState::Idle => {}
            from @ (AgentState::Running
            | AgentState::Paused
            | AgentState::Completed
            | AgentState::Failed
            | AgentState::Cancelled
            | AgentState::Terminated) => {
                let transition = InvalidTransition { from, to: AgentState::Running };
                return Err(StartRefused::Transition(transition));
            }
        }
        self.shared.check_above(&record).await?;
        let first_work = self.shared.first_work(&record.spec, origin);
        let first_work =
            first_work.map_err(|errors| StartRefused::Unfit(SpawnRefused::new(errors, Vec::new())))?;
        let record = self.shared.clone().begin(record, first_work, cause).await?;
        self.shared.parts.stores.runs.sync().await.map_err(AgentsError::Store)?;
        Ok(record)
    }

    /// Spawns an agent, which begins at once unless somebody outside drives it. Nothing exists when this is refused. When
    /// this returns, the agent survives a power cut.
    ///
    /// The agent sees the skills that the viewer sees, and so does all that it spawns. Below an agent of somebody else a
    /// viewer spawns nothing: it is refused as one that does not exist. Without a viewer, somebody has the data folder in
    /// hand and may spawn anywhere; below an agent, what is spawned sees what that agent does.
    pub async fn spawn(
        &self,
        request: &SpawnRequest,
        caller: SpawnCaller<'_>,
        cause: Cause,
    ) -> Result<Spawned, SpawnFailed> {
        self.shared.refuse_while_closing()?;
        self.shared.clone().spawn(request, caller, cause).await
    }
}

impl Shared {
    /// Nothing new begins while the engine is being closed.
    pub(crate) fn refuse_while_closing(&self) -> Result<(), AgentsError> {
        if self.parts.engine.is_closing() { Err(AgentsError::Submit(SubmitError::Closing)) } else { Ok(()) }
    }

    pub(crate) async fn spawn(
        self: std::sync::Arc<Self>,
        request: &SpawnRequest,
        caller: SpawnCaller<'_>,
        cause: Cause,
    ) -> Result<Spawned, SpawnFailed> {
        let came = self.clone().try_spawn(request, caller, cause).await;
        self.meters.spawn_ended(&came);
        came
    }

    async fn try_spawn(
        self: std::sync::Arc<Self>,
        request: &SpawnRequest,
        caller: SpawnCaller<'_>,
        cause: Cause,
    ) -> Result<Spawned, SpawnFailed> {
        let (spec, warnings) = self.decide(request, caller).await?;
        let refuse = |errors| SpawnFailed::Refused(SpawnRefused::new(errors, warnings.clone()));
        let first_work = self.first_work(&spec, caller.origin).map_err(refuse)?;
        let record = self.keep(spec, cause.clone()).await.map_err(|error| match error {
            Kept::Refused(error) => refuse(vec![error]),
            Kept::Failed(error) => SpawnFailed::Failed(error),
        })?;
        let record = self.clone().begin(record, first_work, cause).await?;
        self.parts.stores.runs.sync().await.map_err(AgentsError::Store)?;
        Ok(Spawned { record, warnings })
    }

    /// Decides what the agent would be.
    async fn decide(
        &self,
        request: &SpawnRequest,
        caller: SpawnCaller<'_>,
    ) -> Result<(AgentSpec, Vec<String>), SpawnFailed> {
        let SpawnCaller { viewer, origin } = caller;
        let is_of_viewer =
            |parent: &AgentRecord| viewer.is_none_or(|viewer| parent.owner() == Some(&viewer.user));
        let parent = match request.parent {
            None => None,
            Some(id) => Some(self.read(id).await?.filter(is_of_viewer)),
        };
        let viewer = match &parent {
            None | Some(None) => viewer,
            Some(Some(parent)) => {
                self.check_above(parent).await?;
                parent.viewer()
            }
        };
        let shelf = self.parts.shelves.shelf(viewer);
        let find = |name: &str| -> Option<&Skill> {
            let name = name.parse().ok()?;
            shelf.catalog().registry().get(&name, None).ok().map(AsRef::as_ref)
        };
        let context = SpawnContext {
            find: &find,
            role: &|name| self.parts.roles.role(name),
            parent: match &parent {
                None => Parent::None,
                Some(None) => Parent::Unknown,
                Some(Some(parent)) => Parent::Agent(parent),
            },
            viewer,
            origin,
            default: &self.config.default,
            limits: self.config.limits,
        };
        prepare(request, &context).map_err(SpawnFailed::Refused)
    }

    /// An agent below one that stands still or has ended gets no children either.
    async fn check_above(&self, parent: &AgentRecord) -> Result<(), SpawnFailed> {
        let state = self.effective_state(parent).await?;
        if state == parent.state() || may_have_children(state) {
            return Ok(());
        }
        let message =
            format!("an agent above {} is {}, so it cannot have children", parent.agent_id, state.as_str());
        let error = SpawnError::new(SpawnErrorCode::ParentState, message);
        Err(SpawnFailed::Refused(SpawnRefused::new(vec![error], Vec::new())))
    }

    /// Keeps the agent, as soon as there is room for it.
    async fn keep(&self, spec: AgentSpec, cause: Cause) -> Result<AgentRecord, Kept> {
        let until = match self.config.at_limit {
            crate::config::AtLimit::Reject => None,
            crate::config::AtLimit::Queue { wait_ms } => Some(from_now(wait_ms)),
        };
        let mut seen = self.changed.subscribe();
        let spec = Box::new(spec);
        loop {
            seen.mark_unchanged();
            let (id, at) = (AgentId(Uuid::new_v4()), self.parts.clock.now());
            let event = AgentEvent::Spawned { spec: spec.clone(), cause: cause.clone() };
            let record = AgentRecord::new(id, spec.clone(), at);
            let new = NewAgent {
                record: record.clone(),
                event: StampedAgentEvent { at, event },
                agents_max: self.config.agents_max,
            };
            let refused = match self.parts.stores.agents.create_agent(new).await {
                Err(error) => return Err(Kept::Failed(AgentsError::Store(error))),
                Ok(Ok(())) => {
                    self.announce_about(id, "spawned", serde_json::json!({"agent_id": id})).await;
                    return Ok(record);
                }
                Ok(Err(refused)) => refused,
            };
            let may_wait = matches!(refused, AgentRefused::TooManyAgents { .. });
            match until.filter(|until| may_wait && now() < *until) {
                Some(_) => self.something_changes(&mut seen).await,
                None => return Err(Kept::Refused(error(refused, &record))),
            }
        }
    }
}

enum Kept {
    Refused(SpawnError),
    Failed(AgentsError),
}

fn error(refused: AgentRefused, record: &AgentRecord) -> SpawnError {
    let parent = record.spec.parent.map(|parent| format!(" {parent}")).unwrap_or_default();
    match refused {
        AgentRefused::Exists => SpawnError::new(
            SpawnErrorCode::InvalidRequest,
            format!("there is an agent {} already", record.agent_id),
        ),
        AgentRefused::NoParent => {
            SpawnError::new(SpawnErrorCode::UnknownParent, format!("there is no agent{parent}"))
        }
        AgentRefused::ParentState(state) => SpawnError::new(
            SpawnErrorCode::ParentState,
            format!("agent{parent} is {}, so it cannot have children", state.as_str()),
        ),
        AgentRefused::TooManyChildren { children } => SpawnError::new(
            SpawnErrorCode::ChildrenLimit,
            format!("agent{parent} has {children} living children, which is the limit"),
        ),
        AgentRefused::TooManyAgents { agents } => SpawnError::new(
            SpawnErrorCode::AgentsLimit,
            format!("there are {agents} living agents, which is the limit (`[agents] max_agents`)"),
        ),
    }
}
