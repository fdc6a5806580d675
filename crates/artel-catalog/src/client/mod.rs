//! What other clients would say about a `SKILL.md`, each by its own rules.

mod claude;
mod codex;
mod findings;
mod skill_md;
mod skills_ref;

pub use findings::{Client, ClientFindings};
pub(crate) use skill_md::SkillMdFile;
