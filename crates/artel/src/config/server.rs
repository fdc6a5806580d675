//! What `artel.toml` may say about the server: where it listens, who may call, where skills may come from, and the gate.

use std::net::SocketAddr;
use std::num::NonZero;

use artel_engine::scanner::ScannerPolicy;
use artel_model::catalog::{Gate, Severity};
use artel_model::limit::{MAILBOX_MAX, SHUTDOWN_GRACE_SECONDS, SHUTDOWN_GRACE_SECONDS_MAX};
use artel_model::quota::Quotas;
use artel_server::Network;
use camino::Utf8PathBuf;
use serde::Deserialize;
use tracing::level_filters::LevelFilter;

use super::environment::Environment;
use super::load::{Origin, Setting};
use crate::failure::Failure;
use crate::logging::level;

/// Where the server listens when nobody says otherwise: nobody but this machine reaches it.
const LISTEN: &str = "127.0.0.1:7420";
/// Where hubs may be when nobody says otherwise.
const HUB_HOSTS: [&str; 1] = ["github.com"];
/// What the program of the second scanner is called.
pub(crate) const SECOND_SCANNER: &str = "skill-scanner";
/// What `program` says when the second scanner is not used although it is installed.
const SCANNER_OFF: &str = "off";
/// How often a hub is asked whether it has changed, in seconds.
const HUB_CHECK_SECONDS: u64 = 60;

/// What `[server]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerTable {
    listen: Option<String>,
    requests_per_second: Option<u32>,
    request_burst: Option<u32>,
    connections: Option<u32>,
    connections_per_address: Option<u32>,
    bodies_mib: Option<u32>,
    trusted_proxies: Option<Vec<String>>,
    tls_certificate: Option<Utf8PathBuf>,
    tls_key: Option<Utf8PathBuf>,
    #[serde(default)]
    publish_skills: bool,
    slow_request_ms: Option<u64>,
    log: Option<String>,
    shutdown_grace: Option<u64>,
}

/// What `[quotas]` may say: how much each user may have over HTTP. Administrators are not counted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotasTable {
    saved_skills: Option<u64>,
    saved_mib: Option<u64>,
    agents: Option<u64>,
    runs: Option<u64>,
    data_mib: Option<u64>,
    mailbox: Option<NonZero<usize>>,
}

/// How much each user may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct QuotaSettings {
    pub(crate) each: Quotas,
    /// Unread messages of one agent.
    pub(crate) mailbox: usize,
}

impl QuotasTable {
    pub(super) fn settings(self) -> QuotaSettings {
        let usual = Quotas::default();
        let bytes = |mib: u64| mib.saturating_mul(1024 * 1024);
        QuotaSettings {
            each: Quotas {
                saved_skills: self.saved_skills.unwrap_or(usual.saved_skills),
                saved_bytes: self.saved_mib.map_or(usual.saved_bytes, bytes),
                agents: self.agents.unwrap_or(usual.agents),
                runs: self.runs.unwrap_or(usual.runs),
                data_bytes: self.data_mib.map_or(usual.data_bytes, bytes),
            },
            mailbox: self.mailbox.map_or(MAILBOX_MAX, NonZero::get).min(MAILBOX_MAX),
        }
    }
}

/// What `[oidc]` may say.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct OidcSettings {
    /// Who issues tokens.
    pub(crate) issuer: String,
    /// Whom tokens must be for.
    pub(crate) audience: String,
    /// The claim that holds a user's teams.
    #[serde(default = "groups")]
    pub(crate) teams_claim: String,
    /// The team whose members are administrators.
    pub(crate) admin_group: Option<String>,
}

fn groups() -> String {
    "groups".to_owned()
}

/// What `[hubs]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HubsTable {
    hosts: Option<Vec<String>>,
    #[serde(default)]
    allow_file: bool,
    #[serde(default)]
    allow_loopback_http: bool,
    check_seconds: Option<u64>,
    github_api: Option<String>,
}

/// What `[scanner]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScannerTable {
    gate: Option<String>,
    fail_on: Option<String>,
    program: Option<String>,
    policy: Option<String>,
}

/// Where the server listens, and how it behaves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ServerSettings {
    pub(crate) listen: SocketAddr,
    pub(crate) requests_per_second: Option<u32>,
    pub(crate) request_burst: Option<u32>,
    /// Connections at once, altogether and from one address.
    pub(crate) connections: Option<u32>,
    pub(crate) connections_per_address: Option<u32>,
    /// Mebibytes of all request bodies that are in memory at once.
    pub(crate) bodies_mib: Option<u32>,
    pub(crate) trusted_proxies: Vec<Network>,
    /// The files with the certificate and its key.
    pub(crate) tls: Option<(Utf8PathBuf, Utf8PathBuf)>,
    /// Whether anybody may fetch the skills that every caller sees.
    pub(crate) publishes_skills: bool,
    /// Milliseconds after which a request counts as slow.
    pub(crate) slow_request_ms: Option<u64>,
    /// How much is logged, when `$ARTEL_LOG` does not say it.
    pub(crate) log: Option<LevelFilter>,
    /// Seconds that running steps may go on when the server is stopped.
    pub(crate) shutdown_grace: u64,
}

/// Where hubs may be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HubSettings {
    pub(crate) hosts: Vec<String>,
    pub(crate) allow_file: bool,
    pub(crate) allow_loopback_http: bool,
    pub(crate) check_seconds: u64,
    /// Where GitHub's API is, for a GitHub of one's own.
    pub(crate) github_api: Option<String>,
}

/// Which skills are served, and who looks at them beside artel itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ScannerSettings {
    pub(crate) gate: Gate,
    pub(crate) fail_on: Severity,
    /// Skill Scanner, provided by Cisco AI Defense; nothing when it is neither named nor installed, or switched off.
    pub(crate) second: Option<SecondScanner>,
}

/// How the second scanner is found, and what it looks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SecondScanner {
    /// Its program: a path, or a name on `PATH`.
    pub(crate) program: Utf8PathBuf,
    pub(crate) policy: ScannerPolicy,
    pub(crate) chosen: ScannerChoice,
}

/// Why the second scanner is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ScannerChoice {
    /// Its program or its policy is configured.
    Configured,
    /// It is installed.
    Installed,
}

impl SecondScanner {
    /// Returns where the program is; what is not found is its own path, so that starting it says what is wrong.
    pub(crate) fn path(&self, environment: &Environment) -> Utf8PathBuf {
        match self.program.as_str().contains('/') {
            true => self.program.clone(),
            false => environment.on_path(self.program.as_str()).unwrap_or_else(|| self.program.clone()),
        }
    }
}

impl ServerTable {
    /// Reads the table; the environment wins over it.
    pub(super) fn settings(
        self,
        environment: &Environment,
        file: Origin,
    ) -> Result<Setting<ServerSettings>, Failure> {
        let (text, origin) = match (environment.get("ARTEL_LISTEN"), &self.listen) {
            (Some(text), _) => (text, Origin::Environment("ARTEL_LISTEN")),
            (None, Some(text)) => (text.as_str(), file),
            (None, None) => (LISTEN, Origin::Default),
        };
        let listen = text.parse().map_err(|_| {
            Failure::usage(format!("`{text}` (from {origin}) is no address to listen at"))
                .hint("an address is an IP address and a port, like 127.0.0.1:7420 or [::]:7420")
        })?;
        let tls = match (self.tls_certificate, self.tls_key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(Failure::usage("`tls_certificate` and `tls_key` belong together".to_owned()));
            }
        };
        let log = self.log.as_deref().map(|text| level(text, "`[server] log`")).transpose()?;
        let value = ServerSettings {
            listen,
            requests_per_second: self.requests_per_second,
            request_burst: self.request_burst,
            connections: at_least_one("connections", self.connections)?,
            connections_per_address: at_least_one("connections_per_address", self.connections_per_address)?,
            bodies_mib: at_least_one("bodies_mib", self.bodies_mib)?,
            trusted_proxies: networks(&self.trusted_proxies.unwrap_or_default())?,
            tls,
            publishes_skills: self.publish_skills,
            slow_request_ms: self.slow_request_ms,
            log,
            shutdown_grace: shutdown_grace(self.shutdown_grace)?,
        };
        Ok(Setting { value, origin })
    }
}

fn shutdown_grace(seconds: Option<u64>) -> Result<u64, Failure> {
    match seconds {
        Some(seconds) if seconds > SHUTDOWN_GRACE_SECONDS_MAX => Err(Failure::usage(format!(
            "`[server] shutdown_grace` is {seconds} seconds, at most {SHUTDOWN_GRACE_SECONDS_MAX} are possible"
        ))),
        Some(seconds) => Ok(seconds),
        None => Ok(SHUTDOWN_GRACE_SECONDS),
    }
}

fn at_least_one(name: &str, number: Option<u32>) -> Result<Option<u32>, Failure> {
    match number {
        Some(0) => Err(Failure::usage(format!("`[server] {name}` must be at least 1"))),
        other => Ok(other),
    }
}

fn networks(texts: &[String]) -> Result<Vec<Network>, Failure> {
    let network = |text: &String| {
        text.parse().map_err(|error| Failure::usage(format!("`[server] trusted_proxies`: {error}")))
    };
    texts.iter().map(network).collect()
}

impl HubsTable {
    pub(super) fn settings(self) -> HubSettings {
        HubSettings {
            hosts: self.hosts.unwrap_or_else(|| HUB_HOSTS.map(str::to_owned).to_vec()),
            allow_file: self.allow_file,
            allow_loopback_http: self.allow_loopback_http,
            check_seconds: self.check_seconds.unwrap_or(HUB_CHECK_SECONDS).max(1),
            github_api: self.github_api,
        }
    }
}

impl ScannerTable {
    /// Reads the table; the environment wins over it.
    pub(super) fn settings(
        self,
        environment: &Environment,
        file: Origin,
    ) -> Result<Setting<ScannerSettings>, Failure> {
        let choose = |variable: &'static str, own: Option<String>| match environment.get(variable) {
            Some(text) => Some((text.to_owned(), Origin::Environment(variable))),
            None => own.map(|text| (text, file.clone())),
        };
        let wrong = |origin: &Origin, error: &dyn std::fmt::Display| {
            Failure::usage(format!("the scanner's setting from {origin}: {error}"))
        };
        let mut origin = Origin::Default;
        let mut value = ScannerSettings { gate: Gate::default(), fail_on: Severity::High, second: None };
        if let Some((text, from)) = choose("SKILL_SCANNER_GATE", self.gate) {
            value.gate = text.parse().map_err(|error| wrong(&from, &error))?;
            origin = from;
        }
        if let Some((text, from)) = choose("SKILL_SCANNER_FAIL_ON", self.fail_on) {
            value.fail_on = text.parse().map_err(|error| wrong(&from, &error))?;
            origin = from;
        }
        let usual = || SecondScanner {
            program: SECOND_SCANNER.into(),
            policy: ScannerPolicy::default(),
            chosen: ScannerChoice::Configured,
        };
        let program = choose("SKILL_SCANNER_PROGRAM", self.program);
        let is_off = program.as_ref().is_some_and(|(text, _)| text == SCANNER_OFF);
        if let Some((text, from)) = program {
            value.second = Some(SecondScanner { program: text.into(), ..usual() }).filter(|_| !is_off);
            origin = from;
        }
        if let Some((text, from)) = choose("SKILL_SCANNER_POLICY", self.policy).filter(|_| !is_off) {
            let policy = text.parse().map_err(|error| wrong(&from, &error))?;
            value.second = Some(SecondScanner { policy, ..value.second.unwrap_or_else(usual) });
            origin = from;
        }
        if value.second.is_none() && !is_off {
            let installed = environment.on_path(SECOND_SCANNER).filter(|program| program.is_absolute());
            let used = |program| SecondScanner { program, chosen: ScannerChoice::Installed, ..usual() };
            value.second = installed.map(used);
        }
        Ok(Setting { value, origin })
    }
}
