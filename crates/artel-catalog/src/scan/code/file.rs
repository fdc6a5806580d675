//! What kind of file a path leads to, going by its name.

use super::value::{HOLE, Taint};

/// What kind of file a path leads to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FileRole {
    /// Private keys, browser profiles, wallets, password stores, histories.
    Vault,
    /// Keys of one service.
    ServiceKey,
    /// The `.env` file of a project.
    Dotenv,
    /// What a person keeps: documents, messages, an agent's memory.
    Personal,
    /// The home folder itself.
    Home,
    Ordinary,
}

const VAULTS: &[&str] = &[
    "/.ssh/id_",
    "/.gnupg",
    "login data",
    "cookies.sqlite",
    "/logins.json",
    "key4.db",
    "keychain",
    "wallet.dat",
    "/.electrum",
    "/exodus",
    "metamask",
    "nkbihfbeogaeaoehlefnkodbefgpgknn",
    "/etc/shadow",
    "/.password-store",
    "/1password",
    "/bitwarden",
    "local extension settings",
    "/.bitcoin",
    "/.ethereum",
    "solana/id.json",
    "user data/default",
    "application support/google/chrome",
    ".mozilla/firefox",
    "bravesoftware",
    "/network/cookies",
    "/.local/share/keyrings",
    "chrome/default/cookies",
    "ledger live",
    "atomic/local storage",
    "phantom",
];
const SERVICE_KEYS: &[&str] = &[
    "/.aws/credentials",
    "/.aws/",
    "/.azure",
    "/.config/gcloud",
    "/.kube/config",
    "/.netrc",
    "/.npmrc",
    "/.pypirc",
    "/.git-credentials",
    "/.docker/config.json",
    "/gh/hosts.yml",
    "/.claude.json",
    "claude_desktop_config.json",
    "/.claude/.credentials",
    "/.openclaw/",
    "/.clawdbot/",
    "/.moltbot/",
    "/.codex/auth.json",
    "auth-profiles.json",
    "/.config/op/",
    "_history",
    "/.terraform.d/credentials",
    "/.cursor/mcp.json",
    "/.config/rclone",
    "/.s3cfg",
    "/.vault-token",
    "application_default_credentials",
    "/.databrickscfg",
    "/.config/hub",
    "/.composer/auth.json",
    "/.m2/settings.xml",
];
const PERSONAL: &[&str] = &[
    "~/documents",
    "~/desktop",
    "~/pictures",
    "~/.claude/history",
    "~/.claude/projects",
    "/memory.md",
    "/soul.md",
    "messages/chat.db",
    "~/library/mail",
    "~/notes",
    "/.config/signal",
    "telegram desktop",
    "tdata",
    "whatsapp",
    "conversations.json",
    "/state.vscdb",
    "~/.claude/todos",
    "~/.codex/sessions",
];

/// Returns a path in one form: `~` for the home folder, forward slashes, lower case.
pub(super) fn plain_path(path: &str) -> String {
    let mut plain = path.trim().trim_matches(['"', '\'']).replace('\\', "/").to_ascii_lowercase();
    for home in
        ["$home", "${home}", "%userprofile%", "$env:userprofile", "%appdata%", "/root/", "%localappdata%"]
    {
        if let Some(rest) = plain.strip_prefix(home) {
            plain = format!("~/{}", rest.trim_start_matches('/'));
        }
    }
    for folder in ["/home/", "/users/"] {
        if let Some((_, rest)) = plain.strip_prefix(folder).and_then(|rest| rest.split_once('/')) {
            plain = format!("~/{rest}");
        }
    }
    plain
}

/// Returns what kind of file a path leads to.
pub(super) fn file_role(path: &str) -> FileRole {
    let path = plain_path(path);
    let holds = |names: &[&str]| names.iter().any(|name| path.contains(name));
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_public = name.ends_with(".pub")
        || name.contains("example")
        || name.contains("sample")
        || name.contains("template");
    if is_public || path.contains("known_hosts") || path.contains("authorized_keys") {
        return FileRole::Ordinary;
    }
    let is_ssh = path.ends_with("/.ssh") || path.ends_with("/.ssh/") || path.contains("/.ssh/*");
    if holds(VAULTS) || is_ssh || matches!(name, "id_rsa" | "id_ed25519" | "id_ecdsa") {
        FileRole::Vault
    } else if holds(SERVICE_KEYS) || path.ends_with("/.aws") || path.ends_with("/.kube") {
        FileRole::ServiceKey
    } else if name == ".env" || name.starts_with(".env.") {
        FileRole::Dotenv
    } else if holds(PERSONAL) {
        FileRole::Personal
    } else if matches!(path.as_str(), "~" | "~/" | "~/*" | "/" | "/*" | "~/." | "/home" | "/users") {
        FileRole::Home
    } else {
        FileRole::Ordinary
    }
}

impl FileRole {
    /// Returns where data comes from that is read there.
    pub(super) fn taint(self) -> Taint {
        match self {
            Self::Vault | Self::ServiceKey => Taint::SECRET,
            Self::Dotenv => Taint::DOTENV,
            Self::Personal | Self::Home => Taint::PERSONAL,
            Self::Ordinary => Taint::NONE,
        }
    }
}

/// Says whether deleting a path deletes what somebody needs.
pub(super) fn is_precious(path: &str) -> bool {
    let path = plain_path(path);
    let path = path.trim_end_matches("/*").trim_end_matches("/.*");
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    matches!(
        path,
        "" | "/"
            | "~"
            | "/*"
            | "/home"
            | "/users"
            | "/etc"
            | "/usr"
            | "/var"
            | "/bin"
            | "/boot"
            | "/root"
            | "c:"
            | "/system"
    ) || matches!(
        path,
        "~/documents" | "~/desktop" | "~/pictures" | "~/library" | "~/.ssh" | "~/downloads" | "~/.config"
    )
}

/// Says whether a path leads to a file that every new shell runs.
pub(super) fn is_shell_start(path: &str) -> bool {
    let path = plain_path(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(
        name,
        ".bashrc"
            | ".zshrc"
            | ".profile"
            | ".bash_profile"
            | ".zprofile"
            | ".zshenv"
            | ".bash_login"
            | "config.fish"
    ) || path.starts_with("/etc/profile")
}

/// Says whether a path leads to a file that has something run later.
pub(super) fn is_schedule(path: &str) -> bool {
    let path = plain_path(path);
    let places = [
        "/launchagents/",
        "/launchdaemons/",
        "/systemd/",
        "/etc/cron",
        "/var/spool/cron",
        "/autostart/",
        "/startup/",
    ];
    places.iter().any(|place| path.contains(place))
        || path.starts_with("/etc/init.d/")
        || path.contains(".git/hooks/")
}

/// Says whether a path leads to a file that an interpreter runs at every start.
pub(super) fn is_interpreter_start(path: &str) -> bool {
    let path = plain_path(path);
    path.ends_with(".pth")
        || ["sitecustomize.py", "usercustomize.py", "profile_default/startup/", "/.pythonrc"]
            .iter()
            .any(|name| path.contains(name))
}

/// Says whether a path leads to the set-up of an agent outside of the project.
pub(super) fn is_agent_configuration(path: &str) -> bool {
    let path = plain_path(path);
    let names = [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".cursor/mcp.json",
        "claude_desktop_config.json",
        ".claude.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".openclaw/openclaw.json",
        ".vscode/mcp.json",
        "soul.md",
        "heartbeat.md",
        ".claude/claude.md",
        ".codex/agents.md",
        ".claude/hooks/",
        ".mcp.json",
    ];
    names.iter().any(|name| path.ends_with(name) || (name.ends_with('/') && path.contains(name)))
}

/// Says whether a text looks like a path at all.
pub(super) fn looks_like_path(text: &str) -> bool {
    !text.contains("://")
        && !text.starts_with('-')
        && (text.contains('/') || text.starts_with('.') || text.starts_with(HOLE))
}
