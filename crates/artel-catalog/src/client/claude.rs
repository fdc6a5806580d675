//! What Claude takes: almost everything that parses, but no reserved words in names and no tags in texts.

use artel_model::diagnostic::{Code, Finding, Position};
use serde_json::Value;

use super::skill_md::SkillMdFile;
use crate::document::{Budget, Document, Part, parse_yaml};
use crate::read::{has_markup, split};

/// Returns why Claude would not take the file.
pub(super) fn check(file: &SkillMdFile) -> Vec<Finding> {
    if let Some(finding) = file.absent().or_else(|| file.lowercase()) {
        return vec![finding];
    }
    match problems(file) {
        Ok(findings) => findings,
        Err(finding) => vec![finding],
    }
}

fn problems(file: &SkillMdFile) -> Result<Vec<Finding>, Finding> {
    let text = file.text()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(at) = text.find('\0') {
        let position = crate::text::end_of(&text[..at]);
        return Err(file.finding(Code::NulByte, Some(position), "the file holds a NUL byte"));
    }
    // Without frontmatter, the folder names the skill and the first paragraph describes it.
    let Ok(frontmatter) = split(text) else { return Ok(Vec::new()) };
    let (node, _) = parse_yaml(frontmatter.yaml, Budget::FRONTMATTER).map_err(|error| {
        let position = Position { line: error.position.line + 1, ..error.position };
        file.finding(Code::YamlInvalid, Some(position), error.kind.to_string())
    })?;
    let document = Document::from_yaml(node, 1);
    if let Some((key, position)) = document.repeated_keys().into_iter().next() {
        return Err(file.finding(
            Code::DuplicateKey,
            Some(position),
            format!("`{key}` stands here a second time"),
        ));
    }
    let fields = match &document.value {
        Value::Object(fields) => fields,
        Value::Null => return Ok(Vec::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let message = "the frontmatter must be a mapping";
            return Err(file.finding(Code::NotAnObject, Some(Position { line: 2, column: 1 }), message));
        }
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let place = |name: &str| Some(document.position(&format!("/{name}"), Part::Value));
    let mut found = Vec::new();
    let name = text("name").to_lowercase();
    if name.contains("claude") || name.contains("anthropic") {
        found.push(file.finding(Code::NameReserved, place("name"), "the name holds a reserved word"));
    }
    for field in ["name", "description"].into_iter().filter(|field| has_markup(text(field))) {
        let message = format!("`{field}` holds XML-like tags");
        found.push(file.finding(Code::DescriptionMarkup, place(field), message));
    }
    Ok(found)
}
