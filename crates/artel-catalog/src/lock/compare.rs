//! What is different between a lock file and the skills that are there.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::name::SkillName;
use artel_model::skill::SkillPin;
use artel_model::version::Version;

use super::locked::{LockFile, LockedFile, LockedSkill, Origin};
use super::permission::Permission;

/// How all skills stand, by name and version.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Comparison {
    /// The skills, each once.
    pub skills: Vec<LockedSkillState>,
}

/// How one skill stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LockedSkillState {
    /// The skill as it was locked; as it is when it was not.
    pub pin: SkillPin,
    /// What became of it.
    pub drift: Drift,
}

/// What became of a skill since it was locked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Drift {
    /// Nothing.
    Same,
    /// Its files are the same, but they come from elsewhere.
    Moved {
        /// Where they came from.
        from: Origin,
        /// Where they come from.
        to: Origin,
    },
    /// It is not what was locked.
    Changed(SkillChange),
    /// It is not there.
    Missing,
    /// It is there, and was not locked.
    Unlocked,
}

/// What is different about a skill.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillChange {
    /// The version that is there.
    pub version: Version,
    /// What it may do, differently; what makes it wider first.
    pub permissions: Vec<PermissionChange>,
    /// The files that differ, by path.
    pub files: Vec<(String, FileChange)>,
    /// Where it came from and comes from, when that differs.
    pub moved: Option<(Origin, Origin)>,
}

/// A permission that was added or taken away.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct PermissionChange {
    /// What that does to the skill's rights.
    pub rights: Rights,
    /// The permission.
    pub permission: Permission,
}

/// What a change does to the rights of a skill.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rights {
    /// It may do more.
    Wider,
    /// It may do less.
    Narrower,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileChange {
    /// It is there, and was not.
    Added,
    /// It was there, and is not.
    Removed,
    /// Its content differs.
    Changed,
    /// It may be executed, and could not be.
    MadeExecutable,
    /// It could be executed, and may not be.
    MadePlain,
}

impl Rights {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wider => "wider",
            Self::Narrower => "narrower",
        }
    }
}

impl FileChange {
    /// Returns the words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::MadeExecutable => "made executable",
            Self::MadePlain => "made not executable",
        }
    }
}

impl PermissionChange {
    /// Says whether the statement was added; otherwise it was taken away.
    pub fn is_added(&self) -> bool {
        (self.rights == Rights::Wider) != self.permission.restricts()
    }
}

impl Drift {
    /// Returns the word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Moved { .. } => "moved",
            Self::Changed(_) => "changed",
            Self::Missing => "missing",
            Self::Unlocked => "unlocked",
        }
    }

    /// Says whether something else than what was locked is used.
    pub fn is_broken(&self) -> bool {
        match self {
            Self::Changed(_) | Self::Missing => true,
            Self::Same | Self::Moved { .. } | Self::Unlocked => false,
        }
    }
}

impl Comparison {
    /// Says whether anything else than what was locked is used.
    pub fn is_broken(&self) -> bool {
        self.skills.iter().any(|standing| standing.drift.is_broken())
    }

    /// Says whether everything is exactly as it was locked, and nothing else is there.
    pub fn is_exact(&self) -> bool {
        self.skills.iter().all(|standing| standing.drift == Drift::Same)
    }
}

/// Compares what was locked with what is there. One name in another version is a change, not a loss and a find.
pub fn compare(locked: &LockFile, present: &LockFile) -> Comparison {
    let names: BTreeSet<&SkillName> =
        locked.skills.keys().chain(present.skills.keys()).map(|pin| &pin.name).collect();
    let (locked, present) = (by_name(locked), by_name(present));
    let none: Versions<'_> = BTreeMap::new();
    let mut skills: Vec<LockedSkillState> = names
        .into_iter()
        .flat_map(|name| {
            compare_versions(name, locked.get(name).unwrap_or(&none), present.get(name).unwrap_or(&none))
        })
        .collect();
    skills.sort_by(|a, b| a.pin.cmp(&b.pin));
    Comparison { skills }
}

/// The versions of one skill.
type Versions<'a> = BTreeMap<&'a Version, &'a LockedSkill>;

fn by_name(file: &LockFile) -> BTreeMap<&SkillName, Versions<'_>> {
    let mut names: BTreeMap<&SkillName, Versions<'_>> = BTreeMap::new();
    for (pin, skill) in &file.skills {
        names.entry(&pin.name).or_default().insert(&pin.version, skill);
    }
    names
}

/// Pairs the versions of one skill: the same ones first, then the rest in their order.
fn compare_versions(
    name: &SkillName,
    locked: &Versions<'_>,
    present: &Versions<'_>,
) -> Vec<LockedSkillState> {
    let standing = |version: &Version, drift| LockedSkillState {
        pin: SkillPin { name: name.clone(), version: version.clone() },
        drift,
    };
    let mut all = Vec::new();
    let mut found = present.iter().filter(|(version, _)| !locked.contains_key(*version));
    for (version, was) in locked {
        let other = match present.get_key_value(version) {
            Some(same) => Some(same),
            None => found.next(),
        };
        let drift = other.map_or(Drift::Missing, |(other, is)| drift(version, was, other, is));
        all.push(standing(version, drift));
    }
    all.extend(found.map(|(version, _)| standing(version, Drift::Unlocked)));
    all
}

fn drift(was_version: &Version, was: &LockedSkill, version: &Version, is: &LockedSkill) -> Drift {
    let moved = (was.origin != is.origin).then(|| (was.origin.clone(), is.origin.clone()));
    let permissions = permission_changes(&was.permissions, &is.permissions);
    let files = file_changes(&was.files, &is.files);
    if was_version != version || !permissions.is_empty() || !files.is_empty() {
        return Drift::Changed(SkillChange { version: version.clone(), permissions, files, moved });
    }
    moved.map_or(Drift::Same, |(from, to)| Drift::Moved { from, to })
}

fn permission_changes(was: &BTreeSet<Permission>, is: &BTreeSet<Permission>) -> Vec<PermissionChange> {
    let change = |permission: &Permission, is_added: bool| PermissionChange {
        rights: if is_added == permission.restricts() { Rights::Narrower } else { Rights::Wider },
        permission: permission.clone(),
    };
    let added = is.difference(was).map(|permission| change(permission, true));
    let removed = was.difference(is).map(|permission| change(permission, false));
    let mut changes: Vec<PermissionChange> = added.chain(removed).collect();
    changes.sort();
    changes
}

fn file_changes(
    was: &BTreeMap<String, LockedFile>,
    is: &BTreeMap<String, LockedFile>,
) -> Vec<(String, FileChange)> {
    let paths: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let change = |path: &String| match (was.get(path), is.get(path)) {
        (None, _) => Some(FileChange::Added),
        (Some(_), None) => Some(FileChange::Removed),
        (Some(was), Some(is)) if was.hash != is.hash => Some(FileChange::Changed),
        (Some(was), Some(is)) if was.is_executable == is.is_executable => None,
        (Some(_), Some(is)) if is.is_executable => Some(FileChange::MadeExecutable),
        (Some(_), Some(_)) => Some(FileChange::MadePlain),
    };
    paths.into_iter().filter_map(|path| Some((path.clone(), change(path)?))).collect()
}
