//! The configuration read once more while a server runs, when the process gets SIGHUP: certificates, limits on requests,
//! trusted proxies, the gate and the level of the log. A file that is wrong changes nothing.

use artel_app::{Catalogs, Reread};
use artel_server::{Http, ServedCertificate};
use tokio::signal::unix::Signal;

use super::serving::server_config;
use crate::config::{Config, ServerSettings};
use crate::failure::Failure;
use crate::logging;

/// What a change of the configuration reaches.
pub(crate) struct Reloading {
    pub(crate) http: Http,
    pub(crate) catalogs: Catalogs,
    /// What connections are encrypted with; nothing when they are not.
    pub(crate) certificate: Option<ServedCertificate>,
    /// The configuration that the server was started with.
    pub(crate) started_with: Config,
}

impl Reloading {
    /// Reads the configuration whenever the signal comes, until it is dropped.
    pub(crate) async fn follow(self, mut hangups: Signal) {
        while hangups.recv().await.is_some() {
            let (subject, summary) = match self.reload().await {
                Ok(later) if later.is_empty() => {
                    tracing::info!("the configuration was reloaded");
                    ("configuration", "reloaded".to_owned())
                }
                Ok(later) => {
                    let later = later.join(", ");
                    tracing::warn!(later, "the configuration was reloaded; some of it needs a restart");
                    ("configuration", format!("reloaded; after a restart: {later}"))
                }
                Err(failure) => {
                    tracing::error!(
                        why = failure.message,
                        "the configuration was not reloaded; the old one stays"
                    );
                    ("configuration", "not reloaded: it is wrong".to_owned())
                }
            };
            if let Err(error) = self.http.app().note_operator(subject, &summary).await {
                tracing::error!(error = &error as &dyn std::error::Error, "the audit log cannot be written");
            }
        }
    }

    /// Takes over what can be taken over, and returns the names of changed settings that need a restart.
    async fn reload(&self) -> Result<Vec<&'static str>, Failure> {
        let config = self.started_with.load_again()?;
        let server = server_config(&config)?;
        // The certificate comes first: it is the one part that can still be refused.
        if let (Some(served), Some(certificate)) = (&self.certificate, &server.certificate) {
            served.replace(certificate).map_err(|error| Failure::missing(crate::failure::chain(&error)))?;
        }
        self.http.reload(&server, config.server.value.publishes_skills);
        logging::change(&config.environment, config.server.value.log);
        let scanner = &config.scanner.value;
        self.catalogs.set_gate(scanner.gate, scanner.fail_on);
        self.catalogs.refresh(Reread::Kept).await.map_err(|error| Failure::unavailable(&error))?;
        Ok(needs_restart(&self.started_with, &config))
    }
}

/// Returns the names of the settings that differ, and that only a restart takes over.
fn needs_restart(before: &Config, after: &Config) -> Vec<&'static str> {
    let server = server_needs_restart(&before.server.value, &after.server.value);
    let differing = [
        ("skills_dirs", before.skills_dirs.value != after.skills_dirs.value),
        ("data", before.data.value != after.data.value),
        ("store", before.store.value != after.store.value),
        ("bus", before.bus.value != after.bus.value),
        ("sandbox", before.sandbox.value != after.sandbox.value),
        ("sandbox_users", before.sandbox_users.value != after.sandbox_users.value),
        ("cgroup", before.cgroup.value != after.cgroup.value),
        ("retention_days", before.retention_days.value != after.retention_days.value),
        ("max_skill_summaries_in_prompt", before.prompt_skills_max.value != after.prompt_skills_max.value),
        ("skill_env", before.skill_env.value != after.skill_env.value),
        ("metrics", before.metrics.value != after.metrics.value),
        ("[limits]", before.limits.value != after.limits.value),
        ("[sandbox_grants]", before.grants.value != after.grants.value),
        ("[script_limits]", before.script_limits.value != after.script_limits.value),
        ("[quotas]", before.quotas.value != after.quotas.value),
        ("[run]", before.run.value != after.run.value),
        ("[agents]", before.agents.value != after.agents.value),
        ("[llm]", before.llm.value != after.llm.value),
        ("[clients]", before.clients.value != after.clients.value),
        ("[planner]", before.planner.value != after.planner.value),
        ("[oidc]", before.oidc.value != after.oidc.value),
        ("[hubs]", before.hubs.value != after.hubs.value),
        ("[scanner] program", before.scanner.value.second != after.scanner.value.second),
        ("[chat]", before.chat.value != after.chat.value),
        ("[telemetry]", before.telemetry.value != after.telemetry.value),
    ];
    server.into_iter().chain(differing).filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

/// Says of each setting in `[server]` that only a restart takes over whether it differs.
fn server_needs_restart(before: &ServerSettings, after: &ServerSettings) -> [(&'static str, bool); 6] {
    let ServerSettings {
        listen,
        connections,
        connections_per_address,
        bodies_mib,
        tls,
        shutdown_grace,
        // These are taken over.
        requests_per_second: _,
        request_burst: _,
        trusted_proxies: _,
        publishes_skills: _,
        slow_request_ms: _,
        log: _,
    } = before;
    [
        ("[server] listen", *listen != after.listen),
        ("[server] connections", *connections != after.connections),
        ("[server] connections_per_address", *connections_per_address != after.connections_per_address),
        ("[server] bodies_mib", *bodies_mib != after.bodies_mib),
        ("[server] tls_certificate", tls.is_some() != after.tls.is_some()),
        ("[server] shutdown_grace", *shutdown_grace != after.shutdown_grace),
    ]
}
