//! `artel hub`: hubs of the shared catalog, for whoever has its store in hand or administers its server. A server on the
//! same store takes over what changes within a second.

use artel_api::hubs::{CrawlStep, HubChange, HubPathRule, HubView};
use artel_app::{AudienceRule, HubAudience, NewHub};
use tokio::sync::watch;

use super::context::Context;
use super::hub_report::{failing, show_all, show_one, show_preview};
use crate::backend::HubBackend;
use crate::cli::{HubAddArgs, HubChangeArgs, HubPlaceArgs, PathVisibility};
use crate::failure::Failure;
use crate::output::Progress;
use crate::runtime::wait_for;

pub(crate) fn crawl(context: Context<'_>, args: &HubPlaceArgs) -> Result<(), Failure> {
    let wish = wish(args)?;
    let preview = at_desk(context, async |backend| {
        let (tell, told) = watch::channel(CrawlStep::Resolving);
        watched(context, backend.crawl(&wish, &tell), told).await
    })?;
    show_preview(context, &preview)
}

pub(crate) fn add(context: Context<'_>, args: &HubAddArgs) -> Result<(), Failure> {
    let wish = NewHub { audience: audience(args), ..wish(&args.place)? };
    let hub = at_desk(context, async |backend| {
        let hub = backend.create(&wish).await?;
        fetched(context, backend, &hub).await
    })?;
    show_one(context, &hub, "added");
    failing(&hub)
}

pub(crate) fn list(context: Context<'_>) -> Result<(), Failure> {
    show_all(context, wait_for(HubBackend::look(context))?);
    Ok(())
}

pub(crate) fn refresh(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = at_desk(context, async |backend| {
        let hub = find(backend, hub).await?;
        fetched(context, backend, &hub).await
    })?;
    show_one(context, &hub, "fetched");
    failing(&hub)
}

pub(crate) fn refresh_all(context: Context<'_>) -> Result<(), Failure> {
    let hubs = at_desk(context, async |backend| {
        let mut progress = Progress::new(context.output);
        progress.step("fetching all hubs", "");
        let done = backend.fetch_all().await;
        progress.end();
        done?;
        backend.hubs().await
    })?;
    let worst = hubs.iter().filter(|hub| hub.enabled).try_for_each(failing);
    show_all(context, hubs);
    worst
}

pub(crate) fn enable(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = at_desk(context, async |backend| {
        let hub = backend.switch(&find(backend, hub).await?, true).await?;
        fetched(context, backend, &hub).await
    })?;
    show_one(context, &hub, "switched on");
    failing(&hub)
}

pub(crate) fn change(context: Context<'_>, args: &HubChangeArgs) -> Result<(), Failure> {
    let change = change_of(args);
    if change == HubChange::default() {
        return Err(Failure::usage("nothing is to be changed").hint(
            "`--ref`, `--path`, `--credentials-ref`, `--visibility` and `--path-visibility` change a hub",
        ));
    }
    let hub = at_desk(context, async |backend| {
        let hub = backend.change(&find(backend, &args.hub).await?, change).await?;
        if hub.enabled { fetched(context, backend, &hub).await } else { Ok(hub) }
    })?;
    show_one(context, &hub, "changed");
    failing(&hub)
}

fn change_of(args: &HubChangeArgs) -> HubChange {
    let given = |paths: &Vec<String>| paths.iter().filter(|path| !path.is_empty()).cloned().collect();
    let rule = |rule: &PathVisibility| {
        let (path, AudienceRule { visibility, team_ids, owner_user_id }) = audience_rule(rule);
        HubPathRule { path, visibility, team_ids, owner_user_id }
    };
    HubChange {
        enabled: None,
        reference: args.reference.clone(),
        include_paths: args.paths.as_ref().map(given),
        credentials_ref: args.credentials_ref.clone(),
        visibility: args.visibility.clone(),
        team_ids: args.teams.clone(),
        owner_user_id: args.owner.clone(),
        paths: args.path_visibility.as_ref().map(|rules| rules.iter().map(rule).collect()),
    }
}

pub(crate) fn disable(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = at_desk(context, async |backend| backend.switch(&find(backend, hub).await?, false).await)?;
    show_one(context, &hub, "switched off");
    Ok(())
}

pub(crate) fn remove(context: Context<'_>, hub: &str) -> Result<(), Failure> {
    let hub = at_desk(context, async |backend| backend.delete(find(backend, hub).await?).await)?;
    show_one(context, &hub, "removed");
    Ok(())
}

fn at_desk<T>(
    context: Context<'_>,
    work: impl AsyncFnOnce(&HubBackend) -> Result<T, Failure>,
) -> Result<T, Failure> {
    wait_for(HubBackend::visit(context, work))
}

fn wish(args: &HubPlaceArgs) -> Result<NewHub, Failure> {
    let kind = args.kind().ok_or_else(|| {
        Failure::usage(format!("`{}` does not say what kind of hub it is", args.location))
            .hint("`--type` says it: github, git or well-known")
    })?;
    Ok(NewHub {
        kind,
        location: args.location.clone(),
        reference: args.reference.clone(),
        include_paths: args.paths.clone(),
        is_enabled: true,
        credentials_ref: args.credentials_ref.clone(),
        audience: HubAudience::default(),
    })
}

fn audience_rule(rule: &PathVisibility) -> (String, AudienceRule) {
    let is_personal = rule.visibility == "personal";
    let (team_ids, owner_user_id) =
        if is_personal { (Vec::new(), rule.names.first().cloned()) } else { (rule.names.clone(), None) };
    (rule.path.clone(), AudienceRule { visibility: rule.visibility.clone(), team_ids, owner_user_id })
}

fn audience(args: &HubAddArgs) -> HubAudience {
    HubAudience {
        whole: AudienceRule {
            visibility: args.visibility.clone(),
            team_ids: args.teams.clone(),
            owner_user_id: args.owner.clone(),
        },
        paths: args.path_visibility.iter().map(audience_rule).collect(),
    }
}

async fn fetched(context: Context<'_>, backend: &HubBackend, hub: &HubView) -> Result<HubView, Failure> {
    let mut progress = Progress::new(context.output);
    progress.step("fetching", &hub.location);
    let fetched = backend.fetch(hub).await;
    progress.end();
    fetched
}

/// Finds a hub by its id, the beginning of it, or its location.
async fn find(backend: &HubBackend, text: &str) -> Result<HubView, Failure> {
    let hubs = backend.hubs().await?;
    let is_it = |hub: &&HubView| hub.location.eq_ignore_ascii_case(text) || hub.id == text;
    if let Some(hub) = hubs.iter().find(is_it) {
        return Ok(hub.clone());
    }
    let begins: Vec<&HubView> = hubs.iter().filter(|hub| hub.id.starts_with(text)).collect();
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
    mut told: watch::Receiver<CrawlStep>,
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

fn tell(progress: &mut Progress<'_>, step: CrawlStep) {
    match step {
        CrawlStep::Resolving => progress.step("asking the hub what it has", ""),
        CrawlStep::Fetching { bytes } => progress.step("fetching", &format!("{bytes} bytes")),
        CrawlStep::Reading { done, total } => progress.step("reading", &format!("{done} of {total} files")),
        // What was found is printed next.
        CrawlStep::Done { .. } => {}
    }
}
