//! What lets agents work that are not runs: a model, or programs of others, as the configuration names them.

use std::sync::Arc;

use artel_agents::{
    AfterWork, ClientHome, ClientNetwork, ClientUsers, CommandDriver, CommandDriverConfig, Job, LlmDriver,
    LlmDriverConfig, ModelChoice, OwnCommands, WorkDriver,
};
use artel_engine::SandboxUsers;
use artel_model::agent::{AgentSpec, SpawnError, SpawnErrorCode, WorkEnd, WorkOutcome};
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Map;

use super::open::launcher_program;
use super::planner::Endpoint;
use super::users::{client_user, sandbox_users};
use crate::config::{CommandsWord, Config, HomeWord, LlmSettings, NetworkWord};
use crate::failure::{Failure, chain};

/// Any model.
const ANY: &str = "*";

/// Returns what lets a model work; nothing when none is configured.
pub(super) fn llm(config: &Config) -> Option<Arc<dyn WorkDriver>> {
    let settings = &config.llm.value;
    let model = settings.model.as_deref()?;
    match llm_config(config, settings, model) {
        Ok(driver) => Some(Arc::new(driver)),
        Err(failure) => Some(Arc::new(Unfit(failure.message))),
    }
}

fn llm_config(config: &Config, settings: &LlmSettings, model: &str) -> Result<LlmDriver, Failure> {
    let endpoint = Endpoint {
        protocol: settings.protocol,
        url: settings.url.as_deref(),
        api_key_env: settings.api_key_env.as_deref(),
    };
    let mut driver = LlmDriverConfig::new(endpoint.config(&config.environment, model)?);
    driver.turns_max = settings.turns_max;
    driver.skills_max = config.prompt_skills_max.value;
    driver.tokens_max = settings.tokens_max;
    driver.request_ms = settings.answer_ms;
    driver.models = match settings.models.as_slice() {
        [] => ModelChoice::Configured,
        models if models.iter().any(|model| model == ANY) => ModelChoice::Any,
        models => ModelChoice::Listed(models.to_vec()),
    };
    LlmDriver::new(driver).map_err(|error| Failure::usage(chain(&error)))
}

/// The folder for what programs of others worked in and is kept, inside the data folder.
pub(super) const KEPT: &str = "agents";

/// Returns what lets programs of others work, each in a folder below `work`, which is removed when artel closes, or where
/// folders are kept.
pub(super) fn command(
    config: &Config,
    work: &Utf8Path,
    data: &Utf8Path,
) -> Result<Arc<dyn WorkDriver>, Failure> {
    let (clients, environment) = (&config.clients.value, &config.environment);
    let path = environment.get("PATH").unwrap_or_default().split(':').filter(|folder| !folder.is_empty());
    let home = environment.get("HOME").map(Utf8PathBuf::from);
    let driver = CommandDriverConfig {
        work_root: if clients.keep { data.join(KEPT) } else { work.to_owned() },
        path: path.map(Utf8PathBuf::from).collect(),
        environment: environment.pairs(),
        pass: clients.pass.clone(),
        home: match (clients.home, home) {
            (HomeWord::Own, Some(home)) => ClientHome::Shared(home),
            (HomeWord::Own, None) | (HomeWord::Private, _) => ClientHome::Private,
        },
        own_commands: match clients.commands {
            CommandsWord::Any => OwnCommands::Allowed,
            CommandsWord::Known => OwnCommands::Refused,
        },
        sandbox: config.sandbox.value,
        users: match client_user(config)? {
            Some((user, group)) => ClientUsers::One { user, group },
            None => sandbox_users(config)?
                .map_or(ClientUsers::Artel, |range| ClientUsers::OnePerAgent(SandboxUsers::new(range, data))),
        },
        network: match clients.network {
            NetworkWord::Preset => ClientNetwork::AsPreset,
            NetworkWord::None => ClientNetwork::Denied,
        },
        programs: clients.programs.clone(),
        limits: config.script_limits.value,
        grace_ms: config.run.value.grace_ms,
        after: if clients.keep { AfterWork::Keep } else { AfterWork::Remove },
    };
    Ok(Arc::new(CommandDriver::new(launcher_program(config), driver)))
}

/// A driver that was configured, and cannot be used as it is.
struct Unfit(String);

#[async_trait]
impl WorkDriver for Unfit {
    fn check(&self, _: &AgentSpec) -> Result<(), SpawnError> {
        Err(SpawnError::new(SpawnErrorCode::DriverUnavailable, self.0.clone()))
    }

    async fn work(&self, _: Job) -> WorkEnd {
        let outcome = WorkOutcome::Failed { error: self.0.clone() };
        WorkEnd { outcome, calls: Vec::new(), results: Map::new() }
    }
}
