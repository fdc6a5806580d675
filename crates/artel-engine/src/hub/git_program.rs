//! How `git` is called: with nothing of the machine's own configuration, no hooks, no helpers, no prompts, one transport,
//! and secrets in the environment alone, since arguments can be seen by everybody.

use std::net::IpAddr;

use artel_catalog::hub::{GitRemote, SshPlace, WebPlace};
use camino::{Utf8Path, Utf8PathBuf};

use super::config::{HubFetcherConfig, SshAccess};
use super::error::HubError;
use super::token::HubToken;
use crate::process::{Network, ProcessLimits, Profile, RunAs, Sandbox, SpawnRequest, Strictness};

/// Where programs are looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// What git may use.
const CPU_S: u64 = 120;
const MEMORY_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const OPEN_FILES: u64 = 512;
const PROCESSES: u64 = 64;

/// How git is called for one repository.
#[derive(Debug)]
pub(super) struct GitProgram {
    program: Utf8PathBuf,
    folder: Utf8PathBuf,
    environment: Vec<(String, String)>,
    sandbox: Sandbox,
    limits: ProcessLimits,
}

/// What is known of a repository when git is called.
pub(super) struct GitCall<'a> {
    pub(super) remote: &'a GitRemote,
    /// The addresses of its host; none where a proxy finds them.
    pub(super) addresses: &'a [IpAddr],
    pub(super) token: Option<&'a HubToken>,
    /// The folder that git may write.
    pub(super) folder: &'a Utf8Path,
}

impl GitProgram {
    pub(super) fn new(config: &HubFetcherConfig, call: &GitCall<'_>) -> Result<Self, HubError> {
        let mut settings = common_settings();
        let mut environment = common_environment(call.folder);
        let transport = match call.remote {
            GitRemote::Web(place) => {
                settings.extend(web_settings(place, call));
                if let Some(proxy) = &config.proxy {
                    settings.push(("http.proxy".to_owned(), proxy.url.clone()));
                    environment.extend(proxy.no_proxy.clone().map(|hosts| ("no_proxy".to_owned(), hosts)));
                }
                place.origin().split(':').next().unwrap_or("https").to_owned()
            }
            GitRemote::Ssh(place) => {
                let access = config.ssh.as_ref().ok_or(HubError::NoSsh)?;
                environment.extend(ssh_environment(access, place, call.addresses)?);
                "ssh".to_owned()
            }
            GitRemote::File(_) => {
                // The folder belongs to whom it belongs; the operator allowed for it.
                settings.push(("safe.directory".to_owned(), "*".to_owned()));
                "file".to_owned()
            }
        };
        environment.push(("GIT_ALLOW_PROTOCOL".to_owned(), transport));
        environment.extend(as_environment(&settings));
        Ok(Self {
            program: config.git.clone(),
            folder: call.folder.to_owned(),
            environment,
            sandbox: sandbox(config, call),
            limits: limits(config),
        })
    }

    /// Makes a call of it.
    pub(super) fn request(&self, arguments: &[&str]) -> SpawnRequest {
        SpawnRequest {
            program: self.program.clone(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            cwd: self.folder.clone(),
            environment: self.environment.clone(),
            run_as: RunAs::Artel,
            sandbox: self.sandbox.clone(),
            limits: self.limits,
        }
    }
}

fn common_environment(folder: &Utf8Path) -> Vec<(String, String)> {
    let pairs = [
        ("PATH", PATH),
        ("HOME", folder.as_str()),
        ("TMPDIR", folder.as_str()),
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", ""),
        ("SSH_ASKPASS", ""),
        ("GIT_PROTOCOL_FROM_USER", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        // A repository above the work folder is not ours.
        ("GIT_CEILING_DIRECTORIES", folder.as_str()),
    ];
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn common_settings() -> Vec<(String, String)> {
    let pairs = [
        ("core.hooksPath", "/dev/null"),
        ("core.fsmonitor", "false"),
        ("credential.helper", ""),
        ("credential.interactive", "false"),
        ("transfer.fsckObjects", "true"),
        ("fetch.fsckObjects", "true"),
        // Objects stay in the pack they came in: one file, whose size is limited.
        ("transfer.unpackLimit", "1"),
        ("fetch.unpackLimit", "1"),
        ("fetch.recurseSubmodules", "false"),
        ("submodule.recurse", "false"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("http.followRedirects", "false"),
        ("protocol.version", "2"),
        ("pack.threads", "1"),
    ];
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The token goes to this host alone. The host is pinned to the addresses that were looked at, so that a name cannot lead
/// elsewhere the next moment.
fn web_settings(place: &WebPlace, call: &GitCall<'_>) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    if let Some(token) = call.token {
        let name = format!("http.{}/.extraHeader", place.origin());
        settings.push((name, format!("Authorization: {}", token.basic())));
    }
    if place.host.address().is_none() && !call.addresses.is_empty() {
        let addresses: Vec<String> = call.addresses.iter().map(ToString::to_string).collect();
        let pinned = format!("{}:{}:{}", place.host, place.effective_port(), addresses.join(","));
        settings.push(("http.curloptResolve".to_owned(), pinned));
    }
    settings
}

/// Settings in the environment are seen by nobody but our own user.
fn as_environment(settings: &[(String, String)]) -> Vec<(String, String)> {
    let mut environment = vec![("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
    for (number, (name, value)) in settings.iter().enumerate() {
        environment.push((format!("GIT_CONFIG_KEY_{number}"), name.clone()));
        environment.push((format!("GIT_CONFIG_VALUE_{number}"), value.clone()));
    }
    environment
}

/// ssh reads no configuration but this, asks nothing, and talks to known hosts alone.
fn ssh_environment(
    access: &SshAccess,
    place: &SshPlace,
    addresses: &[IpAddr],
) -> Result<Vec<(String, String)>, HubError> {
    let folder = &access.folder;
    if folder.as_str().contains(['\'', '"', '%', '\\', '\n']) {
        return Err(HubError::Machine(
            "the folder of ssh has characters that cannot be passed on".to_owned(),
        ));
    }
    let mut command = format!(
        "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o IdentitiesOnly={} \
         -o 'UserKnownHostsFile=\"{folder}/known_hosts\"'",
        if access.agent_socket.is_some() { "no" } else { "yes" }
    );
    for key in ["id_ed25519", "id_ecdsa", "id_rsa"] {
        command.push_str(&format!(" -o 'IdentityFile=\"{folder}/{key}\"'"));
    }
    if let (Some(address), None) = (addresses.first(), place.host.address()) {
        let known_as = match place.port {
            Some(port) => format!("[{}]:{port}", place.host),
            None => place.host.to_string(),
        };
        command.push_str(&format!(" -o 'HostName={address}' -o 'HostKeyAlias={known_as}'"));
    }
    let mut environment =
        vec![("GIT_SSH_COMMAND".to_owned(), command), ("GIT_SSH_VARIANT".to_owned(), "ssh".to_owned())];
    environment
        .extend(access.agent_socket.iter().map(|socket| ("SSH_AUTH_SOCK".to_owned(), socket.to_string())));
    Ok(environment)
}

/// ssh needs the operator's keys, and perhaps the socket of an agent, which the sandbox denies; so it runs without, as
/// the operator who set it up would run it.
fn sandbox(config: &HubFetcherConfig, call: &GitCall<'_>) -> Sandbox {
    let profile = |read: Vec<Utf8PathBuf>, network: Network| {
        Sandbox::On(Profile {
            read,
            execute: config.git.parent().map(Utf8Path::to_owned).into_iter().collect(),
            write: vec![call.folder.to_owned()],
            write_shared: Vec::new(),
            network,
            strictness: Strictness::BestEffort,
        })
    };
    match call.remote {
        GitRemote::Web(_) => profile(Vec::new(), Network::Allowed),
        GitRemote::File(path) => profile(vec![path.clone()], Network::Denied),
        GitRemote::Ssh(_) => Sandbox::Off,
    }
}

fn limits(config: &HubFetcherConfig) -> ProcessLimits {
    ProcessLimits {
        cpu_s: CPU_S,
        memory_bytes: MEMORY_BYTES,
        open_files: OPEN_FILES,
        processes: PROCESSES,
        file_bytes: config.download_bytes_max,
        folder_bytes: config.download_bytes_max.saturating_mul(2),
    }
}

#[cfg(test)]
mod tests {
    use artel_catalog::hub::HubLocation;
    use artel_model::catalog::HubKind;

    use super::*;

    fn program(
        location: &str,
        token: Option<&HubToken>,
        ssh: Option<SshAccess>,
    ) -> Result<GitProgram, HubError> {
        let Ok(HubLocation::Git(remote)) = HubLocation::parse(HubKind::Git, location) else {
            panic!("{location} is no git repository")
        };
        let config = HubFetcherConfig { ssh, ..HubFetcherConfig::new("/usr/bin/git", "/work") };
        let addresses = ["192.0.2.7".parse().unwrap()];
        let call =
            GitCall { remote: &remote, addresses: &addresses, token, folder: Utf8Path::new("/work/hub") };
        GitProgram::new(&config, &call)
    }

    fn variable(program: &GitProgram, name: &str) -> Option<String> {
        let found = program.environment.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.clone())
    }

    #[test]
    fn a_token_is_in_no_argument_and_goes_to_one_host() {
        let token = HubToken::new("s3cret").unwrap();
        let program = program("https://git.example.com:8443/a.git", Some(&token), None).unwrap();
        let request = program.request(&["ls-remote", "--", "https://git.example.com:8443/a.git"]);
        assert!(!format!("{:?}", request.arguments).contains("s3cret"));
        let values: Vec<&String> = request.environment.iter().map(|(_, value)| value).collect();
        assert!(values.contains(&&"http.https://git.example.com:8443/.extraHeader".to_owned()));
        assert!(values.contains(&&"git.example.com:8443:192.0.2.7".to_owned()));
        assert!(values.contains(&&format!("Authorization: {}", token.basic())));
        assert_eq!(variable(&program, "GIT_ALLOW_PROTOCOL").as_deref(), Some("https"));
        assert_eq!(variable(&program, "GIT_TERMINAL_PROMPT").as_deref(), Some("0"));
    }

    #[test]
    fn ssh_is_used_only_where_an_operator_set_it_up() {
        assert!(matches!(program("git@git.example.com:a.git", None, None), Err(HubError::NoSsh)));
        let access = SshAccess { folder: "/srv/ssh".into(), agent_socket: None };
        let program = program("ssh://git@git.example.com:2222/a.git", None, Some(access)).unwrap();
        let command = variable(&program, "GIT_SSH_COMMAND").unwrap();
        for part in
            ["-F none", "BatchMode=yes", "'HostName=192.0.2.7'", "'HostKeyAlias=[git.example.com]:2222'"]
        {
            assert!(command.contains(part), "{command}");
        }
        assert_eq!(program.sandbox, Sandbox::Off);
        assert_eq!(variable(&program, "GIT_ALLOW_PROTOCOL").as_deref(), Some("ssh"));
    }
}
