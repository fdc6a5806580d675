//! The planner and the models that the configuration names.

use std::sync::Arc;

use artel_engine::llm::{ApiKey, LlmConfig, LlmProtocol};
use artel_engine::planner::{CommandConfig, CommandPlanner, LlmPlanner, PatternPlanner, Planner};
use artel_engine::process::Launcher;
use camino::Utf8PathBuf;

use crate::command::Context;
use crate::config::{Environment, PlannerKind, PlannerProtocol, PlannerSettings};
use crate::failure::Failure;

/// Milliseconds that one plan may take to make, when nothing else is configured.
const PLANNING_MS_DEFAULT: u64 = 5_000;

/// Returns the milliseconds that one plan may take to make.
pub(crate) fn planning_ms(context: Context<'_>) -> u64 {
    context.config.planner.value.timeout_ms.unwrap_or(PLANNING_MS_DEFAULT)
}

/// Makes the planner.
pub(crate) fn planner(
    context: Context<'_>,
    kind: PlannerKind,
    launcher: &Launcher,
) -> Result<Arc<dyn Planner>, Failure> {
    let settings = &context.config.planner.value;
    match kind {
        PlannerKind::Pattern => Ok(Arc::new(PatternPlanner)),
        PlannerKind::Llm => {
            let planner = LlmPlanner::new(llm(context, settings)?);
            let planner = planner.map_err(|error| Failure::usage(crate::failure::chain(&error)))?;
            Ok(match context.config.prompt_skills_max.value {
                Some(skills_max) => Arc::new(planner.with_skills_max(skills_max)),
                None => Arc::new(planner),
            })
        }
        PlannerKind::Command => {
            Ok(Arc::new(CommandPlanner::new(launcher.clone(), command(context, settings)?)))
        }
    }
}

fn llm(context: Context<'_>, settings: &PlannerSettings) -> Result<LlmConfig, Failure> {
    let Some(model) = &settings.model else {
        return Err(Failure::usage("no model is configured for planning")
            .hint("`[planner]` in artel.toml says `model`"));
    };
    let endpoint = Endpoint {
        protocol: settings.protocol,
        url: settings.url.as_deref(),
        api_key_env: settings.api_key_env.as_deref(),
    };
    let mut config = endpoint.config(&context.config.environment, model)?;
    config.deadline_ms = planning_ms(context);
    Ok(config)
}

/// Where a model is.
pub(super) struct Endpoint<'a> {
    pub(super) protocol: PlannerProtocol,
    pub(super) url: Option<&'a str>,
    /// The variable that holds the key; the usual one of the protocol when it is not said.
    pub(super) api_key_env: Option<&'a str>,
}

impl Endpoint<'_> {
    /// Returns how to reach a model there.
    pub(super) fn config(&self, environment: &Environment, model: &str) -> Result<LlmConfig, Failure> {
        let (protocol, usual_key) = match self.protocol {
            PlannerProtocol::Openai => (LlmProtocol::OpenAi, "OPENAI_API_KEY"),
            PlannerProtocol::Anthropic => (LlmProtocol::Anthropic, "ANTHROPIC_API_KEY"),
        };
        let missing =
            |name: &str| Failure::usage(format!("${name}, which holds the model's key, is not set"));
        let key = match self.api_key_env {
            Some(name) => Some(environment.get(name).ok_or_else(|| missing(name))?),
            None => environment.get(usual_key),
        };
        let mut config = LlmConfig::new(protocol, model);
        config.base_url = self.url.map_or(config.base_url, str::to_owned);
        let is_encrypted = config.base_url.starts_with("https:");
        let proxies: &[&str] = if is_encrypted { &["HTTPS_PROXY", "https_proxy"] } else { &["http_proxy"] };
        let set = |names: &[&str]| names.iter().find_map(|name| environment.get(name)).map(str::to_owned);
        config.proxy = set(proxies);
        config.no_proxy = set(&["NO_PROXY", "no_proxy"]);
        config.api_key = key.map(ApiKey::new);
        Ok(config)
    }
}

fn command(context: Context<'_>, settings: &PlannerSettings) -> Result<CommandConfig, Failure> {
    let Some((program, arguments)) = settings.command.split_first() else {
        return Err(Failure::usage("no program is configured for planning")
            .hint("`[planner]` in artel.toml says `command = [\"PROGRAM\", \"ARGUMENT\"]`"));
    };
    let environment = &context.config.environment;
    let found =
        if program.contains('/') { Some(Utf8PathBuf::from(program)) } else { environment.on_path(program) };
    let program = found.ok_or_else(|| Failure::missing(format!("the planner `{program}` is not on PATH")))?;
    let here = |path: &str| {
        camino::absolute_utf8(path)
            .map_err(|error| Failure::missing(format!("cannot find `{path}`: {error}")))
    };
    Ok(CommandConfig {
        program: here(program.as_str())?,
        arguments: arguments.to_vec(),
        cwd: here(".")?,
        environment: environment.pairs(),
        limits: context.config.script_limits.value,
        deadline_ms: planning_ms(context),
    })
}
