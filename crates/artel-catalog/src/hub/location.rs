//! Where a hub is: parsed once, so that nothing of it is ever spliced into a URL or taken for an option.

use std::fmt;

use artel_model::catalog::HubKind;
use artel_model::limit::HUB_LOCATION_CHARS_MAX;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::host::{Host, HostRules};

/// Characters of the owner of a repository at GitHub.
const OWNER_CHARS_MAX: usize = 39;
/// Characters of the name of a repository at GitHub.
const REPOSITORY_CHARS_MAX: usize = 100;

/// Where a hub is. Two locations that are equal are the same hub; its text is the one way it is written.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum HubLocation {
    /// A repository at GitHub.
    Github(GithubRepository),
    /// Any git repository.
    Git(GitRemote),
    /// A site with an index of skills.
    WellKnown(WebPlace),
}

/// A repository at GitHub. GitHub does not tell upper case from lower, so both are lower.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct GithubRepository {
    owner: String,
    name: String,
}

/// A git repository.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum GitRemote {
    /// On the web.
    Web(WebPlace),
    /// Through ssh.
    Ssh(SshPlace),
    /// In a folder of this machine.
    File(Utf8PathBuf),
}

/// A place on the web.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WebPlace {
    /// Whether what is said is encrypted.
    pub scheme: WebScheme,
    /// The host.
    pub host: Host,
    /// The port, when it is not the usual one.
    pub port: Option<u16>,
    /// The path: empty, or `/` and something that does not end with `/`.
    path: String,
}

/// Whether what is said is encrypted.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum WebScheme {
    /// It is.
    Https,
    /// It is not: only for this machine itself.
    Http,
}

/// A repository that is reached through ssh.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SshPlace {
    user: Option<String>,
    /// The host.
    pub host: Host,
    /// The port, when it is not the usual one.
    pub port: Option<u16>,
    path: SshPath,
}

/// A path on the other side of ssh.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum SshPath {
    /// From the root: `ssh://host/path`.
    Absolute(String),
    /// From the user's home, or as the server likes it: `host:path`.
    Relative(String),
}

/// Why a text is no location of a hub. Nothing of the text is repeated: it may hold a password.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LocationProblem {
    /// There is nothing.
    #[error("the location is empty")]
    Empty,
    /// More than 1000 characters.
    #[error("the location has more than {HUB_LOCATION_CHARS_MAX} characters")]
    TooLong,
    /// A character that no location has.
    #[error("the location has a space, a control character or another one that does not belong there")]
    Character,
    /// It starts with `-`.
    #[error("a location cannot start with `-`")]
    Option,
    /// A user name or a password for a website.
    #[error("the location holds a user name or a password; name a variable in `credentials_ref` instead")]
    Credentials,
    /// A transport that is not known, or not for this.
    #[error("{kind} hubs are not reached that way; write {expected}")]
    Transport {
        /// What kind of hub it should be.
        kind: HubKind,
        /// What can be written.
        expected: &'static str,
    },
    /// Not `owner/repository`.
    #[error("write a repository at GitHub as `owner/repository` or as its URL")]
    Repository,
    /// Not a host.
    #[error("the location has no host, or one that is neither a name nor an address")]
    Host,
    /// Not a port.
    #[error("the location's port is not a number from 1 to 65535")]
    Port,
    /// Not a path.
    #[error("the location's path is missing, or has `..`, `//`, a query or unusual characters")]
    Path,
    /// The operator does not allow the host.
    #[error("the host `{0}` is not allowed; an operator can list it in `[hubs] hosts`")]
    HostNotAllowed(Host),
    /// The operator does not allow folders.
    #[error("repositories in folders of the server are not allowed; an operator can set `[hubs] allow_file`")]
    FileNotAllowed,
    /// The operator set up no key and no known hosts.
    #[error(
        "repositories are not fetched through ssh here; use https, with a token in `credentials_ref` if it is needed"
    )]
    SshNotAllowed,
    /// `http` where it is not allowed.
    #[error("`http` is not allowed; use `https`")]
    HttpNotAllowed,
}

/// What can be written for each kind.
const GIT_EXPECTED: &str = "an https, ssh or file URL, or `user@host:path`";
const SITE_EXPECTED: &str = "the https URL of a site";

impl HubLocation {
    /// Parses what somebody wrote for a hub of that kind.
    pub fn parse(kind: HubKind, text: &str) -> Result<Self, LocationProblem> {
        let text = text.trim();
        if text.is_empty() {
            return Err(LocationProblem::Empty);
        }
        if text.chars().count() > HUB_LOCATION_CHARS_MAX {
            return Err(LocationProblem::TooLong);
        }
        if text.starts_with('-') {
            return Err(LocationProblem::Option);
        }
        if !text.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
            return Err(LocationProblem::Character);
        }
        match kind {
            HubKind::Github => GithubRepository::parse(text).map(Self::Github),
            HubKind::Git => GitRemote::parse(text).map(Self::Git),
            HubKind::WellKnown => WebPlace::parse(text, kind, SITE_EXPECTED).map(Self::WellKnown),
        }
    }

    /// Returns what kind of hub it is.
    pub fn kind(&self) -> HubKind {
        match self {
            Self::Github(_) => HubKind::Github,
            Self::Git(_) => HubKind::Git,
            Self::WellKnown(_) => HubKind::WellKnown,
        }
    }

    /// Says whether an operator allows it.
    pub fn check(&self, rules: &HostRules) -> Result<(), LocationProblem> {
        match self {
            Self::Github(_) => Ok(()),
            Self::Git(GitRemote::File(_)) if rules.allows_file => Ok(()),
            Self::Git(GitRemote::File(_)) => Err(LocationProblem::FileNotAllowed),
            Self::Git(GitRemote::Ssh(place)) => allowed(rules, &place.host),
            Self::Git(GitRemote::Web(place)) | Self::WellKnown(place) => {
                let is_plain = place.scheme == WebScheme::Http;
                if is_plain && !(rules.allows_loopback_http && place.host.is_loopback()) {
                    return Err(LocationProblem::HttpNotAllowed);
                }
                allowed(rules, &place.host)
            }
        }
    }

    /// Returns what the folder of the whole hub is called: a skill at its top is named after it.
    pub fn root_name(&self) -> String {
        let name = match self {
            Self::Github(repository) => repository.name.clone(),
            Self::Git(GitRemote::Web(place)) => last_part(&place.path),
            Self::Git(GitRemote::Ssh(place)) => last_part(place.path.text()),
            Self::Git(GitRemote::File(path)) => last_part(path.as_str()),
            Self::WellKnown(place) => place.host.to_string(),
        };
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_fine);
        if is_name && name.len() <= REPOSITORY_CHARS_MAX { name } else { "hub".to_owned() }
    }
}

fn allowed(rules: &HostRules, host: &Host) -> Result<(), LocationProblem> {
    rules.reach(host).map(|_| ()).ok_or_else(|| LocationProblem::HostNotAllowed(host.clone()))
}

fn last_part(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".git").unwrap_or(name).to_owned()
}

impl fmt::Display for HubLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Github(repository) => repository.fmt(f),
            Self::Git(remote) => remote.fmt(f),
            Self::WellKnown(place) => place.fmt(f),
        }
    }
}

impl GithubRepository {
    /// Returns who owns it.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn parse(text: &str) -> Result<Self, LocationProblem> {
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => after_github(rest)?,
            Some(_) => {
                let expected = "`owner/repository` or `https://github.com/owner/repository`";
                return Err(LocationProblem::Transport { kind: HubKind::Github, expected });
            }
            None => text.strip_prefix("git@github.com:").unwrap_or(text),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (owner, name) = rest.split_once('/').ok_or(LocationProblem::Repository)?;
        let name = name.strip_suffix(".git").unwrap_or(name);
        if !is_owner(owner) || !is_repository(name) {
            return Err(LocationProblem::Repository);
        }
        Ok(Self { owner: owner.to_ascii_lowercase(), name: name.to_ascii_lowercase() })
    }
}

/// Returns what follows GitHub's own name in a URL.
fn after_github(rest: &str) -> Result<&str, LocationProblem> {
    let (authority, path) = rest.split_once('/').ok_or(LocationProblem::Repository)?;
    if authority.contains('@') {
        return Err(LocationProblem::Credentials);
    }
    let is_github = ["github.com", "www.github.com"].iter().any(|name| authority.eq_ignore_ascii_case(name));
    if is_github { Ok(path) } else { Err(LocationProblem::Repository) }
}

fn is_owner(text: &str) -> bool {
    // Some owners of old end with a hyphen.
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=OWNER_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_fine) && !text.starts_with('-')
}

fn is_repository(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_short = (1..=REPOSITORY_CHARS_MAX).contains(&text.len());
    is_short && text.bytes().all(is_fine) && !text.starts_with('-') && text != "." && text != ".."
}

impl fmt::Display for GithubRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl GitRemote {
    fn parse(text: &str) -> Result<Self, LocationProblem> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return SshPlace::parse_short(text).map(Self::Ssh);
        };
        match scheme.to_ascii_lowercase().as_str() {
            "https" | "http" => {
                let place = WebPlace::parse(text, HubKind::Git, GIT_EXPECTED)?;
                if place.path.is_empty() { Err(LocationProblem::Path) } else { Ok(Self::Web(place)) }
            }
            "ssh" => SshPlace::parse_url(rest).map(Self::Ssh),
            "file" => folder(rest).map(Self::File),
            _ => Err(LocationProblem::Transport { kind: HubKind::Git, expected: GIT_EXPECTED }),
        }
    }
}

fn folder(rest: &str) -> Result<Utf8PathBuf, LocationProblem> {
    let path = Utf8Path::new(rest);
    let mut parts = path.components();
    let is_absolute = parts.next() == Some(Utf8Component::RootDir);
    let mut rest = parts.peekable();
    if !is_absolute || rest.peek().is_none() || !rest.all(|part| matches!(part, Utf8Component::Normal(_))) {
        return Err(LocationProblem::Path);
    }
    let path: Utf8PathBuf = path.components().collect();
    check_web_path(path.as_str())?;
    Ok(path)
}

impl fmt::Display for GitRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(place) => place.fmt(f),
            Self::Ssh(place) => place.fmt(f),
            Self::File(path) => write!(f, "file://{path}"),
        }
    }
}

impl WebPlace {
    /// Returns the path: empty, or `/` and something that does not end with `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the scheme, the host and the port, without a path.
    pub fn origin(&self) -> String {
        Self { path: String::new(), ..self.clone() }.to_string()
    }

    /// Returns the port that is connected to.
    pub fn effective_port(&self) -> u16 {
        self.port.unwrap_or(self.scheme.usual_port())
    }

    fn parse(text: &str, kind: HubKind, expected: &'static str) -> Result<Self, LocationProblem> {
        let wrong = LocationProblem::Transport { kind, expected };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong.clone())?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "https" => WebScheme::Https,
            "http" => WebScheme::Http,
            _ => return Err(wrong),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(LocationProblem::Credentials);
        }
        let (host, port) = host_and_port(authority)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        if !path.is_empty() {
            check_web_path(path)?;
        }
        let port = port.filter(|port| *port != scheme.usual_port());
        Ok(Self { scheme, host, port, path: path.to_owned() })
    }
}

impl WebScheme {
    fn usual_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }
}

impl fmt::Display for WebPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        f.write_str(&self.path)
    }
}

/// A port is the last part behind a colon that is not in brackets.
fn host_and_port(authority: &str) -> Result<(Host, Option<u16>), LocationProblem> {
    let after_brackets = authority.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match authority[after_brackets..].rfind(':') {
        Some(colon) => {
            let (host, port) = authority.split_at(after_brackets + colon);
            (host, Some(parse_port(&port[1..])?))
        }
        None => (authority, None),
    };
    Ok((host.parse().map_err(|_| LocationProblem::Host)?, port))
}

fn parse_port(text: &str) -> Result<u16, LocationProblem> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = if is_number { text.parse().ok() } else { None };
    port.filter(|port| *port > 0).ok_or(LocationProblem::Port)
}

/// Checks a path that starts with `/`.
fn check_web_path(path: &str) -> Result<(), LocationProblem> {
    let is_fine =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/');
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    let inner = path.strip_prefix('/').unwrap_or(path);
    if inner.bytes().all(is_fine) && inner.split('/').all(is_part) {
        Ok(())
    } else {
        Err(LocationProblem::Path)
    }
}

impl SshPath {
    fn text(&self) -> &str {
        match self {
            Self::Absolute(path) | Self::Relative(path) => path,
        }
    }
}

impl SshPlace {
    fn parse_url(rest: &str) -> Result<Self, LocationProblem> {
        let (authority, path) = rest.split_at(rest.find('/').ok_or(LocationProblem::Path)?);
        let (user, authority) = user_of(authority)?;
        let (host, port) = host_and_port(authority)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() {
            return Err(LocationProblem::Path);
        }
        check_web_path(path)?;
        let port = port.filter(|port| *port != 22);
        Ok(Self { user, host, port, path: SshPath::Absolute(path.to_owned()) })
    }

    /// Parses `user@host:path`. A user must be there, or `ext::something` would be read as a host.
    fn parse_short(text: &str) -> Result<Self, LocationProblem> {
        let wrong = LocationProblem::Transport { kind: HubKind::Git, expected: GIT_EXPECTED };
        let (authority, path) = text.split_once(':').ok_or_else(|| wrong.clone())?;
        let (user, host) = user_of(authority)?;
        if user.is_none() {
            return Err(wrong);
        }
        let host: Host = host.parse().map_err(|_| LocationProblem::Host)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() || path.starts_with('-') {
            return Err(LocationProblem::Path);
        }
        check_web_path(path)?;
        let is_absolute = path.starts_with('/');
        let path = path.to_owned();
        let path = if is_absolute { SshPath::Absolute(path) } else { SshPath::Relative(path) };
        Ok(Self { user, host, port: None, path })
    }
}

fn user_of(authority: &str) -> Result<(Option<String>, &str), LocationProblem> {
    let Some((user, host)) = authority.rsplit_once('@') else { return Ok((None, authority)) };
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if user.is_empty() || user.starts_with('-') || !user.bytes().all(is_fine) {
        return Err(LocationProblem::Credentials);
    }
    Ok((Some(user.to_owned()), host))
}

impl fmt::Display for SshPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        match &self.path {
            SshPath::Relative(path) => write!(f, "{user}{}:{path}", self.host),
            SshPath::Absolute(path) => {
                write!(f, "ssh://{user}{}", self.host)?;
                if let Some(port) = self.port {
                    write!(f, ":{port}")?;
                }
                f.write_str(path)
            }
        }
    }
}
