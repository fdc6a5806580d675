//! What is known while one skill is scanned: what it says of itself, what was found, and how much may still be decoded.

use super::code::ShellMemory;
use super::collector::Collector;
use super::limits::DECODED_BYTES_MAX;

/// The scan of one skill.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) collector: Collector,
    pub(super) about: About,
    pub(super) uses: Uses,
    /// What the shell commands of one file have left for the next ones.
    pub(super) shell: ShellMemory,
    decoded_bytes: usize,
    /// How many texts inside texts are being looked at.
    pub(super) depth: usize,
}

/// What a skill says of itself.
#[derive(Debug, Default)]
pub(super) struct About {
    /// The words of its name, in lower case.
    pub(super) words: Vec<String>,
    /// Its instructions, in lower case.
    pub(super) text: String,
    /// Whether its manifest says what its scripts may do.
    pub(super) manifest: Option<Asks>,
}

/// What a manifest asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asks {
    pub(super) network: bool,
}

/// What scripts were seen doing.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// The first use of the network by a script: file and line.
    pub(super) network: Option<(camino::Utf8PathBuf, u32)>,
    /// The first time that a script sends data somewhere: file and line.
    pub(super) sends: Option<(camino::Utf8PathBuf, u32)>,
}

impl Session {
    /// Takes bytes out of what may be decoded; says whether there were enough.
    pub(super) fn may_decode(&mut self, bytes: usize) -> bool {
        self.decoded_bytes = self.decoded_bytes.saturating_add(bytes);
        self.decoded_bytes <= DECODED_BYTES_MAX
    }

    /// Begins the next file, which may be decoded as much as any other.
    pub(super) fn begin_file(&mut self) {
        self.decoded_bytes = 0;
        self.shell = ShellMemory::default();
    }
}

impl About {
    /// Says whether a host or a repository seems to be the very service that the skill is about.
    pub(super) fn owns(&self, url: &str) -> bool {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest).to_ascii_lowercase();
        let host = rest.split(['/', '?', ':']).next().unwrap_or_default();
        let labels: Vec<&str> = host.split('.').collect();
        let name = labels.len().checked_sub(2).and_then(|at| labels.get(at)).copied().unwrap_or_default();
        let owner = rest.split('/').nth(1).filter(|_| name.starts_with("github") || name == "gitlab");
        let candidates = [Some(name), owner];
        candidates
            .into_iter()
            .flatten()
            .any(|name| name.len() >= 4 && self.words.iter().any(|word| word == name))
    }
}
