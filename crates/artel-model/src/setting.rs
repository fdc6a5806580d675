//! The settings of a skill: what `config-schema.json` allows, and what `config.json` and the environment give.
//!
//! Values of environment variables are filled in only when a script runs. They are never stored and never shown.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::limit::CONFIG_VALUE_BYTES_MAX;
use crate::schema::{Quote, Schema, SchemaError, Violation, ViolationKind, push_pointer};
use crate::tool::Glob;

/// What a user may configure.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigSchema {
    schema: Schema,
    fields: Vec<Field>,
}

/// One setting, for forms and tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type as the schema says it; `string` when it says none.
    pub kind: String,
    /// What it means.
    pub description: Option<String>,
    /// The value it has when nobody sets it.
    pub default: Option<Value>,
    /// Whether it must be set.
    pub required: bool,
    /// Whether its value must never be shown.
    pub sensitive: bool,
    /// The environment variable that sets it when `config.json` does not.
    pub env_var: Option<String>,
    /// Where a form puts it.
    pub category: Option<String>,
}

/// Which environment variables may be filled in.
#[derive(Clone, Debug)]
pub struct EnvAllowList(Vec<Glob>);

/// The settings a script gets. Debug output hides every value.
#[derive(Clone, PartialEq)]
pub struct EffectiveConfig {
    values: Map<String, Value>,
    hidden: BTreeSet<String>,
}

/// One reason why settings cannot be used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigProblem {
    /// The field; empty when it is about the whole.
    pub field: String,
    /// What kind of rule is broken.
    pub kind: ConfigProblemKind,
    /// For a person; never quotes a secret.
    pub message: String,
}

/// The kinds of problems with settings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConfigProblemKind {
    /// A rule of the schema.
    Schema(ViolationKind),
    /// `${NAME}` names a variable that is not on the allow-list.
    VariableNotAllowed,
    /// `${NAME}` names a variable that is not set.
    VariableNotSet,
    /// `${` without a name and a closing brace.
    Placeholder,
    /// The value is too large after variables were filled in.
    TooLarge,
}

/// What is shown instead of a secret.
pub const MASK: &str = "********";

impl EnvAllowList {
    /// Makes a list of names; `*` stands for any run of characters.
    pub fn new(patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self(patterns.into_iter().map(|pattern| Glob::new(pattern.as_ref())).collect())
    }

    fn allows(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }
}

impl ConfigSchema {
    /// Reads a `config-schema.json`.
    pub fn parse(document: Value) -> Result<Self, SchemaError> {
        let schema = Schema::parse(document)?;
        let required: BTreeSet<&str> = schema.document()["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let fields = schema.document()["properties"]
            .as_object()
            .map(|fields| fields.iter().map(|(name, field)| Field::read(name, field, &required)).collect())
            .unwrap_or_default();
        Ok(Self { schema, fields })
    }

    /// Returns the schema as it was written.
    pub fn document(&self) -> &Value {
        self.schema.document()
    }

    /// Returns the settings, by name.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the setting of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Checks settings before they are saved. A value that an environment variable will fill in is only checked for
    /// being well formed.
    pub fn check(&self, config: &Map<String, Value>) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        let mut candidate = config.clone();
        self.schema.fill_defaults(&mut candidate);
        let mut pending = BTreeSet::new();
        for field in &self.fields {
            if field.env_var.is_some() && !candidate.contains_key(&field.name) {
                pending.insert(field.name.clone());
            }
        }
        for (name, value) in config {
            for (text, pointer) in texts(value) {
                match placeholders(text) {
                    Err(()) => problems.push(malformed(name, &pointer)),
                    Ok(names) if !names.is_empty() => {
                        pending.insert(name.clone());
                    }
                    Ok(_) => {}
                }
            }
        }
        problems.extend(
            self.violations(&candidate, &BTreeSet::new())
                .into_iter()
                .filter(|problem| !pending.contains(&problem.field)),
        );
        problems
    }

    /// Returns the settings for a script: variables and defaults filled in, and checked.
    pub fn resolve(
        &self,
        config: &Map<String, Value>,
        allowed: &EnvAllowList,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<EffectiveConfig, Vec<ConfigProblem>> {
        let (mut values, mut hidden, mut problems) = (Map::new(), BTreeSet::new(), Vec::new());
        for (name, value) in config {
            let filled = fill(value, allowed, &variable, &mut |kind, text| {
                problems.push(ConfigProblem { field: name.clone(), kind, message: text });
            });
            if filled != *value {
                hidden.insert(name.clone());
            }
            values.insert(name.clone(), self.typed(name, filled, value));
        }
        for field in &self.fields {
            let Some(env_var) = field.env_var.as_ref().filter(|_| !values.contains_key(&field.name)) else {
                continue;
            };
            if let Some(text) = variable(env_var).filter(|_| allowed.allows(env_var)) {
                hidden.insert(field.name.clone());
                values.insert(field.name.clone(), typed(&field.kind, &text));
            }
        }
        hidden.extend(self.fields.iter().filter(|field| field.sensitive).map(|field| field.name.clone()));
        self.schema.fill_defaults(&mut values);
        problems.extend(self.violations(&values, &hidden));
        if problems.is_empty() { Ok(EffectiveConfig { values, hidden }) } else { Err(problems) }
    }

    /// A whole-string placeholder takes the type its field asks for; anything else stays as it is.
    fn typed(&self, name: &str, filled: Value, written: &Value) -> Value {
        match (self.field(name), &filled) {
            (Some(field), Value::String(text)) if filled != *written => typed(&field.kind, text),
            (Some(_) | None, _) => filled,
        }
    }

    /// Returns how the values break the schema; messages never quote what is sensitive or `hidden`.
    fn violations(&self, values: &Map<String, Value>, hidden: &BTreeSet<String>) -> Vec<ConfigProblem> {
        let instance = Value::Object(values.clone());
        let quoting = self.schema.violations(&instance, Quote::Values);
        let masking = self.schema.violations(&instance, Quote::Nothing);
        quoting.into_iter().zip(masking).map(|(open, masked)| self.problem(&open, masked, hidden)).collect()
    }

    fn problem(&self, open: &Violation, masked: Violation, hidden: &BTreeSet<String>) -> ConfigProblem {
        let field = field_of(open);
        let sensitive = self.field(&field).is_none_or(|field| field.sensitive) || hidden.contains(&field);
        let message = if sensitive { masked.message } else { open.message.clone() };
        ConfigProblem { field, kind: ConfigProblemKind::Schema(open.kind), message }
    }
}

/// The top-level field a violation is about: the missing one for `required`, else the first part of its path.
fn field_of(violation: &Violation) -> String {
    let first = violation.path.split('/').nth(1).unwrap_or_default();
    if !first.is_empty() {
        return first.replace("~1", "/").replace("~0", "~");
    }
    match violation.kind {
        ViolationKind::Required | ViolationKind::Unknown => {
            violation.message.split(['"', '\'']).nth(1).unwrap_or_default().to_owned()
        }
        ViolationKind::Type
        | ViolationKind::Enum
        | ViolationKind::Range
        | ViolationKind::Length
        | ViolationKind::Pattern
        | ViolationKind::Format
        | ViolationKind::Other => String::new(),
    }
}

impl Field {
    /// Turns what a person typed into a value of the setting's type; a placeholder stays a text.
    pub fn value_of(&self, text: &str) -> Value {
        if text.contains("${") { Value::from(text) } else { typed(&self.kind, text) }
    }

    fn read(name: &str, schema: &Value, required: &BTreeSet<&str>) -> Self {
        let text = |key: &str| schema[key].as_str().map(str::to_owned);
        let format = schema["format"].as_str().unwrap_or_default();
        Self {
            name: name.to_owned(),
            kind: text("type").unwrap_or_else(|| "string".to_owned()),
            description: text("description"),
            default: schema.get("default").cloned(),
            required: required.contains(name),
            sensitive: schema["x-sensitive"].as_bool().unwrap_or(false) || format == "password",
            env_var: text("x-env-var"),
            category: text("x-category"),
        }
    }
}

impl EffectiveConfig {
    /// Settings of a skill that has no schema: as they are, and all hidden, since nobody says which are secret.
    pub fn unchecked(values: Map<String, Value>) -> Self {
        let hidden = values.keys().cloned().collect();
        Self { values, hidden }
    }

    /// Returns the values themselves, for the script only.
    pub fn reveal(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Returns the values with every secret hidden.
    pub fn masked(&self) -> Map<String, Value> {
        let show = |(name, value): (&String, &Value)| {
            let value = if self.hidden.contains(name) { Value::from(MASK) } else { value.clone() };
            (name.clone(), value)
        };
        self.values.iter().map(show).collect()
    }
}

impl fmt::Debug for EffectiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EffectiveConfig").field(&self.masked()).finish()
    }
}

fn typed(kind: &str, text: &str) -> Value {
    let parsed = match kind {
        "integer" => text.trim().parse::<i64>().ok().map(Value::from),
        "number" => text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number),
        "boolean" => text.trim().parse::<bool>().ok().map(Value::from),
        "array" => Some(text.split(',').map(|item| Value::from(item.trim())).collect()),
        _ => None,
    };
    parsed.unwrap_or_else(|| Value::from(text))
}

/// Returns every text inside `value` with its JSON Pointer.
fn texts(value: &Value) -> Vec<(&str, String)> {
    match value {
        Value::String(text) => vec![(text, String::new())],
        Value::Array(items) => {
            let nested = |(index, item)| texts_under(item, usize::to_string(&index).as_str());
            items.iter().enumerate().flat_map(nested).collect()
        }
        Value::Object(object) => object.iter().flat_map(|(key, item)| texts_under(item, key)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn texts_under<'a>(value: &'a Value, key: &str) -> Vec<(&'a str, String)> {
    let mut prefix = String::new();
    push_pointer(&mut prefix, key);
    texts(value).into_iter().map(|(text, pointer)| (text, format!("{prefix}{pointer}"))).collect()
}

/// Returns the names between `${` and `}`, or an error where one is malformed.
fn placeholders(text: &str) -> Result<Vec<&str>, ()> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let from = &rest[start + 2..];
        let end = from.find('}').ok_or(())?;
        let name = &from[..end];
        let characters_fit = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !characters_fit {
            return Err(());
        }
        names.push(name);
        rest = &from[end + 1..];
    }
    Ok(names)
}

fn malformed(field: &str, pointer: &str) -> ConfigProblem {
    ConfigProblem {
        field: field.to_owned(),
        kind: ConfigProblemKind::Placeholder,
        message: format!("`{field}{pointer}` has a malformed placeholder: write `${{NAME}}`"),
    }
}

fn fill(
    value: &Value,
    allowed: &EnvAllowList,
    variable: &impl Fn(&str) -> Option<String>,
    report: &mut impl FnMut(ConfigProblemKind, String),
) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, allowed, variable, report)),
        Value::Array(items) => items.iter().map(|item| fill(item, allowed, variable, report)).collect(),
        Value::Object(object) => {
            let filled =
                object.iter().map(|(key, item)| (key.clone(), fill(item, allowed, variable, report)));
            Value::Object(filled.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn fill_text(
    text: &str,
    allowed: &EnvAllowList,
    variable: &impl Fn(&str) -> Option<String>,
    report: &mut impl FnMut(ConfigProblemKind, String),
) -> String {
    let Ok(names) = placeholders(text) else {
        report(ConfigProblemKind::Placeholder, "a placeholder is malformed: write `${NAME}`".to_owned());
        return text.to_owned();
    };
    let mut filled = text.to_owned();
    for name in names {
        if !allowed.allows(name) {
            let message = format!("`{name}` is not on the list of variables that skills may see");
            report(ConfigProblemKind::VariableNotAllowed, message);
            continue;
        }
        match variable(name) {
            Some(value) => filled = filled.replacen(&format!("${{{name}}}"), &value, 1),
            None => {
                report(ConfigProblemKind::VariableNotSet, format!("`{name}` is not set in the environment"))
            }
        }
        if filled.len() > CONFIG_VALUE_BYTES_MAX {
            let message = format!("the value is larger than {CONFIG_VALUE_BYTES_MAX} bytes");
            report(ConfigProblemKind::TooLarge, message);
            return text.to_owned();
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> ConfigSchema {
        ConfigSchema::parse(json!({
            "type": "object",
            "properties": {
                "style": {"type": "string", "enum": ["plain", "noir"], "default": "plain"},
                "volume": {"type": "integer", "minimum": 0, "maximum": 10},
                "token": {"type": "string", "format": "password", "minLength": 4},
                "endpoint": {"type": "string", "x-env-var": "ARTEL_SKILL_ENDPOINT", "x-category": "network"},
                "port": {"type": "integer"},
            },
            "required": ["token"],
        }))
        .unwrap()
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[track_caller]
    fn check(config: Value, expected: &[(&str, ConfigProblemKind)]) {
        let problems = schema().check(&object(config));
        let found: Vec<_> = problems.iter().map(|problem| (problem.field.as_str(), problem.kind)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_broken_rule_is_reported_with_its_field() {
        use ConfigProblemKind::Schema;
        check(json!({"token": "abcd"}), &[]);
        check(json!({"token": "abcd", "volume": 0}), &[]);
        check(json!({}), &[("token", Schema(ViolationKind::Required))]);
        check(
            json!({"token": "abcd", "style": "loud", "volume": -1, "port": "x"}),
            &[
                ("port", Schema(ViolationKind::Type)),
                ("style", Schema(ViolationKind::Enum)),
                ("volume", Schema(ViolationKind::Range)),
            ],
        );
        check(json!({"token": "abcd", "volume": 11}), &[("volume", Schema(ViolationKind::Range))]);
        check(
            json!({"token": "${oops"}),
            &[("token", ConfigProblemKind::Placeholder), ("token", Schema(ViolationKind::Length))][..1],
        );
    }

    #[test]
    fn a_value_that_the_environment_fills_in_is_not_judged_early() {
        check(json!({"token": "${T}", "port": "${PORT}"}), &[]);
    }

    fn resolve(config: Value, variables: &[(&str, &str)]) -> Result<EffectiveConfig, Vec<ConfigProblem>> {
        let allowed = EnvAllowList::new(["ARTEL_SKILL_*", "PORT"]);
        schema().resolve(&object(config), &allowed, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_and_defaults_are_filled_in_and_typed() {
        let variables =
            [("ARTEL_SKILL_TOKEN", "s3cret"), ("PORT", "8080"), ("ARTEL_SKILL_ENDPOINT", "https://x")];
        let config =
            resolve(json!({"token": "${ARTEL_SKILL_TOKEN}", "port": "${PORT}"}), &variables).unwrap();
        assert_eq!(
            Value::Object(config.reveal().clone()),
            json!({"style": "plain", "token": "s3cret", "port": 8080, "endpoint": "https://x"})
        );
        assert_eq!(
            Value::Object(config.masked()),
            json!({"style": "plain", "token": MASK, "port": MASK, "endpoint": MASK})
        );
        assert!(!format!("{config:?}").contains("s3cret"));
    }

    #[test]
    fn a_variable_must_be_allowed_and_set() {
        let problems = resolve(json!({"token": "${HOME}"}), &[("HOME", "/root")]).unwrap_err();
        assert_eq!(problems[0].kind, ConfigProblemKind::VariableNotAllowed);
        let problems = resolve(json!({"token": "${ARTEL_SKILL_TOKEN}"}), &[]).unwrap_err();
        assert_eq!(problems[0].kind, ConfigProblemKind::VariableNotSet);
    }

    #[test]
    fn a_secret_is_in_no_message() {
        let problems =
            resolve(json!({"token": "abcd", "port": "${PORT}"}), &[("PORT", "hunter2")]).unwrap_err();
        assert!(problems.iter().all(|problem| !problem.message.contains("hunter2")), "{problems:?}");
        let problems = resolve(json!({"token": "abc"}), &[]).unwrap_err();
        assert!(problems.iter().all(|problem| !problem.message.contains("abc")), "{problems:?}");
    }
}
