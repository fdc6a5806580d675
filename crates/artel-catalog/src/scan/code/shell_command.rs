//! What single commands of a shell do with what they are given.

use tree_sitter::Node;

use super::file::looks_like_path;
use super::shell::Shell;
use super::shell_harm::harmful;
use super::syntax::all_children;
use super::value::{Taint, Value};
use crate::scan::rules::{behaviour, harm};
use artel_model::catalog::Severity;

/// A command with its words.
pub(super) struct Call<'a> {
    pub(super) name: String,
    pub(super) arguments: &'a [Value],
    pub(super) input: &'a Value,
    pub(super) line: u32,
}

impl Call<'_> {
    /// Says whether an argument is one of these.
    pub(super) fn has(&self, flags: &[&str]) -> bool {
        self.arguments.iter().any(|argument| argument.constant().is_some_and(|text| flags.contains(&text)))
    }

    /// Says whether a short flag is given, alone or together with others.
    pub(super) fn has_short(&self, letter: char) -> bool {
        self.arguments
            .iter()
            .filter_map(|argument| argument.text.as_deref())
            .any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(letter))
    }

    /// Returns the argument after a flag.
    pub(super) fn after(&self, flags: &[&str]) -> Option<&Value> {
        let at =
            self.arguments.iter().position(|one| one.constant().is_some_and(|text| flags.contains(&text)))?;
        self.arguments.get(at + 1)
    }

    /// Returns the arguments that are no flags.
    pub(super) fn plain(&self) -> impl Iterator<Item = &Value> {
        self.arguments.iter().filter(|one| !one.text.as_deref().is_some_and(|text| text.starts_with('-')))
    }

    /// Returns the whole command as one text.
    pub(super) fn all(&self) -> String {
        let words: Vec<String> = self.arguments.iter().map(Value::shown).collect();
        format!("{} {}", self.name, words.join(" "))
    }
}

/// Commands that only start another one, and how many words of their own they have.
const WRAPPERS: &[(&str, usize)] = &[
    ("sudo", 0),
    ("doas", 0),
    ("env", 0),
    ("nohup", 0),
    ("time", 0),
    ("timeout", 1),
    ("command", 0),
    ("exec", 0),
    ("builtin", 0),
    ("nice", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("busybox", 0),
    ("caffeinate", 0),
    ("xargs", 0),
    ("then", 0),
];

/// Commands that take the name of a file but do not put its content out.
const BLIND: &[&str] = &[
    "ssh",
    "chmod",
    "chown",
    "ls",
    "mkdir",
    "touch",
    "test",
    "[",
    "stat",
    "ssh-keygen",
    "ssh-add",
    "rm",
    "cd",
    "export",
    "kubectl",
    "aws",
    "git",
    "docker",
    "gpg",
    "rmdir",
    "ln",
    "open",
    "which",
    "du",
    "df",
    "echo",
    "printf",
    "export",
    "source",
    ".",
    "eval",
    "npm",
    "pip",
    "pip3",
    "find",
    "fd",
    "pushd",
    "code",
    "vim",
    "nano",
    "gh",
    "gcloud",
    "az",
];

impl Shell<'_, '_> {
    /// Runs a simple command, or those that the parser took for one: after a pipeline of several stages it reads the next
    /// line as further arguments. A shell ends a command with its line, unless the line goes on with a backslash.
    pub(super) fn command(&mut self, node: Node<'_>, input: &Value) -> Value {
        let mut commands: Vec<Vec<Node<'_>>> = Vec::new();
        for part in all_children(node) {
            let before = commands.last().and_then(|command| command.last());
            let is_next = before.is_none_or(|before| self.is_on_another_line(*before, part));
            match commands.last_mut() {
                Some(command) if !is_next => command.push(part),
                Some(_) | None => commands.push(vec![part]),
            }
        }
        let mut output = Value::default();
        for (index, parts) in commands.into_iter().enumerate() {
            let input = if index == 0 { input.clone() } else { Value::default() };
            output = self.simple_command(node, &parts, input);
        }
        output
    }

    /// Says whether a line ends between two parts.
    fn is_on_another_line(&self, before: Node<'_>, after: Node<'_>) -> bool {
        let between = self.source.get(before.end_byte()..after.start_byte()).unwrap_or_default();
        let is_heredoc = [before, after].iter().any(|part| part.kind().contains("heredoc"));
        !is_heredoc && between.replace("\\\n", "").replace("\\\r\n", "").contains('\n')
    }

    fn simple_command(&mut self, node: Node<'_>, parts: &[Node<'_>], input: Value) -> Value {
        let line = parts.first().map_or_else(|| self.line(node), |part| self.line(*part));
        let mut words = Vec::new();
        let mut input = input;
        for part in parts.iter().copied() {
            match part.kind() {
                "variable_assignment" => {
                    self.run(part, &Value::default());
                }
                "herestring_redirect" => {
                    let word = super::syntax::children(part).into_iter().last();
                    input = word.map(|word| self.word(word)).unwrap_or_default();
                }
                _ => words.push((part, self.word(part))),
            }
        }
        let Some((first, name)) = words.first() else { return Value::default() };
        if let Some(name) = name.constant() {
            self.judge_name(*first, name, line);
        }
        let values: Vec<Value> = words.iter().map(|(_, value)| value.clone()).collect();
        self.execute(node, &values, &input, line)
    }

    /// Runs words as a command.
    pub(super) fn execute(&mut self, node: Node<'_>, words: &[Value], input: &Value, line: u32) -> Value {
        let Some((first, arguments)) = words.split_first() else { return Value::default() };
        let Some(full) = first.text.clone() else {
            // The name of the command itself is not known.
            self.session.runs(self.piece, line, first);
            return Value::join(arguments, " ");
        };
        if full.contains(' ') && !full.contains('/') || full.starts_with("cat ") {
            // A command that was put into one word, by way of a variable.
            let mut words: Vec<Value> =
                full.split_whitespace().map(|word| first.with_text(Some(word.to_owned()))).collect();
            words.extend_from_slice(arguments);
            return if words.len() > arguments.len() {
                self.execute(node, &words, input, line)
            } else {
                Value::default()
            };
        }
        let name = full.rsplit('/').next().unwrap_or_default().to_owned();
        if let Some((_, own)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            return self.wrapped(node, &name, *own, arguments, input, line);
        }
        if let Some(output) = self.call(node, &name, arguments, input) {
            return output;
        }
        if full.contains('/') || self.files.contains_key(&full) {
            let content = self.read(first, line);
            self.session.runs(self.piece, line, &content);
        }
        let call = Call { name, arguments, input, line };
        self.judge_command(&call);
        self.output(node, &call)
    }

    fn wrapped(
        &mut self,
        node: Node<'_>,
        name: &str,
        own: usize,
        arguments: &[Value],
        input: &Value,
        line: u32,
    ) -> Value {
        let is_own = |word: &Value| {
            let text = word.text.as_deref().unwrap_or_default();
            text.starts_with('-') || (name == "env" && text.contains('='))
        };
        let takes_word = |word: &Value| {
            matches!(word.constant(), Some("-u" | "-g" | "-n" | "-I" | "-P" | "-L" | "-k" | "-s"))
        };
        let mut at = 0;
        while arguments.get(at).is_some_and(is_own) {
            at += if takes_word(&arguments[at]) && name != "env" { 2 } else { 1 };
        }
        let rest = arguments.get(at + own..).unwrap_or_default();
        if rest.is_empty() {
            return if name == "env" { Value::from(Taint::ENVIRONMENT) } else { input.clone() };
        }
        if name != "xargs" {
            return self.execute(node, rest, input, line);
        }
        let mut words = rest.to_vec();
        words.push(input.clone());
        self.execute(node, &words, &Value::default(), line)
    }

    /// Returns what a command puts out, and judges what it does with the network and with code.
    fn output(&mut self, node: Node<'_>, call: &Call<'_>) -> Value {
        match call.name.as_str() {
            "echo" | "printf" => self.echo(call),
            "curl" => self.curl(call),
            "wget" => self.wget(call),
            "nc" | "ncat" | "netcat" | "socat" | "telnet" => self.raw_network(call),
            "git" => self.git(call),
            "scp" | "rsync" | "sftp" | "ftp" | "rclone" | "aws" | "gsutil" | "mail" | "sendmail" | "mutt"
            | "dig" | "nslookup" | "host" | "http" | "https" | "xh" | "openssl" | "ssh" | "gh" => {
                self.other_network(call)
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "source" | "." | "eval" => {
                self.interpret_shell(call)
            }
            "python" | "python3" | "python2" | "node" | "perl" | "ruby" | "php" | "osascript" | "pwsh"
            | "powershell" | "bun" | "deno" | "tsx" | "lua" => self.interpret_other(call),
            "base64" | "xxd" | "gunzip" | "zcat" | "rev" | "base32" | "uudecode" | "gzip" | "tr"
            | "b64decode" => self.decode(call),
            "printenv" | "set" | "declare" if call.arguments.is_empty() => Value::from(Taint::ENVIRONMENT),
            "printenv" => {
                call.arguments.first().and_then(Value::constant).map(Value::variable).unwrap_or_default()
            }
            "whoami" | "hostname" | "uname" | "id" | "ifconfig" | "sw_vers" | "lscpu" | "ip" | "arch" => {
                Value::from(Taint::HOST)
            }
            "pbpaste" | "xclip" | "xsel" | "wl-paste" | "screencapture" | "scrot" => {
                Value::from(Taint::PERSONAL)
            }
            "history" => Value::from(Taint::SECRET),
            "pg_dump" | "pg_dumpall" | "mysqldump" | "mongodump" => Value::from(Taint::PERSONAL),
            "security" if call.all().contains("find-") || call.all().contains("dump-keychain") => {
                self.keychain(call)
            }
            "cp" | "mv" | "tar" | "zip" | "7z" | "install" | "tee" | "dd" => self.copy(call),
            "read" => Value::default(),
            "find" | "fd" | "ls" => self.list(node, call),
            _ => self.other_output(call),
        }
    }

    fn echo(&mut self, call: &Call<'_>) -> Value {
        let escapes = call.name == "printf" || call.has(&["-e", "-ne", "-en"]);
        let words: Vec<&Value> = call
            .arguments
            .iter()
            .filter(|word| !matches!(word.constant(), Some("-e" | "-n" | "-ne" | "-en")))
            .collect();
        let words = match words.as_slice() {
            [format, rest @ ..]
                if call.name == "printf"
                    && !rest.is_empty()
                    && format.constant().is_some_and(|text| text.contains('%')) =>
            {
                rest.to_vec()
            }
            words => words.to_vec(),
        };
        let joined = Value::join(words, " ");
        let text = joined.text.clone().map(|text| if escapes { super::shell::unescape(&text) } else { text });
        let hides = escapes && joined.text.as_deref().is_some_and(|text| text.matches("\\x").count() >= 6);
        let mut value = joined.with_text(text);
        if hides {
            value.taint |= Taint::DECODED;
        }
        value
    }

    fn other_output(&mut self, call: &Call<'_>) -> Value {
        let mut output = call.input.with_text(None);
        if matches!(call.name.as_str(), "cat" | "tee" | "head" | "tail" | "strings")
            && call.plain().next().is_none()
        {
            output = call.input.clone();
        }
        let is_blind = BLIND.contains(&call.name.as_str());
        for argument in call.arguments {
            output.absorb(argument);
            if !is_blind && argument.text.as_deref().is_some_and(looks_like_path) {
                let content = self.read(argument, call.line);
                output.absorb(&content);
                if call.name == "cat" && output.text.is_none() {
                    output = output.with_text(content.text);
                }
            }
        }
        output
    }

    fn keychain(&mut self, call: &Call<'_>) -> Value {
        let all = call.all().to_ascii_lowercase();
        let is_foreign = ["chrome", "brave", "dump-keychain", "find-internet", "firefox", "edge"]
            .iter()
            .any(|word| all.contains(word));
        let severity = if is_foreign { Severity::High } else { Severity::Low };
        self.session.collector.report_as(
            self.piece,
            &behaviour::READ_CREDENTIALS,
            severity,
            call.line,
            "the keychain is read",
        );
        if is_foreign { Value::from(Taint::SECRET) } else { Value::default() }
    }

    fn copy(&mut self, call: &Call<'_>) -> Value {
        let mut content = call.input.clone();
        let words: Vec<Value> = call.plain().cloned().collect();
        let split = match call.name.as_str() {
            "tar" | "zip" | "7z" => words
                .iter()
                .position(|word| is_archive(word.text.as_deref().unwrap_or_default()))
                .unwrap_or(0),
            "tee" => 0,
            _ => words.len().saturating_sub(1),
        };
        for (index, word) in words.iter().enumerate() {
            let word = match word.text.as_deref().and_then(|text| text.strip_prefix("if=")) {
                Some(path) => Value::text(path),
                None if index == split && !matches!(call.name.as_str(), "dd") => continue,
                None => word.clone(),
            };
            if call.name != "tee" {
                let read = self.read(&word, call.line);
                content = content.either(&read);
            }
        }
        let targets = match call.name.as_str() {
            "tee" => words.clone(),
            _ => words.get(split).cloned().into_iter().collect(),
        };
        for target in targets.iter().filter_map(|target| target.text.clone()) {
            let target = target.strip_prefix("of=").unwrap_or(&target).to_owned();
            self.session.writes(self.piece, call.line, &target, &content);
            self.files.insert(target, content.clone());
        }
        content
    }

    fn list(&mut self, node: Node<'_>, call: &Call<'_>) -> Value {
        let mut output = Value::default();
        for argument in call.plain().filter(|argument| argument.text.as_deref().is_some_and(looks_like_path))
        {
            let role = super::file::file_role(argument.text.as_deref().unwrap_or_default());
            if call.name != "ls" && role != super::file::FileRole::Home {
                output.taint |= role.taint();
            }
        }
        let all = call.all();
        if all.contains("id_rsa")
            || all.contains("*.pem")
            || all.contains(".env")
            || all.contains("wallet")
            || all.contains("*.key")
        {
            output.taint |= Taint::SECRET;
        }
        if let Some(at) =
            call.arguments.iter().position(|one| matches!(one.constant(), Some("-exec" | "-execdir" | "-ok")))
        {
            let end = call
                .arguments
                .iter()
                .position(|one| matches!(one.constant(), Some(";" | "+")))
                .unwrap_or(call.arguments.len());
            let words: Vec<Value> = call.arguments.get(at + 1..end).unwrap_or_default().to_vec();
            output = self.execute(node, &words, &output, call.line).either(&output);
        }
        if call.has(&["-delete"]) {
            for argument in call.plain() {
                self.session.deletes(self.piece, call.line, &argument.shown());
            }
        }
        output
    }

    /// Judges commands that are bad whatever goes through them.
    fn judge_command(&mut self, call: &Call<'_>) {
        let all = call.all();
        if let Some((rule, severity, message)) = harmful(call, &all) {
            self.session.collector.report_as(self.piece, rule, severity, call.line, message);
        }
        match call.name.as_str() {
            "rm" if call.has_short('r')
                || call.has_short('R')
                || call.has(&["--recursive"])
                || all.contains("_history") =>
            {
                for path in call.plain().map(Value::shown).collect::<Vec<_>>() {
                    self.session.deletes(self.piece, call.line, &path);
                }
            }
            "chmod" if call.has(&["+x", "755", "777", "a+x", "u+x"]) => {}
            "crontab" if !call.has(&["-l"]) => {
                self.session.collector.report(
                    self.piece,
                    &harm::SCHEDULE,
                    call.line,
                    "the table of jobs is changed",
                );
            }
            _ => {}
        }
    }
}

fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".tar", ".tgz", ".tar.gz", ".zip", ".7z", ".tbz2", ".xz", ".gz"].iter().any(|end| name.ends_with(end))
        || name == "-"
}
