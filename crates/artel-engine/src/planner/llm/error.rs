//! Why a model gave no plan. Texts of the endpoint are cut and never hold the key.

/// Why a model gave no plan.
#[derive(Debug, thiserror::Error)]
pub(super) enum LlmError {
    /// It took too long.
    #[error("it did not answer within {deadline_ms} ms")]
    Deadline {
        /// How long it may take.
        deadline_ms: u64,
    },
    /// It cannot be reached.
    #[error("it cannot be reached: {why}")]
    Unreachable {
        /// What the system says.
        why: String,
    },
    /// It refuses.
    #[error("it answered {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// Its answer is too long.
    #[error("its answer has more than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// Its answer ends in the middle.
    #[error("its answer broke off: {why}")]
    BrokenOff {
        /// What the system says.
        why: String,
    },
    /// Its answer is not what the protocol promises.
    #[error("its answer is not what the protocol promises: {why}")]
    Protocol {
        /// What is wrong with it.
        why: String,
    },
    /// It gave no plan, and none again when it was told why.
    #[error("its plan cannot be used: {}", problems.join("; "))]
    Unusable {
        /// What is wrong with the last one.
        problems: Vec<String>,
    },
}
