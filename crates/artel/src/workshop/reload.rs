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
    let ServerSettings { listen, tls, .. } = &before.server.value;
    let differing = [
        ("[server] listen", *listen != after.server.value.listen),
        ("[server] tls_certificate", tls.is_some() != after.server.value.tls.is_some()),
        ("skills_dirs", before.skills_dirs.value != after.skills_dirs.value),
        ("data", before.data.value != after.data.value),
        ("store", before.store.value != after.store.value),
        ("bus", before.bus.value != after.bus.value),
        ("sandbox", before.sandbox.value != after.sandbox.value),
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
    differing.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}
