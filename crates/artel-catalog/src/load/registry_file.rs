//! Skills defined in one file: `*.skill.yaml` with one document each, or `*.skill.json` with an object or a list.

use std::sync::Arc;

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit::{REGISTRY_FILE_BYTES_MAX, REGISTRY_FILE_SKILLS_MAX};
use camino::Utf8Path;
use serde_json::Value;

use super::files::read_text;
use super::loaded::{Loaded, Location};
use super::options::Keep;
use crate::client::ClientFindings;
use crate::document::{Budget, Document, Repetition, YamlErrorKind, parse_json, parse_yaml_documents};
use crate::read::{ManifestRole, Parts, Reader, assemble, is_restriction, read_manifest};
use crate::source::DiskTree;

/// Says whether a file defines skills by its name alone.
pub(crate) fn is_registry_file(name: &str) -> bool {
    [".skill.yaml", ".skill.yml", ".skill.json"]
        .iter()
        .any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Loads every skill that the file defines. What is wrong with the file as a whole comes with an entry of its own.
pub fn load_registry_file(path: &Utf8Path, keep: Keep) -> Vec<Loaded> {
    let mut findings = Vec::new();
    let (folder, name) = (path.parent().unwrap_or(Utf8Path::new("")), path.file_name().unwrap_or_default());
    let tree = DiskTree::new(if folder.as_str().is_empty() { Utf8Path::new(".") } else { folder });
    let mut entries = Vec::new();
    if let Some(text) = read_text(&tree, name, path, REGISTRY_FILE_BYTES_MAX, &mut findings) {
        let documents = documents(path, &text, &mut findings);
        for document in &documents {
            let pointers: Vec<String> = match &document.value {
                Value::Array(items) => (0..items.len()).map(|index| format!("/{index}")).collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    vec![String::new()]
                }
            };
            if pointers.len() > REGISTRY_FILE_SKILLS_MAX {
                findings.push(too_many(path, pointers.len()));
            }
            let repetitions = document.repetitions();
            for (index, pointer) in pointers.iter().take(REGISTRY_FILE_SKILLS_MAX).enumerate() {
                let mut reader = Reader::new(path, document);
                let own = repetitions_in(&repetitions, index);
                reader.report_repetitions(own, |repetition| is_restriction(repetition.field));
                entries.push(load_entry(path, reader, pointer, entries.len(), keep));
            }
        }
    }
    if entries.is_empty() && findings.is_empty() {
        findings.push(no_skill(path));
    }
    if !findings.is_empty() {
        let mut loaded = empty(path, entries.len());
        loaded.add_findings(findings);
        loaded.clients = (keep == Keep::Everything).then(|| ClientFindings::of_registry_file(path));
        entries.push(loaded);
    }
    entries
}

fn no_skill(path: &Utf8Path) -> Finding {
    Finding {
        code: Code::MissingFile,
        message: "the file defines no skill".to_owned(),
        path: path.to_owned(),
        position: Some(Position::START),
        hint: None,
    }
}

fn too_many(path: &Utf8Path, count: usize) -> Finding {
    Finding {
        code: Code::FieldOutOfRange,
        message: format!("the file defines {count} skills, at most {REGISTRY_FILE_SKILLS_MAX} are allowed"),
        path: path.to_owned(),
        position: Some(Position::START),
        hint: Some("split it into several files".to_owned()),
    }
}

fn documents<'t>(path: &Utf8Path, text: &'t str, findings: &mut Vec<Finding>) -> Vec<Document<'t>> {
    let mut report = |code, position, message| {
        findings.push(Finding { code, message, path: path.to_owned(), position: Some(position), hint: None });
    };
    if path.extension() == Some("json") {
        return match parse_json(text) {
            Ok(value) => vec![Document::from_json(value, text)],
            Err(error) => {
                report(Code::JsonInvalid, error.position, error.message);
                Vec::new()
            }
        };
    }
    let (nodes, error) = parse_yaml_documents(text, Budget::DOCUMENT, REGISTRY_FILE_SKILLS_MAX);
    if let Some(error) = error {
        let code = match error.kind {
            YamlErrorKind::Budget(_) => Code::YamlBudget,
            YamlErrorKind::Syntax(_) | YamlErrorKind::Key | YamlErrorKind::SecondDocument => {
                Code::YamlInvalid
            }
        };
        report(code, error.position, error.kind.to_string());
    }
    nodes.into_iter().map(|node| Document::from_yaml(node, 0)).collect()
}

/// Returns the repeated keys of one entry; they come in the order of the document, which is one entry or a list.
fn repetitions_in<'r, 'd>(repetitions: &'r [Repetition<'d>], entry: usize) -> &'r [Repetition<'d>] {
    let item = |repetition: &Repetition<'_>| repetition.item.unwrap_or(0);
    let start = repetitions.partition_point(|repetition| item(repetition) < entry);
    let end = repetitions.partition_point(|repetition| item(repetition) <= entry);
    &repetitions[start..end]
}

fn load_entry(path: &Utf8Path, reader: Reader<'_>, pointer: &str, entry: usize, keep: Keep) -> Loaded {
    let mut loaded = empty(path, entry);
    let (draft, mut findings) = read_manifest(reader, pointer, ManifestRole::Alone, None);
    if let Some(draft) = draft {
        let parts = Parts {
            folder: None,
            skill_md: None,
            manifest: Some((draft, path)),
            instructions: "",
            files: &[],
            escaping: &[],
        };
        if let Some(assembly) = assemble(parts, &mut findings) {
            loaded.skill = Some(Arc::new(assembly.skill));
            loaded.places = Some(assembly.places);
        }
    }
    loaded.add_findings(findings);
    loaded.instructions = (keep != Keep::Descriptions).then(|| Arc::from(""));
    loaded.clients = (keep == Keep::Everything).then(|| ClientFindings::of_registry_file(path));
    loaded
}

fn empty(path: &Utf8Path, entry: usize) -> Loaded {
    Loaded::nothing(Location::RegistryFile { path: path.to_owned(), entry })
}
