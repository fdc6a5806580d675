//! What commands of a shell send to the network and fetch from it.

use super::address::{Address, address_of};
use super::file::looks_like_path;
use super::judge::Carrier;
use super::shell::Shell;
use super::shell_command::Call;
use super::value::{Taint, Value};
use crate::scan::rules::{behaviour, harm};

/// What a request is made of.
#[derive(Default)]
struct Request {
    url: Value,
    body: Vec<Value>,
    headers: Vec<Value>,
    output: Option<String>,
    saves_by_name: bool,
}

/// Flags of curl that take a word which does not matter here.
const CURL_WORDS: &[&str] = &[
    "-X",
    "--request",
    "-m",
    "--max-time",
    "-w",
    "--write-out",
    "--retry",
    "--connect-timeout",
    "-x",
    "--proxy",
    "--cacert",
    "--cert",
    "-c",
    "--cookie-jar",
    "-K",
    "--resolve",
    "--interface",
    "-r",
    "--range",
    "-z",
    "--limit-rate",
    "--retry-delay",
];

impl Shell<'_, '_> {
    /// Follows a call of curl.
    pub(super) fn curl(&mut self, call: &Call<'_>) -> Value {
        let mut request = Request::default();
        let mut words = call.arguments.iter();
        while let Some(word) = words.next() {
            let shown = word.shown();
            let (flag, attached) = split_flag(&shown);
            let mut next = || match attached {
                Some(text) => Some(word.with_text(Some(text.to_owned()))),
                None => words.next().cloned(),
            };
            match flag {
                "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-urlencode" | "--data-ascii"
                | "-F" | "--form" | "--form-string" | "--json" => {
                    let data = next().map(|data| self.curl_data(&data, call));
                    request.body.extend(data);
                }
                "-T" | "--upload-file" => {
                    let file = next().unwrap_or_default();
                    let data = if file.constant() == Some("-") {
                        call.input.clone()
                    } else {
                        self.read(&file, call.line)
                    };
                    request.body.push(data);
                }
                "-H" | "--header" | "-A" | "--user-agent" | "-u" | "--user" | "-b" | "--cookie" | "-e"
                | "--referer" => {
                    request.headers.extend(next());
                }
                "-o" | "--output" => request.output = next().and_then(|file| file.text),
                "-O" | "--remote-name" => request.saves_by_name = true,
                "--url" => request.url = next().unwrap_or_default(),
                flag if CURL_WORDS.contains(&flag) => {
                    next();
                }
                flag if flag.starts_with('-') => {}
                _ => {
                    request.url =
                        if request.url == Value::default() { word.clone() } else { request.url.either(word) }
                }
            }
        }
        self.request(call, &request)
    }

    /// Follows a call of wget.
    pub(super) fn wget(&mut self, call: &Call<'_>) -> Value {
        let mut request = Request { saves_by_name: true, ..Request::default() };
        let mut words = call.arguments.iter();
        while let Some(word) = words.next() {
            let shown = word.shown();
            let (flag, attached) = split_flag(&shown);
            let mut next = || match attached {
                Some(text) => Some(word.with_text(Some(text.to_owned()))),
                None => words.next().cloned(),
            };
            match flag {
                "--post-data" | "--body-data" => request.body.extend(next()),
                "--post-file" | "--body-file" => {
                    let file = next().unwrap_or_default();
                    let data = self.read(&file, call.line);
                    request.body.push(data);
                }
                "--header" | "--user" | "--password" | "-U" => request.headers.extend(next()),
                "-O" | "--output-document" => {
                    request.output = next().and_then(|file| file.text).filter(|file| file != "-");
                    request.saves_by_name = false;
                }
                "-P" | "-T" | "-t" | "--timeout" | "--tries" => {
                    next();
                }
                flag if flag.starts_with('-') => {}
                _ => request.url = word.clone(),
            }
        }
        self.request(call, &request)
    }

    fn curl_data(&mut self, data: &Value, call: &Call<'_>) -> Value {
        let shown = data.shown();
        let file = shown.strip_prefix('@').or_else(|| shown.split_once("=@").map(|(_, file)| file));
        let file = file.or_else(|| shown.split_once("=<").map(|(_, file)| file));
        match file.map(|file| file.split(';').next().unwrap_or_default()) {
            Some("-") => call.input.clone(),
            Some(file) => {
                let mut content = self.read(&Value::text(file), call.line);
                content.absorb(data);
                content
            }
            None => data.clone(),
        }
    }

    fn request(&mut self, call: &Call<'_>, request: &Request) -> Value {
        let url = request.url.shown();
        for body in &request.body {
            self.session.sends(self.piece, call.line, body, &url, Carrier::Body);
        }
        for header in &request.headers {
            self.session.sends(self.piece, call.line, header, &url, Carrier::Header);
        }
        self.session.sends(self.piece, call.line, &request.url.with_text(None), &url, Carrier::Url);
        let fetched = self.session.fetches(self.piece, call.line, &url);
        let by_name = request.saves_by_name.then(|| url.rsplit('/').next().unwrap_or_default().to_owned());
        match request.output.clone().or(by_name) {
            Some(file) => {
                self.session.writes(self.piece, call.line, &file, &fetched);
                self.files.insert(file.trim_start_matches("./").to_owned(), fetched);
                Value::default()
            }
            None => fetched,
        }
    }

    /// Follows programs that speak to the network without a protocol.
    pub(super) fn raw_network(&mut self, call: &Call<'_>) -> Value {
        let all = call.all();
        let runs_shell = call.has_short('e') && (all.contains("sh") || all.contains("cmd"))
            || call.has(&["-c"]) && all.contains("/bin/")
            || all.to_ascii_lowercase().contains("exec:") && all.contains("sh");
        if runs_shell {
            let message = "a shell is connected to the network";
            self.session.collector.report(self.piece, &harm::REVERSE_SHELL, call.line, message);
        }
        let host = call.plain().next().map(Value::shown).unwrap_or_default();
        if call.has_short('l') || call.has_short('z') {
            return Value::default();
        }
        let input = call.input.clone();
        self.session.sends(self.piece, call.line, &input, &host, Carrier::Body);
        self.session.fetches(self.piece, call.line, &host)
    }

    /// Follows other programs that send files or words away.
    pub(super) fn other_network(&mut self, call: &Call<'_>) -> Value {
        let all = call.all();
        let is_network = match call.name.as_str() {
            "openssl" => all.contains("s_client"),
            "aws" => all.contains(" s3 ") && (all.contains(" cp ") || all.contains(" sync ")),
            "gh" => all.contains("gist create") || all.contains("release upload"),
            "ssh" => call.input.taint != Taint::NONE,
            _ => true,
        };
        if !is_network {
            return if call.name == "openssl" && all.contains(" -d") {
                let mut value = call.input.with_text(None);
                value.taint |= Taint::DECODED;
                value
            } else {
                call.input.with_text(None)
            };
        }
        let mut sent = call.input.with_text(None);
        let is_key = |index: usize| {
            index > 0 && matches!(call.arguments[index - 1].constant(), Some("-i" | "-e" | "--rsh" | "-F"))
        };
        for (index, word) in call.arguments.iter().enumerate() {
            sent.absorb(word);
            if word.text.as_deref().is_some_and(looks_like_path) && !is_key(index) && call.name != "ssh" {
                let content = self.read(word, call.line);
                sent.absorb(&content);
            }
        }
        // These go where the user has an account.
        if matches!(call.name.as_str(), "rclone" | "rsync" | "scp" | "sftp" | "aws" | "gsutil" | "ssh") {
            sent.taint = sent.taint.without(Taint::PERSONAL | Taint::HOST | Taint::INPUT);
        }
        let host = match call.name.as_str() {
            "dig" | "nslookup" | "host" => call.plain().map(Value::shown).find(|word| word.contains('.')),
            "aws" | "gsutil" | "rclone" => call.plain().map(Value::shown).find(|word| word.contains(':')),
            _ => call
                .plain()
                .map(Value::shown)
                .find(|word| word.contains("://") || word.contains('@') || word.contains(':')),
        };
        let host = host.unwrap_or_default();
        let host = host.split_once('@').map_or(host.as_str(), |(_, host)| host);
        self.session.sends(self.piece, call.line, &sent, host, Carrier::Body);
        Value::default()
    }
}

impl Shell<'_, '_> {
    /// Follows where a repository is pushed to.
    pub(super) fn git(&mut self, call: &Call<'_>) -> Value {
        let words: Vec<String> = call.plain().map(Value::shown).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["remote", "add" | "set-url", name, url, ..] => {
                self.files.insert(format!("git remote {name}"), Value::text(*url));
            }
            ["push", target, ..] => {
                let known = self.files.get(&format!("git remote {target}")).and_then(|url| url.text.clone());
                let url = known.unwrap_or_else(|| (*target).to_owned());
                let address = address_of(&url);
                let is_odd =
                    address == Address::Other && url.contains("://") && !self.session.about.owns(&url);
                if is_odd || (url.contains("://") && address.is_anonymous()) {
                    let message = format!("the repository is pushed to {url}");
                    self.session.collector.report(
                        self.piece,
                        &behaviour::EXFILTRATE_FILES,
                        call.line,
                        message,
                    );
                }
            }
            _ => {}
        }
        call.input.with_text(None)
    }
}

/// Splits `--flag=value` and `-dvalue`; of several short flags the last one counts.
fn split_flag(word: &str) -> (&str, Option<&str>) {
    if let Some(long) = word.strip_prefix("--") {
        let Some(at) = long.find('=') else { return (word, None) };
        return (&word[..at + 2], Some(&long[at + 1..]));
    }
    let letters = word.strip_prefix('-').filter(|letters| letters.len() > 1 && letters.is_ascii());
    let Some(letters) = letters else { return (word, None) };
    let takes = |letter: char| {
        matches!(letter, 'd' | 'F' | 'T' | 'H' | 'o' | 'O' | 'u' | 'A' | 'b' | 'X' | 'e' | 'm' | 'w' | 'x')
    };
    let Some(at) = letters.find(takes) else { return (word, None) };
    let flag = match letters.as_bytes()[at] {
        b'd' => "-d",
        b'F' => "-F",
        b'T' => "-T",
        b'H' => "-H",
        b'o' => "-o",
        b'O' => "-O",
        b'u' => "-u",
        b'A' => "-A",
        b'b' => "-b",
        b'X' => "-X",
        b'e' => "-e",
        b'm' => "-m",
        b'w' => "-w",
        _ => "-x",
    };
    let attached = Some(&letters[at + 1..]).filter(|rest| !rest.is_empty());
    (flag, attached)
}
