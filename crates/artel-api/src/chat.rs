//! The chat: a message, and the events that answer it.

use artel_model::limit::CHAT_MESSAGE_CHARS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

/// A message to the chat.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"message": "/skills weather"}))]
pub struct ChatRequest {
    /// What is wanted, in words; or a command: `/skills`, `/skills WORDS`, `/help`, `/clear`.
    #[schemars(length(min = 1, max = CHAT_MESSAGE_CHARS_MAX), regex(pattern = r"\S"))]
    pub message: String,
    /// The conversation it is part of; another begins when absent.
    #[serde(default)]
    pub conversation_id: Option<Uuid>,
}

/// What the chat answers, piece by piece; the last one is `done`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEvent {
    /// Something to read.
    Text {
        /// The text.
        text: String,
    },
    /// Skills that the caller may use.
    Skills {
        /// The words they were searched for with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// How many are here.
        shown: usize,
        /// How many there are.
        total: usize,
        /// The skills.
        skills: Vec<ChatSkill>,
    },
    /// A run was begun to answer the message.
    Run {
        /// The run.
        run_id: Uuid,
    },
    /// What a run is going to do.
    Plan {
        /// The run.
        run_id: Uuid,
        /// The plan's `requestId`.
        plan_id: Uuid,
        /// Its steps, in order.
        steps: Vec<ChatStep>,
    },
    /// A step of a run stands somewhere else, or said something.
    Step {
        /// The run.
        run_id: Uuid,
        /// The step.
        step: String,
        /// Its skill.
        skill: String,
        /// Where it stands.
        state: ChatStepState,
        /// What it said, what it did, or why it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A person may choose; the choice is the next message.
    Choices {
        /// The run.
        run_id: Uuid,
        /// The step that asks.
        step: String,
        /// What there is to choose from.
        choices: Vec<String>,
    },
    /// A file that a step made.
    Asset {
        /// The run.
        run_id: Uuid,
        /// The step.
        step: String,
        /// Its name in the step.
        asset_id: String,
        /// What kind of thing it is.
        kind: String,
        /// Its MIME type.
        media_type: String,
        /// The hash of its content, under which it is kept: `sha256:…`.
        hash: String,
        /// Its size in bytes.
        size: u64,
    },
    /// The message was not answered as wanted.
    Error {
        /// For programs.
        code: String,
        /// For people.
        message: String,
    },
    /// The answer is complete.
    Done {
        /// The conversation that the next message belongs to.
        conversation_id: Uuid,
        /// The run that gave the answer; nothing when none did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_id: Option<Uuid>,
        /// Whether the message was answered as wanted.
        ok: bool,
        /// Whether what was said before is to be taken off the screen.
        #[serde(default)]
        clear: bool,
    },
}

impl ChatEvent {
    /// Returns the word for what it is, which is also the name of the event in the stream.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Skills { .. } => "skills",
            Self::Run { .. } => "run",
            Self::Plan { .. } => "plan",
            Self::Step { .. } => "step",
            Self::Choices { .. } => "choices",
            Self::Asset { .. } => "asset",
            Self::Error { .. } => "error",
            Self::Done { .. } => "done",
        }
    }
}

/// A skill, as the chat lists it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ChatSkill {
    /// Its id in the catalog.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it comes from, for people: `Built-in`, `Custom` or `Skill hub`.
    pub label: String,
}

/// A step of a plan, as the chat shows it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ChatStep {
    /// Its id in the plan.
    pub step: String,
    /// Its skill.
    pub skill: String,
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatStepState {
    /// It has not started, or waits for another attempt.
    Pending,
    /// Somebody must say yes first.
    AwaitingApproval,
    /// It runs.
    Running,
    /// It did what it should.
    Completed,
    /// It failed.
    Failed,
    /// It never ran.
    Skipped,
    /// It took too long.
    Timeout,
    /// It was ended.
    Cancelled,
}
