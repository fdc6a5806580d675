//! Why a model's work comes to nothing.

use artel_engine::llm::LlmError;

/// Why a model's work comes to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halt {
    /// It was told to end.
    #[error("ended")]
    Ended,
    /// It took too long.
    #[error("it took longer than {deadline_ms} ms")]
    Late { deadline_ms: u128 },
    /// It was asked too often.
    #[error("the model answered {turns} times, which is the limit, and is not done")]
    Turns { turns: u32 },
    /// It read and wrote too much.
    #[error("the model took {tokens} tokens, of {tokens_max} that it may, and is not done")]
    Tokens { tokens: u64, tokens_max: u64 },
    /// There is no such model for it.
    #[error("{0}")]
    Model(String),
    /// It gives no answer.
    #[error("the model gave no answer: {0}")]
    Silent(LlmError),
    /// It does not want to.
    #[error("the model refuses: {0}")]
    Refused(String),
    /// It was not let to say all.
    #[error("the model's last answer was cut off")]
    CutOff,
    /// What it says in the end is not what its skills promise.
    #[error("the result cannot be used: {}", .0.join("; "))]
    Unusable(Vec<String>),
}
