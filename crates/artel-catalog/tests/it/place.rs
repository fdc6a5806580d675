//! A temporary folder to make skills in, and what is said about them.

use std::time::Duration;

use artel_catalog::{Discovery, Keep, Loaded, Profile, discover, load_folder};
use artel_model::diagnostic::{Code, Finding};
use camino::{Utf8Path, Utf8PathBuf};

/// A `SKILL.md` that every profile takes, for a folder called `demo`.
pub(crate) const GOOD: &str =
    "---\nname: demo\ndescription: Shows one thing. Use when testing.\n---\nDo the thing.\n";

/// A folder that goes away with the test.
pub(crate) struct Place {
    root: Utf8PathBuf,
    _folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        // Thousands of files are made quicker in memory.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        // The path is compared with what links resolve to.
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        Self { root, _folder: folder }
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the path of a folder, made if it is not there.
    pub(crate) fn folder(&self, path: &str) -> Utf8PathBuf {
        let folder = self.root.join(path);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Writes a file, with the folders it lies in, and returns its path.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> Utf8PathBuf {
        let file = self.root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        file
    }

    /// Makes a file that has a size but no content on the disk.
    pub(crate) fn sparse_file(&self, path: &str, bytes: u64) {
        let file = self.file(path, "");
        std::fs::File::options().write(true).open(file).unwrap().set_len(bytes).unwrap();
    }

    /// Makes a link called `path` that leads to `target`, as it is written.
    pub(crate) fn link(&self, path: &str, target: &str) {
        let link = self.root.join(path);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
    }

    /// Returns findings as `code path`, with paths below this place.
    pub(crate) fn told(&self, findings: &[Finding]) -> Vec<String> {
        let path = |finding: &Finding| {
            finding.path.strip_prefix(&self.root).map_or(finding.path.to_string(), Utf8Path::to_string)
        };
        findings.iter().map(|finding| format!("{} {}", finding.code, path(finding))).collect()
    }
}

/// Returns everything about a load that a user could see, for comparing.
pub(crate) fn everything(loaded: &Loaded) -> String {
    let Loaded { location, skill, instructions, files, config, findings, clients, .. } = loaded;
    format!("{location:?} {skill:?} {instructions:?} {files:?} {config:?} {findings:?} {clients:?}")
}

/// Says whether findings are in the order for people; how many were left out is told at the end.
pub(crate) fn is_sorted(findings: &[Finding]) -> bool {
    let shown = match findings {
        [shown @ .., last] if last.code == Code::MoreFindings => shown,
        all => all,
    };
    shown.is_sorted_by(|a, b| a.sort_key() <= b.sort_key())
}

/// Runs something that must come back. The time is generous: it tells a hang from a slow machine, nothing else.
pub(crate) fn must_return<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(120)).expect("it came back")
}

pub(crate) fn load(path: &Utf8Path) -> Loaded {
    let path = path.to_owned();
    must_return(move || load_folder(&path, Keep::Everything))
}

pub(crate) fn search(path: &Utf8Path) -> Discovery {
    let path = path.to_owned();
    must_return(move || discover(&path, Keep::Everything))
}

/// Loads `demo` and compares what is told about it; a skill that is refused must not be usable in any profile.
#[track_caller]
pub(crate) fn check(place: &Place, expected: &[&str]) -> Loaded {
    let loaded = load(&place.root().join("demo"));
    assert_eq!(place.told(&loaded.findings), expected);
    for profile in Profile::ALL {
        profile.diagnose(&loaded);
    }
    loaded
}

/// Returns the most memory this process ever had, in KiB, where the system tells.
pub(crate) fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// What is told must be readable, whatever stands in the files.
#[track_caller]
pub(crate) fn assert_short_messages(loaded: &Loaded) {
    for diagnostic in Profile::ALL.iter().flat_map(|profile| profile.diagnose(loaded)) {
        let finding = diagnostic.finding;
        assert!(!finding.message.is_empty(), "{}", finding.code);
        let chars = finding.message.chars().count();
        assert!(chars <= 1000, "{} has a message of {chars} characters", finding.code);
    }
}
