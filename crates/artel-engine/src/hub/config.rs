//! How hubs are fetched. Values only.

use artel_catalog::hub::{HostRules, HubLimits};
use artel_model::limit::{HUB_DOWNLOAD_BYTES_MAX, HUB_FETCH_MS};
use camino::Utf8PathBuf;

/// GitHub's own API.
const GITHUB_API: &str = "https://api.github.com";

/// How hubs are fetched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HubFetcherConfig {
    /// The `git` program.
    pub git: Utf8PathBuf,
    /// Where folders are made for as long as a fetch takes.
    pub work_folder: Utf8PathBuf,
    /// Which hosts are allowed.
    pub hosts: HostRules,
    /// How much is taken from one hub.
    pub limits: HubLimits,
    /// Milliseconds that one fetch may take.
    pub deadline_ms: u64,
    /// Bytes that one fetch may transfer.
    pub download_bytes_max: u64,
    /// Where GitHub's API is.
    pub github_api: String,
    /// The way out of this network.
    pub proxy: Option<HubProxy>,
    /// What ssh is given; without it repositories are not fetched through ssh.
    pub ssh: Option<SshAccess>,
}

/// The way out of a network.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HubProxy {
    /// The URL of the proxy.
    pub url: String,
    /// Hosts that are reached without it, separated by commas.
    pub no_proxy: Option<String>,
}

/// What ssh is given to prove who we are, and to know the others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SshAccess {
    /// The folder with keys and known hosts, such as `/home/ann/.ssh`.
    pub folder: Utf8PathBuf,
    /// The socket of an agent.
    pub agent_socket: Option<Utf8PathBuf>,
}

impl HubFetcherConfig {
    /// Makes the usual configuration: GitHub alone, and the usual limits.
    pub fn new(git: impl Into<Utf8PathBuf>, work_folder: impl Into<Utf8PathBuf>) -> Self {
        Self {
            git: git.into(),
            work_folder: work_folder.into(),
            hosts: HostRules::default(),
            limits: HubLimits::default(),
            deadline_ms: HUB_FETCH_MS,
            download_bytes_max: HUB_DOWNLOAD_BYTES_MAX,
            github_api: GITHUB_API.to_owned(),
            proxy: None,
            ssh: None,
        }
    }
}
