//! Skills that people save in the product.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::UserId;
use crate::catalog::visibility::Visibility;
use crate::id::CustomSkillId;
use crate::name::SkillName;
use crate::time::Timestamp;

/// A skill that somebody saved. Its `SKILL.md` is written from these fields, so what is published is always well formed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CustomSkill {
    /// Its id.
    pub id: CustomSkillId,
    /// Its name.
    pub name: SkillName,
    /// What people call it.
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// The instructions.
    pub content: String,
    /// Further fields of the frontmatter.
    pub metadata: Map<String, Value>,
    /// Who sees it.
    pub visibility: Visibility,
    /// Its other files, by path; kept apart from the rest.
    #[serde(skip)]
    pub files: Vec<CustomFile>,
    /// Who saved it first; who may change it, beside administrators.
    pub owner_user_id: UserId,
    /// Counts the changes, from 1.
    pub revision: u64,
    /// When it was first saved.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
    /// Who did.
    pub updated_by: UserId,
    /// The hash of everything that is published of it.
    pub content_hash: String,
}

/// A file beside the instructions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CustomFile {
    /// Where, below the skill's folder.
    pub path: String,
    /// Its bytes.
    pub content: Vec<u8>,
    /// Whether it may be executed.
    pub is_executable: bool,
}

/// One entry of a skill's history.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SkillChange {
    /// The skill.
    pub id: CustomSkillId,
    /// The revision it became.
    pub revision: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: UserId,
    /// The skill as it was saved; nothing when it was deleted.
    pub saved: Option<CustomSkill>,
}
