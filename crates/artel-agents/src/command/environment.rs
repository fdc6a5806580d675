//! The variables of a program: what every program needs, what its client needs, what the operator names. Nothing else of
//! artel's own.

use artel_model::id::AgentId;

use super::config::{ClientHome, CommandDriverConfig};
use super::folder::Folders;
use super::preset::Preset;

/// Variables that every program gets when they are there.
const USUAL: &[&str] = &[
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
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
    agent: AgentId,
) -> Vec<(String, String)> {
    let is_passed = |name: &str| {
        USUAL.contains(&name)
            || preset.keys.contains(&name)
            || config.pass.iter().any(|passed| passed == name)
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
        ("ARTEL_AGENT_ID", agent.to_string()),
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
