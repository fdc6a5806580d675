//! Looks into JSON: which of its texts are commands, and which of them are run by themselves.

use serde_json::Value;

use super::code::scan_shell;
use super::commands::command_in;
use super::piece::{Piece, TextIntent};
use super::rules::{behaviour, manifest};
use super::session::Session;
use artel_model::catalog::Severity;

/// Events of clients at which hooks run.
const EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "SessionStart",
    "UserPromptSubmit",
    "SessionEnd",
    "SubagentStop",
    "Stop",
    "Notification",
];

/// Scripts that a package manager runs when a package is installed.
const ON_INSTALL: &[&str] = &["preinstall", "install", "postinstall", "prepare"];

/// Scans the texts of a JSON file. Says whether it is one.
pub(super) fn scan_json(session: &mut Session, piece: &Piece<'_>) -> bool {
    let Ok(document) = serde_json::from_str::<Value>(piece.text) else { return false };
    walk(session, piece, &document);
    if let Some(hooks) = document.get("hooks") {
        check_hooks(session, piece, hooks);
    }
    for name in ON_INSTALL {
        let command = document.pointer(&format!("/scripts/{name}")).and_then(Value::as_str);
        if let Some(command) = command.filter(|command| reaches_out(command)) {
            let message = format!("`{name}` runs `{command}`");
            session.collector.report_as(
                piece,
                &behaviour::INSTALL_ELSEWHERE,
                Severity::High,
                line_of(piece, command),
                message,
            );
        }
    }
    true
}

fn walk(session: &mut Session, piece: &Piece<'_>, value: &Value) {
    match value {
        Value::String(text) => {
            for command in text.lines().filter_map(command_in) {
                let line = line_of(piece, text.lines().next().unwrap_or_default());
                let mut inner = piece.part(command, 0, TextIntent::Meant);
                inner.line = line;
                inner.has_lines = false;
                scan_shell(session, &inner);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(session, piece, item)),
        Value::Object(fields) => fields.values().for_each(|field| walk(session, piece, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check_hooks(session: &mut Session, piece: &Piece<'_>, hooks: &Value) {
    let event = EVENTS.iter().find(|event| hooks.get(event).is_some());
    let command = event.and_then(|event| first_command(&hooks[*event]));
    if let (Some(event), Some(command)) = (event, command) {
        let severity = if reaches_out(&command) { Severity::High } else { Severity::Medium };
        let message = format!("at {event} the client runs `{command}`");
        session.collector.report_as(
            piece,
            &manifest::HOOK_COMMAND,
            severity,
            line_of(piece, &command),
            message,
        );
    }
}

fn first_command(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("command").and_then(Value::as_str).map(str::to_owned);
            own.or_else(|| fields.values().find_map(first_command))
        }
        Value::Array(items) => items.iter().find_map(first_command),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Says whether a command uses the network or runs code that stands in it.
fn reaches_out(command: &str) -> bool {
    [
        "curl",
        "wget",
        "http://",
        "https://",
        "base64",
        "node -e",
        "python -c",
        "python3 -c",
        "eval",
        "/dev/tcp",
    ]
    .iter()
    .any(|word| command.contains(word))
}

fn line_of(piece: &Piece<'_>, text: &str) -> u32 {
    let shown = serde_json::to_string(text).unwrap_or_default();
    let inside = shown.trim_matches('"');
    piece.text.find(inside).map_or(piece.line, |at| piece.line_at(at))
}
