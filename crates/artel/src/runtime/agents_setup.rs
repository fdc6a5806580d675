//! Agents on an open runtime, which drives them, or on an engine that only reads and gives commands.

use std::sync::Arc;

use artel_agents::{Agents, AgentsConfig, AgentsParts, IsAlive, Office, Stores, WorkDriver};
use artel_engine::planner::{PatternPlanner, Planner};
use artel_engine::{Clock, Engine, OneShelf, Shelves};
use artel_model::agent::Layer;
use artel_store::OwnerId;

use super::drivers;
use super::office::{BusAway, open_office};
use super::open::{POLL_MS, Runtime};
use super::planner::planner;
use super::read_only_engine::ReadOnlyEngine;
use super::shelf::{absolute, empty_shelf};
use super::store::Store;
use crate::command::Context;
use crate::failure::Failure;

/// Agents, and the post office that they use.
pub(crate) struct AgentsSetup {
    pub(crate) agents: Agents,
    pub(super) office: Office,
    pub(super) planner: Arc<dyn Planner>,
}

impl AgentsSetup {
    /// Lets agents work in a runtime.
    pub(crate) async fn open(
        context: Context<'_>,
        runtime: &Runtime,
        away: BusAway,
    ) -> Result<Self, Failure> {
        let config = context.config;
        let planner =
            planner(context, config.planner.value.kind, &runtime.launcher).unwrap_or_else(|failure| {
                context.output.talk(&format!("{}; plans are made by patterns", failure.message));
                Arc::new(PatternPlanner)
            });
        let equipment = Equipment {
            engine: runtime.engine.clone(),
            is_alive: runtime.owners(),
            shelves: runtime.shelves(),
            planner,
            llm: drivers::llm(config),
            command: Some(drivers::command(config, runtime.work(), runtime.data())?),
        };
        let office = open_office(context, &runtime.store, away).await?;
        Ok(Self::with(context, &runtime.store, runtime.owner().clone(), equipment, office))
    }

    /// Looks at agents and tells them something, wherever they work.
    pub(crate) async fn to_tell(
        context: Context<'_>,
        read_only_engine: &ReadOnlyEngine,
    ) -> Result<Self, Failure> {
        let shelves = Arc::new(OneShelf::new(Arc::new(empty_shelf(&absolute(&context.config.data.value)?))));
        let engine = read_only_engine.engine.clone();
        let equipment = Equipment {
            engine,
            is_alive: read_only_engine.is_alive.clone(),
            shelves,
            planner: Arc::new(PatternPlanner),
            llm: None,
            command: None,
        };
        let office = open_office(context, &read_only_engine.store, BusAway::StandIn).await?;
        Ok(Self::with(context, &read_only_engine.store, OwnerId(String::new()), equipment, office))
    }

    fn with(
        context: Context<'_>,
        store: &Store,
        owner: OwnerId,
        equipment: Equipment,
        office: Office,
    ) -> Self {
        let Equipment { engine, is_alive, shelves, planner, llm, command } = equipment;
        let parts = AgentsParts {
            stores: Stores { agents: store.agents.clone(), runs: store.runs.clone() },
            engine,
            is_alive,
            shelves,
            planner: planner.clone(),
            roles: Arc::new(()),
            llm,
            command,
            announce: Arc::new(office.clone()),
            clock: Clock::system(),
        };
        Self { agents: Agents::new(agents_config(context, owner), parts), office, planner }
    }
}

/// What agents work with.
struct Equipment {
    engine: Engine,
    is_alive: IsAlive,
    shelves: Arc<dyn Shelves>,
    planner: Arc<dyn Planner>,
    llm: Option<Arc<dyn WorkDriver>>,
    command: Option<Arc<dyn WorkDriver>>,
}

fn agents_config(context: Context<'_>, owner: OwnerId) -> AgentsConfig {
    let (settings, run) = (&context.config.agents.value, context.config.run.value);
    AgentsConfig {
        owner,
        agents_max: settings.agents_max,
        at_limit: settings.at_limit,
        limits: settings.limits,
        default: Layer::configured(&settings.allowed, &settings.forbidden),
        clients: context.config.clients.value.allowed.clone(),
        deadline_ms: settings.work_ms,
        slots: run.slots,
        poll_ms: POLL_MS,
        grace_ms: run.grace_ms,
    }
}
