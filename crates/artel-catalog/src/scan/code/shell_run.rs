//! Commands of a shell that run or decode what they are given.

use base64::Engine as _;

use super::file::looks_like_path;
use super::shell::Shell;
use super::shell_command::Call;
use super::value::{HOLE, Taint, Value, unhex};
use crate::scan::rules::behaviour;

impl Shell<'_, '_> {
    pub(super) fn interpret_shell(&mut self, call: &Call<'_>) -> Value {
        let command = call.after(&["-c", "-lc", "-ic", "-ec"]).cloned();
        if call.name == "eval" {
            self.session.runs_shell(self.piece, call.line, &Value::join(call.arguments, " "));
        } else if let Some(command) = command {
            self.session.runs_shell(self.piece, call.line, &command);
        } else if let Some(script) = call.plain().next().filter(|word| word.constant() != Some("-s")) {
            let content = self.read(script, call.line).either(&script.with_text(None));
            if !self.session.runs(self.piece, call.line, &content) && call.name == "eval" {
                self.session.runs_shell(self.piece, call.line, &content);
            }
        } else {
            self.session.runs_shell(self.piece, call.line, &call.input.clone());
        }
        Value::default()
    }

    pub(super) fn interpret_other(&mut self, call: &Call<'_>) -> Value {
        let inline = call.after(&["-c", "-e", "-r", "--eval", "-Command", "-command", "-p"]).cloned();
        if let Some(encoded) = call
            .after(&["-enc", "-EncodedCommand", "-encodedcommand", "-e", "-ec"])
            .filter(|_| call.name.starts_with('p') && call.name.contains("sh"))
        {
            let message =
                format!("an encoded command is run: {}", crate::scan::collector::shorten(&encoded.shown()));
            self.session.collector.report(self.piece, &behaviour::RUN_DECODED, call.line, message);
        }
        match inline {
            Some(code) => {
                self.session.runs(self.piece, call.line, &code);
                self.follow_code(call, &code);
            }
            None if call.plain().next().is_none_or(|word| word.constant() == Some("-")) => {
                let input = call.input.clone();
                self.session.runs(self.piece, call.line, &input);
                self.follow_code(call, &input);
            }
            None => {
                let script = call.plain().next().cloned().unwrap_or_default();
                let content = self.read(&script, call.line);
                self.session.runs(self.piece, call.line, &content);
            }
        }
        Value::default()
    }

    pub(super) fn follow_code(&mut self, call: &Call<'_>, code: &Value) {
        let Some(source) = code.text.as_deref().map(|text| text.replace(HOLE, "_")) else { return };
        if self.session.depth > 6 {
            return;
        }
        self.session.depth += 1;
        let mut piece = self.piece.part(&source, 0, self.piece.intent);
        piece.line = call.line;
        piece.has_lines = false;
        match call.name.as_str() {
            "node" | "bun" | "deno" | "tsx" => super::flow::scan_javascript(self.session, &piece),
            name if name.starts_with("python") => super::flow::scan_python(self.session, &piece),
            _ => crate::scan::other_script::check(self.session, &piece),
        }
        self.session.depth -= 1;
    }

    pub(super) fn decode(&mut self, call: &Call<'_>) -> Value {
        let decodes = match call.name.as_str() {
            "base64" | "base32" => call.has_short('d') || call.has_short('D') || call.has(&["--decode"]),
            "xxd" => call.has_short('r'),
            "gzip" => call.has_short('d'),
            "tr" => call.all().contains("N-ZA-M") || call.all().contains("n-za-m"),
            _ => true,
        };
        let mut content = call.input.clone();
        for argument in call
            .plain()
            .filter(|one| one.text.as_deref().is_some_and(looks_like_path))
            .cloned()
            .collect::<Vec<_>>()
        {
            content = content.either(&self.read(&argument, call.line));
        }
        if !decodes {
            return if call.name == "tr" { content } else { content.with_text(None) };
        }
        let text = content.constant().and_then(|text| decode_text(&call.name, text.trim()));
        let mut value = content.with_text(text);
        value.taint |= Taint::DECODED;
        value
    }
}

/// Decodes a text as the command of that name would.
pub(super) fn decode_text(command: &str, text: &str) -> Option<String> {
    let bytes = match command {
        "base64" => {
            let clean: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            base64::engine::general_purpose::STANDARD.decode(&clean).ok()?
        }
        "xxd" => unhex(text)?,
        "rev" => return Some(text.chars().rev().collect()),
        "tr" => return Some(rot13(text)),
        _ => return None,
    };
    String::from_utf8(bytes).ok()
}

/// Turns letters by half the alphabet.
pub(super) fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((u8::try_from(c).unwrap_or(first) - first + 13) % 26 + first);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            c => c,
        })
        .collect()
}
