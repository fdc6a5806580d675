//! What kind of place an address on the network is.

/// What kind of place an address is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::scan) enum Address {
    /// This machine, or one nearby.
    Local,
    /// A service whose installer many people run.
    Installer,
    /// Code of anybody, at a place where changes can be seen.
    CodeHost,
    /// A place that shows whatever is sent to it to whoever opened it.
    Catcher,
    /// A tunnel to somebody's machine.
    Tunnel,
    /// A place where anybody leaves text or files.
    Paste,
    /// A channel of a chat service.
    Chat,
    /// A name that hides another address.
    Shortener,
    /// A bare number.
    Number,
    /// Anything else.
    Other,
    /// Not known before it runs.
    Unknown,
}

const CATCHERS: &[&str] = &[
    "webhook.site",
    "requestbin.com",
    "requestbin.net",
    "pipedream.net",
    "requestcatcher.com",
    "beeceptor.com",
    "hookbin.com",
    "oastify.com",
    "burpcollaborator.net",
    "interact.sh",
    "oast.fun",
    "oast.live",
    "oast.pro",
    "oast.me",
    "oast.site",
    "oast.online",
    "dnslog.cn",
    "ceye.io",
    "canarytokens.com",
    "postb.in",
    "webhook.cool",
    "mockbin.org",
];
const TUNNELS: &[&str] = &[
    "ngrok.io",
    "ngrok-free.app",
    "ngrok.app",
    "ngrok.dev",
    "trycloudflare.com",
    "serveo.net",
    "localhost.run",
    "loca.lt",
    "localtunnel.me",
    "bore.pub",
    "pagekite.me",
    "duckdns.org",
    "no-ip.org",
    "ddns.net",
    "onion",
];
const PASTES: &[&str] = &[
    "pastebin.com",
    "paste.ee",
    "hastebin.com",
    "rentry.co",
    "glot.io",
    "termbin.com",
    "dpaste.com",
    "dpaste.org",
    "ix.io",
    "sprunge.us",
    "transfer.sh",
    "file.io",
    "0x0.st",
    "gofile.io",
    "anonfiles.com",
    "catbox.moe",
    "bashupload.com",
    "temp.sh",
    "oshi.at",
    "ghostbin.com",
    "controlc.com",
    "telegra.ph",
    "paste.rs",
    "tmpfiles.org",
    "gist.githubusercontent.com",
];
const SHORTENERS: &[&str] =
    &["bit.ly", "tinyurl.com", "is.gd", "t.ly", "cutt.ly", "rb.gy", "goo.su", "shorturl.at", "v.gd"];
const INSTALLERS: &[&str] = &[
    "astral.sh",
    "sh.rustup.rs",
    "rustup.rs",
    "get.docker.com",
    "deb.nodesource.com",
    "rpm.nodesource.com",
    "bun.sh",
    "bun.com",
    "deno.land",
    "get.k3s.io",
    "install.python-poetry.org",
    "pyenv.run",
    "ollama.com",
    "ollama.ai",
    "claude.ai",
    "fly.io",
    "get.helm.sh",
    "starship.rs",
    "sdk.cloud.google.com",
    "mise.run",
    "mise.jdx.dev",
    "get.pnpm.io",
    "install.determinate.systems",
    "nixos.org",
    "tailscale.com",
    "foundry.paradigm.xyz",
    "get.volta.sh",
    "get.sdkman.io",
    "cli.github.com",
    "dl.k8s.io",
    "awscli.amazonaws.com",
    "packages.microsoft.com",
    "aka.ms",
    "cli.sentry.dev",
    "sentry.io",
    "get.pulumi.com",
    "install.duckdb.org",
    "apt.llvm.org",
    "bootstrap.pypa.io",
    "dot.net",
    "download.docker.com",
    "install.meteor.com",
    "railway.app",
    "railway.com",
    "vercel.com",
    "cursor.com",
    "opencode.ai",
    "get.jetify.com",
    "install.julialang.org",
    "get-ghcup.haskell.org",
    "raw.githubusercontent.com/homebrew",
    "raw.githubusercontent.com/nvm-sh",
    "raw.githubusercontent.com/helm",
    "raw.githubusercontent.com/ohmyzsh",
    "raw.githubusercontent.com/pyenv",
    "raw.githubusercontent.com/conda-forge",
    "raw.githubusercontent.com/docker",
    "raw.githubusercontent.com/golangci",
    "raw.githubusercontent.com/anchore",
    "raw.githubusercontent.com/aquasecurity",
    "raw.githubusercontent.com/trufflesecurity",
    "just.systems",
    "get.trunk.io",
    "semgrep.dev",
    "cli.codecov.io",
    "uploader.codecov.io",
    "sh.brew.sh",
    "get.activated.win",
    "modal.com",
    "get.modular.com",
    "dl.google.com",
    "cloud.google.com",
    "storage.googleapis.com/chrome",
    "zed.dev",
];
const CODE_HOSTS: &[&str] =
    &["github.com", "raw.githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org"];

/// Returns what kind of place a URL, or a host, leads to.
pub(in crate::scan) fn address_of(url: &str) -> Address {
    let url = url.trim_matches(['"', '\'', '<', '>', '`', ' ']).to_ascii_lowercase();
    let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let rest = rest.rsplit_once('@').filter(|(user, _)| !user.contains('/')).map_or(rest, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host
        .rsplit_once(':')
        .filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit()))
        .map_or(host, |x| x.0);
    if host.is_empty() || host.contains(super::value::HOLE) || host.contains(['$', '{', '<', '[', '%']) {
        return Address::Unknown;
    }
    if is_local(host) {
        return Address::Local;
    }
    if is_chat(rest) {
        return Address::Chat;
    }
    let within = |names: &[&str]| names.iter().any(|name| is_within(host, rest, name));
    if within(CATCHERS) {
        Address::Catcher
    } else if within(TUNNELS) {
        Address::Tunnel
    } else if within(PASTES) {
        Address::Paste
    } else if within(SHORTENERS) {
        Address::Shortener
    } else if is_number(host) {
        Address::Number
    } else if within(INSTALLERS) {
        Address::Installer
    } else if within(CODE_HOSTS) {
        Address::CodeHost
    } else {
        Address::Other
    }
}

/// Returns the addresses in a text, with where each begins.
pub(in crate::scan) fn addresses(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("://") {
        let colon = from + at;
        let scheme = text[..colon].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let scheme = (scheme..=colon).find(|at| text.is_char_boundary(*at)).unwrap_or(colon);
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | ')' | ']' | '|' | '\\');
        let end = text[colon + 3..].find(ends).map_or(text.len(), |end| colon + 3 + end);
        found.push((scheme, &text[scheme..end]));
        from = end.max(colon + 3);
    }
    found
}

impl Address {
    /// Says whether nobody can tell who is behind it.
    pub(in crate::scan) fn is_anonymous(self) -> bool {
        matches!(self, Self::Catcher | Self::Tunnel | Self::Paste | Self::Shortener | Self::Number)
    }
}

/// Returns the host of a URL.
pub(super) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', ':']).next().unwrap_or_default()
}

fn is_within(host: &str, rest: &str, name: &str) -> bool {
    match name.contains('/') {
        true => rest.starts_with(name),
        false => host == name || host.strip_suffix(name).is_some_and(|before| before.ends_with('.')),
    }
}

fn is_local(host: &str) -> bool {
    let near = ["127.", "10.", "192.168.", "169.254.", "0.0.0.0"];
    let is_middle = host.strip_prefix("172.").and_then(|rest| rest.split('.').next()?.parse::<u8>().ok());
    matches!(host, "localhost" | "[::1]" | "::1" | "host.docker.internal")
        || host.ends_with(".local")
        || host.ends_with(".localhost")
        || near.iter().any(|start| host.starts_with(start))
        || is_middle.is_some_and(|part| (16..32).contains(&part))
}

fn is_chat(rest: &str) -> bool {
    ["discord.com/api/webhooks", "discordapp.com/api/webhooks", "api.telegram.org/bot", "hooks.slack.com/"]
        .iter()
        .any(|start| rest.starts_with(start))
}

fn is_number(host: &str) -> bool {
    let parts: Vec<&str> = host.split('.').collect();
    let is_dotted = parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok());
    is_dotted || (host.len() >= 8 && host.chars().all(|c| c.is_ascii_digit())) || host.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        for (url, expected) in [
            ("http://localhost:8080/a", Address::Local),
            ("http://172.20.0.1", Address::Local),
            ("https://webhook.site/1", Address::Catcher),
            ("https://x.m.pipedream.net", Address::Catcher),
            ("https://notwebhook.site.example", Address::Other),
            ("https://astral.sh/uv/install.sh", Address::Installer),
            ("https://raw.githubusercontent.com/Homebrew/install/HEAD/install.sh", Address::Installer),
            ("https://raw.githubusercontent.com/a/b/main/x.sh", Address::CodeHost),
            ("http://203.0.113.7:8000/x", Address::Number),
            ("https://discord.com/api/webhooks/1/x", Address::Chat),
            ("https://$HOST/x", Address::Unknown),
            ("https://user:pass@evil.example/x", Address::Other),
        ] {
            assert_eq!(address_of(url), expected, "{url}");
        }
    }
}
