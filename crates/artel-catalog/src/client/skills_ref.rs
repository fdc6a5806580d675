//! The verdicts of the reference validator of agentskills.io (`skills-ref` 0.1).
//!
//! It cuts the file at the first two `---`, wherever they stand, reads every scalar as a text, and takes only a plain
//! subset of YAML.

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit::{COMPATIBILITY_CHARS_MAX, DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::skill_md::SkillMdFile;
use crate::document::{Budget, Node, NodeKind, OLD_LINE_BREAKS, parse_yaml};

const FIELDS: [&str; 6] = ["name", "description", "license", "allowed-tools", "metadata", "compatibility"];

/// Returns why the reference validator would refuse the file.
pub(super) fn check(file: &SkillMdFile) -> Vec<Finding> {
    match fields(file) {
        Ok(entries) => problems(file, &entries),
        Err(finding) => vec![finding],
    }
}

type Entry = (String, Position, Node);

fn fields(file: &SkillMdFile) -> Result<Vec<Entry>, Finding> {
    let text = file.text()?.replace("\r\n", "\n").replace('\r', "\n");
    let start = Some(Position::START);
    if !text.starts_with("---") {
        return Err(file.finding(Code::FrontmatterMissing, start, "the file must start with `---`"));
    }
    let mut parts = text.splitn(3, "---").skip(1);
    let (Some(yaml), Some(_)) = (parts.next(), parts.next()) else {
        return Err(file.finding(Code::FrontmatterUnclosed, start, "the frontmatter is not closed by `---`"));
    };
    // Its YAML takes these for the end of a word, but counts them as part of the line.
    let yaml = yaml.strip_prefix('\u{feff}').unwrap_or(yaml).replace(OLD_LINE_BREAKS, " ");
    let (node, features) = parse_yaml(&yaml, Budget::FRONTMATTER)
        .map_err(|error| file.finding(Code::YamlInvalid, Some(error.position), error.kind.to_string()))?;
    if let Some(feature) = features.first() {
        let message = "only plain `key: value` YAML is taken: no brackets, anchors, tags or tabs";
        return Err(file.finding(Code::YamlNotPortable, Some(feature.position), message));
    }
    if let Some(key) = node.repeated_keys().first() {
        let message = format!("`{}` stands here a second time", key.text);
        return Err(file.finding(Code::DuplicateKey, Some(key.position), message));
    }
    match node.kind {
        NodeKind::Mapping(entries) => {
            Ok(entries.into_iter().map(|(key, node)| (key.text, key.position, node)).collect())
        }
        NodeKind::Text(_) | NodeKind::Plain(_) | NodeKind::List(_) => {
            Err(file.finding(Code::NotAnObject, Some(node.position), "the frontmatter must be a mapping"))
        }
    }
}

fn problems(file: &SkillMdFile, entries: &[Entry]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (key, position, _) in entries.iter().filter(|(key, ..)| !FIELDS.contains(&key.as_str())) {
        found.push(file.finding(
            Code::FieldUnknown,
            Some(*position),
            format!("`{key}` is not a known field"),
        ));
    }
    let field = |name: &str| entries.iter().find(|(key, ..)| key == name).map(|(.., node)| node);
    for name in ["name", "description"] {
        let Some(node) = field(name) else {
            let message = format!("`{name}` is missing");
            found.push(file.finding(Code::FieldMissing, Some(Position::START), message));
            continue;
        };
        match node.scalar().filter(|text| !text.trim().is_empty()) {
            None => {
                let message = format!("`{name}` must be a text that is not empty");
                found.push(file.finding(Code::FieldEmpty, Some(node.position), message));
            }
            Some(text) if name == "name" => found.extend(name_problems(file, text, node.position)),
            Some(text) => {
                found.extend(length_problem(file, name, text, DESCRIPTION_CHARS_MAX, node.position))
            }
        }
    }
    if let Some(node) = field("compatibility") {
        match node.scalar() {
            Some(text) => {
                let problem =
                    length_problem(file, "compatibility", text, COMPATIBILITY_CHARS_MAX, node.position);
                found.extend(problem);
            }
            None => found.push(file.finding(
                Code::FieldType,
                Some(node.position),
                "`compatibility` must be a text",
            )),
        }
    }
    found
}

fn length_problem(
    file: &SkillMdFile,
    field: &str,
    text: &str,
    chars_max: usize,
    position: Position,
) -> Option<Finding> {
    let chars = text.chars().count();
    (chars > chars_max).then(|| {
        let message = format!("`{field}` has {chars} characters, at most {chars_max} are allowed");
        file.finding(Code::FieldTooLong, Some(position), message)
    })
}

fn name_problems(file: &SkillMdFile, text: &str, position: Position) -> Vec<Finding> {
    let name: String = text.trim().nfkc().collect();
    let mut found = Vec::new();
    let mut invalid = |message: &str| found.push(file.finding(Code::NameInvalid, Some(position), message));
    if name.chars().count() > NAME_CHARS_MAX {
        invalid("the name has more than 64 characters");
    }
    if name != name.to_lowercase() {
        invalid("the name must be lower-case");
    }
    if name.starts_with('-') || name.ends_with('-') {
        invalid("the name cannot start or end with a hyphen");
    }
    if name.contains("--") {
        invalid("the name cannot have two hyphens in a row");
    }
    // Python counts no vowel signs among the letters.
    let is_letter_or_digit = |c: char| c.is_alphanumeric() && !is_combining_mark(c);
    if !name.chars().all(|c| is_letter_or_digit(c) || c == '-') {
        invalid("the name may hold letters, digits and hyphens only");
    }
    if !file.folder.nfkc().eq(name.chars()) {
        let message = format!("the folder is called `{}`", file.folder);
        found.push(file.finding(Code::NameMismatch, Some(position), message));
    }
    found
}
