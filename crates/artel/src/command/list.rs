//! `artel skill list`.

use std::time::Duration;

use artel_catalog::{Catalog, Keep, Loaded, Watcher, main_file, one_line};
use artel_model::health::Health;
use artel_model::name::SkillName;
use artel_model::registry::REGISTRY_ID;
use serde_json::{Value, json};

use super::context::Context;
use super::health::KnownHealth;
use crate::backend::generation;
use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::runtime::wait_for;

/// How long to wait before a server is asked again whether something has changed.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

pub(crate) fn run(context: Context<'_>, args: &ListArgs) -> Result<(), Failure> {
    let catalog = print(context, args)?;
    if !args.watch {
        // The process ends here: to give the memory of many skills back piece by piece would only take time.
        std::mem::forget(catalog);
        return Ok(());
    }
    if context.config.remote.value.is_some() {
        return watch_there(context, args);
    }
    let mut watcher =
        Watcher::new(&context.config.skills_dirs.value).map_err(|error| Failure::unavailable(&error))?;
    loop {
        watcher.changed().map_err(|error| Failure::unavailable(&error))?;
        print_again(context, args)?;
    }
}

/// Looks every now and then whether the server offers something else.
fn watch_there(context: Context<'_>, args: &ListArgs) -> Result<(), Failure> {
    let mut known = None;
    loop {
        known = Some(wait_for(changed(context, known))?);
        print_again(context, args)?;
    }
}

async fn changed(context: Context<'_>, known: Option<u64>) -> Result<u64, Failure> {
    let Some(client) = context.remote()? else { return Err(Failure::usage("there is no server")) };
    let before = match known {
        Some(known) => known,
        None => generation(&client).await?,
    };
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        let after = generation(&client).await?;
        if after != before {
            return Ok(after);
        }
    }
}

fn print_again(context: Context<'_>, args: &ListArgs) -> Result<(), Failure> {
    context.output.talk("");
    print(context, args)?;
    context.output.written()
}

fn print(context: Context<'_>, args: &ListArgs) -> Result<Catalog, Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    if args.graph {
        print_graph(context, &catalog);
        return Ok(catalog);
    }
    let has_tags = |entry: &&Loaded| {
        let tags = entry.skill.as_ref().map(|skill| skill.about.tags.as_slice()).unwrap_or_default();
        args.tag.iter().all(|tag| tags.contains(tag))
    };
    let entries: Vec<&Loaded> = catalog.list().into_iter().filter(has_tags).collect();
    let health = KnownHealth::read(context)?;
    if context.output.json {
        let item = |entry: &&Loaded| {
            let mut item = summary(&catalog, entry)?;
            item["health"] = json!(health.of(entry));
            Some(item)
        };
        let skills: Vec<Value> = entries.iter().filter_map(item).collect();
        context.output.document(&json!({"skills": skills, "total": entries.len()}));
    } else {
        context.output.data(&table(context, &catalog, &entries, &health));
        let what =
            if entries.len() == 1 { "1 skill".to_owned() } else { format!("{} skills", entries.len()) };
        context.output.talk(&what);
    }
    context.talk_about(&catalog);
    Ok(catalog)
}

fn print_graph(context: Context<'_>, catalog: &Catalog) {
    let graph = catalog.registry().dependency_graph();
    if context.output.json {
        context.output.document(&json!({"registry_id": REGISTRY_ID, "dependency_graph": graph}));
        return;
    }
    let mut table = Table::new(&[Tone::Strong, Tone::Plain]);
    for (name, needs) in graph.into_iter().filter(|(_, needs)| !needs.is_empty()) {
        let needs: Vec<&str> = needs.into_iter().map(SkillName::as_str).collect();
        table.row([name.to_string(), format!("\u{2192} {}", needs.join(", "))]);
    }
    context.output.data(&table.render(context.output));
}

fn table(context: Context<'_>, catalog: &Catalog, entries: &[&Loaded], health: &KnownHealth) -> String {
    let mut table = Table::new(&[Tone::Strong, Tone::Faint, Tone::Plain]);
    for (entry, skill) in entries.iter().filter_map(|entry| Some((entry, entry.skill.as_deref()?))) {
        let health = health.of(entry);
        let note = match health {
            _ if !catalog.is_enabled(&skill.name) => "(disabled) ".to_owned(),
            Health::Healthy { .. } => String::new(),
            Health::Degraded { .. } | Health::TemporaryFailure { .. } | Health::PermanentFailure => {
                format!("({}) ", health.as_str())
            }
        };
        let description = format!("{note}{}", one_line(&skill.description));
        table.row([skill.name.as_str().to_owned(), skill.version.to_string(), description]);
    }
    table.render(context.output)
}

/// One skill in a list, as JSON.
pub(crate) fn summary(catalog: &Catalog, entry: &Loaded) -> Option<Value> {
    let skill = entry.skill.as_deref()?;
    Some(json!({
        "id": entry.id(),
        "name": skill.name,
        "version": skill.version,
        "title": skill.title(),
        "description": skill.description,
        "tags": skill.about.tags,
        "priority": skill.about.priority,
        "source": entry.source(),
        "location": main_file(entry),
        "enabled": catalog.is_enabled(&skill.name),
    }))
}
