//! The variables of a program: what the operator names, and for the owner of the machine what every program and its client
//! need. Nothing else of artel's own.

use artel_model::agent::{AgentRecord, CallOrigin};

use super::config::{ClientHome, CommandDriverConfig};
use super::folder::Folders;
use super::preset::Preset;

/// Variables that every program gets when they are there; none of them tells who runs artel, or how.
const LANGUAGE: &[&str] = &["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];

/// Variables that programs get beside which the owner of the machine starts. A proxy's address may hold a password.
const USUAL: &[&str] = &[
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "USER",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Returns the whole environment of a program, by name.
pub(super) fn variables(
    config: &CommandDriverConfig,
    preset: &Preset,
    folders: &Folders,
    agent: &AgentRecord,
) -> Vec<(String, String)> {
    let is_local = match agent.spec.origin {
        CallOrigin::Local => true,
        CallOrigin::Remote => false,
    };
    let is_passed = |name: &str| {
        LANGUAGE.contains(&name)
            || config.pass.iter().any(|passed| passed == name)
            || is_local && (USUAL.contains(&name) || preset.keys.contains(&name))
    };
    let passed = config.environment.iter().filter(|(name, _)| is_passed(name)).cloned();
    let path: Vec<&str> = config.path.iter().map(|folder| folder.as_str()).collect();
    let home = match &config.home {
        ClientHome::Private => folders.home(),
        ClientHome::Shared(home) => home.clone(),
    };
    let fixed = preset
        .variables
        .iter()
        .map(|(name, value)| (*name, value.replace("{private}", folders.private().as_str())));
    let own = [
        ("ARTEL_AGENT_ID", agent.agent_id.to_string()),
        ("HOME", home.into_string()),
        ("PATH", path.join(":")),
        ("TERM", "dumb".to_owned()),
        ("TMPDIR", folders.temporary().into_string()),
    ];
    // What artel says comes last, and counts.
    let all = passed.chain(fixed.chain(own).map(|(name, value)| (name.to_owned(), value)));
    let sorted: std::collections::BTreeMap<String, String> = all.collect();
    sorted.into_iter().collect()
}
