//! `artel skill config`.

use artel_catalog::{Keep, Loaded, SettingsError, config_path, read_config, write_config};
use artel_model::setting::{ConfigSchema, MASK};
use serde_json::{Map, Value, json};

use super::context::{Context, find};
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
    let data = &context.config.data.value;
    let mut config = read_config(entry, data).map_err(|error| Failure::unavailable(&error))?;
    match &args.action {
        None => {
            print(context, schema, &config);
            return Ok(());
        }
        Some(ConfigAction::Set { values }) => set(context, schema, &mut config, values)?,
        Some(ConfigAction::Unset { keys }) => {
            for key in keys {
                if config.remove(key).is_none() {
                    return Err(Failure::usage(format!("`{key}` is not set")));
                }
            }
        }
    }
    save(context, entry, &config)?;
    print(context, schema, &config);
    Ok(())
}

fn set(
    context: Context<'_>,
    schema: &ConfigSchema,
    config: &mut Map<String, Value>,
    values: &[String],
) -> Result<(), Failure> {
    for text in values {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Failure::usage(format!("`{text}` is not KEY=VALUE")));
        };
        let Some(field) = schema.field(key) else {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name.as_str()).collect();
            return Err(Failure::usage(format!("there is no setting `{key}`"))
                .hint(format!("there is: {}", names.join(", "))));
        };
        if field.sensitive && !value.contains("${") {
            let output = context.output;
            output.talk(&format!(
                "{}: `{key}` is a secret and is stored as it is; better keep it in a variable and set `{key}=${{ARTEL_SKILL_...}}`",
                output.loud("warning", Tone::Warning)
            ));
        }
        config.insert(key.to_owned(), field.value_of(value));
    }
    Ok(())
}

fn save(context: Context<'_>, entry: &Loaded, config: &Map<String, Value>) -> Result<(), Failure> {
    let data = &context.config.data.value;
    write_config(entry, data, config).map_err(|error| match &error {
        SettingsError::Invalid(problems) => {
            let lines: Vec<String> =
                problems.iter().map(|problem| format!("`{}`: {}", problem.field, problem.message)).collect();
            Failure::failed(lines.join("; ")).hint("nothing was saved")
        }
        SettingsError::Read(_) | SettingsError::Damaged { .. } | SettingsError::Write { .. } => {
            Failure::unavailable(&error)
        }
    })?;
    context.output.talk(&format!("saved in {}", config_path(entry, data)));
    Ok(())
}

fn print(context: Context<'_>, schema: &ConfigSchema, config: &Map<String, Value>) {
    let shown = |name: &str, sensitive: bool| match config.get(name) {
        // A placeholder is no secret: it only names one.
        Some(Value::String(text)) if sensitive && !text.contains("${") => Value::from(MASK),
        Some(value) => value.clone(),
        None => Value::Null,
    };
    if context.output.json {
        let fields: Vec<Value> = schema
            .fields()
            .iter()
            .map(|field| {
                json!({
                    "name": field.name,
                    "type": field.kind,
                    "description": field.description,
                    "required": field.required,
                    "sensitive": field.sensitive,
                    "env_var": field.env_var,
                    "category": field.category,
                    "default": field.default,
                    "value": shown(&field.name, field.sensitive),
                })
            })
            .collect();
        context.output.document(&json!({"items": fields}));
        return;
    }
    let mut table = Table::new(&[Tone::Strong, Tone::Plain, Tone::Faint]);
    for field in schema.fields() {
        let value = shown(&field.name, field.sensitive);
        let value = match &field.default {
            _ if !value.is_null() => value.to_string(),
            Some(default) => format!("{default} (default)"),
            None => "(not set)".to_owned(),
        };
        let required = if field.required { ", required" } else { "" };
        let about = field.description.as_deref().unwrap_or_default();
        table.row([field.name.clone(), value, format!("{}{required}  {about}", field.kind)]);
    }
    context.output.data(&table.render(context.output));
}
