//! The scanner: which version it is, and what it says of skills. Whatever goes wrong is a verdict that is not complete.

use std::time::Duration;

use artel_catalog::scan::ScanCopy;
use artel_catalog::scan::cisco::{ScanRequest, failed, verdicts};
use artel_catalog::{ScratchFolder, file_hash};
use artel_model::catalog::VerdictRecord;
use artel_model::limit::SCAN_PROGRAM_OUTPUT_BYTES_MAX;
use artel_model::time::Timestamp;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::config::{ScannerPolicy, SkillScannerConfig};
use super::error::ScannerError;
use super::layout::{installed_in, installed_version};
use crate::error_text::error_text;
use crate::process::{Launcher, Network, ProcessLimits, Profile, RunAs, Sandbox, SpawnRequest, Strictness};
use crate::program::{read_capped, run};
use crate::quote::quote;

/// Where programs are looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Read by Python before the scanner: what it starts stays in our process group, so that all of it can be killed. It asks for
/// a session of its own for its helper, which the sandbox refuses.
const TOGETHER: &str = include_str!("sitecustomize.py");
/// The file that Python looks for, in a folder of its path.
const TOGETHER_FILE: &str = "sitecustomize.py";
/// What stands where the version is not known.
const UNKNOWN: &str = "unknown";
/// Characters of a version.
const VERSION_CHARS_MAX: usize = 40;
/// Characters of what the program says about itself that are logged.
const SAID_CHARS_MAX: usize = 500;
/// Characters of a policy file's hash that tell it apart.
const POLICY_HASH_CHARS: usize = 12;
/// What the program may use.
const MEMORY_BYTES: u64 = 4 * 1024 * 1024 * 1024;
const OPEN_FILES: u64 = 1024;
const PROCESSES: u64 = 256;
const FILE_BYTES: u64 = 256 * 1024 * 1024;
const FOLDER_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Skill Scanner, provided by Cisco AI Defense.
#[derive(Debug)]
pub struct SkillScanner {
    launcher: Launcher,
    config: SkillScannerConfig,
    version: Option<String>,
    engine_version: String,
}

/// What is scanned at once, and the folder it is in.
struct Copies {
    asked: Vec<ScanRequest>,
    unseen: Vec<VerdictRecord>,
    skills: Utf8PathBuf,
    home: Utf8PathBuf,
    _folder: ScratchFolder,
}

impl SkillScanner {
    /// Finds out which version the program is, if need be by asking it. One that does not answer is taken all the same: everything that is to be scanned
    /// stays unscanned then, which is what the operator has to see.
    pub async fn open(launcher: Launcher, config: SkillScannerConfig) -> Self {
        let mut scanner = Self { launcher, config, version: None, engine_version: String::new() };
        scanner.version = match scanner.ask_version().await {
            Ok(version) => Some(version),
            Err(error) => {
                let program = &scanner.config.program;
                tracing::warn!(%program, error = error_text(&error), "the scanner does not answer; skills stay unscanned");
                None
            }
        };
        scanner.engine_version = format!(
            "{} {}",
            scanner.version.as_deref().unwrap_or(UNKNOWN),
            policy_word(&scanner.config.policy)
        );
        scanner
    }

    /// Returns the version of the program; nothing when it does not answer.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns what decides what it finds: its version and the policy.
    pub fn engine_version(&self) -> &str {
        &self.engine_version
    }

    /// Returns a verdict for every skill, in some order.
    pub async fn scan(&self, scan_copies: Vec<ScanCopy>, now: Timestamp) -> Vec<VerdictRecord> {
        let abouts: Vec<_> = scan_copies.iter().map(|scan_copy| scan_copy.about.clone()).collect();
        match self.try_scan(scan_copies, now).await {
            Ok(verdicts) => verdicts,
            Err(error) => {
                tracing::warn!(skills = abouts.len(), error = error_text(&error), "the scanner failed");
                let reason = error.to_string();
                abouts.iter().map(|about| failed(about, &reason, &self.engine_version, now)).collect()
            }
        }
    }

    async fn try_scan(
        &self,
        scan_copies: Vec<ScanCopy>,
        now: Timestamp,
    ) -> Result<Vec<VerdictRecord>, ScannerError> {
        let (place, version) = (self.config.work_folder.clone(), self.engine_version.clone());
        let copied = spawn_blocking(move || copies(&place, scan_copies, &version, now)).await;
        let mut copies = copied.map_err(|_| ScannerError::Copies)??;
        if copies.asked.is_empty() {
            return Ok(copies.unseen);
        }
        let policy = match &self.config.policy {
            ScannerPolicy::Preset(name) => (*name).to_owned(),
            ScannerPolicy::File(path) => absolute(path),
        };
        let arguments =
            ["scan-all", copies.skills.as_str(), "--recursive", "--policy", &policy, "--format", "json"];
        let output = self.ask(&arguments, &copies.home, &copies.skills).await?;
        let said = verdicts(&output, &copies.asked, &self.engine_version, now);
        copies.unseen.extend(said);
        Ok(copies.unseen)
    }

    async fn ask_version(&self) -> Result<String, ScannerError> {
        if let Some(version) = installed_version(&self.config.program) {
            return Ok(version);
        }
        let folder = work_folder(&self.config.work_folder)?;
        let home = folder.path();
        let output = self.ask(&["--version"], home, home).await?;
        let said = String::from_utf8_lossy(&output);
        let word = said.split_ascii_whitespace().next_back().unwrap_or(UNKNOWN);
        Ok(quote(word, VERSION_CHARS_MAX))
    }

    async fn ask(
        &self,
        arguments: &[&str],
        home: &Utf8Path,
        skills: &Utf8Path,
    ) -> Result<Vec<u8>, ScannerError> {
        let request = self.request(arguments, home, skills);
        let hear = |stdout| read_capped::<ScannerError>(stdout, SCAN_PROGRAM_OUTPUT_BYTES_MAX);
        let deadline_ms = self.config.deadline_ms;
        let running = run(&self.launcher, request, Vec::new(), hear);
        let ended = timeout(Duration::from_millis(deadline_ms), running).await;
        let (output, ended) = ended.map_err(|_| ScannerError::Deadline(deadline_ms))??;
        if !ended.exit.is_success() {
            let said = quote(&ended.stderr, SAID_CHARS_MAX);
            tracing::warn!(program = %self.config.program, said, "the scanner ended badly");
            return Err(ScannerError::Failed(ended.exit));
        }
        Ok(output)
    }

    /// The skills can be read and not written, there is no network, and of our environment it gets nothing.
    fn request(&self, arguments: &[&str], home: &Utf8Path, skills: &Utf8Path) -> SpawnRequest {
        let policy = match &self.config.policy {
            ScannerPolicy::Preset(_) => None,
            ScannerPolicy::File(path) => Some(absolute(path).into()),
        };
        SpawnRequest {
            program: self.config.program.clone(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            cwd: home.to_owned(),
            environment: environment(&self.config.program, home),
            run_as: RunAs::Artel,
            sandbox: Sandbox::On(Profile {
                read: [Some(skills.to_owned()), policy].into_iter().flatten().collect(),
                execute: installed_in(&self.config.program),
                write: vec![home.to_owned()],
                write_shared: Vec::new(),
                network: Network::Denied,
                strictness: Strictness::BestEffort,
            }),
            limits: ProcessLimits {
                cpu_s: self.config.deadline_ms.div_ceil(1000),
                memory_bytes: MEMORY_BYTES,
                open_files: OPEN_FILES,
                processes: PROCESSES,
                file_bytes: FILE_BYTES,
                folder_bytes: FOLDER_BYTES,
            },
        }
    }
}

fn environment(program: &Utf8Path, home: &Utf8Path) -> Vec<(String, String)> {
    // What somebody installed for themselves is found beside the program, since the home is another one.
    let around = program.parent().and_then(Utf8Path::parent).unwrap_or(home);
    let pairs = [
        ("PATH", PATH),
        ("HOME", home.as_str()),
        ("TMPDIR", home.as_str()),
        ("LC_ALL", "C.UTF-8"),
        ("NO_COLOR", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONPATH", home.as_str()),
        ("PYTHONUTF8", "1"),
        ("PYTHONUSERBASE", around.as_str()),
    ];
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Writes the skills, each in a folder of its own. One that cannot be written is not scanned, and the others are.
fn copies(
    place: &Utf8Path,
    scan_copies: Vec<ScanCopy>,
    engine_version: &str,
    now: Timestamp,
) -> Result<Copies, ScannerError> {
    let folder = work_folder(place)?;
    let root = folder.path();
    let (skills, home) = (root.join("skills"), root.join("home"));
    for made in [&skills, &home] {
        std::fs::create_dir(made).map_err(ScannerError::Folder)?;
    }
    std::fs::write(home.join(TOGETHER_FILE), TOGETHER).map_err(ScannerError::Folder)?;
    let (mut asked, mut unseen) = (Vec::new(), Vec::new());
    for (number, scan_copy) in scan_copies.into_iter().enumerate() {
        match scan_copy.write_below(&skills.join(number.to_string())) {
            Ok(folder) => asked.push(ScanRequest { folder, about: scan_copy.about }),
            Err(error) => unseen.push(failed(&scan_copy.about, &error.to_string(), engine_version, now)),
        }
    }
    Ok(Copies { asked, unseen, skills, home, _folder: folder })
}

/// Makes a folder for as long as a scan takes. The program and the sandbox want its real path.
fn work_folder(place: &Utf8Path) -> Result<ScratchFolder, ScannerError> {
    std::fs::create_dir_all(place).map_err(ScannerError::Folder)?;
    let real = place.canonicalize_utf8().map_err(ScannerError::Folder)?;
    ScratchFolder::make_in(&real, "scan-").map_err(ScannerError::Folder)
}

/// A program that starts in another folder wants the whole path; one that is not there is its to complain about.
fn absolute(path: &Utf8Path) -> String {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned()).into_string()
}

/// Tells policies apart. The content of a file counts, not where it is.
fn policy_word(policy: &ScannerPolicy) -> String {
    match policy {
        ScannerPolicy::Preset(name) => (*name).to_owned(),
        ScannerPolicy::File(path) => {
            let content = std::fs::read(path).unwrap_or_default();
            let hash = file_hash(&content).to_string();
            let digits = hash.rsplit(':').next().unwrap_or_default();
            digits.chars().take(POLICY_HASH_CHARS).collect()
        }
    }
}
