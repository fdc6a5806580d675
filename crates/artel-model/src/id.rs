//! Identities: every thing that is kept has an id of a type of its own.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limit::STEP_ID_CHARS_MAX;

macro_rules! uuid_ids {
    ($($(#[$about:meta])* $name:ident;)*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
            #[serde(transparent)]
            pub struct $name(pub Uuid);

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }

            impl FromStr for $name {
                type Err = uuid::Error;

                fn from_str(text: &str) -> Result<Self, uuid::Error> {
                    text.parse().map(Self)
                }
            }
        )*
    };
}

uuid_ids! {
    /// One execution of a plan, a skill or a workflow.
    RunId;
    /// A plan, as its `requestId` says.
    PlanId;
    /// The record of one skill that was run.
    ExecutionId;
    /// A worker with an identity of its own.
    AgentId;
    /// One message.
    MessageId;
    /// A request and what answers it.
    CorrelationId;
    /// A skill that somebody saved.
    CustomSkillId;
    /// A registered hub.
    HubId;
}

/// The name of a step within its run: a tool's id, and for a step of a composite the id of the tool it belongs to, a
/// slash, and its own.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = STEP_ID_CHARS_MAX, "pattern" = StepId::PATTERN))]
pub struct StepId(String);

/// Why a text cannot name a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum StepIdError {
    /// There is nothing.
    #[error("the id is empty")]
    Empty,
    /// More than [`STEP_ID_CHARS_MAX`] characters.
    #[error("the id has more than {STEP_ID_CHARS_MAX} characters")]
    TooLong,
    /// A character that would not survive in a reference or on a terminal.
    #[error("`{}` is not allowed in an id", .0.escape_default())]
    Character(char),
}

impl StepId {
    /// What an id looks like, as a JSON Schema says it; the length is said apart.
    pub const PATTERN: &str = r"^[^{}$\u0000-\u001f\u007f-\u009f]+$";

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id of a step called `name` inside this one.
    pub fn child(&self, name: &str) -> Result<Self, StepIdError> {
        format!("{self}/{name}").parse()
    }
}

impl FromStr for StepId {
    type Err = StepIdError;

    fn from_str(text: &str) -> Result<Self, StepIdError> {
        if text.is_empty() {
            return Err(StepIdError::Empty);
        }
        if text.chars().count() > STEP_ID_CHARS_MAX {
            return Err(StepIdError::TooLong);
        }
        match text.chars().find(|c| c.is_control() || matches!(c, '{' | '}' | '$')) {
            Some(bad) => Err(StepIdError::Character(bad)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl TryFrom<String> for StepId {
    type Error = StepIdError;

    fn try_from(text: String) -> Result<Self, StepIdError> {
        text.parse()
    }
}

impl From<StepId> for String {
    fn from(id: StepId) -> Self {
        id.0
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_ids_are_short_and_printable() {
        assert_eq!("navigate-1".parse::<StepId>().unwrap().as_str(), "navigate-1");
        assert_eq!("".parse::<StepId>(), Err(StepIdError::Empty));
        assert_eq!("a\nb".parse::<StepId>(), Err(StepIdError::Character('\n')));
        assert_eq!("${a}".parse::<StepId>(), Err(StepIdError::Character('$')));
        assert_eq!("x".repeat(STEP_ID_CHARS_MAX + 1).parse::<StepId>(), Err(StepIdError::TooLong));
        let inner = "fetch".parse::<StepId>().unwrap().child("grasp").unwrap();
        assert_eq!(inner.as_str(), "fetch/grasp");
    }
}
