//! What a program that has ended means for its agent.

use artel_model::agent::{WorkEnd, WorkOutcome};
use serde_json::{Map, Value, json};

use super::output::Tail;
use super::preset::AnswerForm;
use super::watch::{Ended, Stopped};
use crate::outcome::RESULT;

/// Characters of what a program said about itself that a failure quotes; the last ones.
const QUOTE_CHARS_MAX: usize = 700;

/// Returns what came of the work.
pub(super) fn work_end(program: &str, form: AnswerForm, ended: &Ended, deadline_ms: u128) -> WorkEnd {
    let answer = match ended.stopped {
        Some(Stopped::Told) => Err(format!("`{program}` was told to end")),
        Some(Stopped::TimedOut) => Err(format!("`{program}` took longer than {deadline_ms} ms")),
        None if ended.exit.is_success() => answer(&ended.output.stdout, form),
        None => Err(failure(program, ended)),
    };
    let (outcome, results) = match answer {
        Ok(answer) => (WorkOutcome::Completed, Map::from_iter([(RESULT.to_owned(), answer)])),
        Err(error) => (WorkOutcome::Failed { error }, Map::new()),
    };
    WorkEnd { outcome, calls: Vec::new(), results }
}

fn failure(program: &str, ended: &Ended) -> String {
    let end = ended.exit.status;
    let limit = ended.exit.limit.map(|limit| format!(": {limit}")).unwrap_or_default();
    // Some clients tell their errors on their standard output.
    let said = [&ended.output.stderr, &ended.output.stdout].map(Tail::text);
    let quote = said.iter().map(|text| text.trim()).find(|text| !text.is_empty()).map(last_characters);
    let quote = quote.map(|text| format!(": {text}")).unwrap_or_default();
    format!("`{program}` ended with {end}{limit}{quote}")
}

fn last_characters(text: &str) -> &str {
    let start = text.char_indices().rev().nth(QUOTE_CHARS_MAX - 1).map_or(0, |(index, _)| index);
    &text[start..]
}

/// Finds the answer in what a program wrote: an object, or its text.
fn answer(stdout: &Tail, form: AnswerForm) -> Result<Value, String> {
    let text = stdout.text();
    let whole = if stdout.is_cut { None } else { object(&text) };
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    let found = whole.or_else(|| object(last));
    match (form, found) {
        (AnswerForm::ClaudeStream, Some(object))
            if object.get("type").is_some_and(|kind| kind == "result") =>
        {
            result_line(&object)
        }
        (AnswerForm::ClaudeStream | AnswerForm::Plain, Some(object)) => Ok(Value::Object(object)),
        (AnswerForm::ClaudeStream | AnswerForm::Plain, None) => Ok(json!({"text": text.trim_end()})),
    }
}

/// Takes the answer out of the last line of Claude Code.
fn result_line(line: &Map<String, Value>) -> Result<Value, String> {
    let text = line.get("result").and_then(Value::as_str).unwrap_or_default();
    if line.get("is_error").is_some_and(|flag| flag == true) {
        let kind = line.get("subtype").and_then(Value::as_str).unwrap_or("error");
        return Err(format!("the client failed ({kind}): {}", last_characters(text)));
    }
    Ok(object(text).map_or_else(|| json!({"text": text}), Value::Object))
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::output::tail_of;

    #[track_caller]
    fn check(stdout: &str, form: AnswerForm, expected: Result<Value, &str>) {
        assert_eq!(answer(&tail_of(stdout), form), expected.map_err(str::to_owned));
    }

    #[test]
    fn an_answer_is_an_object_or_a_text() {
        check("{\n \"a\": 1\n}\n", AnswerForm::Plain, Ok(json!({"a": 1})));
        check("working\n{\"a\": 1}\n", AnswerForm::Plain, Ok(json!({"a": 1})));
        check("one\ntwo\n", AnswerForm::Plain, Ok(json!({"text": "one\ntwo"})));
        check("[1]\n", AnswerForm::Plain, Ok(json!({"text": "[1]"})));
        check("", AnswerForm::Plain, Ok(json!({"text": ""})));
    }

    #[test]
    fn the_last_line_of_claude_code_holds_its_answer() {
        let form = AnswerForm::ClaudeStream;
        let line = |fields: Value| format!("{{\"type\":\"system\"}}\n{fields}\n");
        let said = |result: &str| line(json!({"type": "result", "is_error": false, "result": result}));
        check(&said("all done"), form, Ok(json!({"text": "all done"})));
        check(&said("{\"a\": 1}"), form, Ok(json!({"a": 1})));
        let failed =
            json!({"type": "result", "subtype": "error_max_turns", "is_error": true, "result": "no"});
        check(&line(failed), form, Err("the client failed (error_max_turns): no"));
        check("plain text", form, Ok(json!({"text": "plain text"})));
    }
}
