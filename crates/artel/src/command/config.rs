//! `artel skill config`.

use artel_api::operator::{SettingsChange, SkillSetting, SkillSettings};
use artel_catalog::Keep;
use artel_model::setting::ConfigSchema;
use serde_json::{Map, Value, json};

use super::context::{Context, find};
use crate::backend::{SettingsOf, change_settings, settings};
use crate::cli::{ConfigAction, ConfigArgs};
use crate::failure::Failure;
use crate::output::{Table, Tone};

pub(crate) fn run(context: Context<'_>, args: &ConfigArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    let entry = find(&catalog, &args.name, None)?;
    let Some(schema) = &entry.config_schema else {
        return Err(Failure::failed(format!("`{}` has no settings", args.name))
            .hint("a skill with a `config-schema.json` has some"));
    };
    let (personal, change) = match &args.action {
        None => {
            print(context, settings(context, &catalog, entry)?);
            return Ok(());
        }
        Some(ConfigAction::Set { values, personal }) => {
            (*personal, SettingsChange { set: wanted(context, schema, values)?, unset: Vec::new() })
        }
        Some(ConfigAction::Unset { keys, personal }) => {
            (*personal, SettingsChange { set: Map::new(), unset: keys.clone() })
        }
    };
    let whose = if personal { SettingsOf::Caller } else { SettingsOf::Everyone };
    let changed = change_settings(context, &catalog, entry, whose, change)?;
    for warning in &changed.warnings {
        let advice = format!("{warning}; add it to `skill_env` in artel.toml");
        context.output.remark("warning:", Tone::Warning, &advice);
    }
    if let Some(place) = &changed.saved_in {
        context.output.talk(&format!("saved in {place}"));
    }
    print(context, changed);
    Ok(())
}

fn wanted(
    context: Context<'_>,
    schema: &ConfigSchema,
    values: &[String],
) -> Result<Map<String, Value>, Failure> {
    let mut wanted = Map::new();
    for text in values {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Failure::usage(format!("`{text}` is not KEY=VALUE")));
        };
        let Some(field) = schema.field(key) else {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name.as_str()).collect();
            return Err(Failure::usage(format!("there is no setting `{key}`"))
                .hint(format!("there is: {}", names.join(", "))));
        };
        let value = field.value_of(value);
        if field.is_secret(&value) {
            let advice = format!(
                "`{key}` is a secret and is stored as it is; better keep it in a variable and set `{key}=${{ARTEL_SKILL_...}}`"
            );
            context.output.remark("warning:", Tone::Warning, &advice);
        }
        wanted.insert(key.to_owned(), value);
    }
    Ok(wanted)
}

fn print(context: Context<'_>, settings: SkillSettings) {
    if context.output.json {
        context.output.document(&json!({"items": settings.items}));
        return;
    }
    let mut table = Table::new(&[Tone::Strong, Tone::Plain, Tone::Faint]);
    for SkillSetting { name, kind, description, required, default, value, personal, .. } in settings.items {
        let value = match (personal, value.filter(|value| !value.is_null()), default) {
            (Some(personal), _, _) => format!("{personal} (personal)"),
            (None, Some(value), _) => value.to_string(),
            (None, None, Some(default)) => format!("{default} (default)"),
            (None, None, None) => "(not set)".to_owned(),
        };
        let required = if required { ", required" } else { "" };
        let about = description.unwrap_or_default();
        table.row([name, value, format!("{kind}{required}  {about}")]);
    }
    context.output.data(&table.render(context.output));
}
