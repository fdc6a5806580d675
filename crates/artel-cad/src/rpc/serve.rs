//! The loop: a line in, at most one line out.

use std::io::{self, BufRead, Read as _, Write};

use serde_json::Value;

use super::message::{Line, Refusal, Request, failure, parse_line, success, too_long};
use super::table::Table;
use crate::limit::LINE_BYTES_MAX;
use crate::operation::Session;

/// Answers requests until the input ends.
pub fn serve(session: &mut Session, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let table = Table::new();
    let mut line = Vec::new();
    while let Some(complete) = read_line(&mut input, &mut line)? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match complete {
            Complete::Yes => answer(&table, session, parse_line(&line)),
            Complete::TooLong => answer(&table, session, Line::Single(Err(too_long()))),
        };
        if let Some(answer) = answer {
            let mut bytes = serde_json::to_vec(&answer)?;
            bytes.push(b'\n');
            output.write_all(&bytes)?;
            output.flush()?;
        }
    }
    session.flush_metrics();
    Ok(())
}

enum Complete {
    Yes,
    TooLong,
}

/// Reads a line without its end, at most [`LINE_BYTES_MAX`] of it; the rest of a longer one is read and forgotten.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<Complete>> {
    line.clear();
    let limit = LINE_BYTES_MAX as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(Complete::Yes));
    }
    if line.len() <= LINE_BYTES_MAX {
        return Ok(Some(Complete::Yes));
    }
    input.skip_until(b'\n')?;
    Ok(Some(Complete::TooLong))
}

fn answer(table: &Table, session: &mut Session, line: Line) -> Option<Value> {
    match line {
        Line::Single(request) => answer_one(table, session, request),
        Line::Batch(requests) => {
            let answers: Vec<Value> =
                requests.into_iter().filter_map(|request| answer_one(table, session, request)).collect();
            (!answers.is_empty()).then_some(Value::Array(answers))
        }
    }
}

fn answer_one(table: &Table, session: &mut Session, request: Result<Request, Refusal>) -> Option<Value> {
    match request {
        Err(Refusal { id, error }) => Some(failure(&id, &error)),
        Ok(Request { id, method, params }) => {
            let result = table.call(session, &method, params);
            let id = id?;
            Some(match result {
                Ok(result) => success(&id, &result),
                Err(error) => failure(&id, &error),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_skipped_and_the_next_is_read() {
        let mut input = vec![b'x'; LINE_BYTES_MAX + 5];
        input.extend_from_slice(b"\nnext\nlast");
        let mut input = input.as_slice();
        let mut line = Vec::new();
        assert!(matches!(read_line(&mut input, &mut line).unwrap(), Some(Complete::TooLong)));
        assert!(matches!(read_line(&mut input, &mut line).unwrap(), Some(Complete::Yes)));
        assert_eq!(line, b"next");
        assert!(matches!(read_line(&mut input, &mut line).unwrap(), Some(Complete::Yes)));
        assert_eq!(line, b"last");
        assert!(read_line(&mut input, &mut line).unwrap().is_none());
    }
}
