//! Compares what a skill says of itself with what its scripts were seen doing.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::category::Category;
use super::piece::Piece;
use super::rules::manifest;
use super::session::{About, Asks, Session};
use artel_model::catalog::Severity;

/// A file with its content.
pub(super) type FileContent = (Utf8PathBuf, Vec<u8>);

const MANIFESTS: &[&str] = &["skill.json", "skill.yaml"];
const MAIN_FILES: &[&str] = &["SKILL.md", "skill.md"];

/// Promises that nothing leaves the machine.
const PROMISES: &[&str] = &[
    "no network access",
    "never leaves your machine",
    "never leaves your computer",
    "works offline",
    "fully offline",
    "completely offline",
    "no data is sent",
    "no data leaves",
    "100% local",
    "entirely local",
    "runs entirely locally",
    "does not connect to the internet",
    "no internet",
    "nothing is uploaded",
    "stays on your machine",
];

/// Returns what a skill says of itself.
pub(super) fn about(files: &[FileContent]) -> About {
    let find = |names: &[&str]| files.iter().find(|(path, _)| names.contains(&path.as_str()));
    let text =
        find(MAIN_FILES).map(|(_, bytes)| String::from_utf8_lossy(bytes).to_lowercase()).unwrap_or_default();
    let name = frontmatter_value(&text, "name").unwrap_or_default();
    let description = frontmatter_value(&text, "description").unwrap_or_default();
    let manifest = find(&["skill.json"]).and_then(|(_, bytes)| serde_json::from_slice::<Value>(bytes).ok());
    let given = |key: &str| {
        manifest.as_ref().and_then(|manifest| manifest.get(key)?.as_str()).unwrap_or_default().to_lowercase()
    };
    let all = format!("{name} {} {description} {}", given("name"), given("description"));
    let words = all.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let asks = manifest.as_ref().map(|manifest| Asks {
        network: manifest.pointer("/sandbox/network").is_some_and(|network| network != &Value::Bool(false)),
    });
    About { words: words.map(str::to_owned).collect(), text: text.clone(), manifest: asks }
}

fn frontmatter_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let head = text.strip_prefix("---")?.split("\n---").next()?;
    head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim)
}

/// Reports what a skill does against what it says.
pub(super) fn check(session: &mut Session, files: &[FileContent]) {
    check_tools(session, files);
    check_data_scope(session, files);
    if let (Some(Asks { network: false }), Some((path, line))) =
        (session.about.manifest, session.uses.network.clone())
    {
        at(
            session,
            &path,
            line,
            &manifest::NETWORK_NOT_ASKED,
            Severity::Medium,
            "the manifest does not ask for the network",
        );
    }
    let promise = PROMISES.iter().find(|promise| session.about.text.contains(*promise));
    if let (Some(promise), Some((path, line))) = (promise, session.uses.sends.clone()) {
        let message = format!("the instructions say `{promise}`");
        at(session, &path, line, &manifest::CONTRADICTS, Severity::High, &message);
    }
    check_signs(session, files);
}

fn check_tools(session: &mut Session, files: &[FileContent]) {
    let Some((path, bytes)) = files.iter().find(|(path, _)| MAIN_FILES.contains(&path.as_str())) else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    let head = text.strip_prefix("---").and_then(|rest| rest.split("\n---").next()).unwrap_or_default();
    let mut in_tools = false;
    for (row, line) in head.lines().enumerate() {
        let is_key = line.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_key {
            in_tools = line.starts_with("allowed-tools:") || line.starts_with("allowed_tools:");
        }
        let plain = line.replace([' ', '"', '\''], "");
        let is_wide = plain.contains("Bash(*)")
            || plain.contains("Bash(*:*)")
            || plain.contains("Bash(sudo")
            || plain.ends_with(":*") && plain.starts_with("allowed")
            || plain == "-*";
        if in_tools && is_wide {
            let line = u32::try_from(row + 1).unwrap_or(u32::MAX);
            at(session, path, line, &manifest::TOOLS_TOO_WIDE, Severity::Medium, "every command is allowed");
        }
    }
}

/// Finds a manifest that asks for data of all callers. Lines are enough: a file that is written so that they are not is read
/// by the loader, and what it asks for needs the operator's grant.
fn check_data_scope(session: &mut Session, files: &[FileContent]) {
    let manifests = files.iter().filter(|(path, _)| MANIFESTS.contains(&path.as_str()));
    for (path, bytes) in manifests {
        let text = String::from_utf8_lossy(bytes);
        let asks = |line: &str| {
            let plain = line.replace([' ', '"', '\'', ',', '{', '}'], "");
            plain.contains("data_scope:shared") || plain.contains("dataScope:shared")
        };
        let Some(row) = text.lines().position(asks) else { continue };
        let line = u32::try_from(row + 1).unwrap_or(u32::MAX);
        at(session, path, line, &manifest::DATA_SHARED, Severity::Low, "the data is shared by all callers");
    }
}

/// Several suspicious things in one skill are worse than each.
fn check_signs(session: &mut Session, files: &[FileContent]) {
    let signs: Vec<_> = session
        .collector
        .worst_by_rule()
        .into_values()
        .filter(|(_, severity)| *severity >= Severity::Medium)
        .collect();
    let mut categories: Vec<_> = signs.iter().map(|(rule, _)| rule.category).collect();
    categories.sort_unstable();
    categories.dedup();
    let misleads = |category: Category| {
        matches!(
            category,
            Category::PromptInjection
                | Category::HiddenContent
                | Category::Exfiltration
                | Category::CredentialAccess
                | Category::Obfuscation
                | Category::Metadata
        )
    };
    let misleading = signs.iter().filter(|(rule, _)| misleads(rule.category)).count();
    if signs.len() >= 3 && misleading >= 2 && categories.len() >= 2 {
        let names: Vec<&str> = signs.iter().map(|(rule, _)| rule.id).collect();
        let main = files.iter().map(|(path, _)| path).find(|path| MAIN_FILES.contains(&path.as_str()));
        let path = main.cloned().unwrap_or_else(|| Utf8PathBuf::from("SKILL.md"));
        session.collector.report_file(&path, &manifest::SEVERAL_SIGNS, names.join(", "));
    }
}

fn at(
    session: &mut Session,
    path: &Utf8Path,
    line: u32,
    rule: &'static super::rule::Rule,
    severity: Severity,
    message: &str,
) {
    let piece = Piece { line, has_lines: false, ..Piece::file(path, "") };
    session.collector.report_as(&piece, rule, severity, line, message);
}
