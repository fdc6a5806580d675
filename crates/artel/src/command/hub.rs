//! `artel hub`: hubs of the shared catalog, for whoever has its store in hand. A server on the same store takes over
//! what changes within a second.

use artel_engine::hub::HubProgress;
use artel_model::access::Principal;
use artel_model::catalog::{AuditAction, Hub};
use artel_server::{HubError, HubWish, Reread};
use tokio::sync::watch;

use super::context::Context;
use super::hub_report::{failing, show_all, show_one, show_preview};
use crate::cli::HubPlaceArgs;
use crate::failure::{Failure, chain};
use crate::output::Progress;
use crate::workshop::{Foundation, Store, local_principal, wait_for};

pub(crate) fn crawl(context: Context<'_>, args: &HubPlaceArgs) -> Result<(), Failure> {
    let wish = wish(args)?;
    let preview = with_foundation(context, async |foundation, _| {
        let (tell, told) = watch::channel(HubProgress::Resolving);
        let listener = move |step| {
            tell.send_replace(step);
        };
        let crawl = foundation.hubs.crawl(&wish, &listener);
        watched(context, crawl, told).await.map_err(|error| refused(&error))
    })?;
    show_preview(context, &preview)
}

pub(crate) fn add(context: Context<'_>, args: &HubPlaceArgs) -> Result<(), Failure> {
    let wish = wish(args)?;
    let hub = with_foundation(context, async |foundation, who| {
        let hub = foundation.hubs.create(who, &wish).await.map_err(|error| refused(&error))?;
        foundation.note(who, AuditAction::HubCreated, &hub).await?;
        fetched(context, foundation, &hub).await
    })?;
    show_one(context, &hub, "added");
    failing(&hub)
}

pub(crate) fn list(context: Context<'_>) -> Result<(), Failure> {
    let hubs = wait_for(async {
        match Store::open_existing(context.config).await? {
            Some(store) => store.catalog.hubs.hubs().await.map_err(|error| Failure::unavailable(&error)),
            None => Ok(Vec::new()),
        }
    })?;
    show_all(context, &hubs);
    Ok(())
}

pub(crate) fn refresh(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = with_foundation(context, async |foundation, _| {
        let hub = find(foundation, hub).await?;
        fetched(context, foundation, &hub).await
    })?;
    show_one(context, &hub, "fetched");
    failing(&hub)
}

pub(crate) fn refresh_all(context: Context<'_>) -> Result<(), Failure> {
    let hubs = with_foundation(context, async |foundation, _| {
        let mut progress = Progress::new(context.output);
        progress.step("fetching all hubs", "");
        let done = foundation.hubs.refresh_all().await;
        progress.end();
        done.map_err(|error| refused(&error))?;
        publish(foundation).await?;
        foundation.hubs.list().await.map_err(|error| Failure::unavailable(&error))
    })?;
    show_all(context, &hubs);
    hubs.iter().filter(|hub| hub.is_enabled).try_for_each(failing)
}

pub(crate) fn enable(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = with_foundation(context, async |foundation, who| {
        let hub = switched(foundation, who, hub, true).await?;
        fetched(context, foundation, &hub).await
    })?;
    show_one(context, &hub, "switched on");
    failing(&hub)
}

pub(crate) fn disable(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = with_foundation(context, async |foundation, who| switched(foundation, who, hub, false).await)?;
    show_one(context, &hub, "switched off");
    Ok(())
}

pub(crate) fn remove(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = with_foundation(context, async |foundation, who| {
        let hub = find(foundation, hub).await?;
        let hub = foundation.hubs.delete(hub.id).await.map_err(|error| refused(&error))?;
        foundation.note(who, AuditAction::HubDeleted, &hub).await?;
        Ok(hub)
    })?;
    show_one(context, &hub, "removed");
    Ok(())
}

/// Opens the catalog, does something with it as whoever is here, and tidies up.
fn with_foundation<T>(
    context: Context<'_>,
    work: impl AsyncFnOnce(&Foundation, &Principal) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let who = local_principal(&context.config.environment);
    wait_for(async {
        let foundation = Foundation::open(context).await?;
        let result = work(&foundation, &who).await;
        foundation.close().await;
        result
    })
}

fn wish(args: &HubPlaceArgs) -> Result<HubWish, Failure> {
    let kind = args.kind().ok_or_else(|| {
        Failure::usage(format!("`{}` does not say what kind of hub it is", args.location))
            .hint("`--type` says it: github, git or well-known")
    })?;
    Ok(HubWish {
        kind,
        location: args.location.clone(),
        reference: args.reference.clone(),
        include_paths: args.paths.clone(),
        is_enabled: true,
        credentials_ref: args.credentials_ref.clone(),
    })
}

/// Fetches a hub, and lets everybody know what came of it.
async fn fetched(context: Context<'_>, foundation: &Foundation, hub: &Hub) -> Result<Hub, Failure> {
    let mut progress = Progress::new(context.output);
    progress.step("fetching", &hub.location);
    let fetched = foundation.hubs.refresh(hub.id).await;
    progress.end();
    let hub = fetched.map_err(|error| refused(&error))?;
    publish(foundation).await?;
    Ok(hub)
}

/// Numbers the catalog, which tells a server on the same store that it has changed.
async fn publish(foundation: &Foundation) -> Result<(), Failure> {
    let published = foundation.catalogs.refresh(Reread::Kept).await;
    published.map(drop).map_err(|error| Failure::unavailable(&error))
}

async fn switched(foundation: &Foundation, who: &Principal, hub: &str, on: bool) -> Result<Hub, Failure> {
    let hub = find(foundation, hub).await?;
    let changed = foundation.hubs.update(hub.id, |wish| wish.is_enabled = on).await;
    let hub = changed.map_err(|error| refused(&error))?;
    foundation.note(who, AuditAction::HubUpdated, &hub).await?;
    Ok(hub)
}

/// Finds a hub by its id, the beginning of it, or its location.
async fn find(foundation: &Foundation, text: &str) -> Result<Hub, Failure> {
    let hubs = foundation.hubs.list().await.map_err(|error| Failure::unavailable(&error))?;
    let is_it = |hub: &&Hub| hub.location.eq_ignore_ascii_case(text) || hub.id.to_string() == text;
    if let Some(hub) = hubs.iter().find(is_it) {
        return Ok(hub.clone());
    }
    let begins: Vec<&Hub> = hubs.iter().filter(|hub| hub.id.to_string().starts_with(text)).collect();
    match begins.as_slice() {
        [hub] => Ok((*hub).clone()),
        [] => Err(Failure::failed(format!("there is no hub `{text}`"))
            .hint("`artel hub list` shows the hubs there are")),
        several => Err(Failure::failed(format!("the ids of {} hubs begin with `{text}`", several.len()))
            .hint("give more of the id, or the location")),
    }
}

/// Waits for a crawl, and says how far it has come.
async fn watched<T>(
    context: Context<'_>,
    crawl: impl Future<Output = T>,
    mut told: watch::Receiver<HubProgress>,
) -> T {
    let mut progress = Progress::new(context.output);
    let mut crawl = std::pin::pin!(crawl);
    let result = loop {
        tokio::select! {
            biased;
            Ok(()) = told.changed() => tell(&mut progress, *told.borrow_and_update()),
            result = &mut crawl => break result,
        }
    };
    progress.end();
    result
}

fn tell(progress: &mut Progress<'_>, step: HubProgress) {
    match step {
        HubProgress::Resolving => progress.step("asking the hub what it has", ""),
        HubProgress::Fetching { bytes } => progress.step("fetching", &format!("{bytes} bytes")),
        HubProgress::Reading { done, total } => progress.step("reading", &format!("{done} of {total} files")),
        HubProgress::Done { skills } => progress.step("done", &format!("{skills} skills")),
    }
}

fn refused(error: &HubError) -> Failure {
    match error {
        HubError::Request(_) => Failure::usage(chain(error)),
        HubError::NotAllowed(_) => {
            Failure::usage(chain(error)).hint("`[hubs]` in artel.toml says where hubs may be")
        }
        HubError::SameLocation(id) => {
            Failure::failed(error.to_string()).hint(format!("`artel hub refresh {id}` fetches it again"))
        }
        HubError::TooMany => Failure::failed(error.to_string()).hint("`artel hub remove` makes room"),
        HubError::Unknown => Failure::failed(error.to_string()),
        HubError::Store(_) | HubError::Refresh(_) => Failure::unavailable(error),
    }
}
