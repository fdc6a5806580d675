//! What `artel.toml` may say about the chat.

use serde::Deserialize;

/// What `[chat]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatTable {
    /// Who answers.
    #[serde(default)]
    answered_by: AnsweredBy,
}

/// Who answers in the chat.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AnsweredBy {
    /// Plans are made of what is said, and run.
    #[default]
    Planner,
    /// The model of `[llm]`, which finds, reads and runs skills.
    Llm,
}

impl AnsweredBy {
    /// Returns the word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Llm => "llm",
        }
    }
}

impl ChatTable {
    pub(super) fn answered_by(&self) -> AnsweredBy {
        self.answered_by
    }
}
