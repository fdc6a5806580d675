//! The form of request headers that endpoints look at.

use artel_model::limit::IDEMPOTENCY_KEY_CHARS_MAX;
use serde_json::{Value, json};

/// One tag of a state, or several, or any.
const TAGS: &str = r#"^(\*|(W/)?"[!#-~]*"(, ?(W/)?"[!#-~]*")*)$"#;

/// Returns the schema of a header.
pub(crate) fn schema(name: &str) -> Value {
    match name {
        "Idempotency-Key" => json!({
            "type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_CHARS_MAX, "pattern": "^[!-~]([ -~]*[!-~])?$",
        }),
        "If-Match" => json!({"type": "string", "pattern": TAGS}),
        "Last-Event-ID" => json!({"type": "string", "pattern": "^[0-9a-f-]+$"}),
        _ => json!({"type": "string"}),
    }
}
