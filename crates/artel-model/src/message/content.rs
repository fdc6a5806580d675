//! What the messages of teams say, kind by kind. Other agents may say what they like.

use serde_json::{Map, Value};

use super::draft::DraftProblem;
use super::envelope::MessageKind;

const REQUEST_TYPES: &[&str] =
    &["validate_component", "provide_dimensions", "check_compatibility", "request_rework", "query_status"];
const STATUSES: &[&str] = &["success", "failure", "partial", "needs_clarification"];
const ANNOUNCEMENTS: &[&str] =
    &["workspace_merge_complete", "component_ready", "task_completed", "error_occurred", "status_update"];
const ERROR_CODES: &[&str] = &[
    "ROLE_VIOLATION",
    "OPERATION_FAILED",
    "INVALID_PARAMETERS",
    "WORKSPACE_ERROR",
    "ENTITY_NOT_FOUND",
    "CONSTRAINT_ERROR",
    "CLI_SUBPROCESS_ERROR",
    "TIMEOUT",
    "UNKNOWN_ERROR",
];

/// What a field must hold.
enum Field {
    OneOf(&'static str, &'static [&'static str]),
    Text(&'static str),
}

/// Says what does not fit the content of a team's message of that kind.
pub fn content_problems(kind: MessageKind, payload: &Map<String, Value>) -> Vec<DraftProblem> {
    let fields: &[Field] = match kind {
        MessageKind::Event => &[],
        MessageKind::Request => &[Field::OneOf("request_type", REQUEST_TYPES)],
        MessageKind::Response => &[Field::Text("request_id"), Field::OneOf("status", STATUSES)],
        MessageKind::Broadcast => &[Field::OneOf("announcement", ANNOUNCEMENTS)],
        MessageKind::Error => &[Field::OneOf("error_code", ERROR_CODES), Field::Text("error_message")],
    };
    fields.iter().filter_map(|field| problem(field, payload)).collect()
}

fn problem(field: &Field, payload: &Map<String, Value>) -> Option<DraftProblem> {
    let (name, wish) = match field {
        Field::OneOf(name, words) => (*name, format!("one of {}", words.join(", "))),
        Field::Text(name) => (*name, "a text that is not empty".to_owned()),
    };
    let text = payload.get(name).and_then(Value::as_str);
    let fits = text.is_some_and(|text| match field {
        Field::OneOf(_, words) => words.contains(&text),
        Field::Text(_) => !text.is_empty(),
    });
    (!fits).then(|| DraftProblem { path: format!("/payload/{name}"), message: format!("it is {wish}") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: MessageKind, payload: Value, wrong: &[&str]) {
        let Value::Object(payload) = payload else { panic!("an object") };
        let paths: Vec<String> =
            content_problems(kind, &payload).into_iter().map(|problem| problem.path).collect();
        assert_eq!(paths, wrong);
    }

    #[test]
    fn each_kind_has_its_words() {
        check(MessageKind::Request, json!({"request_type": "validate_component", "component_id": "e1"}), &[]);
        check(MessageKind::Request, json!({"request_type": "dance"}), &["/payload/request_type"]);
        check(MessageKind::Response, json!({"request_id": "m1", "status": "partial"}), &[]);
        check(MessageKind::Response, json!({"status": 1}), &["/payload/request_id", "/payload/status"]);
        check(MessageKind::Broadcast, json!({"announcement": "component_ready"}), &[]);
        check(MessageKind::Broadcast, json!({}), &["/payload/announcement"]);
        check(MessageKind::Error, json!({"error_code": "TIMEOUT", "error_message": "too long"}), &[]);
        check(
            MessageKind::Error,
            json!({"error_code": "OOPS", "error_message": ""}),
            &["/payload/error_code", "/payload/error_message"],
        );
        check(MessageKind::Event, json!({"anything": true}), &[]);
    }
}
