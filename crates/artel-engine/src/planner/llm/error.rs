//! Why a model gave no plan.

use crate::llm::LlmError;

/// Why a model gave no plan.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoPlan {
    /// It gave no answer.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// It gave no plan, and none again when it was told why.
    #[error("its plan cannot be used: {}", problems.join("; "))]
    Unusable {
        /// What is wrong with the last one.
        problems: Vec<String>,
    },
}
