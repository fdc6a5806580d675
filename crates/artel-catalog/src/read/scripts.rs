//! Scripts: what a manifest declares, and what lies in `scripts/`.

use artel_model::diagnostic::Code;
use artel_model::limit;
use artel_model::name::LocalName;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::draft::DeclaredScript;
use super::interface::read_schema;
use super::reader::{Field, Reader, Spelling};
use crate::document::Part;

/// Reads the declared scripts.
pub(super) fn read_scripts<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Vec<DeclaredScript> {
    let mut scripts: Vec<DeclaredScript> = Vec::new();
    for entry in reader.list(field).unwrap_or_default() {
        let Value::Object(_) = entry.value else {
            reader.wrong_type(&entry, "a list of objects");
            continue;
        };
        let Some(script) = read_script(reader, &entry) else { continue };
        if scripts.iter().any(|earlier| earlier.name == script.name) {
            let message = format!("there is a script `{}` already", script.name);
            reader.report(
                Code::ScriptDuplicate,
                &format!("{}/name", entry.pointer),
                Part::Value,
                message,
                None,
            );
        } else {
            scripts.push(script);
        }
    }
    scripts
}

fn read_script<'a>(reader: &mut Reader<'a>, entry: &Field<'a>) -> Option<DeclaredScript> {
    let object = reader.object(entry)?;
    let mut fields = reader.fields(object, &entry.pointer, Spelling::SnakeOrCamel);
    let (name, path) = (fields.take("name"), fields.take("path"));
    let description = reader.text(fields.take("description"), limit::DESCRIPTION_CHARS_MAX);
    let parameters = read_schema(reader, fields.take("parameters_schema"));
    let returns = read_schema(reader, fields.take("returns_schema"));
    let timeout_s = reader.integer(fields.take("timeout"), 1, limit::TIMEOUT_S_MAX);
    reader.report_unknown(fields, "a script has `name`, `path`, `description`, schemas and `timeout`");
    let Some(path) = path else {
        reader.report_missing("path", &entry.pointer);
        return None;
    };
    let position = reader.document.position(&path.pointer, Part::Value);
    let text = reader.required_text(&path)?;
    let Some(inside) = inside_folder(text) else {
        let message = format!("`{text}` leads out of the skill's folder");
        let hint = Some("give a path below the folder, such as `scripts/run.sh`");
        reader.report(Code::UnsafePath, &path.pointer, Part::Value, message, hint);
        return None;
    };
    let name = match name {
        Some(name) => reader.local_name(&name)?,
        None => inside.file_stem()?.parse().ok()?,
    };
    Some(DeclaredScript { name, path: inside, position, description, parameters, returns, timeout_s })
}

/// Returns a relative path without `.` and `..`, or nothing when it could leave the folder.
pub(crate) fn inside_folder(text: &str) -> Option<Utf8PathBuf> {
    if text.contains('\\') || text.contains('\0') {
        return None;
    }
    let mut inside = Utf8PathBuf::new();
    for component in Utf8Path::new(text).components() {
        match component {
            Utf8Component::Normal(name) => inside.push(name),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir | Utf8Component::RootDir | Utf8Component::Prefix(_) => return None,
        }
    }
    (!inside.as_str().is_empty()).then_some(inside)
}

impl<'a> Reader<'a> {
    /// Reads the name of a script or step.
    pub(super) fn local_name(&mut self, field: &Field<'a>) -> Option<LocalName> {
        let text = self.required_text(field)?;
        match text.parse() {
            Ok(name) => Some(name),
            Err(error) => {
                let error: artel_model::name::LocalNameError = error;
                self.report(Code::NameInvalid, &field.pointer, Part::Value, error.to_string(), None);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for (text, expected) in [
            ("scripts/run.sh", Some("scripts/run.sh")),
            ("./run", Some("run")),
            ("a//b", Some("a/b")),
            ("../x", None),
            ("a/../b", None),
            ("/etc/passwd", None),
            ("a\\..\\b", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(inside_folder(text).as_deref().map(Utf8Path::as_str), expected, "{text}");
        }
    }
}
