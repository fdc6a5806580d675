//! Fetches hubs: decides how, keeps to the time limit, and tells failures so that they can be kept.

use std::time::Duration;

use artel_catalog::ScratchFolder;
use artel_catalog::hub::{CrawlPreview, Fetched, GitRemote, HubLocation, Revision};
use tokio::time::timeout;

use super::config::HubFetcherConfig;
use super::error::{HubError, HubFailure};
use super::progress::{HubProgress, Listener};
use super::request::{HubOutcome, HubRequest};
use super::token::{HubSecrets, HubToken};
use super::web::Web;
use crate::process::Launcher;

/// Fetches hubs. Dropping a fetch ends it, and kills the programs that it started.
#[derive(Debug)]
pub struct HubFetcher {
    pub(super) launcher: Launcher,
    pub(super) config: HubFetcherConfig,
    pub(super) web: Web,
}

/// One fetch on its way.
pub(super) struct Fetch<'a> {
    pub(super) request: &'a HubRequest,
    pub(super) known: Option<&'a Revision>,
    pub(super) token: Option<&'a HubToken>,
    pub(super) listener: Listener<'a>,
}

impl Fetch<'_> {
    pub(super) fn tell(&self, progress: HubProgress) {
        (self.listener)(progress);
    }

    /// Says whether that content is the one that is known.
    pub(super) fn is_known(&self, revision: &Revision) -> bool {
        self.known == Some(revision)
    }
}

impl HubFetcher {
    /// Makes a fetcher; nothing is sent before it is asked for something.
    pub fn new(launcher: Launcher, config: HubFetcherConfig) -> Result<Self, HubFailure> {
        let web = Web::new(&config).map_err(|error| error.into_failure(None))?;
        Ok(Self { launcher, config, web })
    }

    /// Returns how hubs are fetched.
    pub fn config(&self) -> &HubFetcherConfig {
        &self.config
    }

    /// Fetches a hub, unless it still has the content that is `known`, which must have been fetched by an equal request:
    /// other folders of the same commit are another content. Progress is told to `listener`, which must not wait.
    pub async fn fetch(
        &self,
        request: &HubRequest,
        known: Option<&Revision>,
        secrets: &dyn HubSecrets,
        listener: &(dyn Fn(HubProgress) + Send + Sync),
    ) -> Result<HubOutcome, HubFailure> {
        let token = self.token(request, secrets).map_err(|error| error.into_failure(None))?;
        let fetch = Fetch { request, known, token: token.as_ref(), listener };
        let deadline_ms = self.config.deadline_ms;
        let fetched = timeout(Duration::from_millis(deadline_ms), self.run(&fetch)).await;
        let outcome = fetched.unwrap_or(Err(HubError::Deadline(deadline_ms)));
        let outcome = outcome.map_err(|error| error.into_failure(token.as_ref()))?;
        if let HubOutcome::Fetched(fetched) = &outcome {
            fetch.tell(HubProgress::Done { skills: fetched.folders.len() });
        }
        Ok(outcome)
    }

    /// Looks at a hub without keeping anything. What went wrong is a part of the answer.
    pub async fn crawl(
        &self,
        request: &HubRequest,
        secrets: &dyn HubSecrets,
        listener: &(dyn Fn(HubProgress) + Send + Sync),
    ) -> CrawlPreview {
        match self.fetch(request, None, secrets, listener).await {
            Ok(HubOutcome::Fetched(fetched)) => CrawlPreview::of(&fetched),
            Ok(HubOutcome::Unchanged) => CrawlPreview::default(),
            Err(failure) => CrawlPreview::failed(failure.message),
        }
    }

    /// A missing token is a failure: no other one is tried, and neither is none.
    fn token(&self, request: &HubRequest, secrets: &dyn HubSecrets) -> Result<Option<HubToken>, HubError> {
        let Some(variable) = &request.credentials else { return Ok(None) };
        let token = secrets.secret(variable);
        token.map(Some).ok_or_else(|| HubError::NoToken(variable.as_str().to_owned()))
    }

    async fn run(&self, fetch: &Fetch<'_>) -> Result<HubOutcome, HubError> {
        let location = &fetch.request.location;
        location.check(&self.config.hosts)?;
        fetch.tell(HubProgress::Resolving);
        let folder = self.folder()?;
        let content = match location {
            HubLocation::Github(repository) => self.github(fetch, repository, folder.path()).await?,
            HubLocation::Git(remote) => self.git(fetch, remote, folder.path()).await?,
            HubLocation::WellKnown(place) => self.well_known(fetch, place).await?,
        };
        Ok(content.map_or(HubOutcome::Unchanged, HubOutcome::Fetched))
    }

    /// Makes a folder for as long as the fetch takes.
    fn folder(&self) -> Result<ScratchFolder, HubError> {
        let place = &self.config.work_folder;
        let failed = |source| HubError::Folder { path: place.clone(), source };
        std::fs::create_dir_all(place).map_err(failed)?;
        // Git and landlock want the real path.
        let real = place.canonicalize_utf8().map_err(failed)?;
        ScratchFolder::make_in(&real, "hub-").map_err(failed)
    }
}

/// What a way of fetching gives: nothing when the content is known.
pub(super) type Content = Option<Fetched>;

/// Says which repositories tokens are sent to.
pub(super) fn takes_token(remote: &GitRemote) -> bool {
    match remote {
        GitRemote::Web(_) => true,
        GitRemote::Ssh(_) | GitRemote::File(_) => false,
    }
}
