//! The application over the data folder of this machine, as one command uses it.

use std::time::Duration;

use artel_app::App;
use artel_model::access::Principal;

use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::{
    AgentsSetup, BusAway, ReadOnlyEngine, Runtime, Shelf, app_to_read, app_to_work, local_principal,
};

/// How often to look whether agents have work.
const BUSY_LOOK: Duration = Duration::from_millis(50);

/// The application in this process.
pub(crate) struct LocalApp {
    pub(super) app: App,
    /// The owner of the machine's data folder.
    pub(super) caller: Principal,
    /// What drives runs and agents; nothing when the command only reads and gives commands.
    runtime: Option<Runtime>,
}

impl LocalApp {
    /// Opens it to read and to give commands: this process drives nothing. Nothing where nothing was ever kept.
    pub(super) async fn to_read(context: Context<'_>) -> Result<Option<Self>, Failure> {
        match ReadOnlyEngine::open_if_any(context).await? {
            Some(read_only_engine) => Self::on(context, &read_only_engine).await.map(Some),
            None => Ok(None),
        }
    }

    /// The same, where the store is made when there is none.
    pub(super) async fn on_any_store(context: Context<'_>) -> Result<Self, Failure> {
        Self::on(context, &ReadOnlyEngine::make(context).await?).await
    }

    async fn on(context: Context<'_>, read_only_engine: &ReadOnlyEngine) -> Result<Self, Failure> {
        let agents_setup = AgentsSetup::to_tell(context, read_only_engine).await?;
        let app = app_to_read(context, read_only_engine, &agents_setup)?;
        Ok(Self { app, caller: local_principal(&context.config.environment), runtime: None })
    }

    /// Opens it to drive runs and agents with the skills on a shelf.
    pub(super) async fn to_work(context: Context<'_>, shelf: Shelf) -> Result<Self, Failure> {
        let runtime = Runtime::open(context, shelf).await?;
        let agents_setup = AgentsSetup::open(context, &runtime, BusAway::StandIn).await?;
        let app = app_to_work(context, &runtime, &agents_setup)?;
        Ok(Self { app, caller: local_principal(&context.config.environment), runtime: Some(runtime) })
    }

    /// Waits until no agent of this process has work.
    pub(super) async fn wait_for_agents(&self) {
        let mut looks = tokio::time::interval(BUSY_LOOK);
        while self.app.agents().is_busy() {
            looks.tick().await;
        }
    }

    /// Ends what is driven here; it can be recovered.
    pub(super) async fn close(self) {
        let Self { app, runtime, .. } = self;
        drop(app);
        if let Some(runtime) = runtime {
            runtime.close().await;
        }
    }
}
