//! Values that a caller has of their own over those of the operator: which settings may have them, and what comes of both.
//!
//! A script gets the operator's secrets together with the caller's values. A caller who could change where a script sends
//! them would have them, so a skill with secrets opens its other settings one by one.

use serde_json::{Map, Value};

use super::config_schema::{ConfigProblem, ConfigProblemKind, ConfigSchema};
use super::variable::texts;

/// The key of a setting's schema that opens or closes it for personal values.
const MARK: &str = "x-personal";

/// What a schema says about personal values of a setting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PersonalMark {
    /// `"x-personal": true`.
    Open,
    /// `"x-personal": false`, or something that is neither.
    Closed,
    /// Nothing.
    Unmarked,
}

impl PersonalMark {
    pub(super) fn read(schema: &Value) -> Self {
        match schema.get(MARK) {
            None => Self::Unmarked,
            Some(Value::Bool(true)) => Self::Open,
            Some(_) => Self::Closed,
        }
    }
}

impl ConfigSchema {
    /// Says whether callers may have a value of their own for a setting, beside what the operator set.
    pub fn may_be_personal(&self, name: &str, base: &Map<String, Value>) -> bool {
        let Some(field) = self.field(name) else { return false };
        match field.personal {
            PersonalMark::Open => true,
            PersonalMark::Closed => false,
            PersonalMark::Unmarked => field.sensitive || !self.has_secrets(base),
        }
    }

    /// Returns the operator's values with the caller's over them. A value that may not be personal, or that names a variable
    /// of the server, is left out: the schema may have changed since it was saved.
    pub fn overlay(&self, base: &Map<String, Value>, personal: &Map<String, Value>) -> Map<String, Value> {
        let is_used =
            |(name, value): &(&String, &Value)| self.may_be_personal(name, base) && !names_a_variable(value);
        let mut values = base.clone();
        let used = personal.iter().filter(is_used);
        values.extend(used.map(|(name, value)| (name.clone(), value.clone())));
        values
    }

    /// Checks a caller's values before they are saved. What is wrong with the operator's values already is not theirs.
    pub fn check_personal(
        &self,
        base: &Map<String, Value>,
        personal: &Map<String, Value>,
    ) -> Vec<ConfigProblem> {
        let mut problems: Vec<ConfigProblem> =
            personal.iter().filter_map(|(name, value)| self.personal_problem(name, value, base)).collect();
        if problems.is_empty() {
            let before = self.check(base);
            let after = self.check(&self.overlay(base, personal));
            problems.extend(after.into_iter().filter(|problem| !before.contains(problem)));
        }
        problems
    }

    fn personal_problem(
        &self,
        name: &str,
        value: &Value,
        base: &Map<String, Value>,
    ) -> Option<ConfigProblem> {
        let problem = |kind, message: &str| {
            Some(ConfigProblem { field: name.to_owned(), kind, message: message.to_owned() })
        };
        if !self.may_be_personal(name, base) {
            let message = "has no personal values: of a skill with secrets, only secrets and settings that \
                           `config-schema.json` marks with `\"x-personal\": true` have them";
            return problem(ConfigProblemKind::NotPersonal, message);
        }
        if names_a_variable(value) {
            let message = "a personal value cannot name a variable of the server: write the value itself";
            return problem(ConfigProblemKind::Placeholder, message);
        }
        None
    }

    /// Says whether a script may get something that is the operator's secret.
    fn has_secrets(&self, base: &Map<String, Value>) -> bool {
        self.fields().iter().any(|field| field.sensitive || field.env_var.is_some())
            || base.iter().any(|(name, value)| self.field(name).is_none() || names_a_variable(value))
    }
}

fn names_a_variable(value: &Value) -> bool {
    texts(value).iter().any(|(text, _)| text.contains("${"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn open() -> ConfigSchema {
        ConfigSchema::parse(json!({"properties": {
            "style": {"type": "string", "enum": ["plain", "noir"]},
            "volume": {"type": "integer"},
            "house": {"type": "string", "x-personal": false},
            "odd": {"type": "string", "x-personal": "yes"},
        }, "required": ["volume"]}))
        .unwrap()
    }

    fn with_secrets() -> ConfigSchema {
        ConfigSchema::parse(json!({"properties": {
            "token": {"type": "string", "format": "password"},
            "address": {"type": "string"},
            "style": {"type": "string", "x-personal": true},
            "root": {"type": "string", "format": "password", "x-personal": false},
        }}))
        .unwrap()
    }

    #[test]
    fn a_skill_with_secrets_opens_its_settings_one_by_one() {
        let check = |schema: &ConfigSchema, base: Value, expected: &[&str]| {
            let base = object(base);
            let names = schema.fields().iter().map(|field| field.name.as_str());
            let found: Vec<&str> = names.filter(|name| schema.may_be_personal(name, &base)).collect();
            assert_eq!(found, expected, "{base:?}");
        };
        check(&open(), json!({}), &["style", "volume"]);
        check(&open(), json!({"style": "noir"}), &["style", "volume"]);
        check(&with_secrets(), json!({}), &["style", "token"]);
        // Secrets that no schema names.
        check(&open(), json!({"style": "${ARTEL_SKILL_STYLE}"}), &[]);
        check(&open(), json!({"key": "s3cret"}), &[]);
        let from_variable = ConfigSchema::parse(json!({"properties": {
            "address": {"type": "string"}, "key": {"type": "string", "x-env-var": "ARTEL_SKILL_KEY"}}}));
        check(&from_variable.unwrap(), json!({}), &[]);
    }

    #[test]
    fn what_may_not_be_personal_is_never_used() {
        let base = object(json!({"token": "operators", "address": "https://good"}));
        let personal = object(json!({
            "address": "https://evil", "style": "${ARTEL_SKILL_TOKEN}", "token": "own", "root": "x", "more": 1,
        }));
        let values = with_secrets().overlay(&base, &personal);
        assert_eq!(Value::Object(values), json!({"token": "own", "address": "https://good"}));
    }

    #[test]
    fn problems_are_about_the_callers_own_values() {
        let check = |schema: &ConfigSchema, personal: Value, expected: &[&str]| {
            let problems = schema.check_personal(&Map::new(), &object(personal));
            let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
            assert_eq!(fields, expected, "{problems:?}");
        };
        // `volume` is missing, and was before.
        check(&open(), json!({"style": "noir"}), &[]);
        check(&open(), json!({"style": "loud"}), &["style"]);
        check(&open(), json!({"volume": "x"}), &["volume"]);
        check(&open(), json!({"house": "x"}), &["house"]);
        check(&open(), json!({"style": "${HOME}"}), &["style"]);
        check(&with_secrets(), json!({"address": "https://evil", "token": "own"}), &["address"]);
    }
}
