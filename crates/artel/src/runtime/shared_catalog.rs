//! The catalog that is shared and the hubs it takes skills from, with or without a server in front of it.

use std::sync::Arc;
use std::time::Duration;

use artel_app::{CatalogConfig, CatalogParts, CatalogShelves, Catalogs, Hubs, LoadDefault, Stores, audit};
use artel_catalog::Keep;
use artel_catalog::hub::{CredentialsRef, HostPattern, HostRules};
use artel_engine::hub::{HubFetcher, HubFetcherConfig, HubProxy, HubSecrets, HubToken};
use artel_engine::{Clock, Shelves};
use artel_model::access::{Credential, Principal, Scope, UserId, Viewer};
use artel_model::catalog::{AuditAction, Hub};

use super::open::{Runtime, person};
use super::second_scanner::second_scanner;
use super::shelf::{Shelf, absolute, empty_shelf};
use super::store::Store;
use crate::command::{Context, load_catalog};
use crate::config::Environment;
use crate::failure::Failure;

/// How often to look whether another process changed the catalog.
const CATALOG_CHECK: Duration = Duration::from_secs(1);
/// The variables that name a way out of the network, the first that is set counts.
const PROXIES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
/// Who works here when the environment does not say it.
const SOMEBODY: &str = "cli";

/// The catalog that is shared, its hubs, and a runtime whose launcher fetches them.
pub(crate) struct SharedCatalog {
    pub(crate) catalogs: Catalogs,
    pub(crate) hubs: Hubs,
    pub(super) stores: Stores,
    pub(super) shelves: Arc<dyn Shelves>,
    pub(super) runtime: Runtime,
}

impl SharedCatalog {
    /// Opens the store and the runtime, as a command does. The catalog is not read yet. `local` is whose eyes the local owner
    /// sees with.
    pub(crate) async fn open(context: Context<'_>, local: Option<Viewer>) -> Result<Self, Failure> {
        Self::open_with_grace(context, local, context.config.run.value.grace_ms).await
    }

    /// The same, where running steps may go on for `closing_grace_ms` when it closes.
    pub(super) async fn open_with_grace(
        context: Context<'_>,
        local: Option<Viewer>,
        closing_grace_ms: u64,
    ) -> Result<Self, Failure> {
        let data = absolute(&context.config.data.value)?;
        let store = Store::open(context.config).await?;
        let stores = stores(&store);
        let catalogs = catalogs(context, &stores)?;
        let shelves: Arc<dyn Shelves> = Arc::new(CatalogShelves::new(catalogs.clone(), local));
        let shelf = Shelf { skills: Arc::new(empty_shelf(&data)), store: Some(store) };
        let runtime = Runtime::open_on(context, shelf, shelves.clone(), closing_grace_ms).await?;
        let hubs = hubs(context, &catalogs, &runtime)?;
        let work = runtime.work().join("scans");
        if let Some(scanner) = second_scanner(context.config, &runtime.launcher, &work).await {
            catalogs.add_scanner(scanner);
        }
        Ok(Self { catalogs, hubs, stores, shelves, runtime })
    }

    /// Writes down what somebody did to a hub.
    pub(crate) async fn note(&self, who: &Principal, did: AuditAction, hub: &Hub) -> Result<(), Failure> {
        let (store, now) = (&*self.stores.audit, Clock::system().now());
        let noted = audit(store, now, who, None, did, hub.id.to_string(), hub.location.as_str()).await;
        noted.map_err(|error| Failure::unavailable(&error))
    }

    /// Tidies up.
    pub(crate) async fn close(self) {
        self.runtime.close().await;
    }
}

/// Returns whoever has the data folder in hand, and so may do everything with it.
pub(crate) fn local_principal(environment: &Environment) -> Principal {
    let user: Result<UserId, _> = person(environment).0.parse();
    let user = user.unwrap_or_else(|_| SOMEBODY.parse().expect("a constant name is valid"));
    Principal {
        viewer: Viewer { user, teams: [].into() },
        scopes: Scope::ALL.into(),
        credential: Credential::Local,
    }
}

/// Returns a store as the server takes it.
pub(crate) fn stores(store: &Store) -> Stores {
    Stores {
        runs: store.runs.clone(),
        executions: store.executions.clone(),
        health: store.health.clone(),
        agents: store.agents.clone(),
        mail: store.mail.clone(),
        skills: store.catalog.skills.clone(),
        hubs: store.catalog.hubs.clone(),
        keys: store.catalog.keys.clone(),
        people: store.catalog.people.clone(),
        scans: store.catalog.scans.clone(),
        audit: store.catalog.audit.clone(),
        trail: store.catalog.trail.clone(),
        generation: store.catalog.generation.clone(),
    }
}

pub(super) fn catalogs(context: Context<'_>, stores: &Stores) -> Result<Catalogs, Failure> {
    let config = context.config.clone();
    let load: LoadDefault =
        Arc::new(move || load_catalog(&config, Keep::Instructions).map_err(|failure| failure.message));
    let scanner = &context.config.scanner.value;
    Ok(Catalogs::new(CatalogParts {
        config: CatalogConfig {
            quotas: context.config.quotas.value.each,
            shared_data: context.config.grants.value.shared_data.clone(),
            gate: scanner.gate,
            fail_on: scanner.fail_on,
            check: CATALOG_CHECK,
            data: absolute(&context.config.data.value)?,
        },
        stores: stores.clone(),
        clock: Clock::system(),
        load_default: load,
    }))
}

fn hubs(context: Context<'_>, catalogs: &Catalogs, runtime: &Runtime) -> Result<Hubs, Failure> {
    let (settings, environment) = (&context.config.hubs.value, &context.config.environment);
    let git = environment.on_path("git").unwrap_or_else(|| "/usr/bin/git".into());
    let pattern = |text: &String| {
        text.parse::<HostPattern>().map_err(|error| Failure::usage(format!("`[hubs] hosts`: {error}")))
    };
    let mut config = HubFetcherConfig::new(git, runtime.work().join("hubs"));
    config.hosts = HostRules {
        hosts: settings.hosts.iter().map(pattern).collect::<Result<_, _>>()?,
        allows_file: settings.allow_file,
        allows_loopback_http: settings.allow_loopback_http,
    };
    if let Some(api) = &settings.github_api {
        config.github_api.clone_from(api);
    }
    config.proxy = PROXIES.into_iter().find_map(|name| environment.get(name)).map(|url| HubProxy {
        url: url.to_owned(),
        no_proxy: environment.get("NO_PROXY").or(environment.get("no_proxy")).map(str::to_owned),
    });
    let fetcher = HubFetcher::new(runtime.launcher.clone(), config)
        .map_err(|failure| Failure::missing(format!("cannot fetch hubs: {}", failure.message)))?;
    let secrets = Arc::new(Secrets(environment.clone()));
    Ok(Hubs::new(catalogs.clone(), fetcher, secrets, Duration::from_secs(settings.check_seconds)))
}

/// The environment that holds the tokens of hubs.
struct Secrets(Environment);

impl HubSecrets for Secrets {
    fn secret(&self, variable: &CredentialsRef) -> Option<HubToken> {
        self.0.get(variable.as_str()).and_then(HubToken::new)
    }
}
