//! What Codex loads: a `SKILL.md` with a description; the name may be missing, other fields do not matter.

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit::{DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX};
use serde_json::Value;

use super::skill_md::{SkillMdFile, SkillMdState};
use crate::document::{Budget, Document, FeatureKind, NodeKind, OLD_LINE_BREAKS, Part, parse_yaml};

/// Fields that Codex reads into types of their own, so that a repetition is an error.
const TYPED_FIELDS: [&str; 3] = ["name", "description", "metadata"];

/// Returns why Codex would not load the file.
pub(super) fn check(file: &SkillMdFile) -> Vec<Finding> {
    if let SkillMdState::Escapes | SkillMdState::Present { is_link: true, is_lowercase: false, .. } =
        file.state
    {
        return vec![file.finding(Code::SymlinkEscapes, None, "links are skipped")];
    }
    if let Some(finding) = file.absent().or_else(|| file.lowercase()) {
        return vec![finding];
    }
    match document(file) {
        Ok(document) => problems(file, &document),
        Err(finding) => vec![finding],
    }
}

fn document(file: &SkillMdFile) -> Result<Document<'static>, Finding> {
    let text = file.text()?;
    let yaml = frontmatter(text).ok_or_else(|| {
        let message = "frontmatter between two `---` lines is needed";
        file.finding(Code::FrontmatterMissing, Some(Position::START), message)
    })?;
    // Its YAML ends lines at these, too.
    let yaml = yaml.replace(OLD_LINE_BREAKS, "\n");
    let (node, features) = parse_yaml(&yaml, Budget::FRONTMATTER).map_err(|error| {
        let position = Position { line: error.position.line + 1, ..error.position };
        file.finding(Code::YamlInvalid, Some(position), error.kind.to_string())
    })?;
    if let Some(early) = features.iter().find(|feature| feature.kind == FeatureKind::EarlyEnd) {
        let position = Position { line: early.position.line + 1, ..early.position };
        return Err(file.finding(Code::YamlInvalid, Some(position), "`...` stands where a field should be"));
    }
    if let NodeKind::Mapping(entries) = &node.kind {
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.text.as_str()).collect();
        let repeated = TYPED_FIELDS.iter().find(|field| keys.iter().filter(|key| key == field).count() > 1);
        if let Some(field) = repeated {
            let message = format!("`{field}` stands twice");
            return Err(file.finding(Code::DuplicateKey, Some(Position::START), message));
        }
    }
    Ok(Document::from_yaml(node, 1))
}

fn frontmatter(text: &str) -> Option<String> {
    let mut lines = text.lines();
    if lines.next()?.trim() != "---" {
        return None;
    }
    let mut yaml = Vec::new();
    for line in lines {
        if line.trim() == "---" {
            return (!yaml.is_empty()).then(|| yaml.join("\n"));
        }
        yaml.push(line);
    }
    None
}

fn problems(file: &SkillMdFile, document: &Document<'_>) -> Vec<Finding> {
    let Value::Object(fields) = &document.value else {
        return vec![file.finding(
            Code::NotAnObject,
            Some(Position::START),
            "the frontmatter must be a mapping",
        )];
    };
    let mut found = Vec::new();
    let mut report = |code, pointer: &str, message: String| {
        found.push(file.finding(code, Some(document.position(pointer, Part::Value)), message));
    };
    for (field, chars_max, is_required) in
        [("name", NAME_CHARS_MAX, false), ("description", DESCRIPTION_CHARS_MAX, true)]
    {
        let pointer = format!("/{field}");
        match fields.get(field) {
            None | Some(Value::Null) if is_required => {
                report(Code::FieldMissing, "", format!("`{field}` is missing"))
            }
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                let chars = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().count();
                if chars == 0 && is_required {
                    report(Code::FieldEmpty, &pointer, format!("`{field}` is empty"));
                } else if chars > chars_max {
                    let message =
                        format!("`{field}` has {chars} characters, at most {chars_max} are allowed");
                    report(Code::FieldTooLong, &pointer, message);
                }
            }
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                report(Code::FieldType, &pointer, format!("`{field}` must be a text"));
            }
        }
    }
    if !matches!(fields.get("metadata"), None | Some(Value::Object(_))) {
        report(Code::FieldType, "/metadata", "`metadata` must be a mapping".to_owned());
    }
    found
}
