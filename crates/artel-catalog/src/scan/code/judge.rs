//! Decides what it means that a value is sent, run, written or deleted. The same for every language.

use super::address::{Address, address_of, host_of};
use super::file::{
    FileRole, file_role, is_agent_configuration, is_interpreter_start, is_precious, is_schedule,
    is_shell_start,
};
use super::shell::scan_shell_with;
use super::value::{Taint, Value};
use crate::scan::commands::embedded_commands;
use crate::scan::limits::DECODE_DEPTH_MAX;
use crate::scan::piece::Piece;
use crate::scan::rule::Rule;
use crate::scan::rules::{behaviour, harm};
use crate::scan::session::Session;
use artel_model::catalog::Severity;

/// In which part of a request a value is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Carrier {
    Body,
    /// A header, where keys belong.
    Header,
    Url,
}

/// Keys of services that are known, and words of the hosts that they belong to.
const OWNERS: &[(&str, &[&str])] = &[
    ("AWS_", &["amazonaws", "aws.", "localhost"]),
    ("GITHUB_", &["github"]),
    ("GH_", &["github"]),
    ("GITLAB_", &["gitlab"]),
    ("OPENAI_", &["openai", "azure", "openrouter"]),
    ("ANTHROPIC_", &["anthropic", "claude", "openrouter"]),
    ("CLAUDE_", &["anthropic", "claude"]),
    ("GOOGLE_", &["google", "gstatic"]),
    ("GEMINI_", &["google"]),
    ("STRIPE_", &["stripe"]),
    ("SLACK_", &["slack"]),
    ("NPM_", &["npmjs"]),
    ("HF_", &["huggingface"]),
    ("AZURE_", &["azure", "microsoft", "windows"]),
    ("CLOUDFLARE_", &["cloudflare"]),
    ("DATABASE_", &["supabase", "neon"]),
];

impl Session {
    /// Judges that `value` is sent to `url`.
    pub(super) fn sends(&mut self, piece: &Piece<'_>, line: u32, value: &Value, url: &str, carrier: Carrier) {
        self.uses_network(piece, line);
        let taint = value.taint;
        let host = host_of(url);
        if taint.has(Taint::SECRET) {
            let message = format!("data of a file that holds credentials is sent to {}", name_of(host));
            return self.collector.report(piece, &behaviour::EXFILTRATE_CREDENTIALS, line, message);
        }
        if taint.has(Taint::ENVIRONMENT) {
            let message = format!("the environment is sent to {}", name_of(host));
            return self.collector.report(piece, &behaviour::EXFILTRATE_ENVIRONMENT, line, message);
        }
        let address = address_of(url);
        if address == Address::Local {
            return;
        }
        let data = Taint::PERSONAL | Taint::HOST | Taint::INPUT | Taint::DOTENV | Taint::TOKEN;
        if carrier != Carrier::Header && taint.has_any(data) && self.uses.sends.is_none() {
            self.uses.sends = Some((piece.path.to_owned(), line));
        }
        if let Some(token) = foreign_token(value, url, address) {
            let message = format!("the variable {token} is sent to {}", name_of(host));
            return self.collector.report(piece, &behaviour::EXFILTRATE_TOKEN, line, message);
        }
        if taint.has(Taint::DOTENV) && (carrier == Carrier::Body || address.is_anonymous()) {
            let message = format!("the content of a `.env` file is sent to {}", name_of(host));
            return self.collector.report(piece, &behaviour::EXFILTRATE_TOKEN, line, message);
        }
        if taint.has(Taint::PERSONAL) {
            let message = format!("personal data is sent to {}", name_of(host));
            return self.collector.report(piece, &behaviour::EXFILTRATE_FILES, line, message);
        }
        let about_host = taint.has(Taint::HOST);
        let is_left = address.is_anonymous() && taint.has_any(data);
        if is_left || (address == Address::Chat && about_host) {
            let message = format!("data is sent to {}", name_of(host));
            self.collector.report(piece, &behaviour::SEND_TO_DROP, line, message);
        } else if about_host && carrier != Carrier::Header {
            let message = format!("facts about the machine are sent to {}", name_of(host));
            self.collector.report_as(piece, &behaviour::EXFILTRATE_FILES, Severity::Medium, line, message);
        }
    }

    /// Judges that something is fetched from `url`, and returns what comes back.
    pub(super) fn fetches(&mut self, piece: &Piece<'_>, line: u32, url: &str) -> Value {
        self.uses_network(piece, line);
        Value { taint: Taint::REMOTE, url: Some(url.to_owned()), ..Value::default() }
    }

    /// Judges that `value` is run as a shell command, and follows the command as far as it is known.
    pub(super) fn runs_shell(&mut self, piece: &Piece<'_>, line: u32, value: &Value) -> Value {
        if self.runs(piece, line, value) {
            return Value::default();
        }
        let interpolates =
            value.text.as_deref().is_none_or(|text| text.trim_start().starts_with(super::value::HOLE));
        if value.taint.has(Taint::INPUT) {
            let message = if interpolates { "the command is input" } else { "input is part of the command" };
            self.collector.report(piece, &behaviour::INPUT_TO_SHELL, line, message);
        }
        match value.text.clone() {
            Some(text) => self.follows_shell(piece, line, &text, value),
            None => Value::default(),
        }
    }

    /// Judges that `value` is run by an interpreter other than the shell. Says whether that was all there is to say.
    pub(super) fn runs(&mut self, piece: &Piece<'_>, line: u32, value: &Value) -> bool {
        if value.taint.has(Taint::DECODED) {
            let how = value.text.as_deref().map(crate::scan::collector::shorten).unwrap_or_default();
            let message = format!("text is decoded and then run {how}");
            self.collector.report(piece, &behaviour::RUN_DECODED, line, message.trim_end());
            if let Some(text) = value.constant().map(str::to_owned) {
                self.follows_shell(piece, line, &text, &value.with_text(None));
            }
            return true;
        }
        if value.taint.has(Taint::REMOTE) {
            self.runs_remote(piece, line, value.url.as_deref().unwrap_or_default());
            return true;
        }
        false
    }

    /// Judges that code from `url` is run.
    pub(super) fn runs_remote(&mut self, piece: &Piece<'_>, line: u32, url: &str) {
        if url == "socket://" {
            return self.collector.report(piece, &harm::REVERSE_SHELL, line, "what is received is run");
        }
        let is_prose = piece.path.extension().is_some_and(|extension| extension.starts_with("md"));
        let severity = match address_of(url) {
            Address::Local => return,
            Address::Installer => Severity::Low,
            Address::Other | Address::CodeHost if self.about.owns(url) => Severity::Medium,
            Address::CodeHost if is_prose => Severity::Medium,
            Address::CodeHost | Address::Other | Address::Chat => Severity::High,
            Address::Unknown => Severity::Medium,
            Address::Catcher | Address::Tunnel | Address::Paste | Address::Shortener | Address::Number => {
                Severity::Critical
            }
        };
        let message = format!("code from {} is run", name_of(host_of(url)));
        self.collector.report_as(piece, &behaviour::DOWNLOAD_AND_RUN, severity, line, message);
    }

    /// Judges that a file is read, and returns what is known of its content.
    pub(super) fn reads(&mut self, piece: &Piece<'_>, line: u32, path: &Value) -> Value {
        let Some(text) = path.text.as_deref() else { return Value::from(path.taint.without(Taint::INPUT)) };
        let role = file_role(text);
        let severity = match role {
            FileRole::Vault => Some(Severity::High),
            FileRole::ServiceKey => Some(Severity::Medium),
            FileRole::Dotenv | FileRole::Personal | FileRole::Home | FileRole::Ordinary => None,
        };
        if let Some(severity) = severity {
            let message = format!("`{}` is read", text.replace(super::value::HOLE, "..."));
            self.collector.report_as(piece, &behaviour::READ_CREDENTIALS, severity, line, message);
        }
        let mut value = Value::from(role.taint());
        value.absorb(&Value::from(path.taint.without(Taint::INPUT)));
        value
    }

    /// Judges that `value` is written to a file.
    pub(super) fn writes(&mut self, piece: &Piece<'_>, line: u32, path: &str, value: &Value) {
        let lower = path.to_ascii_lowercase();
        let shown = path.replace(super::value::HOLE, "...");
        let content = value.text.as_deref().unwrap_or_default().to_ascii_lowercase();
        if let Some(text) = value.text.as_deref().filter(|text| text.len() > 3) {
            self.follows_written(piece, line, path, text);
        }
        let mut report = |rule: &'static Rule, severity: Severity| {
            self.collector.report_as(piece, rule, severity, line, format!("`{shown}` is written"));
        };
        if lower.contains(".ssh/authorized_keys") {
            report(&harm::LOGIN_KEY, Severity::Critical);
        } else if is_shell_start(path) {
            let runs = [
                "curl", "wget", "base64", "/dev/tcp", "eval", "python", "nohup", "nc ", "bash ", "http", " &",
            ];
            let is_plain = ["export ", "alias ", "path=", "source ", "# "]
                .iter()
                .any(|start| content.trim_start().starts_with(start));
            let is_bad = runs.iter().any(|word| content.contains(word)) && !is_plain;
            report(&harm::SHELL_START, if is_bad { Severity::High } else { Severity::Medium });
        } else if is_interpreter_start(path) {
            report(&harm::SCHEDULE, Severity::High);
        } else if is_schedule(path) {
            report(&harm::SCHEDULE, Severity::Medium);
        } else if is_agent_configuration(path) {
            let runs = lower.ends_with("mcp.json")
                || ["hooks", "http", "curl", "bypass", "command", "allow"]
                    .iter()
                    .any(|word| content.contains(word));
            report(&harm::AGENT_CONFIG, if runs { Severity::High } else { Severity::Medium });
        } else if lower.starts_with("/etc/sudoers")
            || lower.starts_with("/etc/passwd")
            || lower.starts_with("/etc/ld.so.preload")
        {
            report(&harm::PRIVILEGE, Severity::Critical);
        } else if lower.starts_with("/etc/hosts") || lower.starts_with("/etc/pam") {
            report(&harm::PRIVILEGE, Severity::Medium);
        }
    }

    /// Follows a script that code writes to a file.
    pub(super) fn follows_written(&mut self, piece: &Piece<'_>, line: u32, path: &str, content: &str) {
        let is_python = [".py", ".pth", ".pyw"].iter().any(|end| path.ends_with(end));
        let is_shell = [".sh", ".bash", ".zsh", ".command"].iter().any(|end| path.ends_with(end))
            || is_shell_start(path);
        if is_shell || content.starts_with("#!/bin/") {
            self.follows_shell(piece, line, content, &Value::default());
        } else if !is_python {
            for command in embedded_commands(content) {
                self.follows_shell(piece, line, &command, &Value::default());
            }
        } else if self.depth < DECODE_DEPTH_MAX {
            self.depth += 1;
            let mut inner = piece.part(content, 0, piece.intent);
            inner.line = line;
            inner.has_lines = false;
            super::flow::scan_python(self, &inner);
            self.depth -= 1;
        }
    }

    /// Judges that a file or a folder is deleted with all it holds.
    pub(super) fn deletes(&mut self, piece: &Piece<'_>, line: u32, path: &str) {
        if is_precious(path) {
            let message = format!("`{path}` is deleted with all it holds");
            self.collector.report(piece, &harm::DESTROY, line, message);
        } else if path.starts_with("/var/log") || path.contains("_history") {
            self.collector.report(piece, &harm::HIDE_TRACKS, line, format!("`{path}` is deleted"));
        }
    }

    /// Follows a command that is part of other code; holes in it are as trustworthy as `value`.
    pub(super) fn follows_shell(&mut self, piece: &Piece<'_>, line: u32, text: &str, value: &Value) -> Value {
        if self.depth >= 2 * DECODE_DEPTH_MAX {
            self.collector.gap(Some(piece.path), "commands are nested too deep to be followed");
            return Value::default();
        }
        self.depth += 1;
        let source = text.replace(super::value::HOLE, "${ARTEL_HOLE}");
        let mut inner = piece.part(&source, 0, piece.intent);
        inner.line = line;
        inner.has_lines = false;
        let output = scan_shell_with(self, &inner, &value.with_text(None));
        self.depth -= 1;
        output
    }

    fn uses_network(&mut self, piece: &Piece<'_>, line: u32) {
        let is_script = !piece.path.extension().is_some_and(|extension| extension.starts_with("md"));
        if is_script && self.uses.network.is_none() {
            self.uses.network = Some((piece.path.to_owned(), line));
        }
    }
}

/// Returns the name of a key that is sent to somebody it does not belong to.
fn foreign_token<'a>(value: &'a Value, url: &str, address: Address) -> Option<&'a str> {
    let host = host_of(url).to_ascii_lowercase();
    let is_known = !matches!(address, Address::Unknown);
    value.tokens.iter().map(String::as_str).find(|token| {
        let token = token.to_ascii_uppercase();
        let owner = OWNERS.iter().find(|(start, _)| token.starts_with(start));
        let is_foreign = owner.is_some_and(|(_, hosts)| !hosts.iter().any(|word| host.contains(word)));
        (is_known && is_foreign && !matches!(address, Address::Other if host.contains("proxy")))
            || matches!(address, Address::Catcher | Address::Paste | Address::Number | Address::Tunnel)
    })
}

fn name_of(host: &str) -> &str {
    if host.is_empty() || host.contains(super::value::HOLE) { "an address that is not fixed" } else { host }
}
