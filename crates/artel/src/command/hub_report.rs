//! What `artel hub` prints.

use artel_api::hubs::{HubList, HubView};
use artel_catalog::hub::CrawlPreview;
use artel_engine::Clock;
use artel_model::time::Timestamp;

use super::context::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone, ago};

/// Prints all hubs.
pub(super) fn show_all(context: Context<'_>, hubs: Vec<HubView>) {
    let output = context.output;
    if output.json {
        output.document(&HubList { hubs });
        return;
    }
    let now = Clock::system().now();
    let mut table = Table::new(&[Tone::Strong, Tone::Plain, Tone::Accent, Tone::Plain, Tone::Faint]);
    for hub in &hubs {
        let mut place = match &hub.reference {
            Some(reference) => format!("{} at {reference}", hub.location),
            None => hub.location.clone(),
        };
        if hub.visibility != "global" || !hub.paths.is_empty() {
            place.push_str(&format!(" for {}", audience(hub)));
        }
        let cells = [hub.id.clone(), hub.kind.clone(), place, skills(hub.skills_count), state(hub, now)];
        table.row(cells);
    }
    output.data(&table.render(output));
    output.talk(&if hubs.len() == 1 { "1 hub".to_owned() } else { format!("{} hubs", hubs.len()) });
}

/// Prints one hub, and says what was done to it.
pub(super) fn show_one(context: Context<'_>, hub: &HubView, done: &str) {
    let output = context.output;
    for warning in &hub.warnings {
        output.remark("warning:", Tone::Warning, warning);
    }
    if output.json {
        output.document(&hub);
        return;
    }
    output.line(&hub.id);
    output.talk(&format!("{done}: {}, {}", hub.location, skills(hub.skills_count)));
}

/// Says who sees the skills of a hub.
fn audience(hub: &HubView) -> String {
    let who = |visibility: &str, teams: &[String], owner: Option<&String>| match (visibility, owner) {
        ("team", _) => format!("team {}", teams.join(", ")),
        ("personal", Some(owner)) => owner.clone(),
        (other, _) => other.to_owned(),
    };
    let whole = who(&hub.visibility, &hub.team_ids, hub.owner_user_id.as_ref());
    let paths = hub.paths.iter().map(|rule| {
        format!("{} for {}", rule.path, who(&rule.visibility, &rule.team_ids, rule.owner_user_id.as_ref()))
    });
    std::iter::once(whole).chain(paths).collect::<Vec<_>>().join("; ")
}

/// A hub whose last fetch failed is a failure; what it gave before stays.
pub(super) fn failing(hub: &HubView) -> Result<(), Failure> {
    if !is_failing(hub) {
        return Ok(());
    }
    let why = hub.last_failure_message.as_deref().unwrap_or("nobody knows why");
    Err(Failure::failed(format!("cannot fetch {}: {why}", hub.location)).hint(format!(
        "it stays registered; `artel hub refresh {id}` tries again, `artel hub remove {id}` forgets it",
        id = hub.id
    )))
}

/// Prints what a hub would give.
pub(super) fn show_preview(context: Context<'_>, preview: &CrawlPreview) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        output.document(preview);
    } else {
        let mut table = Table::new(&[Tone::Strong, Tone::Faint, Tone::Plain]);
        for skill in &preview.skills_preview {
            table.row([skill.name.as_str(), skill.path.as_str(), skill.description.as_str()]);
        }
        output.data(&table.render(output));
        for warning in &preview.warnings {
            output.remark("warning:", Tone::Warning, warning);
        }
    }
    match &preview.error {
        Some(error) => Err(Failure::failed(error.as_str())),
        None => {
            output.talk(&skills(preview.skills_preview.len() as u64));
            Ok(())
        }
    }
}

fn skills(count: u64) -> String {
    if count == 1 { "1 skill".to_owned() } else { format!("{count} skills") }
}

fn state(hub: &HubView, now: Timestamp) -> String {
    match (hub.enabled, is_failing(hub), hub.last_success_at) {
        (false, _, _) => "off".to_owned(),
        (true, true, _) => {
            let why = hub.last_failure_message.as_deref().unwrap_or("nobody knows why");
            format!("failing: {why}")
        }
        (true, false, Some(at)) => format!("fetched {}", ago(at, now)),
        (true, false, None) => "not fetched yet".to_owned(),
    }
}

/// Says whether the last try failed.
fn is_failing(hub: &HubView) -> bool {
    match (hub.last_failure_at, hub.last_success_at) {
        (Some(failed), Some(succeeded)) => failed > succeeded,
        (failed, _) => failed.is_some(),
    }
}
