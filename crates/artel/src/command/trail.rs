//! `artel skill trail`.

use artel_api::Paged;
use artel_api::trail::{TrailItem, TrailQuery};
use artel_catalog::Keep;
use artel_engine::Clock;

use super::context::{Context, find};
use super::health::hash;
use super::runs::{page_of, tell_next};
use crate::backend::{Backend, Trailed};
use crate::cli::TrailArgs;
use crate::failure::Failure;
use crate::output::{Table, Tone, ago, span};
use crate::runtime::wait_for;

pub(crate) fn run(context: Context<'_>, args: &TrailArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    let entry = find(&catalog, &args.name, None)?;
    let offered = entry.offer.as_ref().map(|offer| offer.id.to_string());
    let skill = Trailed {
        skill_id: offered.unwrap_or_else(|| format!("default/{}", args.name)),
        name: args.name.clone(),
        content_hash: hash(entry).unwrap_or_default(),
    };
    let (after, limit) = page_of(&args.page);
    let page = wait_for(async {
        match Backend::open_if_any(context).await? {
            Some(backend) => Ok(backend.skill_trail(skill, TrailQuery { after, limit }).await?),
            None => Ok(Paged { items: Vec::new(), next: None }),
        }
    })?;
    let output = context.output;
    if output.json {
        output.document(&page);
        return Ok(());
    }
    let now = Clock::system().now();
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain, Tone::Plain]);
    for item in &page.items {
        let who = item.user.clone().unwrap_or_default();
        table.row([ago(item.at, now), item.event.as_str().to_owned(), who, what(item)]);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.as_deref(), "event");
    Ok(())
}

/// Says what else there is to say, in words.
fn what(item: &TrailItem) -> String {
    let rank = item.rank.map(|rank| format!("at place {rank}"));
    let query = item.query.as_ref().map(|query| format!("for `{query}`"));
    let matched = (!item.matched.is_empty()).then(|| format!("because of {}", item.matched.join("; ")));
    let findings = item.findings.map(|count| match (count, item.worst) {
        (0, _) | (_, None) => format!("{count} findings"),
        (_, Some(worst)) => format!("{count} findings, the worst is {worst}"),
    });
    let by = item.by.as_ref().map(|by| format!("by {by}"));
    let took = item.duration_ms.map(span);
    let run = item.run_id.map(|run| format!("in run {run}"));
    let words = [rank, query, by, item.result.clone(), findings, took, run, matched];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
