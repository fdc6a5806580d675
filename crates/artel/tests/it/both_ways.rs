//! The same command on a data folder and through a server, with what must differ taken out.

use camino::Utf8PathBuf;
use serde_json::{Map, Value, json};

use crate::serve_session::Served;
use crate::session::{Session, steady};

/// A server that counts nobody's requests.
const UNCOUNTED: &str =
    "[server]\nrequests_per_second = 100000\nrequest_burst = 100000\n[run]\ngrace_ms = 60000\n";

/// A session on its own data folder, and one that works through a server whose folder is as the first one's.
pub(crate) struct BothWays {
    pub(crate) here: Session,
    pub(crate) there: Session,
    pub(crate) home: Session,
    pub(crate) served: Served,
    named: Vec<(String, String, String)>,
}

impl BothWays {
    /// Puts skills where artel looks for them, and files where commands are typed.
    pub(crate) fn new(skills: impl Fn(&Session), files: impl Fn(&Session)) -> Self {
        let (mut here, home, mut there) = (Session::new(), Session::new(), Session::new());
        // Through a server, it is the administrator who asks.
        here.set("USER", "admin");
        for session in [&here, &home] {
            skills(session);
            session.write("artel.toml", UNCOUNTED);
        }
        for session in [&here, &there] {
            files(session);
        }
        let served = Served::start(&home, &[]);
        there.set("ARTEL_SERVER", &format!("http://{}", served.address));
        there.set("ARTEL_TOKEN", served.token.as_deref().unwrap());
        Self { here, there, home, served, named: Vec::new() }
    }

    /// Gives a name to something that is called otherwise on either side.
    pub(crate) fn name(&mut self, name: &str, find: impl Fn(&Session) -> Value) {
        let found = |session: &Session| find(session).as_str().unwrap().to_owned();
        self.named.push((format!("{{{name}}}"), found(&self.here), found(&self.there)));
    }

    /// Names the run that was asked for last.
    pub(crate) fn name_last_run(&mut self, name: &str) {
        self.name(name, |session| {
            session.json(&["run", "list", "--limit", "1"])["items"][0]["run_id"].clone()
        });
    }

    /// Runs a command both ways; everything that a person or a program sees must be alike.
    #[track_caller]
    pub(crate) fn check(&self, arguments: &[&str]) -> String {
        let filled = |pick: fn(&(String, String, String)) -> &String| -> Vec<String> {
            let fill = |argument: &&str| {
                self.named.iter().fold((*argument).to_owned(), |text, name| text.replace(&name.0, pick(name)))
            };
            arguments.iter().map(fill).collect()
        };
        let here = told(&self.here, &filled(|name| &name.1));
        let there = told(&self.there, &filled(|name| &name.2));
        assert_eq!(here, there, "{arguments:?}");
        there
    }

    /// The same, and the exit code is known.
    #[track_caller]
    pub(crate) fn ends(&self, code: i32, arguments: &[&str]) -> String {
        let told = self.check(arguments);
        assert!(told.starts_with(&format!("exit {code}\n")), "{arguments:?}: {told}");
        told
    }
}

/// Runs artel and returns what is seen, without what differs from run to run.
fn told(session: &Session, arguments: &[String]) -> String {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = session.output(&arguments);
    let folder: Utf8PathBuf = session.path().to_owned();
    let text = |bytes: &[u8]| alike(&String::from_utf8_lossy(bytes).replace(folder.as_str(), "[folder]"));
    let code = output.status.code().unwrap();
    format!("exit {code}\n--- stdout\n{}--- stderr\n{}", text(&output.stdout), text(&output.stderr))
}

/// Takes out what differs from run to run: of a document, of documents line by line, or of text.
pub(crate) fn alike(text: &str) -> String {
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        return format!("{:#}\n", steady_value(None, document));
    }
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(document @ Value::Object(_)) => format!("{}\n", steady_value(None, document)),
        Ok(_) | Err(_) => steady_text(line),
    };
    text.lines().map(line).collect()
}

fn steady_text(text: &str) -> String {
    // JSON in the middle of text has its ids in quotes.
    let mut apart = String::new();
    for c in text.chars() {
        match c {
            '"' | '{' | '}' | '[' | ']' | '=' => apart.extend([' ', c, ' ']),
            c => apart.push(c),
        }
    }
    let words: Vec<String> =
        steady(&apart).split(' ').filter(|word| !word.is_empty()).map(String::from).collect();
    // A server does not tell where on its disk a skill lies.
    words.join(" ").replace("just now", "[time] ago").replace("skill://", "skills/")
}

fn steady_value(key: Option<&str>, value: Value) -> Value {
    match value {
        Value::Object(object) => {
            // Whose something is, and who traced it, is known at a server only; where a call came from differs.
            let is_kept = |key: &str| !matches!(key, "owner" | "viewer" | "trace_parent" | "call_origin");
            let fields = object.into_iter().filter(|(key, _)| is_kept(key));
            let fields = fields.map(|(key, value)| {
                let value = steady_value(Some(&key), value);
                (steady_text(&key).trim_end().to_owned(), value)
            });
            Value::Object(fields.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.into_iter().map(|item| steady_value(key, item)).collect(),
        Value::String(_) if key == Some("next") => json!("[cursor]"),
        Value::String(text) => json!(steady_text(&text).trim_end()),
        Value::Number(_) if key.is_some_and(is_time) => json!("[time]"),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

fn is_time(key: &str) -> bool {
    key.ends_with("_ms") || key.ends_with("Ms") || key == "average_operation_time"
}
