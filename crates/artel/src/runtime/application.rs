//! The application, put together from the configuration.

use std::sync::Arc;

use artel_app::{
    App, AppParts, Assistant, Catalogs, Hubs, KeyRing, NamedPlanners, Probe, RunSettings, Stores,
};
use artel_engine::{Clock, Engine, OneShelf, Shelves};
use artel_server::McpChatTools;

use super::agents_setup::AgentsSetup;
use super::open::{Runtime, settings_rules};
use super::planner::planning_ms;
use super::prune::artifact_dirs;
use super::read_only_engine::ReadOnlyEngine;
use super::shared_catalog::{catalogs, stores};
use super::shelf::{absolute, empty_shelf};
use crate::command::Context;
use crate::failure::Failure;

/// What differs between a server, a command that drives something, and a command that only reads.
pub(super) struct Given<'a> {
    pub(super) stores: Stores,
    pub(super) engine: Engine,
    pub(super) agents_setup: &'a AgentsSetup,
    pub(super) shelves: Arc<dyn Shelves>,
    pub(super) catalogs: Catalogs,
    pub(super) hubs: Option<Hubs>,
    pub(super) named_planners: NamedPlanners,
    pub(super) assistant: Option<Assistant>,
    pub(super) keys: KeyRing,
    pub(super) probes: Vec<Arc<dyn Probe>>,
}

/// Puts the application together.
pub(super) fn application(context: Context<'_>, given: Given<'_>) -> Result<App, Failure> {
    let (config, run) = (context.config, context.config.run.value);
    let Given {
        stores,
        engine,
        agents_setup,
        shelves,
        catalogs,
        hubs,
        named_planners,
        assistant,
        keys,
        probes,
    } = given;
    Ok(App::new(AppParts {
        quotas: config.quotas.value.each,
        prompt_skills_max: config.prompt_skills_max.value,
        publishes_skills: config.server.value.publishes_skills,
        clock: Clock::system(),
        stores,
        engine,
        agents: agents_setup.agents.clone(),
        office: agents_setup.office.clone(),
        shelves,
        catalogs,
        hubs,
        planner: agents_setup.planner.clone(),
        named_planners,
        artifact_dirs: artifact_dirs(context)?,
        assistant,
        runs: RunSettings {
            deadline_ms: run.deadline_ms,
            planning_ms: planning_ms(context),
            slots: run.slots,
        },
        settings: settings_rules(config),
        keys,
        chat_tools: Arc::new(McpChatTools),
        probes,
    }))
}

/// Puts together the application of a command that reads and gives commands: it drives nothing.
pub(crate) fn app_to_read(
    context: Context<'_>,
    read_only_engine: &ReadOnlyEngine,
    agents_setup: &AgentsSetup,
) -> Result<App, Failure> {
    let shelves = Arc::new(OneShelf::new(Arc::new(empty_shelf(&absolute(&context.config.data.value)?))));
    local(
        context,
        stores(&read_only_engine.store),
        read_only_engine.engine.clone(),
        agents_setup,
        shelves,
        NamedPlanners::new(),
    )
}

/// Puts together the application of a command that drives runs and agents.
pub(crate) fn app_to_work(
    context: Context<'_>,
    runtime: &Runtime,
    agents_setup: &AgentsSetup,
) -> Result<App, Failure> {
    let planners = super::serving::named_planners(context, runtime);
    local(context, stores(&runtime.store), runtime.engine.clone(), agents_setup, runtime.shelves(), planners)
}

fn local(
    context: Context<'_>,
    stores: Stores,
    engine: Engine,
    agents_setup: &AgentsSetup,
    shelves: Arc<dyn Shelves>,
    named_planners: NamedPlanners,
) -> Result<App, Failure> {
    let given = Given {
        catalogs: catalogs(context, &stores)?,
        keys: KeyRing::new(stores.keys.clone()),
        stores,
        engine,
        agents_setup,
        shelves,
        hubs: None,
        named_planners,
        assistant: None,
        probes: Vec::new(),
    };
    application(context, given)
}
