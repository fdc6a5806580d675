//! A `SKILL.md` as raw as a client finds it.

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit::SKILL_MD_BYTES_MAX;
use camino::{Utf8Path, Utf8PathBuf};

use crate::source::{FileTree, Listing, ReadError};

/// The file, its surroundings, and its bytes if they can be read.
pub(crate) struct SkillMdFile {
    pub(crate) path: Utf8PathBuf,
    /// The name of the folder it lies in.
    pub(crate) folder: String,
    pub(crate) state: SkillMdState,
}

/// How a client finds the file.
pub(crate) enum SkillMdState {
    Missing,
    /// It is a link out of the folder. Clients that follow links read what it leads to; we do not.
    Escapes,
    Unreadable(ReadError),
    Present {
        bytes: Vec<u8>,
        /// It is called `skill.md`.
        is_lowercase: bool,
        /// It is reached through a link.
        is_link: bool,
    },
}

impl SkillMdFile {
    pub(crate) fn read(tree: &dyn FileTree, listing: &Listing, root: &Utf8Path) -> Self {
        let folder = root.file_name().unwrap_or_default().trim_start_matches("built-in:").to_owned();
        let entry = ["SKILL.md", "skill.md"].iter().find_map(|name| listing.file(name));
        let escapes = listing.escaping.iter().any(|path| path == "SKILL.md");
        let state = match entry {
            None if escapes => SkillMdState::Escapes,
            None => SkillMdState::Missing,
            Some(entry) => match tree.read(&entry.path, SKILL_MD_BYTES_MAX) {
                Ok(bytes) => {
                    let is_lowercase = entry.path == "skill.md";
                    SkillMdState::Present { bytes, is_lowercase, is_link: entry.is_link }
                }
                Err(error) => SkillMdState::Unreadable(error),
            },
        };
        let name = entry.map_or("SKILL.md", |entry| entry.path.as_str());
        Self { path: root.join(name), folder, state }
    }

    pub(crate) fn finding(
        &self,
        code: Code,
        position: Option<Position>,
        message: impl Into<String>,
    ) -> Finding {
        Finding { code, message: message.into(), path: self.path.clone(), position, hint: None }
    }

    /// Says that the file is missing or cannot be read.
    pub(crate) fn absent(&self) -> Option<Finding> {
        match &self.state {
            SkillMdState::Present { .. } => None,
            SkillMdState::Missing => {
                Some(self.finding(Code::ClientUnloadable, None, "there is no `SKILL.md`"))
            }
            SkillMdState::Escapes => {
                let message = "not judged: the link leads out of the folder and is not followed";
                Some(self.finding(Code::ClientUnloadable, None, message))
            }
            SkillMdState::Unreadable(error) => {
                let code = match error {
                    ReadError::TooLarge { .. } => Code::FileTooLarge,
                    ReadError::Special(_) => Code::SpecialFile,
                    ReadError::Missing(_) | ReadError::Io { .. } => Code::Unreadable,
                };
                Some(self.finding(code, None, error.to_string()))
            }
        }
    }

    /// Says that the file is not found because of its name.
    pub(crate) fn lowercase(&self) -> Option<Finding> {
        match self.state {
            SkillMdState::Present { is_lowercase: true, .. } => {
                let message = "the file is called `skill.md`, which this client does not look for";
                Some(self.finding(Code::LowercaseFileName, Some(Position::START), message))
            }
            SkillMdState::Present { .. }
            | SkillMdState::Missing
            | SkillMdState::Escapes
            | SkillMdState::Unreadable(_) => None,
        }
    }

    /// Returns the text, byte order mark and all, or why there is none.
    pub(crate) fn text(&self) -> Result<&str, Finding> {
        let SkillMdState::Present { bytes, .. } = &self.state else {
            return Err(self.absent().expect("a file that is not present is absent"));
        };
        std::str::from_utf8(bytes).map_err(|error| {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
            self.finding(Code::NotUtf8, Some(crate::text::end_of(&before)), "the file is not UTF-8")
        })
    }
}
