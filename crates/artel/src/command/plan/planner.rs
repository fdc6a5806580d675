//! The planner that the configuration names.

use std::sync::Arc;

use artel_engine::planner::{
    ApiKey, CommandConfig, CommandPlanner, LlmConfig, LlmPlanner, LlmProtocol, PatternPlanner, Planner,
    SkillOffer, offers,
};
use artel_engine::process::Launcher;
use artel_model::plan::SkillLookup as _;
use camino::Utf8PathBuf;

use crate::cli::PlannerChoice;
use crate::command::Context;
use crate::config::{PlannerKind, PlannerProtocol, PlannerSettings};
use crate::failure::Failure;
use crate::workshop::Shelf;

/// Milliseconds that one plan may take to make, when nothing else is configured.
const PLANNING_MS_DEFAULT: u64 = 5_000;

/// Says who makes plans: who was asked for, else who is configured.
pub(super) fn kind(context: Context<'_>, choice: Option<PlannerChoice>) -> PlannerKind {
    match choice {
        Some(PlannerChoice::Pattern) => PlannerKind::Pattern,
        Some(PlannerChoice::Llm) => PlannerKind::Llm,
        Some(PlannerChoice::Command) => PlannerKind::Command,
        None => context.config.planner.value.kind,
    }
}

/// Returns the milliseconds that one plan may take to make.
pub(super) fn planning_ms(context: Context<'_>) -> u64 {
    context.config.planner.value.timeout_ms.unwrap_or(PLANNING_MS_DEFAULT)
}

/// Makes the planner.
pub(super) fn planner(
    context: Context<'_>,
    kind: PlannerKind,
    launcher: &Launcher,
) -> Result<Arc<dyn Planner>, Failure> {
    let settings = &context.config.planner.value;
    match kind {
        PlannerKind::Pattern => Ok(Arc::new(PatternPlanner)),
        PlannerKind::Llm => {
            let planner = LlmPlanner::new(llm(context, settings)?);
            Ok(Arc::new(planner.map_err(|error| Failure::usage(crate::failure::chain(&error)))?))
        }
        PlannerKind::Command => {
            Ok(Arc::new(CommandPlanner::new(launcher.clone(), command(context, settings)?)))
        }
    }
}

fn llm(context: Context<'_>, settings: &PlannerSettings) -> Result<LlmConfig, Failure> {
    let (protocol, usual_key) = match settings.protocol {
        PlannerProtocol::Openai => (LlmProtocol::OpenAi, "OPENAI_API_KEY"),
        PlannerProtocol::Anthropic => (LlmProtocol::Anthropic, "ANTHROPIC_API_KEY"),
    };
    let Some(model) = &settings.model else {
        return Err(Failure::usage("no model is configured for planning")
            .hint("`[planner]` in artel.toml says `model`"));
    };
    let environment = &context.config.environment;
    let key =
        match &settings.api_key_env {
            Some(name) => Some(environment.get(name).ok_or_else(|| {
                Failure::usage(format!("${name}, which holds the planner's key, is not set"))
            })?),
            None => environment.get(usual_key),
        };
    let mut config = LlmConfig::new(protocol, model.clone());
    config.base_url = settings.url.clone().unwrap_or(config.base_url);
    let proxies: &[&str] =
        if config.base_url.starts_with("https:") { &["HTTPS_PROXY", "https_proxy"] } else { &["http_proxy"] };
    config.proxy = proxies.iter().find_map(|name| environment.get(name)).map(str::to_owned);
    config.api_key = key.map(ApiKey::new);
    config.deadline_ms = planning_ms(context);
    Ok(config)
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
    })
}

/// Returns the skills that plans may use.
pub(super) fn offered(shelf: &Shelf) -> Arc<[SkillOffer]> {
    let skills = &shelf.skills;
    offers(skills.catalog(), |name| skills.skill(name, None).is_some_and(|view| view.health.is_usable()))
}
