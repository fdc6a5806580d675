//! Fields of `SKILL.md` and of manifests, read into drafts of a skill with everything that is wrong on the way.

mod assemble;
mod draft;
mod frontmatter;
mod interface;
mod manifest;
mod reader;
mod repair;
mod rules;
mod scripts;
mod steps;

pub(crate) use assemble::{Parts, Places, assemble, first_paragraph};
pub(crate) use draft::Draft;

pub(crate) use frontmatter::{CLIENT_FIELDS, SplitError, read_frontmatter, split};
pub(crate) use manifest::{ManifestRole, read_manifest};
pub(crate) use reader::{Reader, is_restriction};
pub(crate) use repair::repair;
