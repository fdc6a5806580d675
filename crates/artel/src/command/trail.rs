//! `artel skill trail`.

use artel_api::trail::TrailItem;
use artel_catalog::Keep;
use artel_engine::Clock;
use serde_json::json;

use super::context::{Context, find};
use super::health::hash;
use super::runs::{page_of, tell_next};
use crate::cli::TrailArgs;
use crate::desk::{Trailed, skill_trail};
use crate::failure::Failure;
use crate::output::{Table, Tone, ago, span};

pub(crate) fn run(context: Context<'_>, args: &TrailArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    let entry = find(&catalog, &args.name, None)?;
    let offered = entry.offer.as_ref().map(|offer| offer.id.to_string());
    let skill = Trailed {
        skill_id: offered.unwrap_or_else(|| format!("default/{}", args.name)),
        name: args.name.clone(),
        content_hash: hash(entry).unwrap_or_default(),
    };
    let page = skill_trail(context, skill, &page_of(&args.page))?;
    let output = context.output;
    if output.json {
        output.document(&json!({"items": page.items, "next": page.next.map(|cursor| cursor.0)}));
        return Ok(());
    }
    let now = Clock::system().now();
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain, Tone::Plain]);
    for item in &page.items {
        let who = item.user.clone().unwrap_or_default();
        table.row([ago(item.at, now), item.event.as_str().to_owned(), who, what(item)]);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.as_ref(), "event");
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
