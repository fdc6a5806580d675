//! Which pins a lock file holds after skills were pinned again.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::name::SkillName;
use artel_model::skill::SkillPin;

use super::locked::{LockFile, LockScope, LockedSkill};

/// Which skills are pinned again.
#[derive(Clone, Copy, Debug)]
pub enum Repin<'a> {
    /// All of them.
    All,
    /// These only; the pins of others stay as they are.
    These(&'a BTreeSet<SkillName>),
}

/// Returns what is locked after `which` skills were pinned as they are. `present` says what is there and what is meant.
///
/// The pin of a skill that is gone stays, unless it is among `which`: that it is missing must be seen. A pin that only
/// another skill needed goes when nobody needs it. A name without any pin is not meant any longer.
pub fn repin(locked: &LockFile, present: &LockFile, which: Repin<'_>) -> LockFile {
    let is_again = |name: &SkillName| match which {
        Repin::All => true,
        Repin::These(names) => names.contains(name),
    };
    let there: BTreeSet<&SkillName> = present.skills.keys().map(|pin| &pin.name).collect();
    let stays = |name: &SkillName| !is_again(name) && (there.contains(name) || present.scope.names(name));
    let kept = locked.skills.iter().filter(|(pin, _)| stays(&pin.name));
    let again = present.skills.iter().filter(|(pin, _)| is_again(&pin.name));
    let skills: BTreeMap<SkillPin, LockedSkill> =
        kept.chain(again).map(|(pin, skill)| (pin.clone(), skill.clone())).collect();
    let pinned: BTreeSet<&SkillName> = skills.keys().map(|pin| &pin.name).collect();
    let scope = match &present.scope {
        LockScope::All => LockScope::All,
        LockScope::Named(names) => {
            LockScope::Named(names.iter().filter(|name| pinned.contains(name)).cloned().collect())
        }
    };
    LockFile { scope, skills }
}
