//! Schemas of parameters, results and output contracts.

use artel_model::diagnostic::Code;
use artel_model::rule::OutputContract;
use artel_model::schema::{Schema, SchemaErrorKind};
use serde_json::Value;

use super::reader::{Field, Reader, Spelling};
use crate::document::Part;

/// Reads a JSON Schema; an invalid one is reported at the part that is wrong.
pub(super) fn read_schema<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<Schema> {
    let field = field?;
    if !matches!(field.value, Value::Object(_) | Value::Bool(_)) {
        let message = format!("`{}` must be a JSON Schema, an object", field.key);
        reader.report(Code::SchemaInvalid, &field.pointer, Part::Value, message, None);
        return None;
    }
    match Schema::parse(field.value.clone()) {
        Ok(schema) => Some(schema),
        Err(error) => {
            let (code, hint) = match &error.kind {
                SchemaErrorKind::RemoteReference(_) => {
                    let hint = "copy the definition into `$defs` and refer to it as `#/$defs/NAME`";
                    (Code::SchemaRemoteRef, Some(hint))
                }
                SchemaErrorKind::Invalid(_) | SchemaErrorKind::TooLarge => (Code::SchemaInvalid, None),
            };
            let pointer = format!("{}{}", field.pointer, error.pointer);
            let message = format!("`{}`: {}", field.key, error.kind);
            reader.report(code, &pointer, Part::Value, message, hint);
            None
        }
    }
}

/// Reads an output contract.
pub(super) fn read_contract<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<OutputContract> {
    let field = field?;
    let object = reader.object(&field)?;
    let mut fields = reader.fields(object, &field.pointer, Spelling::SnakeOrCamel);
    let kind = match fields.take("type") {
        Some(kind) => reader.required_text(&kind).map(str::to_owned),
        None => {
            reader.report_missing("type", &field.pointer);
            None
        }
    };
    let schema = read_schema(reader, fields.take("schema"));
    reader.report_unknown(fields, "an output contract has `type` and `schema`");
    Some(OutputContract { kind: kind?, schema })
}
