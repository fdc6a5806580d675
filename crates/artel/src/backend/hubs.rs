//! Hubs: looked at, registered, fetched, switched and removed.

use artel_api::client::{ApiPath, Client, ClientError};
use artel_api::hubs::{
    CrawlAnswer, CrawlEvent, CrawlStep, CrawledSkill, HubChange, HubDraft, HubList, HubPathRule, HubView,
};
use artel_api::skills::{RefreshQuery, Refreshed};
use artel_app::{AudienceRule, HubError, NewHub, Reread};
use artel_catalog::hub::{CrawlPreview, SkillPreview};
use artel_engine::hub::HubProgress;
use artel_model::access::Principal;
use artel_model::catalog::AuditAction;
use artel_model::id::HubId;
use artel_server::{apply_hub_change, crawl_step, hub_view};
use tokio::sync::watch;

use crate::command::Context;
use crate::failure::{Failure, chain, refused};
use crate::runtime::{SharedCatalog, Store, local_principal};

/// Where hubs are, at a server.
const HUBS: &str = "/api/skill-hubs";
/// The type of a crawl that tells how far it has come.
const NDJSON: &str = "application/x-ndjson";

/// Where one asks about hubs.
#[expect(clippy::large_enum_variant, reason = "there is one of them in a process")]
pub(crate) enum HubBackend {
    Here(SharedCatalog, Principal),
    There(Client),
}

impl HubBackend {
    /// Goes to the backend, does something there, and tidies up.
    pub(crate) async fn visit<T>(
        context: Context<'_>,
        work: impl AsyncFnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let backend = match context.remote()? {
            Some(client) => Self::There(client),
            None => {
                let who = local_principal(&context.config.environment);
                Self::Here(SharedCatalog::open(context, None).await?, who)
            }
        };
        let result = work(&backend).await;
        match backend {
            Self::Here(shared_catalog, _) => shared_catalog.close().await,
            Self::There(_) => {}
        }
        result
    }

    /// Lists hubs without opening more than that takes.
    pub(crate) async fn look(context: Context<'_>) -> Result<Vec<HubView>, Failure> {
        if let Some(client) = context.remote()? {
            return Self::There(client).hubs().await;
        }
        let Some(store) = Store::open_existing(context.config).await? else { return Ok(Vec::new()) };
        let hubs = store.catalog.hubs.hubs().await.map_err(|error| Failure::unavailable(&error))?;
        Ok(hubs.iter().map(hub_view).collect())
    }

    /// Returns all hubs, in the order in which they were registered.
    pub(crate) async fn hubs(&self) -> Result<Vec<HubView>, Failure> {
        match self {
            Self::Here(shared_catalog, _) => {
                let hubs = shared_catalog.hubs.list().await.map_err(|error| Failure::unavailable(&error))?;
                Ok(hubs.iter().map(hub_view).collect())
            }
            Self::There(client) => {
                let list: Result<HubList, ClientError> = client.get(&ApiPath::new(HUBS)).await;
                list.map(|list| list.hubs).map_err(|error| refused(&error))
            }
        }
    }

    /// Looks at what a hub would give, and tells how far it has come.
    pub(crate) async fn crawl(
        &self,
        wish: &NewHub,
        tell: &watch::Sender<CrawlStep>,
    ) -> Result<CrawlPreview, Failure> {
        match self {
            Self::Here(shared_catalog, _) => {
                let tell = tell.clone();
                let listener = move |step: HubProgress| {
                    tell.send_replace(crawl_step(step));
                };
                shared_catalog.hubs.crawl(wish, &listener).await.map_err(|error| not_done(&error))
            }
            Self::There(client) => crawl_there(client, wish, tell).await,
        }
    }

    /// Registers a hub.
    pub(crate) async fn create(&self, wish: &NewHub) -> Result<HubView, Failure> {
        match self {
            Self::Here(shared_catalog, who) => {
                let hub = shared_catalog.hubs.create(who, wish).await.map_err(|error| not_done(&error))?;
                shared_catalog.note(who, AuditAction::HubCreated, &hub).await?;
                Ok(hub_view(&hub))
            }
            Self::There(client) => {
                let made = client.post(&ApiPath::new(HUBS), &draft(wish), None).await;
                made.map_err(|error| not_taken(&error))
            }
        }
    }

    /// Fetches a hub, and lets everybody know what came of it.
    pub(crate) async fn fetch(&self, hub: &HubView) -> Result<HubView, Failure> {
        match self {
            Self::Here(shared_catalog, _) => {
                let hub = shared_catalog.hubs.refresh(id(hub)?).await.map_err(|error| not_done(&error))?;
                publish(shared_catalog).await?;
                Ok(hub_view(&hub))
            }
            Self::There(client) => {
                let path = ApiPath::new(HUBS).name(&hub.id).then("refresh");
                client.tell(&path).await.map_err(|error| refused(&error))
            }
        }
    }

    /// Fetches all hubs that are switched on.
    pub(crate) async fn fetch_all(&self) -> Result<(), Failure> {
        match self {
            Self::Here(shared_catalog, _) => {
                shared_catalog.hubs.refresh_all().await.map_err(|error| not_done(&error))?;
                publish(shared_catalog).await
            }
            Self::There(client) => {
                let query = RefreshQuery { include_hubs: Some(true) };
                let done: Result<Refreshed, ClientError> =
                    client.tell_with(&ApiPath::new("/api/skills/refresh"), &query).await;
                done.map(drop).map_err(|error| refused(&error))
            }
        }
    }

    /// Switches a hub on or off.
    pub(crate) async fn switch(&self, hub: &HubView, on: bool) -> Result<HubView, Failure> {
        self.change(hub, HubChange { enabled: Some(on), ..HubChange::default() }).await
    }

    /// Changes a hub; what the change does not name stays.
    pub(crate) async fn change(&self, hub: &HubView, change: HubChange) -> Result<HubView, Failure> {
        match self {
            Self::Here(shared_catalog, who) => {
                let apply = |wish: &mut NewHub| apply_hub_change(change, wish);
                let changed = shared_catalog.hubs.update(id(hub)?, apply).await;
                let hub = changed.map_err(|error| not_done(&error))?;
                shared_catalog.note(who, AuditAction::HubUpdated, &hub).await?;
                Ok(hub_view(&hub))
            }
            Self::There(client) => {
                let changed = client.patch(&ApiPath::new(HUBS).name(&hub.id), &change).await;
                changed.map_err(|error| not_taken(&error))
            }
        }
    }

    /// Removes a hub and its skills, and returns what it was.
    pub(crate) async fn delete(&self, hub: HubView) -> Result<HubView, Failure> {
        match self {
            Self::Here(shared_catalog, who) => {
                let hub = shared_catalog.hubs.delete(id(&hub)?).await.map_err(|error| not_done(&error))?;
                shared_catalog.note(who, AuditAction::HubDeleted, &hub).await?;
                Ok(hub_view(&hub))
            }
            Self::There(client) => {
                let deleted = client.delete(&ApiPath::new(HUBS).name(&hub.id)).await;
                deleted.map(|()| hub).map_err(|error| refused(&error))
            }
        }
    }
}

async fn crawl_there(
    client: &Client,
    wish: &NewHub,
    tell: &watch::Sender<CrawlStep>,
) -> Result<CrawlPreview, Failure> {
    let path = ApiPath::new(HUBS).then("crawl");
    let lines = client.post_for_lines(&path, &draft(wish), NDJSON).await;
    let mut lines = lines.map_err(|error| not_taken(&error))?;
    while let Some(event) = lines.next::<CrawlEvent>().await.map_err(|error| refused(&error))? {
        match event {
            CrawlEvent::Progress { step, .. } => {
                tell.send_replace(step);
            }
            CrawlEvent::Done { result } => return Ok(preview(result)),
        }
    }
    Err(Failure::missing("the server broke off before it said what the hub has").hint("try again"))
}

/// Numbers the catalog, which tells a server on the same store that it has changed.
async fn publish(shared_catalog: &SharedCatalog) -> Result<(), Failure> {
    let published = shared_catalog.catalogs.refresh(Reread::Kept).await;
    published.map(drop).map_err(|error| Failure::unavailable(&error))
}

fn id(hub: &HubView) -> Result<HubId, Failure> {
    hub.id.parse().map_err(|_| Failure::failed(format!("`{}` is no id of a hub", hub.id)))
}

fn draft(wish: &NewHub) -> HubDraft {
    let whole = &wish.audience.whole;
    let rule = |(path, rule): &(String, AudienceRule)| HubPathRule {
        path: path.clone(),
        visibility: rule.visibility.clone(),
        team_ids: rule.team_ids.clone(),
        owner_user_id: rule.owner_user_id.clone(),
    };
    HubDraft {
        kind: wish.kind.to_string(),
        location: wish.location.clone(),
        reference: wish.reference.clone(),
        include_paths: wish.include_paths.clone(),
        enabled: wish.is_enabled,
        credentials_ref: wish.credentials_ref.clone(),
        visibility: whole.visibility.clone(),
        team_ids: whole.team_ids.clone(),
        owner_user_id: whole.owner_user_id.clone(),
        paths: wish.audience.paths.iter().map(rule).collect(),
    }
}

fn preview(answer: CrawlAnswer) -> CrawlPreview {
    let skill = |skill: CrawledSkill| SkillPreview {
        path: skill.path,
        name: skill.name,
        description: skill.description,
        ancillary_file_count: skill.ancillary_file_count,
    };
    CrawlPreview {
        paths: answer.paths,
        skills_preview: answer.skills_preview.into_iter().map(skill).collect(),
        warnings: answer.warnings,
        error: answer.error,
    }
}

fn not_done(error: &HubError) -> Failure {
    match error {
        HubError::Request(_) | HubError::Audience(_) => Failure::usage(chain(error)),
        HubError::NotAllowed(_) => Failure::usage(chain(error)).hint(HOSTS),
        HubError::SameLocation(id) => Failure::failed(error.to_string()).hint(fetch_again(&id.to_string())),
        HubError::TooMany => Failure::failed(error.to_string()).hint(MAKE_ROOM),
        HubError::Unknown => Failure::failed(error.to_string()),
        HubError::Store(_) | HubError::Refresh(_) => Failure::unavailable(error),
    }
}

const HOSTS: &str = "`[hubs]` in artel.toml says where hubs may be";
const MAKE_ROOM: &str = "`artel hub remove` makes room";

fn fetch_again(id: &str) -> String {
    format!("`artel hub refresh {id}` fetches it again")
}

/// Says why a server does not take a hub, with the same advice as here.
fn not_taken(error: &ClientError) -> Failure {
    let failure = refused(error);
    match error.code() {
        Some("invalid_location") if is_about_hosts(error) => failure.hint(HOSTS),
        Some("same_location") => {
            let id = failure.message.rsplit(' ').next().unwrap_or_default().to_owned();
            failure.hint(fetch_again(&id))
        }
        Some("too_many_hubs") => failure.hint(MAKE_ROOM),
        Some(_) | None => failure,
    }
}

/// Says whether a location is refused because of what an operator allows.
fn is_about_hosts(error: &ClientError) -> bool {
    match error {
        ClientError::Refused { body, .. } => {
            body.details.as_ref().is_some_and(|details| details["setting"].is_string())
        }
        ClientError::Unusable { .. }
        | ClientError::Unreachable { .. }
        | ClientError::Garbled { .. }
        | ClientError::TooLarge { .. } => false,
    }
}
