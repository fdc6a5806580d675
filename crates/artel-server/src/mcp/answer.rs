//! From what an operation returns to what a client of a model gets: the words are those of the HTTP API, what failed is an
//! answer that a model can read, and nothing is larger than it may be.

use artel_api::ErrorKind;
use artel_app::OperationError;
use artel_model::access::{Principal, Scope};
use artel_model::limit::MCP_RESULT_BYTES_MAX;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde::Serialize;
use serde_json::{Value, json};

/// Where the envelope of an error is in the metadata of an answer.
const ERROR: &str = "artel/error";

/// Answers a call with a document, as text and as a structure.
pub(super) fn document(value: &impl Serialize) -> CallToolResult {
    match serde_json::to_value(value) {
        Ok(value) if size(&value) <= MCP_RESULT_BYTES_MAX => CallToolResult::structured(value),
        Ok(value) => failure(&too_large(size(&value))),
        Err(error) => {
            tracing::error!(%error, "an answer cannot be written");
            failure(&OperationError::new(ErrorKind::Internal, "internal", "the answer cannot be written"))
        }
    }
}

/// Answers a call with text to be read, and with a structure that holds it.
pub(super) fn text(text: String, structure: Value) -> CallToolResult {
    let mut result = CallToolResult::structured(structure);
    result.content = vec![ContentBlock::text(text)];
    result
}

/// Returns the bytes of a value as JSON.
pub(super) fn size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

fn too_large(bytes: usize) -> OperationError {
    let message = format!(
        "The answer has {bytes} bytes, more than {MCP_RESULT_BYTES_MAX}. Ask for less at once, or use the HTTP API."
    );
    OperationError::new(ErrorKind::TooLarge, "too_large", message)
}

/// Answers a call that failed, in the words of the HTTP API. The envelope is beside the answer and not in its structure,
/// which some clients check against the schema of answers whether the call failed or not.
pub(super) fn failure(error: &OperationError) -> CallToolResult {
    let meta = JsonObject::from_iter([(ERROR.to_owned(), envelope(error))]);
    CallToolResult::error(vec![ContentBlock::text(readable(error))]).with_meta(Some(MetaObject(meta)))
}

/// A model corrects itself by what is wrong exactly, which the details say.
fn readable(error: &OperationError) -> String {
    let problems =
        error.details.as_ref().map(ToString::to_string).filter(|text| text.len() <= MCP_RESULT_BYTES_MAX / 4);
    match problems {
        Some(problems) => format!("{} ({}): {problems}", error.message, error.code),
        None => format!("{} ({})", error.message, error.code),
    }
}

fn envelope(error: &OperationError) -> Value {
    let mut body = json!({"error": error.code, "message": error.message});
    if let Some(details) = error.details.as_ref().filter(|details| size(details) <= MCP_RESULT_BYTES_MAX) {
        body["details"] = details.clone();
    }
    body
}

/// Refuses a request that is no call of a tool.
pub(super) fn refusal(error: &OperationError) -> ErrorData {
    let (message, data) = (error.message.clone(), Some(envelope(error)));
    match error.kind.status() {
        404 => ErrorData::resource_not_found(message, data),
        400..=499 => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}

/// Says whether a principal may do what the scope is about, in the words of the HTTP API.
pub(super) fn allow(caller: &Principal, scope: Scope) -> Result<(), OperationError> {
    match caller.may(scope) {
        true => Ok(()),
        false => Err(OperationError::forbidden(format!("This needs the scope `{scope}`."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_said_instead_of_sent() {
        let result = document(&json!({"text": "x".repeat(MCP_RESULT_BYTES_MAX)}));
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content, None);
        assert_eq!(result.meta.unwrap().0[ERROR]["error"], "too_large");
        assert_eq!(document(&json!({"text": "x"})).is_error, Some(false));
    }

    #[test]
    fn a_refusal_has_the_code_and_the_words_of_the_api() {
        let refused = refusal(&OperationError::not_found("skill"));
        assert_eq!(refused.message, "there is no such skill");
        assert_eq!(refused.data.unwrap()["error"], "not_found");
        let failed = failure(&OperationError::bad_request("x", "y").with_details(json!([1])));
        assert_eq!(failed.content[0].as_text().unwrap().text, "y (x): [1]");
    }
}
