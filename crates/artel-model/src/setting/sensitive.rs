//! Which settings are secret: those whose schema says so anywhere, however it is composed.
//!
//! Where that cannot be told, a setting counts as secret.

use std::collections::BTreeSet;

use serde_json::Value;

/// Schemas that are looked at for one setting. A setting that has more counts as secret.
const SCHEMAS_MAX: usize = 10_000;

/// Keys under which schemas apply to the same value.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas"];
/// Keys whose values hold schemas by names that a user chose.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];
/// Keys whose values are data, not schemas.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keys that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Says whether the top-level setting of that name is secret.
pub(super) fn is_sensitive(root: &Value, name: &str) -> bool {
    let mut look = Look { root, name, open: vec![(Subject::Whole, root)], seen: BTreeSet::new() };
    let mut left = SCHEMAS_MAX;
    // A list of what is open instead of recursion: references may lead on and on.
    while let Some((subject, schema)) = look.open.pop() {
        left -= 1;
        if left == 0 || is_marked(schema) || look.open(subject, schema) == Outcome::Unknown {
            return true;
        }
    }
    false
}

/// Returns the schema that a local reference names.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    // Anchors and escaped pointers are rare enough not to be looked up.
    root.pointer(reference.strip_prefix('#')?)
}

struct Look<'a> {
    root: &'a Value,
    name: &'a str,
    open: Vec<(Subject, &'a Value)>,
    /// References that were followed.
    seen: BTreeSet<(Subject, &'a str)>,
}

/// What a schema is about.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Subject {
    /// All settings together.
    Whole,
    /// The setting, or something inside it.
    Setting,
}

/// Whether everything inside a schema is known.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Outcome {
    Known,
    Unknown,
}

impl<'a> Look<'a> {
    /// Takes up the schemas inside a schema that say something about the setting.
    fn open(&mut self, subject: Subject, schema: &'a Value) -> Outcome {
        for (key, value) in schema.as_object().into_iter().flatten() {
            let key = key.as_str();
            match (subject, value) {
                (_, Value::String(reference)) if REFERENCES.contains(&key) => {
                    let Some(target) = resolve(self.root, reference) else { return Outcome::Unknown };
                    if self.seen.insert((subject, reference)) {
                        self.open.push((subject, target));
                    }
                }
                (_, _) if DATA.contains(&key) => {}
                (Subject::Whole, _) if key == "properties" => {
                    self.open.extend(value.get(self.name).map(|property| (Subject::Setting, property)));
                }
                // Whether a pattern fits the name is not looked at.
                (Subject::Whole, _) if key == "patternProperties" => self.open_all(Subject::Setting, value),
                (Subject::Whole, _) if !IN_PLACE.contains(&key) => {}
                (_, Value::Object(_)) if !NAMED.contains(&key) => self.open.push((subject, value)),
                (_, _) => self.open_all(subject, value),
            }
        }
        Outcome::Known
    }

    fn open_all(&mut self, subject: Subject, schemas: &'a Value) {
        let named = schemas.as_object().into_iter().flat_map(|schemas| schemas.values());
        let listed = schemas.as_array().into_iter().flatten();
        self.open.extend(named.chain(listed).map(|schema| (subject, schema)));
    }
}

fn is_marked(schema: &Value) -> bool {
    schema["x-sensitive"] == Value::Bool(true) || schema["format"] == "password"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: bool) {
        assert_eq!(is_sensitive(&schema, "auth"), expected, "{schema}");
    }

    fn property(schema: Value) -> Value {
        json!({
            "properties": {"auth": schema, "other": {"format": "password"}},
            "definitions": {"secret": {"type": "string", "x-sensitive": true}, "plain": {"type": "string"},
                "loop": {"properties": {"again": {"$ref": "#/definitions/loop"}}}},
        })
    }

    #[test]
    fn a_mark_anywhere_below_a_setting_counts() {
        check(property(json!({"format": "password"})), true);
        check(property(json!({"x-sensitive": true})), true);
        check(property(json!({"properties": {"token": {"format": "password"}}})), true);
        check(property(json!({"properties": {"default": {"format": "password"}}})), true);
        check(property(json!({"items": {"x-sensitive": true}})), true);
        check(property(json!({"items": [{"x-sensitive": true}]})), true);
        check(property(json!({"anyOf": [{"type": "null"}, {"x-sensitive": true}]})), true);
        check(property(json!({"additionalProperties": {"x-sensitive": true}})), true);
        check(property(json!({"$ref": "#/definitions/secret"})), true);
        check(property(json!({"allOf": [{"$ref": "#/definitions/secret"}]})), true);
    }

    #[test]
    fn what_nobody_marks_is_shown() {
        check(property(json!({"type": "string"})), false);
        check(property(json!({"$ref": "#/definitions/plain"})), false);
        check(property(json!({"$ref": "#/definitions/loop"})), false);
        check(property(json!({"default": {"format": "password"}})), false);
        check(property(json!({"x-sensitive": false})), false);
    }

    #[test]
    fn what_cannot_be_told_is_secret() {
        check(property(json!({"$ref": "#/definitions/missing"})), true);
        check(property(json!({"$ref": "#anchor"})), true);
        let many: Vec<Value> = (0..SCHEMAS_MAX).map(|_| json!({})).collect();
        check(property(json!({"anyOf": many})), true);
        let chain = (0..SCHEMAS_MAX).map(|n| (n.to_string(), json!({"$ref": format!("#/$defs/{}", n + 1)})));
        let chain: serde_json::Map<_, _> = chain.collect();
        check(json!({"properties": {"auth": {"$ref": "#/$defs/0"}}, "$defs": chain}), true);
    }

    #[test]
    fn a_setting_may_be_marked_beside_the_properties() {
        let marked = json!({"properties": {"auth": {"format": "password"}}});
        check(json!({"properties": {"auth": {}}, "allOf": [marked]}), true);
        check(json!({"properties": {"auth": {}}, "if": {}, "then": marked}), true);
        check(json!({"properties": {"auth": {}}, "$ref": "#/$defs/a", "$defs": {"a": marked}}), true);
        check(json!({"properties": {"auth": {}}, "patternProperties": {"^a": {"x-sensitive": true}}}), true);
        check(json!({"properties": {"auth": {}}, "$defs": {"a": marked}}), false);
    }
}
