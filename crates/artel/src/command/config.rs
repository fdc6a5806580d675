//! `artel skill config`.

use artel_catalog::{Keep, Loaded, SettingsError, config_path, read_config, write_config};
use artel_model::setting::{ConfigProblemKind, ConfigSchema, EnvAllowList, ShownField};
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
        let value = field.value_of(value);
        if field.is_secret(&value) {
            let advice = format!(
                "`{key}` is a secret and is stored as it is; better keep it in a variable and set `{key}=${{ARTEL_SKILL_...}}`"
            );
            context.output.remark("warning:", Tone::Warning, &advice);
        }
        config.insert(key.to_owned(), value);
    }
    warn_of_variables(context, schema, config);
    Ok(())
}

/// Says which variables the settings name that scripts will not get.
fn warn_of_variables(context: Context<'_>, schema: &ConfigSchema, config: &Map<String, Value>) {
    let allowed = EnvAllowList::new(&context.config.skill_env.value);
    // What the variables hold does not matter here.
    let problems = schema.resolve(config, &allowed, |_| Some(String::new())).err().unwrap_or_default();
    for problem in problems.iter().filter(|problem| problem.kind == ConfigProblemKind::VariableNotAllowed) {
        let advice = format!("{}; add it to `skill_env` in artel.toml", problem.message);
        context.output.remark("warning:", Tone::Warning, &advice);
    }
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
    let shown = schema.shown(config);
    if context.output.json {
        let fields: Vec<Value> = shown
            .into_iter()
            .map(|ShownField { field, value, default }| {
                json!({
                    "name": field.name,
                    "type": field.kind,
                    "description": field.description,
                    "required": field.required,
                    "sensitive": field.sensitive,
                    "env_var": field.env_var,
                    "category": field.category,
                    "default": default,
                    "value": value,
                })
            })
            .collect();
        context.output.document(&json!({"items": fields}));
        return;
    }
    let mut table = Table::new(&[Tone::Strong, Tone::Plain, Tone::Faint]);
    for ShownField { field, value, default } in shown {
        let value = match (value.filter(|value| !value.is_null()), default) {
            (Some(value), _) => value.to_string(),
            (None, Some(default)) => format!("{default} (default)"),
            (None, None) => "(not set)".to_owned(),
        };
        let required = if field.required { ", required" } else { "" };
        let about = field.description.as_deref().unwrap_or_default();
        table.row([field.name.clone(), value, format!("{}{required}  {about}", field.kind)]);
    }
    context.output.data(&table.render(context.output));
}
