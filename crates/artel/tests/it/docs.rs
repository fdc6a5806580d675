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
                "list",
                "search",
                "show",
                "new",
                "run",
                "validate",
                "scan",
                "lock",
                "verify",
                "update",
                "compose",
                "check",
                "select",
                "prompt",
                "export",
                "config",
                "enable",
                "disable",
                "forget-data",
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
        ("hub", &["crawl", "add", "list", "refresh", "change", "enable", "disable", "remove"]),
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

/// The actors of the threat model.
const ACTORS: [&str; 11] = [
    "Anonymous",
    "Catalog reader",
    "Person",
    "Team member",
    "Operator",
    "Skill author",
    "Hub owner",
    "Model",
    "Agent client",
    "Neighbour process",
    "Network",
];

/// Returns what is wrong with a row of the threat model: it must name a test, and every test that it names must be there.
fn problems_of_row(root: &Utf8Path, row: &str) -> Vec<String> {
    let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
    let [what, _, proof] = cells[..] else { return vec![format!("`{row}` has not three cells")] };
    let tests: Vec<(&str, &str)> =
        proof.split('`').skip(1).step_by(2).filter_map(|name| name.split_once(".rs::")).collect();
    let is_there = |(file, test): &(&str, &str)| {
        let source =
            std::fs::read_to_string(root.join("crates").join(format!("{file}.rs"))).unwrap_or_default();
        let place = source.find(&format!("fn {test}("));
        // What every store must pass is called by the tests of each store.
        place.is_some_and(|place| {
            let before = &source[..place];
            let marks = &before[before.rfind("}\n").unwrap_or(0)..];
            file.contains("/contract/") || marks.contains("#[test]") || marks.contains("#[tokio::test")
        })
    };
    let missing = tests.iter().filter(|test| !is_there(test));
    let mut problems: Vec<String> =
        missing.map(|(file, test)| format!("`{what}`: there is no test `{file}.rs::{test}`")).collect();
    if tests.is_empty() {
        problems.push(format!("`{what}` names no test"));
    }
    problems
}

/// Every actor has rows, every row names a test, and every test is there.
#[test]
fn every_row_of_the_threat_model_has_a_proof() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/threat-model.md")).unwrap();
    let mut problems = Vec::new();
    let sections: Vec<&str> = text.split("\n## ").skip(1).collect();
    let actors: Vec<&str> = sections.iter().filter_map(|section| section.lines().next()).collect();
    assert_eq!(actors, ACTORS);
    for section in sections {
        let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
        assert!(rows.len() >= 2, "{section}");
        problems.extend(rows.iter().flat_map(|row| problems_of_row(&root, row)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let security = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    assert!(security.contains("(docs/threat-model.md)"));
}

#[test]
fn a_row_without_a_proof_is_found() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let problems = |proof: &str| problems_of_row(&root, &format!("| what | why not | {proof} |")).len();
    assert_eq!(problems("`artel/tests/it/docs.rs::a_row_without_a_proof_is_found`"), 0);
    assert_eq!(problems("`artel/tests/it/docs.rs`"), 1, "a file is no test");
    assert_eq!(problems("`artel/tests/it/docs.rs::no_such_test`"), 1);
    assert_eq!(problems("`artel/tests/it/docs.rs::problems_of_row`"), 1, "a function is no test");
    assert_eq!(problems("a promise"), 1);
}
