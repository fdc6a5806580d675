//! One skill of one source, with everything that is said about it.

use std::sync::Arc;

use artel_model::access::{TeamId, UserId};
use artel_model::catalog::{Listed, SourceKind, Visibility};
use artel_model::name::SkillName;
use artel_model::skill::Skill;
use artel_model::time::Timestamp;
use camino::Utf8PathBuf;
use serde::Serialize;
use serde_json::{Map, Value};

use super::digest::{Digest, Hash, hex};
use super::entry_id::EntryId;
use super::judge::ScanState;
use super::sealed::Sealed;
use crate::load::Loaded;
use crate::source::ContentHash;

/// One skill of one source.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// Its name.
    pub name: SkillName,
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// What else its files say: tags, licence, version and the like.
    pub metadata: Map<String, Value>,
    /// Who sees it.
    pub visibility: Visibility,
    /// Who saved it.
    pub owner: Option<UserId>,
    /// When it was first there.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
    /// Orders skills of the same source: the smaller was there earlier.
    pub rank: u64,
    /// The hash over all its files.
    pub content_hash: String,
    /// Its files, by path.
    pub files: Arc<[EntryFile]>,
    /// How it stands with scanners.
    pub scan: ScanState,
    /// The skill as it was loaded.
    pub loaded: Arc<Loaded>,
    /// Its other versions, where a source has several: plans may name them.
    pub(super) other_versions: Vec<Arc<Loaded>>,
    /// A hash over everything of it that is shown.
    pub(super) digest: Hash,
}

/// One file of a skill.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct EntryFile {
    /// Its path below the skill's folder.
    pub path: Utf8PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The hash of its content.
    pub hash: ContentHash,
    /// Whether it may be executed.
    pub is_executable: bool,
}

/// What a source knows of a skill beside its files.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) id: EntryId,
    pub(super) visibility: Visibility,
    pub(super) owner: Option<UserId>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) rank: u64,
}

impl Entry {
    pub(super) fn new(
        origin: Origin,
        skill: &Skill,
        sealed: Sealed,
        other_versions: Vec<Arc<Loaded>>,
        scan: ScanState,
    ) -> Self {
        let Origin { id, visibility, owner, created_at, updated_at, rank } = origin;
        let mut entry = Self {
            id,
            name: skill.name.clone(),
            title: skill.title().to_owned(),
            description: skill.description.clone(),
            metadata: metadata(skill),
            visibility,
            owner,
            created_at,
            updated_at,
            rank,
            content_hash: sealed.content_hash,
            files: sealed.files,
            scan,
            loaded: sealed.loaded,
            other_versions,
            digest: Hash::default(),
        };
        entry.digest = entry.digest();
        entry
    }

    /// Returns where it comes from.
    pub fn source(&self) -> SourceKind {
        self.id.source()
    }

    /// Returns the hub or the saved skill.
    pub fn source_id(&self) -> Option<String> {
        self.id.source_id()
    }

    /// Returns the instructions, when they were kept.
    pub fn content(&self) -> &str {
        self.loaded.instructions.as_deref().unwrap_or_default()
    }

    /// Returns its labels.
    pub fn tags(&self) -> &[String] {
        self.loaded.skill.as_ref().map_or(&[], |skill| &skill.about.tags)
    }

    /// Returns the file of that path.
    pub fn file(&self, path: &str) -> Option<&EntryFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns a text that changes with everything of it that is shown.
    pub fn etag(&self) -> String {
        hex(&self.digest)
    }

    /// What is the same on every machine that has the same content.
    pub(super) fn add_content_to(&self, digest: Digest) -> Digest {
        let digest = digest.text(&self.id.to_string()).text(&self.content_hash).members(&self.metadata);
        add_visibility(digest, &self.visibility).text(self.scan.status.as_str())
    }

    fn digest(&self) -> Hash {
        let moment = |moment: Option<Timestamp>| moment.map_or_else(String::new, |moment| moment.to_string());
        let digest = Digest::of("entry").text(&moment(self.created_at)).text(&moment(self.updated_at));
        self.scan.add_to(self.add_content_to(digest)).finish()
    }
}

impl Listed for Entry {
    fn name(&self) -> &SkillName {
        &self.name
    }

    fn source(&self) -> SourceKind {
        self.id.source()
    }

    fn rank(&self) -> u64 {
        self.rank
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }
}

fn add_visibility(digest: Digest, visibility: &Visibility) -> Digest {
    let digest = digest.text(visibility.as_str());
    match visibility {
        Visibility::Global => digest,
        Visibility::Team { team_ids } => digest.texts(team_ids.iter().map(TeamId::as_str)),
        Visibility::Personal { owner_user_id } => digest.text(owner_user_id.as_str()),
    }
}

/// Returns what else a skill's files say. What has a meaning of its own replaces what only has the same key.
fn metadata(skill: &Skill) -> Map<String, Value> {
    let mut members: Vec<(String, Value)> =
        skill.about.metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut metadata: Map<String, Value> = members.into_iter().collect();
    let about = &skill.about;
    let texts = [
        ("author", about.author.as_ref()),
        ("license", about.license.as_ref()),
        ("homepage", about.homepage.as_ref()),
        ("compatibility", about.compatibility.as_ref()),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            metadata.insert(key.to_owned(), Value::from(text.as_str()));
        }
    }
    metadata.insert("version".to_owned(), Value::from(skill.version.to_string()));
    let tools: Vec<String> = skill.rules.allowed_tools.iter().map(ToString::to_string).collect();
    for (key, list) in
        [("tags", &about.tags), ("capabilities", &about.capabilities), ("allowed_tools", &tools)]
    {
        if !list.is_empty() {
            metadata.insert(key.to_owned(), Value::from(list.clone()));
        }
    }
    metadata
}
