//! Writes skills as folders for clients that read folders.
//!
//! What was exported before is recorded in the target folder, so that it can be replaced and removed again; anything
//! else that lies there is never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::str::FromStr;

use artel_model::catalog::SourceKind;
use artel_model::id::HubId;
use artel_model::limit::{MANIFEST_BYTES_MAX, SKILL_BYTES_MAX};
use artel_model::name::{NameError, SkillName};
use artel_model::rule::Rules;
use artel_model::skill::{Invocation, Skill};
use artel_model::tool::{ToolCall, ToolPattern};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::file::{Access, write_atomically};
use crate::frontmatter_writer::{FieldValue, write_frontmatter};
use crate::load::Loaded;
use crate::profile::Profile;
use crate::remove::remove_folder_if_there;
use crate::settings::holds_settings;
use crate::shared::EntryId;
use crate::source::{DiskTree, FileTree, ReadError};

/// For whom the folders are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExportTarget {
    /// Any client: `default/<name>/`, `agent-skills/<name>/` or `hub-<hub id>/<name>/`, with the source noted in the metadata.
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

    fn layout(self, id: Option<&EntryId>) -> Layout {
        match self {
            Self::Plain => Layout::BySource(SourceFolder::of(id)),
            Self::Claude | Self::Cursor | Self::Codex | Self::Agents => Layout::Flat,
        }
    }

    /// Says whether the client acts on the fields about who may call a skill.
    fn knows_invocation(self) -> bool {
        match self {
            Self::Claude | Self::Cursor | Self::Agents => true,
            Self::Plain | Self::Codex => false,
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
    /// A link lies where a skill should go, or above it; what it leads to may belong to somebody else.
    #[error(
        "`{0}` is a symbolic link, which an export does not follow; move it away or choose another folder"
    )]
    Link(Utf8PathBuf),
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
    folders: BTreeSet<ExportedFolder>,
}

/// A folder that an export writes, below the target: `NAME` or `SOURCE/NAME`. The record comes from a folder that
/// anybody may have filled, so that nothing else may pass: what it names is removed.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
struct ExportedFolder {
    layout: Layout,
    name: SkillName,
}

/// Where below the target a skill's folder lies.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Layout {
    /// `NAME`.
    Flat,
    /// `SOURCE/NAME`.
    BySource(SourceFolder),
}

/// The folder of all skills from one source.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum SourceFolder {
    /// `default`.
    Default,
    /// `agent-skills`.
    Custom,
    /// `hub-ID`.
    Hub(HubId),
    /// `agent_skills` or `hub`, where earlier versions put them: only read, so that they are cleared away.
    Earlier(SourceKind),
}

impl SourceFolder {
    fn of(id: Option<&EntryId>) -> Self {
        match id {
            None | Some(EntryId::Default(_)) => Self::Default,
            Some(EntryId::Custom(_)) => Self::Custom,
            Some(EntryId::Hub(hub, _)) => Self::Hub(*hub),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "default" => Some(Self::Default),
            "agent-skills" => Some(Self::Custom),
            _ => match text.strip_prefix("hub-") {
                // Only what is written the same way again, so that a record cannot name another folder.
                Some(id) => id.parse().ok().map(Self::Hub).filter(|folder| folder.to_string() == text),
                None => text.parse().ok().map(Self::Earlier),
            },
        }
    }
}

impl fmt::Display for SourceFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Custom => f.write_str("agent-skills"),
            Self::Hub(id) => write!(f, "hub-{id}"),
            Self::Earlier(source) => f.write_str(source.as_str()),
        }
    }
}

impl ExportedFolder {
    fn path(&self) -> Utf8PathBuf {
        match self.layout {
            Layout::Flat => Utf8PathBuf::from(self.name.as_str()),
            Layout::BySource(source) => Utf8PathBuf::from(source.to_string()).join(self.name.as_str()),
        }
    }

    /// Refuses a link at the folder or between it and the target.
    fn refuse_links(&self, dir: &Utf8Path) -> Result<(), ExportError> {
        let above = match self.layout {
            Layout::Flat => None,
            Layout::BySource(source) => Some(dir.join(source.to_string())),
        };
        match above.into_iter().chain([dir.join(self.path())]).find(|path| path.is_symlink()) {
            Some(link) => Err(ExportError::Link(link)),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for ExportedFolder {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(source, name)| Some((SourceFolder::parse(source)?, name)));
        Ok(match parts {
            Some((source, name)) => Self { layout: Layout::BySource(source), name: name.parse()? },
            None => Self { layout: Layout::Flat, name: text.parse()? },
        })
    }
}

impl From<ExportedFolder> for String {
    fn from(folder: ExportedFolder) -> Self {
        folder.path().into_string()
    }
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
    let mut planned: BTreeMap<ExportedFolder, Vec<FileToWrite>> = BTreeMap::new();
    for (entry, skill) in entries.iter().filter_map(|entry| Some((entry, entry.skill.as_deref()?))) {
        let folder = ExportedFolder { layout: target.layout(entry.id().as_ref()), name: skill.name.clone() };
        folder.refuse_links(dir)?;
        let path = dir.join(folder.path());
        if path.symlink_metadata().is_ok() && !record.folders.contains(&folder) {
            return Err(ExportError::Occupied(path));
        }
        planned.insert(folder, files_of(entry, skill, target)?);
    }
    let is_stale = |known: &&ExportedFolder| scope == ExportScope::All && !planned.contains_key(*known);
    let stale: Vec<ExportedFolder> = record.folders.iter().filter(is_stale).cloned().collect();
    stale.iter().try_for_each(|folder| folder.refuse_links(dir))?;
    create_folder(dir)?;
    let mut report = ExportReport::default();
    for folder in stale {
        remove_folder(&dir.join(folder.path()))?;
        record.folders.remove(&folder);
        report.removed.push(folder.path());
    }
    // Recorded before it is written: an interrupted export can be repeated.
    record.folders.extend(planned.keys().cloned());
    write_record(dir, &record)?;
    for (folder, files) in planned {
        replace_folder(&dir.join(folder.path()), &files)?;
        report.written.push(folder.path());
    }
    Ok(report)
}

fn files_of(entry: &Loaded, skill: &Skill, target: ExportTarget) -> Result<Vec<FileToWrite>, ExportError> {
    let mut files = Vec::new();
    let tree = entry.location.tree();
    // A user's own settings stay with the user.
    let shared = entry.files.iter().filter(|file| !holds_settings(entry, file));
    for file in shared {
        let Some(tree) = &tree else { continue };
        let content = tree
            .read(&file.path, SKILL_BYTES_MAX)
            .map_err(|source| ExportError::Read { skill: skill.name.to_string(), source })?;
        files.push(FileToWrite { path: file.path.clone(), content, is_executable: file.is_executable });
    }
    let keeps_original = target != ExportTarget::Plain
        && files.iter().any(|file| file.path == "SKILL.md")
        && target.profile().accepts(entry)
        && says_everything(entry, skill);
    if !keeps_original {
        files.retain(|file| !file.path.as_str().eq_ignore_ascii_case("SKILL.md"));
        let content = skill_md(entry, skill, target).into_bytes();
        files.push(FileToWrite { path: "SKILL.md".into(), content, is_executable: false });
    }
    Ok(files)
}

/// Says whether the skill's own `SKILL.md` allows no more than the skill does: a manifest may narrow it.
fn says_everything(entry: &Loaded, skill: &Skill) -> bool {
    let has_manifest = entry
        .files
        .iter()
        .any(|file| matches!(file.path.as_str(), "skill.json" | "skill.yaml" | "skill.yml"));
    let Invocation { by_model, by_user } = skill.invocation;
    !has_manifest
        || (by_model && by_user && granted_tools(&skill.rules).len() == skill.rules.allowed_tools.len())
}

/// Returns the allowed tools that no forbidden pattern touches. Clients know no forbidden tools, so that what is
/// forbidden in part cannot be allowed.
fn granted_tools(rules: &Rules) -> Vec<&ToolPattern> {
    let is_touched = |allowed: &ToolPattern| {
        let call = allowed.to_string().parse::<ToolCall>();
        rules.forbidden_tools.iter().any(|forbidden| {
            !forbidden.intersect(allowed).is_empty()
                || call.as_ref().is_ok_and(|call| forbidden.forbids(call))
        })
    };
    rules.allowed_tools.iter().filter(|allowed| !is_touched(allowed)).collect()
}

/// Writes a `SKILL.md` that the client takes.
fn skill_md(entry: &Loaded, skill: &Skill, target: ExportTarget) -> String {
    let version = skill.version.to_string();
    let tools: Vec<String> = granted_tools(&skill.rules).into_iter().map(ToString::to_string).collect();
    let tools = tools.join(" ");
    let source_id = entry.id().and_then(|id| id.source_id());
    let mut fields: Vec<(&str, FieldValue<'_>)> =
        vec![("name", skill.name.as_str().into()), ("description", skill.description.as_str().into())];
    let about = &skill.about;
    for (key, value) in [("license", &about.license), ("compatibility", &about.compatibility)] {
        fields.extend(value.as_deref().map(|value| (key, value.into())));
    }
    if !tools.is_empty() {
        fields.push(("allowed-tools", tools.as_str().into()));
    }
    let invocation = unusual_invocation(skill);
    if target.knows_invocation() {
        fields.extend(invocation.iter().map(|(_, key, flag)| (*key, FieldValue::Flag(*flag))));
    }
    fields.push(("metadata.version", version.as_str().into()));
    if !target.knows_invocation() {
        // The open format has only texts there.
        let text = |flag: bool| FieldValue::Text(if flag { "true" } else { "false" });
        fields.extend(invocation.iter().map(|(key, _, flag)| (*key, text(*flag))));
    }
    if target == ExportTarget::Plain {
        let source = entry.source().as_str();
        fields.push(("metadata.source", source.into()));
        fields.extend(source_id.as_deref().map(|id| ("metadata.source_id", id.into())));
    }
    let body = entry.instructions.as_deref().filter(|body| !body.trim().is_empty());
    let body = body.map_or_else(|| described(skill), str::to_owned);
    format!("{}\n{}\n", write_frontmatter(&fields), body.trim())
}

/// Returns what must be said about who may call the skill, with the keys under `metadata` and above it.
fn unusual_invocation(skill: &Skill) -> Vec<(&'static str, &'static str, bool)> {
    let Invocation { by_model, by_user } = skill.invocation;
    let no_model = ("metadata.disable-model-invocation", "disable-model-invocation", true);
    let no_user = ("metadata.user-invocable", "user-invocable", false);
    [(by_model, no_model), (by_user, no_user)]
        .into_iter()
        .filter(|(is_usual, _)| !is_usual)
        .map(|(_, field)| field)
        .collect()
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
    let bytes = DiskTree::new(dir).read(Utf8Path::new(RECORD), MANIFEST_BYTES_MAX).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn write_record(dir: &Utf8Path, record: &Record) -> Result<(), ExportError> {
    let text = serde_json::to_string_pretty(record).expect("paths are text");
    write_atomically(&dir.join(RECORD), text.as_bytes(), Access::Shared)
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
    let fresh = tempfile::Builder::new()
        .prefix(".artel-")
        .permissions(fs::Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(failed(parent))?;
    let root = Utf8PathBuf::from_path_buf(fresh.path().to_owned()).map_err(|path| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, path.display().to_string());
        ExportError::Write { path: parent.to_owned(), source }
    })?;
    for file in files {
        let path = root.join(&file.path);
        create_folder(path.parent().unwrap_or(&root))?;
        // The process's mask says who may read it.
        let mode = if file.is_executable { 0o777 } else { 0o666 };
        let created = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        created.and_then(|mut out| out.write_all(&file.content)).map_err(failed(&path))?;
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
    remove_folder_if_there(path).map_err(|source| ExportError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remove::{DEEP, make_deep, on_a_small_stack};

    #[test]
    fn an_earlier_export_goes_whatever_was_put_into_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(place.path().join("skill")).unwrap();
        make_deep(&folder, DEEP);
        let removed = folder.clone();
        on_a_small_stack(move || remove_folder(&removed).unwrap());
        assert!(!folder.exists());
        remove_folder(&folder).unwrap();
    }
}
