//! What `artel doctor` says about servers: the one that commands work on, and what one started here would do.

use artel_api::client::{ApiPath, Client, ClientError};
use artel_api::operator::Whoami;
use artel_model::access::{Scope, TeamId};
use artel_model::limit::SHUTDOWN_GRACE_SECONDS;
use serde::Deserialize;
use tracing::level_filters::LevelFilter;

use super::context::Context;
use super::doctor::{Check, Row, State, join, row};
use crate::config::{Config, RemoteSettings};
use crate::failure::{chain, refused};
use crate::runtime::wait_for;

/// Says that a server lives, and which one.
#[derive(Deserialize)]
struct Alive {
    version: String,
}

/// Says that a server is ready.
#[derive(Deserialize)]
struct Ready {
    checked: Vec<String>,
}

/// Which server commands work on, and whether there is something to show to it.
pub(super) fn remote_settings(config: &Config) -> Vec<Row> {
    let server = row("server", &config.remote, |remote| match remote {
        Some(RemoteSettings { server, .. }) => server.to_string(),
        None => "none: commands work on the data folder".to_owned(),
    });
    let (token, origin) = match config.environment.get("ARTEL_TOKEN") {
        Some(_) => ("set", "$ARTEL_TOKEN"),
        None => ("not set", "default"),
    };
    vec![server, ("token", token.to_owned(), origin.to_owned())]
}

/// How a server would behave that is started here.
pub(super) fn server_settings(config: &Config) -> Vec<Row> {
    let mut rows = listening_settings(config);
    rows.extend([
        row("[quotas]", &config.quotas, |quotas| {
            let (each, mailbox) = (quotas.each, quotas.mailbox);
            format!(
                "saved_skills={} saved_mib={} agents={} runs={} data_mib={} mailbox={mailbox}",
                each.saved_skills,
                each.saved_bytes / (1024 * 1024),
                each.agents,
                each.runs,
                each.data_bytes / (1024 * 1024)
            )
        }),
        row("[oidc]", &config.oidc, |oidc| match oidc {
            Some(oidc) => format!(
                "issuer={} audience={} teams_claim={} admin_group={}",
                oidc.issuer,
                oidc.audience,
                oidc.teams_claim,
                oidc.admin_group.as_deref().unwrap_or("none")
            ),
            None => "none".to_owned(),
        }),
        row("[hubs]", &config.hubs, |hubs| {
            let api = hubs.github_api.as_ref().map(|api| format!(" github_api={api}")).unwrap_or_default();
            format!(
                "hosts=[{}] allow_file={} allow_loopback_http={} check_seconds={}{api}",
                join(&hubs.hosts),
                hubs.allow_file,
                hubs.allow_loopback_http,
                hubs.check_seconds
            )
        }),
        row("[chat]", &config.chat, |chat| format!("answered_by={}", chat.as_str())),
    ]);
    rows
}

/// What `[server]` says, value by value: each may come from elsewhere.
fn listening_settings(config: &Config) -> Vec<Row> {
    let server = &config.server.value;
    let file = config.file.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
    let origin = |is_said: bool| if is_said { file.clone() } else { "default".to_owned() };
    let number = |name: &'static str, number: Option<u64>| {
        (name, number.map_or_else(|| "usual".to_owned(), |some| some.to_string()), origin(number.is_some()))
    };
    let tls = server.tls.as_ref().map_or("off".to_owned(), |(certificate, _)| certificate.to_string());
    let proxies = match server.trusted_proxies.as_slice() {
        [] => "none".to_owned(),
        proxies => join(proxies),
    };
    let level = |log: LevelFilter| log.to_string();
    let log = match (config.environment.get("ARTEL_LOG"), server.log) {
        (Some(text), _) => (text.to_owned(), "$ARTEL_LOG".to_owned()),
        (None, Some(log)) => (level(log), file.clone()),
        (None, None) => (level(LevelFilter::INFO), "default".to_owned()),
    };
    vec![
        row("[server] listen", &config.server, |server| server.listen.to_string()),
        number("[server] requests_per_second", server.requests_per_second.map(u64::from)),
        number("[server] request_burst", server.request_burst.map(u64::from)),
        number("[server] connections", server.connections.map(u64::from)),
        number("[server] connections_per_address", server.connections_per_address.map(u64::from)),
        number("[server] bodies_mib", server.bodies_mib.map(u64::from)),
        number("[server] slow_request_ms", server.slow_request_ms),
        ("[server] trusted_proxies", proxies, origin(!server.trusted_proxies.is_empty())),
        ("[server] tls_certificate", tls, origin(server.tls.is_some())),
        ("[server] publish_skills", server.publishes_skills.to_string(), origin(server.publishes_skills)),
        (
            "[server] shutdown_grace",
            server.shutdown_grace.to_string(),
            origin(server.shutdown_grace != SHUTDOWN_GRACE_SECONDS),
        ),
        ("[server] log", log.0, log.1),
    ]
}

/// Whether the server that commands work on is there, ready, of the same version, and lets us in.
pub(super) fn remote_checks(context: Context<'_>) -> Vec<Check> {
    let checked = wait_for(async {
        let Some(client) = context.remote()? else { return Ok(Vec::new()) };
        let (reachable, goes_on) = reachable(&client).await;
        let mut checks = vec![reachable];
        if goes_on {
            checks.push(ready(&client).await);
            checks.push(credential(&client).await);
        }
        Ok(checks)
    });
    let failed = |failure: crate::failure::Failure| vec![check("server", State::Bad, failure.message)];
    checked.unwrap_or_else(failed)
}

async fn reachable(client: &Client) -> (Check, bool) {
    let alive: Result<Alive, ClientError> = client.get(&ApiPath::new("/healthz")).await;
    let own = env!("CARGO_PKG_VERSION");
    let server = client.server();
    match alive {
        Ok(alive) if alive.version == own => {
            (check("server", State::Good, format!("{server} answers, version {own}")), true)
        }
        Ok(alive) => {
            let detail = format!("{server} has version {}, and this is {own}", alive.version);
            (check("server", State::Odd, detail), true)
        }
        Err(error) => (check("server", State::Bad, chain(&error)), false),
    }
}

async fn ready(client: &Client) -> Check {
    let ready: Result<Ready, ClientError> = client.get(&ApiPath::new("/readyz")).await;
    match ready {
        Ok(ready) => check("server: ready", State::Good, ready.checked.join(", ")),
        Err(error) => check("server: ready", State::Bad, chain(&error)),
    }
}

async fn credential(client: &Client) -> Check {
    let who: Result<Whoami, ClientError> = client.get(&ApiPath::new("/api/whoami")).await;
    match who {
        Ok(who) => {
            let scopes: Vec<&str> = who.scopes.iter().copied().map(Scope::as_str).collect();
            let teams: Vec<&str> = who.teams.iter().map(TeamId::as_str).collect();
            let teams = if teams.is_empty() { String::new() } else { format!(" of {}", teams.join(", ")) };
            let detail = format!("{}{teams}, by {}, may {}", who.user, who.credential, scopes.join(", "));
            check("server: token", State::Good, detail)
        }
        Err(error) => check("server: token", State::Bad, refused(&error).message),
    }
}

fn check(name: &str, state: State, detail: String) -> Check {
    Check { name: name.to_owned(), state, detail }
}
