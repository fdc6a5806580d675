//! `artel skill show`.

use std::time::SystemTime;

use artel_catalog::{Catalog, FileEntry, Keep, Loaded, file_hash, holds_settings, main_file};
use artel_model::data_scope::DataScope;
use artel_model::limit::SKILL_BYTES_MAX;
use artel_model::registry::ResolveError;
use artel_model::skill::Skill;
use serde_json::{Value, json};

use super::context::{Context, find};
use super::health::{KnownHealth, hash};
use crate::backend;
use crate::cli::ShowArgs;
use crate::failure::Failure;
use crate::output::{Table, Tone};

pub(crate) fn run(context: Context<'_>, args: &ShowArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Instructions)?;
    let entry = find(&catalog, &args.skill.name, args.skill.version.as_ref())?;
    let Some(skill) = entry.skill.as_deref() else { return Err(Failure::reported()) };
    if args.instructions {
        let body = entry.instructions.as_deref().unwrap_or_default();
        context.output.content(format!("{}\n", body.trim_end()).as_bytes());
        return Ok(());
    }
    if let Some(path) = &args.file {
        return print_file(context, entry, path);
    }
    if context.output.json {
        context.output.document(&document(context, &catalog, entry, skill)?);
    } else {
        context.output.data(&text(context, &catalog, entry, skill)?);
        context
            .output
            .talk(&format!("`artel skill show {} --instructions` prints the instructions", skill.name));
    }
    Ok(())
}

fn print_file(context: Context<'_>, entry: &Loaded, path: &camino::Utf8Path) -> Result<(), Failure> {
    // Only what is listed can be read: nothing outside the skill has a name here.
    let listed = entry.files.iter().find(|file| file.path == *path);
    let (Some(file), Some(tree)) = (listed, entry.location.tree()) else {
        let names: Vec<&str> = entry.files.iter().take(10).map(|file| file.path.as_str()).collect();
        return Err(Failure::failed(format!("the skill has no file `{path}`"))
            .hint(format!("its files are: {}", names.join(", "))));
    };
    if holds_settings(entry, file) {
        let name = entry.skill.as_ref().map_or("NAME", |skill| skill.name.as_str());
        return Err(Failure::failed(format!(
            "`{path}` holds settings, which may be secret; it is not printed"
        ))
        .hint(format!("`artel skill config {name}` shows them with secrets hidden")));
    }
    let bytes = tree.read(&file.path, SKILL_BYTES_MAX).map_err(|error| Failure::unavailable(&error))?;
    context.output.content(&bytes);
    Ok(())
}

/// The order in which a skill's dependencies run, or why there is none.
fn chain(catalog: &Catalog, skill: &Skill) -> Result<Vec<String>, String> {
    match catalog.registry().resolve_dependencies(&skill.name) {
        Ok(order) => Ok(order.iter().map(|skill| skill.pin().to_string()).collect()),
        Err(ResolveError::Lookup(_)) => Ok(vec![skill.pin().to_string()]),
        Err(error @ ResolveError::Dependency(_)) => Err(error.to_string()),
    }
}

/// The settings a script would get, with secrets hidden; nothing when there are none to have.
fn settings(context: Context<'_>, catalog: &Catalog, entry: &Loaded) -> Result<Option<Value>, Failure> {
    let settings = backend::settings(context, catalog, entry)?;
    Ok(match settings.problems.as_slice() {
        [] => settings.effective.map(Value::Object),
        problems => Some(json!({"problems": problems})),
    })
}

fn document(
    context: Context<'_>,
    catalog: &Catalog,
    entry: &Loaded,
    skill: &Skill,
) -> Result<Value, Failure> {
    let mut document = serde_json::to_value(skill.manifest()).expect("a manifest is JSON");
    // Rules stand beside the other fields, as in skill.json.
    if let Some(Value::Object(rules)) = document.as_object_mut().and_then(|fields| fields.remove("rules"))
        && let Some(fields) = document.as_object_mut()
    {
        fields.extend(rules);
    }
    document["id"] = json!(entry.id());
    document["source"] = json!(entry.source());
    document["location"] = json!(main_file(entry));
    document["enabled"] = json!(catalog.is_enabled(&skill.name));
    document["health"] = json!(KnownHealth::read(context)?.of(entry));
    document["content_hash"] = json!(hash(entry));
    document["files"] = files(entry);
    document["directory"] = json!(entry.location.path().filter(|_| entry.offer.is_none()));
    document["config_schema"] =
        json!(entry.config_schema.as_ref().map(artel_model::setting::ConfigSchema::document));
    let (created_at, updated_at) = times(entry);
    document["created_at"] = json!(created_at);
    document["updated_at"] = json!(updated_at);
    document["execution_order"] = match chain(catalog, skill) {
        Ok(order) => json!(order),
        Err(problem) => json!({"problem": problem}),
    };
    if let Some(settings) = settings(context, catalog, entry)? {
        document["config"] = settings;
    }
    document["instructions"] = json!(entry.instructions.as_deref());
    Ok(document)
}

/// The files of a skill, each with the hash of its content.
fn files(entry: &Loaded) -> Value {
    let tree = entry.location.tree();
    let hash = |file: &FileEntry| {
        if let Some(offer) = &entry.offer {
            return offer.file(file.path.as_str()).map(|file| file.hash.to_string());
        }
        let content = tree.as_ref()?.read(&file.path, SKILL_BYTES_MAX).ok()?;
        Some(file_hash(&content).to_string())
    };
    let row = |file: &FileEntry| {
        let FileEntry { path, size, is_executable, .. } = file;
        json!({"path": path, "size": size, "is_executable": is_executable, "hash": hash(file)})
    };
    entry.files.iter().map(row).collect()
}

/// When the oldest and the newest file of a skill were changed.
fn times(entry: &Loaded) -> (Option<String>, Option<String>) {
    let times = || entry.files.iter().filter_map(|file| file.modified);
    let text = |time: SystemTime| {
        jiff::Timestamp::try_from(time).ok().map(|time| time.strftime("%FT%TZ").to_string())
    };
    (times().min().and_then(text), times().max().and_then(text))
}

fn text(context: Context<'_>, catalog: &Catalog, entry: &Loaded, skill: &Skill) -> Result<String, Failure> {
    let output = context.output;
    let mut out = format!(
        "{} {}\n",
        output.paint(skill.title(), Tone::Strong),
        output.paint(&skill.version.to_string(), Tone::Faint)
    );
    out.push_str(&format!("{}\n\n", artel_catalog::one_line(&skill.description)));
    let mut facts = Table::new(&[Tone::Accent, Tone::Plain]);
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            facts.row([name.to_owned(), value]);
        }
    };
    let state = if catalog.is_enabled(&skill.name) { "enabled" } else { "disabled" };
    fact("state", format!("{state}, {}", KnownHealth::read(context)?.of(entry).as_str()));
    fact("location", main_file(entry));
    fact("content", hash(entry).unwrap_or_default());
    fact("changed", times(entry).1.unwrap_or_default());
    fact("tags", skill.about.tags.join(", "));
    fact("author", skill.about.author.clone().unwrap_or_default());
    fact("license", skill.about.license.clone().unwrap_or_default());
    fact("needs", skill.about.compatibility.clone().unwrap_or_default());
    let attempts = skill.attempts;
    fact("attempts", format!("{} s each, {} retries", attempts.timeout_s, attempts.max_retries));
    fact("data", shared_by(skill.data_scope).to_owned());
    match chain(catalog, skill) {
        Ok(order) if order.len() > 1 => fact("runs after", order[..order.len() - 1].join(" \u{2192} ")),
        Ok(_) => {}
        Err(problem) => fact("problem", problem),
    }
    let list = |tools: &[artel_model::tool::ToolPattern]| {
        tools.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    fact("allows", list(&skill.rules.allowed_tools));
    fact("forbids", list(&skill.rules.forbidden_tools));
    fact("protocol", skill.rules.execution_protocol.join(" \u{2192} "));
    out.push_str(&facts.render(output));
    out.push_str(&parameters(context, skill));
    out.push_str(&parts(context, skill));
    if let Some(Value::Object(config)) = settings(context, catalog, entry)? {
        out.push_str(&section(
            context,
            "settings",
            config.iter().map(|(name, value)| [name.clone(), value.to_string()]),
        ));
    }
    out.push_str(&section(
        context,
        "files",
        entry.files.iter().map(|file| [file.path.to_string(), format!("{} bytes", file.size)]),
    ));
    Ok(out)
}

/// Says who shares the data that a skill keeps.
fn shared_by(scope: DataScope) -> &'static str {
    match scope {
        DataScope::Principal => "of the owner of a run",
        DataScope::Run => "of one run",
        DataScope::Team => "shared by a team",
        DataScope::Shared => "shared by all callers, when the operator grants it",
    }
}

fn parameters(context: Context<'_>, skill: &Skill) -> String {
    let document = skill.interface.parameters.document();
    let required: Vec<&str> =
        document["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = document["properties"].as_object().into_iter().flatten();
    let rows = properties.map(|(name, property)| {
        let kind = property["type"].as_str().unwrap_or("any");
        let need = if required.contains(&name.as_str()) {
            "required".to_owned()
        } else {
            property.get("default").map(|value| format!("default {value}")).unwrap_or_default()
        };
        let about = property["description"].as_str().unwrap_or_default();
        [
            name.clone(),
            [kind, &need, about].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "),
        ]
    });
    section(context, "parameters", rows)
}

fn parts(context: Context<'_>, skill: &Skill) -> String {
    let scripts = skill.scripts.iter().map(|script| {
        let mark = if skill.entrypoint.as_ref() == Some(&script.name) { " (runs by default)" } else { "" };
        let state = if script.is_executable { "" } else { " (not executable)" };
        let about = script.description.as_deref().unwrap_or_default();
        [format!("{}/{}", skill.name, script.name), format!("{about}{mark}{state}").trim().to_owned()]
    });
    let steps = skill.composite.iter().flat_map(|composite| &composite.steps);
    let steps = steps
        .map(|step| [step.id.to_string(), format!("{} {}", step.skill, Value::Object(step.input.clone()))]);
    format!("{}{}", section(context, "scripts", scripts), section(context, "steps", steps))
}

fn section(context: Context<'_>, title: &str, rows: impl Iterator<Item = [String; 2]>) -> String {
    let mut table = Table::new(&[Tone::Plain, Tone::Plain, Tone::Faint]);
    let mut is_empty = true;
    for [name, value] in rows {
        table.row([" ".to_owned(), name, value]);
        is_empty = false;
    }
    if is_empty {
        return String::new();
    }
    format!("\n{}\n{}", context.output.paint(title, Tone::Strong), table.render(context.output))
}
