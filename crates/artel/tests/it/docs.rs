//! Documents that are made from the code, and stay true to it.
//!
//! `ARTEL_UPDATE_DOCS=1 cargo nextest run -p artel docs` writes them anew.

use std::fmt::Write;

use artel_model::diagnostic::{Code, Severity};
use artel_model::limit;
use camino::Utf8Path;

use crate::session::Session;

/// Compares a document with what the code says, or writes it.
#[expect(clippy::disallowed_methods, reason = "the one switch of this test")]
pub(crate) fn check(name: &str, expected: &str) {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("ARTEL_UPDATE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "docs/{name} is not what the code says; run with ARTEL_UPDATE_DOCS=1");
}

#[test]
fn limits_are_documented() {
    let mut text = String::from(
        "# Limits\n\nEverything has a limit. Reaching one is a diagnostic, a typed error or a queue, never a crash.\n\
         This page is made from `crates/artel-model/src/limit.rs`.\n\n| limit | value | what it is about |\n|---|--:|---|\n",
    );
    for limit in limit::ALL {
        writeln!(text, "| `{}` | {} | {} |", limit.name, limit.value, limit.about).unwrap();
    }
    check("limits.md", &text);
}

#[test]
fn diagnostics_are_documented() {
    let mut text = String::from(
        "# Diagnostics\n\nWhat `artel skill validate` may say, by its stable code. The second column is the weight in strict\n\
         validation (`--profile spec`), the third the weight when skills are loaded for use: with an error, the skill is not\n\
         used; with a warning it is. The profiles `skills-ref`, `claude` and `codex` report as errors only what that client\n\
         refuses, and the rest as warnings. This page is made from `crates/artel-model/src/diagnostic.rs`.\n\n\
         | code | strict | loading | meaning | how to mend it |\n|---|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let weight = code.weight();
        let lenient = weight.lenient.map_or("not said", Severity::as_str);
        let (strict, about, mend) = (weight.strict.as_str(), code.about(), code.mend());
        writeln!(text, "| `{code}` | {strict} | {lenient} | {about} | {mend} |").unwrap();
    }
    check("diagnostics.md", &text);
}

#[test]
fn commands_are_documented() {
    let session = Session::new();
    let help = |arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--help"]).collect();
        String::from_utf8(session.output(&arguments).stdout).unwrap()
    };
    let mut text = String::from("# The command line\n\nThis page is what `--help` says.\n");
    let groups: [(&str, &[&str]); 8] = [
        (
            "skill",
            &[
                "list", "search", "show", "new", "run", "validate", "scan", "lock", "verify", "update",
                "compose", "check", "select", "prompt", "export", "config", "enable", "disable",
            ],
        ),
        ("plan", &["validate", "run", "generate", "ask"]),
        (
            "run",
            &[
                "list",
                "show",
                "watch",
                "cancel",
                "pause",
                "resume",
                "approve",
                "reject",
                "stats",
                "executions",
                "recover",
                "prune",
            ],
        ),
        (
            "agent",
            &[
                "spawn",
                "list",
                "show",
                "execute",
                "pause",
                "resume",
                "cancel",
                "terminate",
                "free",
                "metrics",
                "recover",
                "prune",
            ],
        ),
        ("message", &["send", "publish", "request", "read", "listen", "dead", "counts"]),
        ("hub", &["crawl", "add", "list", "refresh", "enable", "disable", "remove"]),
        ("key", &["create", "list", "revoke"]),
        ("db", &["backup", "check"]),
    ];
    let mut pages: Vec<Vec<&str>> = vec![vec![], vec!["serve"]];
    for (group, commands) in groups {
        pages.push(vec![group]);
        pages.extend(commands.iter().map(|command| vec![group, command]));
    }
    pages.extend([vec!["mcp"], vec!["doctor"], vec!["completions"], vec!["man"]]);
    for page in pages {
        let title = [vec!["artel"], page.clone()].concat().join(" ");
        write!(text, "\n## `{title}`\n\n```text\n{}\n```\n", help(&page).trim_end()).unwrap();
    }
    check("cli.md", &text);
}

/// What `SECURITY.md` names as proof is there: files below `crates/`, and tests by `file.rs::name`.
#[test]
fn every_proof_of_the_threat_model_exists() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(|word| word.contains(".rs")).collect();
    assert!(named.len() > 50, "{}", named.len());
    for proof in named {
        let (file, test) = proof.split_once("::").unwrap_or((proof, ""));
        let source = std::fs::read_to_string(root.join("crates").join(file)).unwrap_or_default();
        assert!(source.contains(&format!("fn {test}")) && !source.is_empty(), "SECURITY.md names `{proof}`");
    }
}
