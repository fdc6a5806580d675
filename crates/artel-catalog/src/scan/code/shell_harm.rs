//! Commands of a shell that are bad whatever goes through them.

use super::address::{Address, address_of, addresses};
use super::shell_command::Call;
use crate::scan::rule::Rule;
use crate::scan::rules::{behaviour, harm};
use artel_model::catalog::Severity;

/// What is bad about a command.
pub(super) type Harm = (&'static Rule, Severity, String);

/// Words that make a command bad.
struct Sign {
    names: &'static [&'static str],
    /// Every one of these groups has a word in the command, which is in lower case.
    words: &'static [&'static [&'static str]],
    rule: &'static Rule,
    message: &'static str,
}

const fn sign(
    names: &'static [&'static str],
    words: &'static [&'static [&'static str]],
    rule: &'static Rule,
    message: &'static str,
) -> Sign {
    Sign { names, words, rule, message }
}

const GUARDS: &[&str] = &["auditd", "clamav", "falcon", "ufw", "firewalld", "apparmor"];
const DISKS: &[&str] = &["of=/dev/sd", "of=/dev/nvme", "of=/dev/disk"];

static SIGNS: &[Sign] = &[
    sign(&["dd"], &[DISKS], &harm::DESTROY, "a disk is overwritten"),
    sign(
        &["mkfs", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"],
        &[&["/dev/"]],
        &harm::DESTROY,
        "a disk is formatted",
    ),
    sign(&["shred"], &[&["/dev/", "~"]], &harm::DESTROY, "data is shredded"),
    sign(&["chmod"], &[&["u+s", " 4755", "+s "]], &harm::PRIVILEGE, "a program gets the rights of its owner"),
    sign(&["chmod"], &[&["777 /"], &["-r"]], &harm::PRIVILEGE, "everybody may change everything"),
    sign(
        &["docker", "podman"],
        &[&["--privileged"], &[" /:", "=/:"]],
        &harm::PRIVILEGE,
        "a container gets the whole machine",
    ),
    sign(&["docker", "podman"], &[&["docker.sock:"]], &harm::PRIVILEGE, "a container gets the whole machine"),
    sign(
        &["xattr"],
        &[&["com.apple.quarantine"], &[" -d", " -r"]],
        &harm::WEAKEN,
        "the quarantine of a download is removed",
    ),
    sign(&["xattr"], &[&["xattr -c"]], &harm::WEAKEN, "the quarantine of a download is removed"),
    sign(&["spctl"], &[&["disable"]], &harm::WEAKEN, "the gatekeeper is switched off"),
    sign(&["csrutil"], &[&["disable"]], &harm::WEAKEN, "integrity protection is switched off"),
    sign(&["setenforce"], &[&[" 0"]], &harm::WEAKEN, "SELinux is switched off"),
    sign(&["ufw"], &[&["disable"]], &harm::WEAKEN, "the firewall is switched off"),
    sign(&["iptables"], &[&[" -f ", "--flush"]], &harm::WEAKEN, "the firewall is emptied"),
    sign(&["systemctl"], &[&["stop", "disable"], GUARDS], &harm::WEAKEN, "a guard is stopped"),
    sign(&["systemctl"], &[&[" enable"]], &harm::SCHEDULE, "a service is set up"),
    sign(&["launchctl"], &[&[" load", "bootstrap"]], &harm::SCHEDULE, "a service is set up"),
    sign(&["schtasks"], &[&["/create"]], &harm::SCHEDULE, "a job is set up"),
    sign(&["history"], &[&[" -c"]], &harm::HIDE_TRACKS, "the history is erased"),
    sign(
        &["usermod", "useradd", "adduser"],
        &[&["sudo", "-u 0", "wheel"]],
        &harm::PRIVILEGE,
        "a user gets all rights",
    ),
    sign(
        &["claude", "codex"],
        &[&["mcp add"], &["http"]],
        &harm::AGENT_CONFIG,
        "a server is added to an agent",
    ),
];

/// Returns what is bad about a command by itself.
pub(super) fn harmful(call: &Call<'_>, all: &str) -> Option<Harm> {
    let lower = format!("{} ", all.to_ascii_lowercase());
    if ["stratum+tcp", "xmrig", "minerd ", "cpuminer"].iter().any(|word| lower.contains(word)) {
        return Some((&harm::MINER, harm::MINER.severity, "a miner is started".to_owned()));
    }
    let holds = |words: &&[&str]| words.iter().any(|word| lower.contains(word));
    let found =
        SIGNS.iter().find(|sign| sign.names.contains(&call.name.as_str()) && sign.words.iter().all(holds));
    match found {
        Some(sign) => Some((sign.rule, sign.rule.severity, sign.message.to_owned())),
        None => installs(call, all),
    }
}

/// Returns that packages come from somewhere unusual.
fn installs(call: &Call<'_>, all: &str) -> Option<Harm> {
    let is_installer = matches!(
        call.name.as_str(),
        "pip"
            | "pip3"
            | "uv"
            | "npm"
            | "yarn"
            | "pnpm"
            | "gem"
            | "npx"
            | "uvx"
            | "pipx"
            | "bun"
            | "python"
            | "python3"
    );
    let installs = ["install", " add ", "npx ", "uvx "].iter().any(|word| all.contains(word));
    if !is_installer || !installs {
        return None;
    }
    let urls: Vec<&str> = addresses(all).into_iter().map(|(_, url)| url).collect();
    let usual = [
        "pypi.org",
        "files.pythonhosted.org",
        "registry.npmjs.org",
        "download.pytorch.org",
        "github.com",
        "npmmirror.com",
        "tuna.tsinghua",
        "rubygems.org",
        "aliyun.com",
        "registry.yarnpkg.com",
    ];
    let odd = urls
        .iter()
        .find(|url| !usual.iter().any(|host| url.contains(host)) && address_of(url) != Address::Local)?;
    let is_bad = odd.starts_with("http://") || address_of(odd).is_anonymous();
    let severity = if is_bad || all.contains("--trusted-host") { Severity::High } else { Severity::Medium };
    Some((&behaviour::INSTALL_ELSEWHERE, severity, format!("packages come from {odd}")))
}
