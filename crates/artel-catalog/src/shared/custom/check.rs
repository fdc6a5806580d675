//! Checks what somebody wants to save, as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_model::access::{TeamId, UserId};
use artel_model::catalog::{CustomFile, CustomSkill, Visibility, VisibilityError};
use artel_model::diagnostic::Severity;
use artel_model::id::CustomSkillId;
use artel_model::limit::{
    CUSTOM_SKILL_BYTES_MAX, CUSTOM_SKILL_BYTES_USUAL_MAX, CUSTOM_SKILL_FILES_MAX, CUSTOM_TEAMS_MAX,
    DESCRIPTION_CHARS_MAX, DISPLAY_NAME_CHARS_MAX,
};
use artel_model::name::SkillName;
use artel_model::time::Timestamp;
use camino::Utf8PathBuf;
use serde_json::{Map, Value};

use super::draft::{CustomDraft, DraftError, Problems};
use super::metadata::check_metadata;
use super::path::{folded, skill_path};
use super::tree::Fields;
use crate::load::{Keep, Location, load_tree};
use crate::profile::Profile;
use crate::shared::sealed::{Sealed, seal_tree};
use crate::source::{FileTree as _, MemoryTree};

/// A skill that can be saved: everything about it has been checked.
#[derive(Clone, Debug)]
pub struct CheckedSkill {
    name: SkillName,
    title: Option<String>,
    description: String,
    content: String,
    metadata: Map<String, Value>,
    visibility: Visibility,
    files: Vec<CustomFile>,
    tree: MemoryTree,
    sealed: Sealed,
    warnings: Vec<String>,
}

impl CheckedSkill {
    /// Returns its name.
    pub fn name(&self) -> &SkillName {
        &self.name
    }

    /// Returns who sees it.
    pub fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    /// Returns its files as they are published: what has to be scanned before anybody sees it.
    pub fn tree(&self) -> &MemoryTree {
        &self.tree
    }

    /// Returns the hash of what is published.
    pub fn content_hash(&self) -> &str {
        self.sealed.content_hash()
    }

    /// Returns what the author should know though nothing is wrong.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Makes the first revision of a saved skill.
    pub fn into_first(self, id: CustomSkillId, owner: UserId, now: Timestamp) -> CustomSkill {
        CustomSkill {
            id,
            content_hash: self.sealed.content_hash,
            name: self.name,
            title: self.title,
            description: self.description,
            content: self.content,
            metadata: self.metadata,
            visibility: self.visibility,
            files: self.files,
            owner_user_id: owner.clone(),
            revision: 1,
            created_at: now,
            updated_at: now,
            updated_by: owner,
        }
    }

    /// Makes the next revision of a saved skill; its id, its owner and when it was first saved stay.
    pub fn into_next(self, before: &CustomSkill, by: UserId, now: Timestamp) -> CustomSkill {
        let first = self.into_first(before.id, before.owner_user_id.clone(), before.created_at);
        CustomSkill { revision: before.revision + 1, updated_at: now, updated_by: by, ..first }
    }
}

/// Checks a draft; a personal skill is its owner's. Every problem is told at once.
pub fn check(draft: CustomDraft, owner: &UserId) -> Result<CheckedSkill, DraftError> {
    let bytes =
        draft.files.iter().fold(draft.content.len(), |sum, file| sum.saturating_add(file.content.len()));
    if bytes > CUSTOM_SKILL_BYTES_MAX {
        return Err(DraftError::TooLarge { bytes, bytes_max: CUSTOM_SKILL_BYTES_MAX });
    }
    let mut problems = Problems::default();
    let name = check_name(&draft.name, &mut problems);
    let title = check_title(draft.title, &mut problems);
    check_texts(&draft.description, &draft.content, &mut problems);
    check_metadata(&draft.metadata, &mut problems);
    let visibility = check_visibility(&draft.visibility, &draft.team_ids, owner, &mut problems);
    let files = check_files(draft.files, &mut problems);
    let (Some(name), Some(visibility), true) = (name, visibility, problems.is_empty()) else {
        return Err(DraftError::Invalid(problems.finish()));
    };
    let fields = Fields {
        name: &name,
        title: title.as_deref(),
        description: &draft.description,
        content: &draft.content,
        metadata: &draft.metadata,
        files: &files,
    };
    let tree = fields.tree();
    let (sealed, mut warnings) = read_back(&tree, &name, &draft.description)?;
    if bytes > CUSTOM_SKILL_BYTES_USUAL_MAX {
        let usual = CUSTOM_SKILL_BYTES_USUAL_MAX;
        warnings.push(format!("the skill has {bytes} bytes; more than {usual} are slow to load and to scan"));
    }
    let CustomDraft { description, content, metadata, .. } = draft;
    Ok(CheckedSkill {
        name,
        title,
        description,
        content,
        metadata,
        visibility,
        files,
        tree,
        sealed,
        warnings,
    })
}

fn check_name(text: &str, problems: &mut Problems) -> Option<SkillName> {
    let name = text.parse::<SkillName>();
    if let Err(why) = &name {
        problems.report("/name", why.to_string());
    }
    name.ok()
}

/// A title without a letter in it is none.
fn check_title(title: Option<String>, problems: &mut Problems) -> Option<String> {
    let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty())?;
    if title.chars().count() > DISPLAY_NAME_CHARS_MAX {
        problems.report("/title", format!("it has more than {DISPLAY_NAME_CHARS_MAX} characters"));
    }
    if title.chars().any(char::is_control) {
        problems.report("/title", "it holds control characters");
    }
    Some(title)
}

fn check_texts(description: &str, content: &str, problems: &mut Problems) {
    if description.trim().is_empty() {
        problems.report("/description", "say what the skill is for, and when to use it");
    }
    if description.chars().count() > DESCRIPTION_CHARS_MAX {
        problems.report("/description", format!("it has more than {DESCRIPTION_CHARS_MAX} characters"));
    }
    if content.trim().is_empty() {
        problems.report("/content", "there are no instructions");
    }
    for (pointer, text) in [("/description", description), ("/content", content)] {
        if text.contains('\0') {
            problems.report(pointer, "it holds a NUL byte");
        }
    }
}

fn check_visibility(
    word: &str,
    team_ids: &[String],
    owner: &UserId,
    problems: &mut Problems,
) -> Option<Visibility> {
    if team_ids.len() > CUSTOM_TEAMS_MAX {
        problems.report("/team_ids", format!("there are more than {CUSTOM_TEAMS_MAX} teams"));
        return None;
    }
    let mut teams = BTreeSet::new();
    for (index, team) in team_ids.iter().enumerate() {
        match team.parse::<TeamId>() {
            Ok(team) => {
                teams.insert(team);
            }
            Err(why) => problems.report(format!("/team_ids/{index}"), why.to_string()),
        }
    }
    if teams.is_empty() && !team_ids.is_empty() {
        return None;
    }
    let visibility = Visibility::new(word, teams, Some(owner.clone()));
    if let Err(why) = &visibility {
        let pointer = match why {
            VisibilityError::Unknown(_) | VisibilityError::NoOwner => "/visibility",
            VisibilityError::NoTeams | VisibilityError::NeedlessTeams => "/team_ids",
        };
        problems.report(pointer, why.to_string());
    }
    visibility.ok()
}

/// Returns the files by their written paths. Two paths that some system takes for one are a problem, and so is a file
/// that another has for a folder.
fn check_files(files: Vec<CustomFile>, problems: &mut Problems) -> Vec<CustomFile> {
    if files.len() >= CUSTOM_SKILL_FILES_MAX {
        let most = CUSTOM_SKILL_FILES_MAX;
        problems.report("/files", format!("a skill has fewer than {most} files beside its instructions"));
        return Vec::new();
    }
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut checked = Vec::with_capacity(files.len());
    for (index, file) in files.into_iter().enumerate() {
        let pointer = format!("/files/{index}/path");
        match skill_path(&file.path) {
            Ok(path) => match taken.insert(folded(&path), index) {
                Some(first) => problems.report(pointer, format!("file {first} has the same path")),
                None => checked.push(CustomFile { path, ..file }),
            },
            Err(why) => problems.report(pointer, why.to_string()),
        }
    }
    for (path, index) in &taken {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        for first in folders.filter_map(|folder| taken.get(folder)) {
            problems.report(
                format!("/files/{index}/path"),
                format!("file {first} is in the place of its folder"),
            );
        }
    }
    checked.sort_by(|a, b| a.path.cmp(&b.path));
    checked
}

/// Reads the folder as everybody else will: what is published must say what was checked.
fn read_back(
    tree: &MemoryTree,
    name: &SkillName,
    description: &str,
) -> Result<(Sealed, Vec<String>), DraftError> {
    let place = Location::Folder(Utf8PathBuf::from(name.as_str()));
    let loaded = load_tree(tree, tree.listing(), place, Keep::Instructions);
    let (mut problems, mut warnings) = (Problems::default(), Vec::new());
    for diagnostic in Profile::Lenient.diagnose(&loaded) {
        match diagnostic.severity {
            Severity::Error => problems.report("", diagnostic.finding.message),
            Severity::Warning => warnings.push(diagnostic.finding.message),
        }
    }
    let is_same = loaded
        .skill
        .as_ref()
        .is_some_and(|skill| skill.name == *name && skill.description.trim() == description.trim());
    if problems.is_empty() && !(is_same && loaded.is_usable()) {
        problems.report("", "the skill cannot be written so that every client reads it alike");
    }
    if !problems.is_empty() {
        return Err(DraftError::Invalid(problems.finish()));
    }
    let sealed = seal_tree(Arc::new(loaded), tree).expect("what is in memory can be read");
    Ok((sealed, warnings))
}
