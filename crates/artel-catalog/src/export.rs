//! Writes skills as folders for clients that read folders.
//!
//! What was exported before is recorded in the target folder, so that it can be replaced and removed again; anything
//! else that lies there is never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::str::FromStr;

use artel_model::limit::SKILL_BYTES_MAX;
use artel_model::skill::Skill;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::frontmatter_writer::write_frontmatter;
use crate::load::Loaded;
use crate::profile::Profile;
use crate::source::ReadError;

/// For whom the folders are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExportTarget {
    /// Any client: `<source>/<name>/`, with the source noted in the metadata.
    Plain,
    /// Claude Code: `<name>/`.
    Claude,
    /// Cursor: `<name>/`.
    Cursor,
    /// Codex: `<name>/`.
    Codex,
    /// Clients that read `.agents/skills`: `<name>/`.
    Agents,
}

/// A text that names no client.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no client `{0}`: choose claude, cursor, codex or agents")]
pub struct UnknownClient(String);

impl FromStr for ExportTarget {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Self, UnknownClient> {
        match text {
            "claude" => Ok(Self::Claude),
            "cursor" => Ok(Self::Cursor),
            "codex" => Ok(Self::Codex),
            "agents" => Ok(Self::Agents),
            other => Err(UnknownClient(other.to_owned())),
        }
    }
}

impl ExportTarget {
    /// Whose rules the written `SKILL.md` must pass.
    fn profile(self) -> Profile {
        match self {
            Self::Plain | Self::Cursor | Self::Agents => Profile::SkillsRef,
            Self::Claude => Profile::Claude,
            Self::Codex => Profile::Codex,
        }
    }
}

/// What an export did, as folders below the target.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ExportReport {
    /// Folders that were written.
    pub written: Vec<Utf8PathBuf>,
    /// Folders of an earlier export that were removed, because the skill is gone.
    pub removed: Vec<Utf8PathBuf>,
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Something lies where a skill should go, and no earlier export put it there.
    #[error("`{0}` exists and was not written by an export; move it away or choose another folder")]
    Occupied(Utf8PathBuf),
    /// A file of a skill cannot be read.
    #[error("cannot export `{skill}`")]
    Read {
        /// The skill.
        skill: String,
        /// Why.
        source: ReadError,
    },
    /// The target cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The record of earlier exports, kept in the target folder.
const RECORD: &str = ".artel-export.json";

#[derive(Debug, Default, Deserialize, Serialize)]
struct Record {
    folders: BTreeSet<Utf8PathBuf>,
}

/// One file to write.
struct FileToWrite {
    path: Utf8PathBuf,
    content: Vec<u8>,
    is_executable: bool,
}

/// Which skills an export is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExportScope {
    /// All there are: what an earlier export wrote and is gone since is removed.
    All,
    /// Some: the others that an earlier export wrote stay.
    Some,
}

/// Writes the skills below `dir`. Skills must have been loaded with everything kept.
pub fn export(
    entries: &[&Loaded],
    dir: &Utf8Path,
    target: ExportTarget,
    scope: ExportScope,
) -> Result<ExportReport, ExportError> {
    let mut record = read_record(dir);
    let mut planned: BTreeMap<Utf8PathBuf, Vec<FileToWrite>> = BTreeMap::new();
    for (entry, skill) in entries.iter().filter_map(|entry| Some((entry, entry.skill.as_deref()?))) {
        let folder = match target {
            ExportTarget::Plain => Utf8Path::new("default").join(skill.name.as_str()),
            ExportTarget::Claude | ExportTarget::Cursor | ExportTarget::Codex | ExportTarget::Agents => {
                Utf8PathBuf::from(skill.name.as_str())
            }
        };
        if dir.join(&folder).symlink_metadata().is_ok() && !record.folders.contains(&folder) {
            return Err(ExportError::Occupied(dir.join(folder)));
        }
        planned.insert(folder, files_of(entry, skill, target)?);
    }
    create_folder(dir)?;
    let mut report = ExportReport::default();
    let stale: Vec<Utf8PathBuf> =
        record.folders.iter().filter(|known| !planned.contains_key(*known)).cloned().collect();
    for folder in stale.into_iter().filter(|_| scope == ExportScope::All) {
        remove_folder(&dir.join(&folder))?;
        record.folders.remove(&folder);
        report.removed.push(folder);
    }
    // Recorded before it is written: an interrupted export can be repeated.
    record.folders.extend(planned.keys().cloned());
    write_record(dir, &record)?;
    for (folder, files) in planned {
        replace_folder(&dir.join(&folder), &files)?;
        report.written.push(folder);
    }
    Ok(report)
}

fn files_of(entry: &Loaded, skill: &Skill, target: ExportTarget) -> Result<Vec<FileToWrite>, ExportError> {
    let mut files = Vec::new();
    let tree = entry.location.tree();
    // A user's own settings stay with the user.
    let shared = entry.files.iter().filter(|file| file.path != "config.json");
    for file in shared {
        let Some(tree) = &tree else { continue };
        let content = tree
            .read(&file.path, SKILL_BYTES_MAX)
            .map_err(|source| ExportError::Read { skill: skill.name.to_string(), source })?;
        files.push(FileToWrite { path: file.path.clone(), content, is_executable: file.is_executable });
    }
    let keeps_original = target != ExportTarget::Plain
        && files.iter().any(|file| file.path == "SKILL.md")
        && target.profile().accepts(entry);
    if !keeps_original {
        files.retain(|file| !file.path.as_str().eq_ignore_ascii_case("SKILL.md"));
        let content = skill_md(entry, skill, target).into_bytes();
        files.push(FileToWrite { path: "SKILL.md".into(), content, is_executable: false });
    }
    Ok(files)
}

/// Writes a `SKILL.md` that every client takes.
fn skill_md(entry: &Loaded, skill: &Skill, target: ExportTarget) -> String {
    let version = skill.version.to_string();
    let tools: Vec<String> = skill.rules.allowed_tools.iter().map(ToString::to_string).collect();
    let tools = tools.join(" ");
    let source_id = entry.location.to_string();
    let mut fields = vec![("name", skill.name.as_str()), ("description", skill.description.as_str())];
    let about = &skill.about;
    for (key, value) in [("license", &about.license), ("compatibility", &about.compatibility)] {
        fields.extend(value.as_deref().map(|value| (key, value)));
    }
    if !tools.is_empty() {
        fields.push(("allowed-tools", &tools));
    }
    fields.push(("metadata.version", &version));
    if target == ExportTarget::Plain {
        fields.extend([("metadata.source", "default"), ("metadata.source_id", source_id.as_str())]);
    }
    let body = entry.instructions.as_deref().filter(|body| !body.trim().is_empty());
    let body = body.map_or_else(|| described(skill), str::to_owned);
    format!("{}\n{}\n", write_frontmatter(&fields), body.trim())
}

/// Instructions for a skill that has none: what its interface says.
fn described(skill: &Skill) -> String {
    let mut text = format!("# {}\n\n{}\n", skill.title(), skill.description);
    if !skill.rules.execution_protocol.is_empty() {
        text.push_str("\n## Steps\n\n");
        for (index, step) in skill.rules.execution_protocol.iter().enumerate() {
            text.push_str(&format!("{}. {step}\n", index + 1));
        }
    }
    let schema = serde_json::to_string_pretty(skill.interface.parameters.document()).unwrap_or_default();
    text.push_str(&format!("\n## Parameters\n\n```json\n{schema}\n```\n"));
    if !skill.scripts.is_empty() {
        text.push_str(
            "\n## Scripts\n\nEach reads one JSON object on stdin and writes one JSON object a line.\n\n",
        );
        for script in &skill.scripts {
            let about = script.description.as_deref().unwrap_or("");
            text.push_str(&format!("- `{}` {about}\n", script.path));
        }
    }
    text
}

fn read_record(dir: &Utf8Path) -> Record {
    // A record that cannot be read protects nothing: every folder counts as somebody else's.
    fs::read(dir.join(RECORD)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn write_record(dir: &Utf8Path, record: &Record) -> Result<(), ExportError> {
    let text = serde_json::to_string_pretty(record).expect("paths are text");
    crate::file::write_atomically(&dir.join(RECORD), text.as_bytes())
        .map_err(|source| ExportError::Write { path: dir.join(RECORD), source })
}

/// Writes the folder beside its place and then moves it there, so that no client sees half a skill.
fn replace_folder(folder: &Utf8Path, files: &[FileToWrite]) -> Result<(), ExportError> {
    let parent = folder.parent().unwrap_or(Utf8Path::new("."));
    create_folder(parent)?;
    let failed = |path: &Utf8Path| {
        let path = path.to_owned();
        move |source| ExportError::Write { path, source }
    };
    let fresh = tempfile::Builder::new().prefix(".artel-").tempdir_in(parent).map_err(failed(parent))?;
    let root = Utf8PathBuf::from_path_buf(fresh.path().to_owned()).map_err(|path| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, path.display().to_string());
        ExportError::Write { path: parent.to_owned(), source }
    })?;
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).map_err(failed(&root))?;
    for file in files {
        let path = root.join(&file.path);
        create_folder(path.parent().unwrap_or(&root))?;
        fs::write(&path, &file.content).map_err(failed(&path))?;
        let mode = if file.is_executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(failed(&path))?;
    }
    remove_folder(folder)?;
    fs::rename(&root, folder).map_err(failed(folder))?;
    // The folder has moved: there is nothing left to clean up.
    let _ = fresh.keep();
    Ok(())
}

fn create_folder(path: &Utf8Path) -> Result<(), ExportError> {
    fs::create_dir_all(path).map_err(|source| ExportError::Write { path: path.to_owned(), source })
}

fn remove_folder(path: &Utf8Path) -> Result<(), ExportError> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(ExportError::Write { path: path.to_owned(), source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
