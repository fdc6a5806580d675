//! The backend of a command, opened as far as the command needs it.

use artel_api::client::Client;

use super::local::LocalApp;
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::Shelf;

/// Where a command does its work.
pub(crate) enum Backend {
    /// The application in this process.
    Local(Box<LocalApp>),
    /// A server.
    Remote(Client),
}

impl Backend {
    /// Opens it to read and to give commands. Where nothing was ever kept, that is an error.
    pub(crate) async fn open(context: Context<'_>) -> Result<Self, Failure> {
        Self::open_if_any(context).await?.ok_or_else(|| nothing_kept(context))
    }

    /// Opens it to read and to give commands; nothing where nothing was ever kept.
    pub(crate) async fn open_if_any(context: Context<'_>) -> Result<Option<Self>, Failure> {
        match context.remote()? {
            Some(client) => Ok(Some(Self::Remote(client))),
            None => Ok(LocalApp::to_read(context).await?.map(|local| Self::Local(Box::new(local)))),
        }
    }

    /// Opens it to read and to give commands; the store is made where there is none.
    pub(crate) async fn open_or_make(context: Context<'_>) -> Result<Self, Failure> {
        match context.remote()? {
            Some(client) => Ok(Self::Remote(client)),
            None => Ok(Self::Local(Box::new(LocalApp::on_any_store(context).await?))),
        }
    }

    /// Opens it to drive runs and agents with the skills on a shelf.
    pub(crate) async fn open_to_work(context: Context<'_>, shelf: Shelf) -> Result<Self, Failure> {
        Ok(Self::Local(Box::new(LocalApp::to_work(context, shelf).await?)))
    }

    /// Waits until the agents of this process have no more work; a server goes on by itself.
    pub(crate) async fn wait_for_children(&self) {
        match self {
            Self::Local(local) => local.wait_for_agents().await,
            Self::Remote(_) => {}
        }
    }

    /// Ends what is driven in this process. A command that fails does not close it: a person who pressed Ctrl-C twice does not
    /// wait, and what is left can be recovered.
    pub(crate) async fn close(self) {
        match self {
            Self::Local(local) => local.close().await,
            Self::Remote(_) => {}
        }
    }
}

/// Says that nothing was ever run.
fn nothing_kept(context: Context<'_>) -> Failure {
    Failure::failed(format!("nothing was run yet: there is no `{}`", context.config.store.value))
        .hint("`artel skill run` and `artel plan run` run something; `--data` names another data folder")
}
