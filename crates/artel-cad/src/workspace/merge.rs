//! Three-way merges, decided without IO: what the target takes, and what both sides changed differently.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::entity::EntityId;
use crate::store::{VersionKey, VersionRef};

/// What a workspace shows: the version of each entity.
pub type Versions = BTreeMap<EntityId, VersionRef>;

/// Why two workspaces disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// Both changed the entity, differently.
    BothModified,
    /// One deleted what the other changed.
    DeletedModified,
    /// Both created different entities with one id.
    IdCollision,
    /// A solid of each takes the same space, or a curve of each the same place.
    OverlappingGeometry,
}

/// How a conflict is to be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// What the source has.
    KeepSource,
    /// What the target has.
    KeepTarget,
    /// Something else, which the caller names.
    ManualMerge,
    /// Both, although they overlap.
    KeepBoth,
}

impl ConflictKind {
    /// Returns what can be done about it.
    pub fn choices(self) -> &'static [Choice] {
        match self {
            Self::BothModified | Self::DeletedModified | Self::IdCollision => {
                &[Choice::KeepSource, Choice::KeepTarget, Choice::ManualMerge]
            }
            Self::OverlappingGeometry => &[Choice::KeepSource, Choice::KeepTarget, Choice::KeepBoth],
        }
    }
}

/// A disagreement. Its id changes with what it is about, so a resolution never applies to something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Its name.
    pub conflict_id: String,
    /// Why.
    pub kind: ConflictKind,
    /// The entity of the source.
    pub source_entity: EntityId,
    /// The entity of the target, which is the same except for overlaps.
    pub target_entity: EntityId,
}

/// A resolution as it is kept: the choice, and the version for a manual merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// What to do.
    pub choice: Choice,
    /// What a manual merge takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

/// What a merge would do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergePlan {
    /// Entities that the target takes from the source; nothing for a deletion.
    pub takes: BTreeMap<EntityId, Option<VersionKey>>,
    /// Entities where the target differs from the common ancestor.
    pub target_changed: BTreeSet<EntityId>,
    /// What both changed differently.
    pub conflicts: Vec<Conflict>,
}

/// Compares both sides with what they have in common.
pub fn plan(ancestor: &Versions, source: &Versions, target: &Versions) -> MergePlan {
    let mut plan = MergePlan::default();
    let ids: BTreeSet<&EntityId> = ancestor.keys().chain(source.keys()).chain(target.keys()).collect();
    for id in ids {
        let [base, theirs, ours] = [ancestor, source, target].map(|versions| versions.get(id));
        let [base_hash, source_hash, target_hash] = [base, theirs, ours].map(hash);
        if target_hash != base_hash && ours.is_some() {
            plan.target_changed.insert(id.clone());
        }
        if source_hash == target_hash || source_hash == base_hash {
            continue;
        }
        if target_hash == base_hash {
            plan.takes.insert(id.clone(), theirs.map(|reference| reference.version));
            continue;
        }
        let kind = match (base, theirs, ours) {
            (None, _, _) => ConflictKind::IdCollision,
            (Some(_), Some(_), Some(_)) => ConflictKind::BothModified,
            (Some(_), _, _) => ConflictKind::DeletedModified,
        };
        plan.conflicts.push(conflict(kind, [id, id], [source_hash, target_hash]));
    }
    plan
}

/// Describes a disagreement.
pub fn conflict(
    kind: ConflictKind,
    [source, target]: [&EntityId; 2],
    hashes: [Option<&[u8]>; 2],
) -> Conflict {
    let mut digest = Sha256::new();
    digest.update(format!("{kind:?} {source} {target}"));
    for hash in hashes {
        digest.update(hash.unwrap_or(b"deleted"));
    }
    let name: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Conflict {
        conflict_id: format!("conflict_{name}"),
        kind,
        source_entity: source.clone(),
        target_entity: target.clone(),
    }
}

/// Returns what is equal for equal contents.
pub fn hash(reference: Option<&VersionRef>) -> Option<&[u8]> {
    reference.map(|reference| reference.hash.as_slice())
}

/// Applies resolutions to a plan; conflicts without one remain.
#[must_use]
pub fn resolve(
    mut plan: MergePlan,
    source: &Versions,
    resolutions: &BTreeMap<String, Resolution>,
) -> MergePlan {
    for conflict in std::mem::take(&mut plan.conflicts) {
        let Some(resolution) = resolutions.get(&conflict.conflict_id) else {
            plan.conflicts.push(conflict);
            continue;
        };
        let theirs = source.get(&conflict.source_entity).map(|reference| reference.version);
        let overlaps = conflict.kind == ConflictKind::OverlappingGeometry;
        match (resolution.choice, overlaps) {
            (Choice::KeepSource, false) => {
                plan.takes.insert(conflict.source_entity, theirs);
            }
            (Choice::KeepSource, true) => {
                plan.takes.insert(conflict.source_entity, theirs);
                plan.takes.insert(conflict.target_entity, None);
            }
            (Choice::KeepTarget, true) => {
                plan.takes.remove(&conflict.source_entity);
            }
            (Choice::ManualMerge, _) => {
                plan.takes.insert(conflict.source_entity, resolution.version.map(VersionKey));
            }
            (Choice::KeepTarget, false) | (Choice::KeepBoth, _) => {}
        }
    }
    plan
}

/// What changed between two states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Entities that only the second has.
    pub added: Vec<EntityId>,
    /// Entities that are different.
    pub modified: Vec<EntityId>,
    /// Entities that only the first has.
    pub deleted: Vec<EntityId>,
}

impl Diff {
    /// Compares two states.
    pub fn between(before: &Versions, after: &Versions) -> Self {
        let mut diff = Self::default();
        for (id, reference) in after {
            match before.get(id) {
                None => diff.added.push(id.clone()),
                Some(earlier) if earlier.hash != reference.hash => diff.modified.push(id.clone()),
                Some(_) => {}
            }
        }
        diff.deleted = before.keys().filter(|id| !after.contains_key(*id)).cloned().collect();
        diff
    }

    /// Returns how many entities changed.
    pub fn len(&self) -> usize {
        self.added.len() + self.modified.len() + self.deleted.len()
    }

    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a1 b2` is entity `a` with content 1 and `b` with content 2.
    fn versions(text: &str) -> Versions {
        text.split_whitespace()
            .map(|word| {
                let (id, content) = word.split_at(1);
                let number: i64 = content.parse().unwrap();
                let reference = VersionRef {
                    version: VersionKey(number),
                    hash: content.as_bytes().to_vec(),
                    kind: "solid".to_owned(),
                };
                (id.parse().unwrap(), reference)
            })
            .collect()
    }

    fn show(plan: &MergePlan) -> String {
        let takes = plan.takes.iter().map(|(id, version)| match version {
            Some(version) => format!("{id}{}", version.0),
            None => format!("-{id}"),
        });
        let conflicts =
            plan.conflicts.iter().map(|conflict| format!("{}:{:?}", conflict.source_entity, conflict.kind));
        takes.chain(conflicts).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(ancestor: &str, source: &str, target: &str, expected: &str) {
        let found = plan(&versions(ancestor), &versions(source), &versions(target));
        assert_eq!(show(&found), expected, "{ancestor} | {source} | {target}");
    }

    #[test]
    fn one_side_changes_and_the_target_takes_it() {
        check("a1", "a1", "a1", "");
        check("a1", "a2", "a1", "a2");
        check("a1", "a1", "a2", "");
        check("a1", "", "a1", "-a");
        check("", "a1", "", "a1");
        check("a1", "a2", "a2", "");
        check("a1", "", "", "");
        check("", "a1", "a1", "");
    }

    #[test]
    fn what_both_changed_differently_is_a_conflict() {
        check("a1", "a2", "a3", "a:BothModified");
        check("a1", "", "a3", "a:DeletedModified");
        check("a1", "a2", "", "a:DeletedModified");
        check("", "a2", "a3", "a:IdCollision");
        check("a1 b1", "a2 b2", "a3 b1", "b2 a:BothModified");
    }

    #[test]
    fn resolutions_apply_to_exactly_what_they_were_made_for() {
        let (ancestor, source, target) = (versions("a1"), versions("a2"), versions("a3"));
        let found = plan(&ancestor, &source, &target);
        let id = found.conflicts[0].conflict_id.clone();
        let resolved = |choice, version| {
            let resolutions = BTreeMap::from([(id.clone(), Resolution { choice, version })]);
            show(&resolve(found.clone(), &source, &resolutions))
        };
        assert_eq!(resolved(Choice::KeepSource, None), "a2");
        assert_eq!(resolved(Choice::KeepTarget, None), "");
        assert_eq!(resolved(Choice::ManualMerge, Some(7)), "a7");
        let changed = plan(&ancestor, &versions("a4"), &target);
        assert_ne!(changed.conflicts[0].conflict_id, id);
    }

    #[test]
    fn an_overlap_is_resolved_by_either_or_both() {
        let source = versions("a1");
        let mut base = plan(&versions(""), &source, &versions("b2"));
        let overlap = conflict(
            ConflictKind::OverlappingGeometry,
            [&"a".parse().unwrap(), &"b".parse().unwrap()],
            [Some(b"1"), Some(b"2")],
        );
        base.conflicts.push(overlap.clone());
        let resolved = |choice| {
            let resolutions =
                BTreeMap::from([(overlap.conflict_id.clone(), Resolution { choice, version: None })]);
            show(&resolve(base.clone(), &source, &resolutions))
        };
        assert_eq!(resolved(Choice::KeepSource), "a1 -b");
        assert_eq!(resolved(Choice::KeepTarget), "");
        assert_eq!(resolved(Choice::KeepBoth), "a1");
    }

    #[test]
    fn merging_again_takes_nothing() {
        let (ancestor, source, target) = (versions("a1 b1 c1"), versions("a2 b1 d5"), versions("a1 b3 c1"));
        let first = plan(&ancestor, &source, &target);
        let mut merged = target.clone();
        for (id, version) in &first.takes {
            match version {
                Some(_) => merged.insert(id.clone(), source[id].clone()),
                None => merged.remove(id),
            };
        }
        // The next merge starts from what the source was at this one.
        assert_eq!(show(&plan(&source, &source, &merged)), "");
        assert_eq!(Diff::between(&target, &merged).len(), 3);
    }
}
