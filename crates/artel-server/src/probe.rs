//! Whether what the server needs is there. The binary knows what there is beside the store and the catalog, so it hands the
//! probes in.

use std::time::Duration;

use async_trait::async_trait;

use crate::app::App;
use crate::error::ApiError;

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

/// Returns what was looked at, if all of it is there.
pub(crate) async fn readiness(app: &App) -> Result<Vec<&'static str>, ApiError> {
    let store = async { app.stores().runs.version().await.map(drop).map_err(|error| error.to_string()) };
    within("store", store).await?;
    let catalog = async { app.catalogs().snapshot().map(drop).ok_or("it was not read yet".to_owned()) };
    within("catalog", catalog).await?;
    let bus = async { app.office().reachable().await.map_err(|error| error.to_string()) };
    within("bus", bus).await?;
    let mut checked = vec!["store", "catalog", "bus"];
    for probe in app.probes() {
        within(probe.name(), probe.ready()).await?;
        checked.push(probe.name());
    }
    Ok(checked)
}

/// Why something is not there is the operator's to know; whoever asks is told what.
async fn within(name: &'static str, ready: impl Future<Output = Result<(), String>>) -> Result<(), ApiError> {
    let answer = tokio::time::timeout(PROBE_TIMEOUT, ready).await;
    let why = match answer {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(why)) => why,
        Err(_) => format!("no answer within {} s", PROBE_TIMEOUT.as_secs()),
    };
    tracing::warn!(what = name, why, "the server is not ready");
    Err(ApiError::unavailable("not_ready", format!("The server is not ready: the {name} is not there.")))
}
