//! What a plan must be told about skills before it can run. The catalog knows; the model only asks.

use crate::data_scope::{Sharing, SkillOrigin};
use crate::health::Health;
use crate::name::{LocalName, SkillName};
use crate::registry::Availability;
use crate::skill::{Skill, SkillPin};
use crate::version::Version;

/// Finds skills for plans.
pub trait SkillLookup {
    /// Returns a skill in that version, or its usual one; also when it is switched off.
    fn skill(&self, name: &SkillName, version: Option<&Version>) -> Option<SkillView<'_>>;

    /// Says what a path leads to, every link in it followed.
    fn tool_path(&self, path: &str) -> ToolPath;

    /// Returns names that may have been meant by one that no skill has, the likeliest first.
    fn similar(&self, name: &SkillName) -> Vec<SkillName>;
}

/// A skill, and how it stands.
#[derive(Clone, Copy, Debug)]
pub struct SkillView<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// Which source it is from, when that is known.
    pub origin: Option<&'a SkillOrigin>,
    /// Whether the operator lets it share its data with every caller.
    pub sharing: Sharing,
    /// The hash of its files.
    pub content_hash: &'a str,
    /// Its folder, as documents show it.
    pub folder: &'a str,
    /// How well it has been doing.
    pub health: Health,
    /// Whether an operator switched it off.
    pub availability: Availability,
}

/// What the path of a tool leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ToolPath {
    /// A script of a skill.
    Script {
        /// The skill.
        skill: SkillPin,
        /// The script.
        script: LocalName,
    },
    /// A place outside all skills.
    Outside,
    /// A file of a skill that is none of its scripts.
    NotAScript,
    /// A script that may not be executed.
    NotExecutable,
    /// Nothing.
    Missing,
}
