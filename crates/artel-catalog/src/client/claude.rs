//! What Claude Code loads: almost everything that parses. Reserved words in names and tags in texts only matter when a
//! skill is uploaded, and are warnings.

use artel_model::diagnostic::{Code, Finding, Position};
use serde_json::Value;

use super::skill_md::SkillMdFile;
use crate::document::{Budget, Document, YamlError, YamlErrorKind, parse_yaml};
use crate::read::{repair, split};

/// Returns why Claude Code would not load the file.
pub(super) fn check(file: &SkillMdFile) -> Vec<Finding> {
    if let Some(finding) = file.absent().or_else(|| file.lowercase()) {
        return vec![finding];
    }
    judge(file).err().into_iter().collect()
}

fn judge(file: &SkillMdFile) -> Result<(), Finding> {
    let text = file.text()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(at) = text.find('\0') {
        let position = crate::text::end_of(&text[..at]);
        return Err(file.finding(Code::NulByte, Some(position), "the file holds a NUL byte"));
    }
    // Without frontmatter, the folder names the skill and the first paragraph describes it.
    let Ok(frontmatter) = split(text) else { return Ok(()) };
    // A value that only lacks quotes is quoted by the client itself.
    let mended = |error: YamlError| match &error.kind {
        YamlErrorKind::Syntax(_) | YamlErrorKind::Key => repair(frontmatter.yaml)
            .and_then(|mended| parse_yaml(&mended.yaml, Budget::FRONTMATTER).ok())
            .ok_or(error),
        YamlErrorKind::Budget(_) | YamlErrorKind::SecondDocument => Err(error),
    };
    let parsed = parse_yaml(frontmatter.yaml, Budget::FRONTMATTER).or_else(mended);
    let (node, _) = parsed.map_err(|error| {
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
    match &document.value {
        Value::Object(_) | Value::Null => Ok(()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let message = "the frontmatter must be a mapping";
            Err(file.finding(Code::NotAnObject, Some(Position { line: 2, column: 1 }), message))
        }
    }
}
