//! Lists of tools, and rules about other skills.
//!
//! What would allow less when it is left out is left out; what would allow more makes the skill unusable.

use artel_model::diagnostic::Code;
use artel_model::name::SkillName;
use artel_model::rule::{
    CompatibilityKind, CompatibilityRule, ComposabilityKind, ComposabilityRule, Rules, Wants,
};
use artel_model::tool::ToolPattern;
use serde_json::Value;

use super::reader::{Field, Reader, Spelling};
use crate::document::Part;

/// Reads a list of tool patterns. What is not a list is an empty one: a field that is there must not be replaced by
/// what another file allows.
pub(super) fn read_tools<'a>(reader: &mut Reader<'a>, field: Field<'a>) -> Vec<ToolPattern> {
    let mut patterns = Vec::new();
    for entry in reader.list(Some(field)).unwrap_or_default() {
        match entry.value {
            Value::String(text) => match text.parse() {
                Ok(pattern) => patterns.push(pattern),
                Err(error) => reader.bad_pattern(&entry.pointer, text, &error),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                reader.wrong_type(&entry, "a list of tools");
            }
        }
    }
    patterns
}

/// A rule about another skill, with the JSON Pointer to the skill's name.
struct WrittenRule<K> {
    kind: K,
    skill: SkillName,
    reason: Option<String>,
    pointer: String,
}

/// Reads compatibility rules: `requires` and `incompatible`.
pub(super) fn read_compatibility<'a>(
    reader: &mut Reader<'a>,
    field: Option<Field<'a>>,
) -> Vec<(CompatibilityRule, String)> {
    let kinds =
        [("requires", CompatibilityKind::Requires), ("incompatible", CompatibilityKind::Incompatible)];
    let rules = read_companion_rules(reader, field, &kinds);
    rules
        .into_iter()
        .map(|rule| {
            (CompatibilityRule { kind: rule.kind, skill: rule.skill, reason: rule.reason }, rule.pointer)
        })
        .collect()
}

/// Reads composability rules: `requires` and `forbids`.
pub(super) fn read_composability<'a>(
    reader: &mut Reader<'a>,
    field: Option<Field<'a>>,
) -> Vec<(ComposabilityRule, String)> {
    let kinds = [("requires", ComposabilityKind::Requires), ("forbids", ComposabilityKind::Forbids)];
    let rules = read_companion_rules(reader, field, &kinds);
    rules
        .into_iter()
        .map(|rule| {
            (ComposabilityRule { kind: rule.kind, skill: rule.skill, reason: rule.reason }, rule.pointer)
        })
        .collect()
}

fn read_companion_rules<'a, K: Copy>(
    reader: &mut Reader<'a>,
    field: Option<Field<'a>>,
    kinds: &[(&str, K)],
) -> Vec<WrittenRule<K>> {
    reader.in_full(Code::RuleInvalid, |reader| {
        let entries = reader.list(field).unwrap_or_default();
        entries.iter().filter_map(|entry| read_companion_rule(reader, entry, kinds)).collect()
    })
}

fn read_companion_rule<'a, K: Copy>(
    reader: &mut Reader<'a>,
    entry: &Field<'a>,
    kinds: &[(&str, K)],
) -> Option<WrittenRule<K>> {
    let Value::Object(object) = entry.value else {
        reader.wrong_type(entry, "a list of rules");
        return None;
    };
    let mut fields = reader.fields(object, &entry.pointer, Spelling::SnakeOrCamel);
    let (kind, skill) = (fields.take("type"), fields.take("skill"));
    let reason = reader.text(fields.take("reason"), artel_model::limit::DESCRIPTION_CHARS_MAX);
    reader.report_unknown(fields, "a rule has `type`, `skill` and `reason`");
    let names: Vec<String> = kinds.iter().map(|(name, _)| format!("`{name}`")).collect();
    let kind = match kind {
        Some(field) => {
            let known =
                kinds.iter().find(|(name, _)| field.value.as_str() == Some(name)).map(|(_, kind)| *kind);
            if known.is_none() {
                let message = format!("the `type` of a rule is {}, not {}", names.join(" or "), field.value);
                reader.report(Code::RuleInvalid, &field.pointer, Part::Value, message, None);
            }
            known
        }
        None => missing(reader, entry, "type"),
    };
    let skill = match skill {
        Some(field) => {
            let name = field.value.as_str().and_then(|text| text.parse().ok());
            if name.is_none() {
                let message = format!("{} is not a skill's name", field.value);
                reader.report(Code::RuleInvalid, &field.pointer, Part::Value, message, None);
            }
            name
        }
        None => missing(reader, entry, "skill"),
    };
    let pointer = format!("{}/skill", entry.pointer);
    Some(WrittenRule { kind: kind?, skill: skill?, reason, pointer })
}

fn missing<T>(reader: &mut Reader<'_>, entry: &Field<'_>, name: &str) -> Option<T> {
    let message = format!("a rule needs `{name}`");
    reader.report(Code::RuleInvalid, &entry.pointer, Part::Value, message, None);
    None
}

/// Reports rules that name the skill itself, and those that contradict an earlier one.
pub(super) fn check_companions(
    reader: &mut Reader<'_>,
    compatibility: &[(CompatibilityRule, String)],
    composability: &[(ComposabilityRule, String)],
    own: Option<&str>,
) {
    let compatibility = compatibility.iter().map(|(rule, pointer)| (rule.wants(), &rule.skill, pointer));
    let composability = composability.iter().map(|(rule, pointer)| (rule.wants(), &rule.skill, pointer));
    let mut earlier: Vec<(Wants, &SkillName)> = Vec::new();
    for (wants, skill, pointer) in compatibility.chain(composability) {
        if Some(skill.as_str()) == own {
            let message = format!("a rule of `{skill}` names the skill itself");
            reader.report(Code::RuleSelf, pointer, Part::Value, message, Some("remove the rule"));
        }
        if earlier.iter().any(|(other, name)| *other != wants && *name == skill) {
            let message = format!("`{skill}` is required by one rule and excluded by another");
            reader.report(
                Code::RuleContradiction,
                pointer,
                Part::Value,
                message,
                Some("keep one of the two rules"),
            );
        }
        earlier.push((wants, skill));
    }
}

/// Reports tools that are both allowed and forbidden, and protocol steps that name tools which are not allowed.
pub(super) fn report_odd_rules(
    reader: &mut Reader<'_>,
    rules: &Rules,
    allowed: Option<&Field<'_>>,
    protocol: Option<&Field<'_>>,
) {
    for index in rules.allowed_and_forbidden() {
        let tool = &rules.allowed_tools[index];
        let pointer =
            entry_of(allowed, |text| text.parse::<ToolPattern>().is_ok_and(|pattern| pattern == *tool));
        let message = format!("`{tool}` is allowed and forbidden: it stays forbidden");
        let hint = Some("remove it from one of the lists");
        reader.report(Code::ToolAllowedAndForbidden, &pointer, Part::Value, message, hint);
    }
    for (index, tool) in rules.protocol_outside_allowed() {
        let step = &rules.execution_protocol[index];
        let pointer = entry_of(protocol, |text| text == step);
        let message = format!("the protocol step \"{step}\" names `{tool}`, which the skill may not use");
        let hint = Some("add the tool to `allowed_tools`, or change the step");
        reader.report(Code::ProtocolOutsideAllowed, &pointer, Part::Value, message, hint);
    }
}

/// Returns the JSON Pointer of the first entry of a list that fits.
fn entry_of(list: Option<&Field<'_>>, fits: impl Fn(&str) -> bool) -> String {
    let Some(list) = list else { return String::new() };
    let entries = list.value.as_array().map(Vec::as_slice).unwrap_or_default();
    match entries.iter().position(|entry| entry.as_str().is_some_and(&fits)) {
        Some(index) => format!("{}/{index}", list.pointer),
        None => list.pointer.clone(),
    }
}
