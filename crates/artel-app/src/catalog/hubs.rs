//! Hubs: registering them, fetching them in the background, and publishing what they give.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use artel_catalog::hub::{
    CrawlPreview, GitRemote, HubLocation, LocationProblem, Published, publish, read_published,
};
use artel_engine::hub::{
    HubFailure, HubFetcher, HubOutcome, HubProgress, HubRequest, HubRequestProblem, HubSecrets,
};
use artel_engine::trace::{self, Span, SpanKind};
use artel_model::access::Principal;
use artel_model::catalog::{Hub, HubKind, HubStatus};
use artel_model::id::{CustomSkillId, HubId};
use artel_model::limit::{HUB_MESSAGE_CHARS_MAX, HUBS_MAX};
use artel_model::time::Timestamp;
use artel_store::{HubRefused, StoreError};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::hub_audience::{AudienceError, HubAudience};
use super::hub_content::hub_folder;
use super::service::{Catalogs, RefreshFailed, Reread};
use super::tidy::ORPHAN_GRACE_MS;
use crate::clock::moment;
use crate::metrics::hub_asked;

/// How many hubs are fetched at once.
const FETCHES_MAX: usize = 4;

/// What somebody says of a hub.
#[derive(Clone, Debug)]
pub struct NewHub {
    /// What kind of place it is.
    pub kind: HubKind,
    /// Where it is, in their words.
    pub location: String,
    /// A branch, a tag or a commit.
    pub reference: Option<String>,
    /// Folders to look in.
    pub include_paths: Vec<String>,
    /// Whether its skills are in the catalog.
    pub is_enabled: bool,
    /// The name of the variable with its token.
    pub credentials_ref: Option<String>,
    /// Who shall see its skills.
    pub audience: HubAudience,
}

/// Why a hub was not registered, changed or fetched.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// What was said of it is wrong.
    #[error(transparent)]
    Request(#[from] HubRequestProblem),
    /// The operator does not allow hubs there.
    #[error(transparent)]
    NotAllowed(#[from] LocationProblem),
    /// It is not clear who shall see its skills.
    #[error(transparent)]
    Audience(#[from] AudienceError),
    /// There is one with the same location.
    #[error("there is a hub with this location: {0}")]
    SameLocation(HubId),
    /// There is none.
    #[error("there is no such hub")]
    Unknown,
    /// There are as many as there may be.
    #[error("there are as many hubs as there may be ({HUBS_MAX})")]
    TooMany,
    /// The store does not answer.
    #[error("the store does not answer")]
    Store(#[source] StoreError),
    /// The catalog cannot be read again.
    #[error(transparent)]
    Refresh(#[from] RefreshFailed),
}

/// Hubs. Clones are the same.
#[derive(Clone)]
pub struct Hubs {
    shared: Arc<Shared>,
}

struct Shared {
    catalogs: Catalogs,
    fetcher: HubFetcher,
    secrets: Arc<dyn HubSecrets>,
    check: Duration,
    /// One fetch of a hub at a time; whoever wants the same waits for it. It holds the settings of the last fetch.
    fetching: Mutex<BTreeMap<HubId, Arc<Mutex<String>>>>,
    /// Folders of hubs that are gone, and since when that is known.
    orphans: Mutex<BTreeMap<HubId, Timestamp>>,
    /// Folders of saved skills that were deleted, and since when that is known.
    deleted: Mutex<BTreeMap<CustomSkillId, Timestamp>>,
}

impl Hubs {
    /// Makes the hubs of a catalog; they are asked for changes every `check`.
    pub fn new(
        catalogs: Catalogs,
        fetcher: HubFetcher,
        secrets: Arc<dyn HubSecrets>,
        check: Duration,
    ) -> Self {
        let (fetching, orphans, deleted) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { shared: Arc::new(Shared { catalogs, fetcher, secrets, check, fetching, orphans, deleted }) }
    }

    /// Returns all hubs, in the order in which they were registered.
    pub async fn list(&self) -> Result<Vec<Hub>, StoreError> {
        self.store().hubs().await
    }

    /// Returns a hub.
    pub async fn hub(&self, id: HubId) -> Result<Hub, HubError> {
        self.store().hub(id).await.map_err(HubError::Store)?.ok_or(HubError::Unknown)
    }

    /// Looks at what a hub would give, without saving anything.
    pub async fn crawl(
        &self,
        wish: &NewHub,
        listener: &(dyn Fn(HubProgress) + Send + Sync),
    ) -> Result<CrawlPreview, HubError> {
        let request = self.request(wish)?;
        Ok(self.shared.fetcher.crawl(&request, &*self.shared.secrets, listener).await)
    }

    /// Fetches what is somewhere, without keeping anything.
    pub(super) async fn look(&self, wish: &NewHub) -> Result<Result<HubOutcome, HubFailure>, HubError> {
        let request = self.request(wish)?;
        Ok(self.shared.fetcher.fetch(&request, None, &*self.shared.secrets, &|_| {}).await)
    }

    /// Says whether a location is a folder of this machine.
    pub(super) fn is_folder(&self, wish: &NewHub) -> Result<bool, HubError> {
        let location = HubLocation::parse(wish.kind, &wish.location).map_err(HubRequestProblem::Location)?;
        Ok(matches!(location, HubLocation::Git(GitRemote::File(_))))
    }

    pub(super) fn catalogs(&self) -> &Catalogs {
        &self.shared.catalogs
    }

    /// Says whether a hub can be asked for at all.
    pub fn check(&self, wish: &NewHub) -> Result<(), HubError> {
        self.request(wish).map(drop)
    }

    /// Registers a hub. One that is switched on is fetched in the background.
    pub async fn create(&self, caller: &Principal, wish: &NewHub) -> Result<Hub, HubError> {
        let request = self.request(wish)?;
        let now = self.shared.catalogs.parts().clock.now();
        let mut hub = Hub {
            id: HubId(Uuid::now_v7()),
            kind: wish.kind,
            location: request.location.to_string(),
            reference: wish.reference.clone(),
            include_paths: wish.include_paths.clone(),
            is_enabled: wish.is_enabled,
            credentials_ref: wish.credentials_ref.clone(),
            visibility: wish.audience.parse(&caller.viewer.user)?,
            position: 0,
            created_at: now,
            updated_at: now,
            created_by: caller.viewer.user.clone(),
            status: HubStatus::default(),
        };
        let kept = self.store().create_hub(&hub, HUBS_MAX as u64).await.map_err(HubError::Store)?;
        hub.position = kept.map_err(refused)?;
        if hub.is_enabled {
            self.refresh_later(hub.id);
        }
        Ok(hub)
    }

    /// Changes a hub. One that is switched on is fetched in the background.
    pub async fn update(&self, id: HubId, change: impl FnOnce(&mut NewHub)) -> Result<Hub, HubError> {
        let mut hub = self.hub(id).await?;
        let mut wish = wish_of(&hub);
        change(&mut wish);
        self.request(&wish)?;
        hub.reference = wish.reference;
        hub.include_paths = wish.include_paths;
        hub.is_enabled = wish.is_enabled;
        hub.credentials_ref = wish.credentials_ref;
        hub.visibility = wish.audience.parse(&hub.created_by)?;
        hub.updated_at = self.shared.catalogs.parts().clock.now();
        self.store().update_hub(&hub).await.map_err(HubError::Store)?.map_err(refused)?;
        self.shared.catalogs.refresh(Reread::Kept).await?;
        if hub.is_enabled {
            self.refresh_later(id);
        }
        Ok(hub)
    }

    /// Removes a hub and its skills.
    pub async fn delete(&self, id: HubId) -> Result<Hub, HubError> {
        let hub = self.hub(id).await?;
        if !self.store().delete_hub(id).await.map_err(HubError::Store)? {
            return Err(HubError::Unknown);
        }
        self.shared.catalogs.refresh(Reread::Kept).await?;
        Ok(hub)
    }

    /// Fetches a hub and publishes what it gives. A failure is kept with the hub, and hides nothing.
    pub async fn refresh(&self, id: HubId) -> Result<Hub, HubError> {
        let turn = Arc::clone(self.shared.fetching.lock().await.entry(id).or_default());
        let mut held = match turn.try_lock() {
            Ok(held) => held,
            Err(_) => {
                // What the fetch on its way brings is what this caller wants, unless the hub was changed after it began.
                let held = turn.lock().await;
                let hub = self.hub(id).await?;
                if *held == hub.content_key() {
                    return Ok(hub);
                }
                held
            }
        };
        let hub = self.hub(id).await?;
        *held = hub.content_key();
        let status = self.fetch(&hub).await;
        self.store().set_hub_status(id, &status).await.map_err(HubError::Store)?;
        // A content that was published and not read, because the store failed in between, is read now.
        let is_read = self.shared.catalogs.has_read_hub(id, status.content.as_deref()).await;
        if !is_read || !status.says_the_same(&hub.status) {
            self.shared.catalogs.refresh(Reread::Kept).await?;
        }
        // Whoever waits is answered when the skills are served.
        drop(held);
        self.shared.fetching.lock().await.remove(&id);
        self.hub(id).await
    }

    /// Fetches every hub that is switched on, a few at a time.
    pub async fn refresh_all(&self) -> Result<(), HubError> {
        let hubs = self.list().await.map_err(HubError::Store)?;
        let mut waiting = hubs.into_iter().filter(|hub| hub.is_enabled).map(|hub| hub.id);
        let mut fetching = tokio::task::JoinSet::new();
        loop {
            while fetching.len() < FETCHES_MAX {
                let Some(id) = waiting.next() else { break };
                let hubs = self.clone();
                fetching.spawn(async move { hubs.refresh(id).await });
            }
            // A hub that was removed meanwhile, or that fails, is told where it is listed.
            if fetching.join_next().await.is_none() {
                return Ok(());
            }
        }
    }

    /// Asks hubs for changes, again and again, until it is dropped.
    pub async fn keep_current(self) {
        loop {
            if let Err(error) = self.refresh_all().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "hubs cannot be fetched");
            }
            self.tidy(ORPHAN_GRACE_MS).await;
            self.tidy_saved(ORPHAN_GRACE_MS).await;
            self.prune_health().await;
            // A content that another machine fetched, or that was lost with the folder, is not waited for.
            let _ = tokio::time::timeout(self.shared.check, self.catch_up()).await;
        }
    }

    /// Fetches what this machine lacks whenever the catalog changes, until it is dropped.
    async fn catch_up(&self) {
        let mut changes = self.shared.catalogs.changes();
        // The catalog lives as long as it is held here, so every change is told.
        while changes.changed().await.is_ok() {
            for id in self.shared.catalogs.hubs_behind().await {
                // A hub that fails, or was removed meanwhile, is told where it is listed.
                let _ = self.refresh(id).await;
            }
        }
    }

    fn refresh_later(&self, id: HubId) {
        let hubs = self.clone();
        tokio::spawn(async move {
            if let Err(error) = hubs.refresh(id).await {
                tracing::warn!(hub = %id, error = &error as &dyn std::error::Error, "a hub cannot be fetched");
            }
        });
    }

    /// Returns how a hub stands after it was fetched.
    async fn fetch(&self, hub: &Hub) -> HubStatus {
        let now = self.shared.catalogs.parts().clock.now();
        let mut span = Span::begin("hub refresh", SpanKind::Internal, trace::current());
        span.set("artel.hub.id", hub.id.to_string());
        let since = moment();
        let fetched = span.around_result(self.try_fetch(hub)).await;
        hub_asked(since, outcome(&fetched));
        match fetched {
            Ok((published, _)) => HubStatus {
                last_success_at: Some(now),
                last_failure_message: None,
                revision: Some(published.revision.as_str().to_owned()),
                skills_count: published.skills.len() as u64,
                warnings: published.notes(),
                content: Some(published.content),
                ..hub.status.clone()
            },
            Err(message) => {
                let message: String = message.chars().take(HUB_MESSAGE_CHARS_MAX).collect();
                tracing::warn!(hub = %hub.id, why = message, "a hub cannot be fetched");
                HubStatus {
                    last_failure_at: Some(now),
                    last_failure_message: Some(message),
                    ..hub.status.clone()
                }
            }
        }
    }

    /// Returns what is published here of a hub after it was asked.
    async fn try_fetch(&self, hub: &Hub) -> Result<(Published, Brought), String> {
        let request = HubRequest::of(hub).map_err(|problem| problem.to_string())?;
        let (folder, settings) =
            (hub_folder(&self.shared.catalogs.parts().config.data, hub.id), hub.content_key());
        let here = {
            let folder = folder.clone();
            tokio::task::spawn_blocking(move || read_published(&folder).ok().flatten()).await.ok().flatten()
        };
        // What another machine fetched is not here: only our own copy counts as known, and only for the same settings.
        let here = here.filter(|published| published.settings == settings);
        let known = here.as_ref().map(|published| &published.revision);
        let fetched = self.shared.fetcher.fetch(&request, known, &*self.shared.secrets, &|_| {}).await;
        let fetched = match (fetched.map_err(|failure: HubFailure| failure.message)?, here) {
            (HubOutcome::Fetched(fetched), _) => fetched,
            (HubOutcome::Unchanged, Some(here)) => return Ok((here, Brought::Nothing)),
            (HubOutcome::Unchanged, None) => return Err("the hub gave nothing".to_owned()),
        };
        let published = tokio::task::spawn_blocking(move || publish(&fetched, &settings, &folder));
        let published = published.await.map_err(|_| "publishing the hub failed".to_owned())?;
        published.map(|published| (published, Brought::Content)).map_err(|error| error.to_string())
    }

    fn request(&self, wish: &NewHub) -> Result<HubRequest, HubError> {
        let request = HubRequest::parse(
            wish.kind,
            &wish.location,
            wish.reference.as_deref(),
            &wish.include_paths,
            wish.credentials_ref.as_deref(),
        )?;
        let config = self.shared.fetcher.config();
        request.location.check(&config.hosts)?;
        // A hub that can never be fetched is not registered.
        if matches!(request.location, HubLocation::Git(GitRemote::Ssh(_))) && config.ssh.is_none() {
            return Err(LocationProblem::SshNotAllowed.into());
        }
        Ok(request)
    }

    pub(super) fn deleted(&self) -> &Mutex<BTreeMap<CustomSkillId, Timestamp>> {
        &self.shared.deleted
    }

    pub(super) fn orphans(&self) -> &Mutex<BTreeMap<HubId, Timestamp>> {
        &self.shared.orphans
    }

    fn store(&self) -> &dyn artel_store::HubStore {
        &*self.shared.catalogs.parts().stores.hubs
    }
}

/// Returns what came of asking a hub, for who counts.
fn outcome(fetched: &Result<(Published, Brought), String>) -> &'static str {
    match fetched {
        Ok((_, Brought::Content)) => "fetched",
        Ok((_, Brought::Nothing)) => "unchanged",
        Err(_) => "failed",
    }
}

/// Whether a fetch brought anything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Brought {
    Content,
    Nothing,
}

fn wish_of(hub: &Hub) -> NewHub {
    NewHub {
        kind: hub.kind,
        location: hub.location.clone(),
        reference: hub.reference.clone(),
        include_paths: hub.include_paths.clone(),
        is_enabled: hub.is_enabled,
        credentials_ref: hub.credentials_ref.clone(),
        audience: HubAudience::of(&hub.visibility),
    }
}

fn refused(refused: HubRefused) -> HubError {
    match refused {
        HubRefused::SameLocation(id) => HubError::SameLocation(id),
        HubRefused::Unknown => HubError::Unknown,
        HubRefused::TooMany => HubError::TooMany,
    }
}
