//! Everything that a server is made of, from the configuration.

use std::time::Duration;

use artel_api::plans::PlannerWord;
use artel_app::{App, Catalogs, FolderWatching, KeyRing, NamedPlanners, Reread, Stores, fresh_admin_token};
use artel_engine::close_to_others;
use artel_model::access::{AdminToken, TeamId};
use artel_server::{Authenticator, Certificate, Http, HttpParts, OidcConfig, ServerConfig};
use tokio::task::JoinHandle;

use super::agents_setup::AgentsSetup;
use super::application::{Given, application};
use super::assistant::assistant;
use super::interrupts::Interrupts;
use super::office::BusAway;
use super::open::Runtime;
use super::planner::planner;
use super::probes::probes;
use super::shared_catalog::{SharedCatalog, local_principal};
use super::shelf::absolute;
use crate::command::Context;
use crate::config::{Config, PlannerKind};
use crate::failure::{Failure, chain};

/// The variable that sets the administrator's token.
const ADMIN_TOKEN: &str = "ARTEL_ADMIN_TOKEN";
/// The variable that sets a token for whoever collects metrics.
const METRICS_TOKEN: &str = "ARTEL_METRICS_TOKEN";

/// Closes what lies in the data folder from earlier to other users of the machine. A server does it once, when it starts.
async fn close_data_folder(context: Context<'_>) -> Result<(), Failure> {
    let data = absolute(&context.config.data.value)?;
    if !data.is_dir() {
        return Ok(());
    }
    let folder = data.clone();
    let closed = tokio::task::spawn_blocking(move || close_to_others(&folder)).await;
    let closed = closed.map_err(|_| Failure::failed("closing the data folder to others failed"))?;
    let closed = closed.map_err(|error| Failure::missing(format!("cannot look into `{data}`: {error}")))?;
    if closed.changed > 0 {
        tracing::info!(
            files = closed.changed,
            "files of the data folder were open to other users, and are closed"
        );
    }
    Ok(())
}

/// A server that is ready to listen, and what works behind it.
pub(crate) struct Serving {
    pub(crate) app: App,
    /// How it is reached from outside; nothing when only this process calls.
    pub(crate) http: Option<Http>,
    /// What is served.
    pub(crate) catalogs: Catalogs,
    /// What keeps it, and its version.
    pub(crate) store: String,
    /// The administrator's token, when it was made just now: it is shown once.
    pub(crate) fresh_token: Option<String>,
    agents_setup: AgentsSetup,
    runtime: Runtime,
    background: Vec<JoinHandle<()>>,
}

/// What to do with the administrator's token that is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Token {
    /// It stays.
    Kept,
    /// It is forgotten, and another one is made.
    Renewed,
    /// There is none and none is made: nobody calls from outside.
    Unneeded,
}

impl Serving {
    /// Opens everything, and loads the catalog.
    pub(crate) async fn open(
        context: Context<'_>,
        config: ServerConfig,
        token: Token,
    ) -> Result<Self, Failure> {
        close_data_folder(context).await?;
        let (local, grace_ms) = match token {
            Token::Unneeded => {
                (Some(local_principal(&context.config.environment).viewer), context.config.run.value.grace_ms)
            }
            Token::Kept | Token::Renewed => (None, context.config.server.value.shutdown_grace * 1000),
        };
        let shared_catalog = SharedCatalog::open_with_grace(context, local, grace_ms).await?;
        let SharedCatalog { catalogs, hubs, stores, shelves, runtime } = shared_catalog;
        let agents_setup = AgentsSetup::open(context, &runtime, BusAway::Reconnect).await?;
        catalogs.refresh(Reread::Folders).await.map_err(|error| Failure::unavailable(&error))?;
        catalogs.rebuild_supervisor();
        let (authenticator, fresh_token) = match token {
            Token::Unneeded => (None, None),
            Token::Kept | Token::Renewed => {
                let (authenticator, fresh) = authenticator(context.config, &stores, token).await?;
                (Some(authenticator), fresh)
            }
        };
        let keys = authenticator
            .as_ref()
            .map_or_else(|| KeyRing::new(stores.keys.clone()), |authenticator| authenticator.keys().clone());
        let given = Given {
            stores,
            engine: runtime.engine.clone(),
            agents_setup: &agents_setup,
            shelves,
            catalogs: catalogs.clone(),
            hubs: Some(hubs.clone()),
            named_planners: named_planners(context, &runtime),
            assistant: assistant(context.config)?,
            keys,
            probes: probes(&runtime.store, runtime.data()),
        };
        let app = application(context, given)?;
        let metrics = crate::metrics::renderer()?;
        let http = authenticator
            .map(|authenticator| Http::new(app.clone(), HttpParts { config, authenticator, metrics }));
        let skills_dirs = context.config.skills_dirs.value.clone();
        let background = vec![
            tokio::spawn(catalogs.clone().keep_current()),
            tokio::spawn(catalogs.clone().keep_scanned()),
            tokio::spawn(catalogs.clone().follow_folders(FolderWatching::of(skills_dirs))),
            tokio::spawn(hubs.keep_current()),
            tokio::spawn(crate::metrics::keep_small()),
        ];
        let store = runtime.store.version.clone();
        Ok(Self { app, http, catalogs, store, fresh_token, agents_setup, runtime, background })
    }

    /// Goes on with what a process left over that is gone; where that cannot be, it waits and everybody else is served.
    pub(crate) async fn recover_or_tell(&self, context: Context<'_>) {
        if let Err(failure) = self.recover().await {
            context.output.talk(&format!("cannot go on with what was left over: {}", failure.message));
        }
    }

    async fn recover(&self) -> Result<(), Failure> {
        let failed = |error: &dyn std::error::Error| Failure::missing(chain(error));
        let agents = &self.agents_setup.agents;
        agents.end_runs_of_the_ended().await.map_err(|error| failed(&error))?;
        let is_alive = |owner: &artel_store::OwnerId| self.runtime.is_alive(owner);
        let runs = self.runtime.engine.recover(&is_alive).await.map_err(|error| failed(&error))?;
        let agents = agents.recover().await.map_err(|error| failed(&error))?;
        if !runs.is_empty() || !agents.is_empty() {
            tracing::info!(runs = runs.len(), agents = agents.len(), "going on with what was left over");
        }
        Ok(())
    }

    /// Begins nothing more, and lets running steps end within the configured grace; then they are stopped, and their runs are
    /// left to the next start. A second signal stops them at once.
    pub(crate) async fn drain(&self, interrupts: &mut Interrupts) {
        let engine = &self.runtime.engine;
        let mut closing = std::pin::pin!(engine.close());
        tokio::select! {
            () = &mut closing => return,
            () = interrupts.next() => engine.end_steps_now(),
        }
        closing.await;
    }

    /// Returns when the store may have lost what was written last.
    pub(crate) async fn store_lost(&self) {
        self.runtime.store.lost().await;
    }

    /// Ends what runs at once.
    pub(crate) fn end_steps_now(&self) {
        self.runtime.engine.end_steps_now();
    }

    /// Ends what works behind the server. What still runs can be recovered.
    pub(crate) async fn close(self) {
        for task in self.background {
            task.abort();
        }
        drop(self.agents_setup);
        self.runtime.close().await;
    }
}

/// Makes every planner that may be asked for by name; of one that is not configured, why it cannot be.
pub(super) fn named_planners(context: Context<'_>, runtime: &Runtime) -> NamedPlanners {
    let kinds = [
        (PlannerWord::Pattern, PlannerKind::Pattern),
        (PlannerWord::Llm, PlannerKind::Llm),
        (PlannerWord::Command, PlannerKind::Command),
    ];
    let made =
        |(word, kind)| (word, planner(context, kind, &runtime.launcher).map_err(|failure| failure.message));
    kinds.into_iter().map(made).collect()
}

async fn authenticator(
    config: &Config,
    stores: &Stores,
    token: Token,
) -> Result<(Authenticator, Option<String>), Failure> {
    let given = config.environment.get(ADMIN_TOKEN).map(admin_token).transpose()?;
    let failed = |error: &dyn std::error::Error| Failure::unavailable(error);
    let renewed = (token == Token::Renewed).then(fresh_admin_token);
    if let Some(token) = &renewed {
        Authenticator::renew_admin_token(stores, token).await.map_err(|error| failed(&error))?;
    }
    let opened = Authenticator::open(stores, given.as_ref(), fresh_admin_token).await;
    let (mut authenticator, first) = opened.map_err(|error| failed(&error))?;
    let fresh = first.or(renewed).filter(|_| given.is_none());
    if let Some(oidc) = &config.oidc.value {
        let oidc = OidcConfig {
            teams_claim: oidc.teams_claim.clone(),
            admin_teams: oidc.admin_group.iter().map(|team| admin_team(team)).collect::<Result<_, _>>()?,
            ..OidcConfig::new(oidc.issuer.clone(), oidc.audience.clone())
        };
        authenticator = authenticator.with_oidc(oidc).map_err(|error| Failure::usage(chain(&error)))?;
    }
    if let Some(token) = config.environment.get(METRICS_TOKEN) {
        authenticator = authenticator.with_metrics_token(token);
    }
    Ok((authenticator, fresh))
}

/// Reads the token that an operator set; one that can be guessed would let everybody in.
fn admin_token(text: &str) -> Result<AdminToken, Failure> {
    text.parse().map_err(|error| {
        Failure::usage(format!("`{ADMIN_TOKEN}` is too easy to guess: {error}")).hint(format!(
            "make one with `openssl rand -hex 32`, or leave `{ADMIN_TOKEN}` out: artel makes and shows one"
        ))
    })
}

fn admin_team(text: &str) -> Result<TeamId, Failure> {
    text.parse().map_err(|error| Failure::usage(format!("`[oidc] admin_group`: {error}")))
}

/// Returns how the server behaves.
pub(crate) fn server_config(config: &Config) -> Result<ServerConfig, Failure> {
    let settings = &config.server.value;
    let usual = ServerConfig::default();
    let size = |number: Option<u32>, usual: usize| number.map_or(usual, |number| number as usize);
    let certificate = match &settings.tls {
        None => None,
        Some((certificate, key)) => {
            let read = |path: &camino::Utf8Path| {
                std::fs::read(path)
                    .map_err(|error| Failure::missing(format!("cannot read `{path}`: {error}")))
            };
            Some(Certificate { chain_pem: read(certificate)?, key_pem: read(key)? })
        }
    };
    Ok(ServerConfig {
        listen: settings.listen,
        requests_per_second: settings.requests_per_second.unwrap_or(usual.requests_per_second),
        request_burst: settings.request_burst.unwrap_or(usual.request_burst),
        connections_max: size(settings.connections, usual.connections_max),
        connections_per_address_max: size(
            settings.connections_per_address,
            usual.connections_per_address_max,
        ),
        bodies_bytes_max: size(
            settings.bodies_mib.map(|mib| mib.saturating_mul(1024 * 1024)),
            usual.bodies_bytes_max,
        ),
        trusted_proxies: settings.trusted_proxies.clone(),
        certificate,
        slow_request: settings.slow_request_ms.map_or(usual.slow_request, Duration::from_millis),
        ..usual
    })
}
