//! What somebody sends to save a skill, and what can be wrong with it.

use artel_model::catalog::CustomFile;
use artel_model::limit::CUSTOM_PROBLEMS_MAX;
use serde_json::{Map, Value};

/// Everything that people may say about a skill; nothing else of it is theirs to set.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CustomDraft {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// The instructions.
    pub content: String,
    /// Further fields of the frontmatter.
    pub metadata: Map<String, Value>,
    /// The word for who sees it.
    pub visibility: String,
    /// The teams that see it.
    pub team_ids: Vec<String>,
    /// Its other files.
    pub files: Vec<CustomFile>,
}

/// Why a skill cannot be saved.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DraftError {
    /// Fields or files are wrong.
    #[error("the skill has {} problems", .0.len())]
    Invalid(Vec<DraftProblem>),
    /// There is too much of it.
    #[error("the skill has {bytes} bytes, more than {bytes_max}")]
    TooLarge {
        /// How much there is.
        bytes: usize,
        /// How much there may be.
        bytes_max: usize,
    },
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DraftProblem {
    /// Where, as a JSON pointer into what was sent.
    pub pointer: String,
    /// What; harmless to show.
    pub message: String,
}

/// Problems as they are found.
#[derive(Default)]
pub(super) struct Problems {
    found: Vec<DraftProblem>,
    left_out: usize,
}

impl Problems {
    pub(super) fn report(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        if self.found.len() >= CUSTOM_PROBLEMS_MAX {
            self.left_out += 1;
            return;
        }
        self.found.push(DraftProblem { pointer: pointer.into(), message: message.into() });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn finish(mut self) -> Vec<DraftProblem> {
        if self.left_out > 0 {
            let message = format!("{} more problems are not shown", self.left_out);
            self.found.push(DraftProblem { pointer: String::new(), message });
        }
        self.found
    }
}

/// Returns the JSON pointer of a member.
pub(super) fn member(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}
