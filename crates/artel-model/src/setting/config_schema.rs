//! What `config-schema.json` allows, and how settings are checked against it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::effective::{EffectiveConfig, MASK};
use super::field::Field;
use super::variable::{EnvAllowList, Malformed, Piece, fill, pieces, texts};
use crate::schema::{Quote, Schema, SchemaError, Violation, ViolationKind};

/// What a user may configure.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigSchema {
    schema: Schema,
    fields: Vec<Field>,
}

/// A setting with what may be shown of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownField<'a> {
    /// The setting; its own default may be a secret.
    pub field: &'a Field,
    /// What is set; absent when nothing is.
    pub value: Option<Value>,
    /// The value it has when nobody sets it.
    pub default: Option<Value>,
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
    /// Callers have no value of their own for this setting.
    NotPersonal,
}

impl ConfigSchema {
    /// Reads a `config-schema.json`.
    pub fn parse(document: Value) -> Result<Self, SchemaError> {
        let schema = Schema::parse(document)?;
        let document = schema.document();
        let required: BTreeSet<&str> = document["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let fields = document["properties"]
            .as_object()
            .map(|fields| {
                fields.iter().map(|(name, field)| Field::read(document, name, field, &required)).collect()
            })
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

    /// Returns the settings as they may be shown, by name: every secret is masked, a `${NAME}` that names one is not.
    pub fn shown(&self, config: &Map<String, Value>) -> Vec<ShownField<'_>> {
        let show = |field: &Field, value: &Value| {
            if field.is_secret(value) { Value::from(MASK) } else { value.clone() }
        };
        let shown = |field| ShownField {
            field,
            value: config.get(&field.name).map(|value| show(field, value)),
            default: field.default.as_ref().map(|default| show(field, default)),
        };
        self.fields.iter().map(shown).collect()
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
                match pieces(text) {
                    Err(Malformed) => problems.push(malformed(name, &pointer)),
                    Ok(pieces) if pieces.iter().any(|piece| matches!(piece, Piece::Variable(_))) => {
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
                values.insert(field.name.clone(), field.kind.typed(&text));
            }
        }
        self.schema.fill_defaults(&mut values);
        // Nobody says of a setting without a schema whether it is secret.
        let is_open = |name: &str| self.field(name).is_some_and(|field| !field.sensitive);
        hidden.extend(values.keys().filter(|name| !is_open(name)).cloned());
        problems.extend(self.violations(&values, &hidden));
        if problems.is_empty() { Ok(EffectiveConfig::new(values, hidden)) } else { Err(problems) }
    }

    /// A whole-string placeholder takes the type its field asks for; anything else stays as it is.
    fn typed(&self, name: &str, filled: Value, written: &Value) -> Value {
        match (self.field(name), &filled) {
            (Some(field), Value::String(text)) if filled != *written => field.kind.typed(text),
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

fn malformed(field: &str, pointer: &str) -> ConfigProblem {
    ConfigProblem {
        field: field.to_owned(),
        kind: ConfigProblemKind::Placeholder,
        message: format!("`{field}{pointer}` has a malformed placeholder: write `${{NAME}}`"),
    }
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
        check(json!({"token": "${oops"}), &[("token", ConfigProblemKind::Placeholder)]);
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

    #[test]
    fn only_a_placeholder_of_a_secret_is_shown() {
        let schema = ConfigSchema::parse(json!({"properties": {
            "auth": {"properties": {"token": {"format": "password"}}},
            "key": {"format": "password", "default": "built-in"},
            "pin": {"type": "integer", "x-sensitive": true},
            "style": {"type": "string", "default": "plain"},
            "word": {"x-sensitive": true},
        }}))
        .unwrap();
        let shown = |config: Value| {
            let shown = schema.shown(&object(config));
            shown
                .into_iter()
                .map(|shown| json!([shown.field.name, shown.value, shown.default]))
                .collect::<Value>()
        };
        let mask = Value::from(MASK);
        assert_eq!(
            shown(json!({"auth": {"token": "s3cret"}, "pin": 1234, "style": "s", "word": "s3cret${X}"})),
            json!([
                ["auth", mask, null],
                ["key", null, mask],
                ["pin", mask, null],
                ["style", "s", "plain"],
                ["word", mask, null],
            ])
        );
        let placeholders = shown(json!({"key": "${KEY}", "pin": "${PIN}"}));
        assert_eq!((&placeholders[1][1], &placeholders[2][1]), (&json!("${KEY}"), &json!("${PIN}")));
    }

    #[test]
    fn a_setting_that_the_schema_does_not_describe_is_hidden() {
        let config = resolve(json!({"token": "abcd", "more": "s3cret", "style": "noir"}), &[]).unwrap();
        assert_eq!(Value::Object(config.masked()), json!({"token": MASK, "more": MASK, "style": "noir"}));
    }
}
