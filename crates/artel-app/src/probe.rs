//! Whether what the server needs is there. The binary knows what there is beside the store and the catalog, so it hands the
//! probes in.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;

use crate::app::App;
use crate::error::OperationError;

/// How long one of them may take to say that it is there.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Looks whether something is there.
#[async_trait]
pub trait Probe: Send + Sync {
    /// Returns what is looked for, like `bus`.
    fn name(&self) -> &'static str;

    /// Says whether it is there; if not, the operator's log is told why.
    async fn ready(&self) -> Result<(), String>;
}

/// What was looked at.
pub struct Readiness {
    /// What is there.
    pub checked: Vec<&'static str>,
    /// What is not, although work goes on without it.
    pub degraded: Vec<&'static str>,
}

/// Something that the server cannot work without is not there.
pub struct NotReady {
    name: &'static str,
    why: String,
}

impl NotReady {
    /// Says what is missing; why is for administrators.
    pub fn refusal(self, asker_is_admin: bool) -> OperationError {
        let message = format!("The server is not ready: the {} is not there.", self.name);
        let error = OperationError::unavailable("not_ready", message);
        if asker_is_admin {
            error.with_details(json!({"missing": self.name, "cause": self.why}))
        } else {
            error
        }
    }
}

/// What the log was told last, so that it is told when something changes and not whenever a supervisor asks.
#[derive(Debug, Default)]
pub struct ReadinessLog(Mutex<BTreeSet<&'static str>>);

impl ReadinessLog {
    fn missing(&self, name: &'static str, why: &str) {
        if self.lock().insert(name) {
            tracing::warn!(what = name, why, "something that the server needs is not there");
        }
    }

    fn there(&self, name: &'static str) {
        if self.lock().remove(name) {
            tracing::info!(what = name, "something that the server needs is there again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        // A set of words is whole whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what was looked at, if everything is there that work needs.
pub async fn readiness(app: &App) -> Result<Readiness, NotReady> {
    if let Some(outage) = app.engine().store_outage() {
        let why = format!("{} runs wait for it: {}", outage.runs, outage.cause);
        return Err(not_ready(app, "store", why));
    }
    let store = async { app.stores().runs.version().await.map(drop).map_err(|error| error.to_string()) };
    within(app, "store", store).await?;
    let catalog = async { app.catalogs().snapshot().map(drop).ok_or("it was not read yet".to_owned()) };
    within(app, "catalog", catalog).await?;
    let mut checked = vec!["store", "catalog"];
    for probe in app.probes() {
        within(app, probe.name(), probe.ready()).await?;
        if !checked.contains(&probe.name()) {
            checked.push(probe.name());
        }
    }
    // Without the bus messages come later, and nothing is lost.
    let bus = async { app.office().reachable().await.map_err(|error| error.to_string()) };
    let mut degraded = Vec::new();
    match within(app, "bus", bus).await {
        Ok(()) => checked.push("bus"),
        Err(_) => degraded.push("bus"),
    }
    Ok(Readiness { checked, degraded })
}

async fn within(
    app: &App,
    name: &'static str,
    ready: impl Future<Output = Result<(), String>>,
) -> Result<(), NotReady> {
    let answer = tokio::time::timeout(PROBE_TIMEOUT, ready).await;
    let why = match answer {
        Ok(Ok(())) => {
            app.readiness_log().there(name);
            return Ok(());
        }
        Ok(Err(why)) => why,
        Err(_) => format!("no answer within {} s", PROBE_TIMEOUT.as_secs()),
    };
    Err(not_ready(app, name, why))
}

fn not_ready(app: &App, name: &'static str, why: String) -> NotReady {
    app.readiness_log().missing(name, &why);
    NotReady { name, why }
}
