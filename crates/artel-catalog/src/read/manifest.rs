//! The fields of `skill.json` and `skill.yaml`.

use artel_model::data_scope::DataScope;
use artel_model::diagnostic::{Code, Finding};
use artel_model::limit;
use artel_model::rule::Rules;
use artel_model::skill::SandboxRequest;
use artel_model::version::{Dependency, Version, WrittenVersion};
use serde_json::Value;

use super::draft::{At, Draft};
use super::frontmatter::{read_description, read_name};
use super::interface::{read_contract, read_schema};
use super::reader::{Field, Fields, Reader, Spelling};
use super::rules::{check_companions, read_compatibility, read_composability, read_tools, report_odd_rules};
use super::scripts::read_scripts;
use super::steps::{read_error_policy, read_steps};
use crate::document::Part;

/// Whether a manifest must say by itself what the skill is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ManifestRole {
    /// It is the only file.
    Alone,
    /// A `SKILL.md` stands beside it.
    BesideSkillMd,
}

/// Reads the object at `pointer` as a manifest; nothing when it is no object. `known_name` is what the skill is called
/// when the manifest does not say.
pub(crate) fn read_manifest(
    mut reader: Reader<'_>,
    pointer: &str,
    role: ManifestRole,
    known_name: Option<&str>,
) -> (Option<Draft>, Vec<Finding>) {
    let Some(Value::Object(object)) = reader.document.value.pointer(pointer) else {
        let message = "a skill is described by an object of fields".to_owned();
        reader.report(Code::NotAnObject, pointer, Part::Value, message, None);
        return (None, reader.findings);
    };
    let mut fields = reader.fields(object, pointer, Spelling::SnakeOrCamel);
    let (name, description) = (fields.take("name"), fields.take("description"));
    let mut draft = match role {
        ManifestRole::BesideSkillMd if name.is_none() && description.is_none() => Draft::default(),
        ManifestRole::BesideSkillMd => Draft {
            name: name.and_then(|field| read_name(&mut reader, Some(field), pointer)),
            description: description.and_then(|field| read_description(&mut reader, Some(field), pointer)),
            ..Draft::default()
        },
        ManifestRole::Alone => Draft {
            name: read_name(&mut reader, name, pointer),
            description: read_description(&mut reader, description, pointer),
            ..Draft::default()
        },
    };
    // Facts that artel keeps by itself: a skill that was written out may hold them.
    for fact in ["created_at", "updated_at"] {
        fields.take(fact);
    }
    read_about(&mut reader, &mut fields, &mut draft);
    let own = draft.name.as_ref().map(|name| name.value.clone()).or_else(|| known_name.map(str::to_owned));
    read_interface(&mut reader, &mut fields, &mut draft, own.as_deref());
    read_rules(&mut reader, &mut fields, &mut draft, own.as_deref());
    reader.report_unknown(fields, "own fields belong under `metadata`; see docs/skills.md for all fields");
    (Some(draft), reader.findings)
}

fn read_about<'a>(reader: &mut Reader<'a>, fields: &mut Fields<'a>, draft: &mut Draft) {
    draft.version = read_version(reader, fields.take("version"));
    draft.display_name = reader.located_text(fields.take("display_name"), limit::DISPLAY_NAME_CHARS_MAX);
    draft.author = reader.located_text(fields.take("author"), limit::AUTHOR_CHARS_MAX);
    draft.license = reader.located_text(fields.take("license"), limit::DESCRIPTION_CHARS_MAX);
    draft.homepage = reader.located_text(fields.take("homepage"), limit::DESCRIPTION_CHARS_MAX);
    draft.compatibility = reader.located_text(fields.take("compatibility"), limit::COMPATIBILITY_CHARS_MAX);
    draft.tags = read_tags(reader, fields.take("tags"));
    draft.capabilities = reader.texts(fields.take("capabilities"));
    draft.priority = reader.integer(fields.take("priority"), 0, limit::PRIORITY_MAX);
    draft.disable_model_invocation = reader.restriction(fields.take("disable_model_invocation"), true);
    draft.user_invocable = reader.restriction(fields.take("user_invocable"), false);
    if let Some(field) = fields.take("metadata") {
        draft.metadata = reader.object(&field).cloned().unwrap_or_default();
    }
}

fn read_interface<'a>(
    reader: &mut Reader<'a>,
    fields: &mut Fields<'a>,
    draft: &mut Draft,
    own: Option<&str>,
) {
    draft.parameters = read_schema(reader, fields.take("parameters_schema"));
    draft.returns = read_schema(reader, fields.take("returns_schema"));
    draft.timeout_s = reader.integer(fields.take("timeout"), 1, limit::TIMEOUT_S_MAX);
    draft.max_retries = reader.integer(fields.take("max_retries"), 0, limit::RETRIES_MAX);
    draft.backoff_ms = reader.integer(fields.take("backoff_ms"), 0, limit::BACKOFF_MS_MAX);
    draft.idempotent = reader.boolean(fields.take("idempotent"));
    draft.dependencies = read_dependencies(reader, fields.take("dependencies"), own);
    draft.scripts = read_scripts(reader, fields.take("scripts"));
    draft.entrypoint = fields.take("entrypoint").and_then(|field| {
        let position = reader.place(&field);
        reader.local_name(&field).map(|value| At { value, position })
    });
    draft.steps = read_steps(reader, fields.take("steps"));
    if let Some(policy) = read_error_policy(reader, fields.take("error_policy")) {
        (draft.error_policy, draft.fallback_position) = (Some(policy.value), policy.fallback_position);
    }
    draft.sandbox = read_sandbox(reader, fields.take("sandbox"));
    draft.data_scope = read_data_scope(reader, fields.take("data_scope"));
}

fn read_rules<'a>(reader: &mut Reader<'a>, fields: &mut Fields<'a>, draft: &mut Draft, own: Option<&str>) {
    let allowed = fields.take("allowed_tools");
    let protocol = fields.take("execution_protocol");
    draft.allowed_tools = allowed.clone().map(|field| {
        let position = reader.place(&field);
        At { value: read_tools(reader, field), position }
    });
    let forbidden = fields.take("forbidden_tools");
    draft.forbidden_tools = forbidden
        .map(|field| reader.in_full(Code::ForbiddenToolsInvalid, |reader| read_tools(reader, field)));
    draft.execution_protocol = reader.texts(protocol.clone());
    draft.preconditions = reader.texts(fields.take("preconditions"));
    draft.postconditions = reader.texts(fields.take("postconditions"));
    draft.output_contract = read_contract(reader, fields.take("output_contract"));
    let compatibility = read_compatibility(reader, fields.take("compatibility_rules"));
    let composability = read_composability(reader, fields.take("composability_rules"));
    check_companions(reader, &compatibility, &composability, own);
    draft.compatibility_rules = compatibility.into_iter().map(|(rule, _)| rule).collect();
    draft.composability_rules = composability.into_iter().map(|(rule, _)| rule).collect();
    let rules = Rules {
        allowed_tools: draft.allowed_tools.as_ref().map(|tools| tools.value.clone()).unwrap_or_default(),
        forbidden_tools: draft.forbidden_tools.clone().unwrap_or_default(),
        execution_protocol: draft.execution_protocol.clone().unwrap_or_default(),
        ..Rules::default()
    };
    report_odd_rules(reader, &rules, allowed.as_ref(), protocol.as_ref());
}

fn read_version<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<At<Version>> {
    let field = field?;
    let Value::String(text) = field.value else {
        reader.wrong_type(&field, "a text like \"1.2.3\"");
        return None;
    };
    let hint = Some("write three numbers: \"1.2.3\"");
    let version = match WrittenVersion::parse(text) {
        Some(WrittenVersion::Exact(version)) => version,
        Some(WrittenVersion::Padded(version)) => {
            let message = format!("`{text}` is read as {version}");
            reader.report(Code::VersionPadded, &field.pointer, Part::Value, message, hint);
            version
        }
        None => {
            let message = format!("`{text}` is not a semantic version");
            reader.report(Code::VersionInvalid, &field.pointer, Part::Value, message, hint);
            return None;
        }
    };
    Some(At { value: version, position: reader.place(&field) })
}

fn read_tags<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<At<Vec<String>>> {
    let field = field?;
    let mut tags = reader.texts(Some(field.clone()))?;
    if tags.len() > limit::TAGS_MAX {
        let message = format!("`tags` has {} entries, at most {} are allowed", tags.len(), limit::TAGS_MAX);
        reader.report(Code::FieldOutOfRange, &field.pointer, Part::Value, message, None);
        tags.truncate(limit::TAGS_MAX);
    }
    for (index, tag) in tags.iter().enumerate() {
        let entry = Field { pointer: format!("{}/{index}", field.pointer), ..field.clone() };
        reader.check_length(&entry, tag, limit::TAG_CHARS_MAX);
    }
    Some(At { value: tags, position: reader.place(&field) })
}

fn read_dependencies<'a>(
    reader: &mut Reader<'a>,
    field: Option<Field<'a>>,
    own: Option<&str>,
) -> Option<Vec<At<Dependency>>> {
    let mut dependencies = Vec::new();
    for entry in reader.list(field)? {
        let Value::String(text) = entry.value else {
            reader.wrong_type(&entry, "a list of texts");
            continue;
        };
        match text.parse::<Dependency>() {
            Ok(dependency) if Some(dependency.name.as_str()) == own => {
                let message = format!("`{}` depends on itself", dependency.name);
                reader.report(Code::DependencySelf, &entry.pointer, Part::Value, message, Some("remove it"));
            }
            Ok(value) => dependencies.push(At { value, position: reader.place(&entry) }),
            Err(error) => {
                let hint = Some("write `name` or `name@requirement`, for example `detect@^1.2`");
                reader.report(Code::DependencyInvalid, &entry.pointer, Part::Value, error.to_string(), hint);
            }
        }
    }
    Some(dependencies)
}

/// Reads whose data a script sees. A word that is unknown leaves the usual scope, which shares nothing between owners.
fn read_data_scope<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<DataScope> {
    let field = field?;
    let scope = field.value.as_str().and_then(DataScope::named);
    if scope.is_none() {
        let message = format!("`data_scope` is `principal`, `run`, `team` or `shared`, not {}", field.value);
        let hint = "each owner of a run has data of its own, as with `principal`";
        reader.report(Code::FieldValue, &field.pointer, Part::Value, message, Some(hint));
    }
    scope
}

fn read_sandbox<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<SandboxRequest> {
    let field = field?;
    let object = reader.object(&field)?;
    let mut fields = reader.fields(object, &field.pointer, Spelling::SnakeOrCamel);
    let sandbox = SandboxRequest {
        network: reader.boolean(fields.take("network")).unwrap_or(false),
        read: reader.texts(fields.take("read")).unwrap_or_default(),
        write: reader.texts(fields.take("write")).unwrap_or_default(),
        env: reader.texts(fields.take("env")).unwrap_or_default(),
    };
    reader.report_unknown(fields, "a sandbox has `network`, `read`, `write` and `env`");
    Some(sandbox)
}
