//! Which model works for agents, and how much of everything it may use. Knows nothing of where that is configured.

use std::time::Duration;

use artel_engine::llm::{LlmConfig, LlmError};
use artel_model::limit::AGENT_TURNS_MAX;

/// Tokens that one piece of work may take, read and written.
const TOKENS_MAX: u64 = 1_000_000;
/// Milliseconds that one answer may take.
const REQUEST_MS_MAX: u64 = 180_000;
/// Times that a question is asked again after an error that may pass.
const RETRIES_MAX: u32 = 5;
/// Milliseconds before the first of them; each further one waits twice as long.
const BACKOFF_MS: u64 = 500;
/// Milliseconds that an endpoint can make an agent wait before the next try.
const WAIT_MS_MAX: u64 = 30_000;
/// Bytes of one tool's result that a model reads.
const RESULT_BYTES_MAX: usize = 64 * 1024;

/// Which model works for agents, and how much it may use.
#[derive(Clone, Debug)]
pub struct LlmDriverConfig {
    /// How to reach it.
    pub llm: LlmConfig,
    /// Whether agents may ask for another model.
    pub models: ModelChoice,
    /// Answers in one piece of work.
    pub turns_max: u32,
    /// Tokens in one piece of work, read and written.
    pub tokens_max: u64,
    /// Milliseconds that one answer may take.
    pub request_ms: u64,
    /// Times that a question is asked again after an error that may pass.
    pub retries_max: u32,
    /// Milliseconds before the first of them; each further one waits twice as long.
    pub backoff_ms: u64,
    /// Skills of an agent that the model is told about; all when absent.
    pub skills_max: Option<usize>,
    /// Bytes of one tool's result that the model reads.
    pub result_bytes_max: usize,
}

/// Which models agents may ask for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ModelChoice {
    /// None but the one that is configured.
    Configured,
    /// That one and these.
    Listed(Vec<String>),
    /// Any.
    Any,
}

impl LlmDriverConfig {
    /// Returns the usual limits for a model.
    pub fn new(llm: LlmConfig) -> Self {
        Self {
            llm,
            models: ModelChoice::Configured,
            turns_max: AGENT_TURNS_MAX,
            tokens_max: TOKENS_MAX,
            request_ms: REQUEST_MS_MAX,
            retries_max: RETRIES_MAX,
            backoff_ms: BACKOFF_MS,
            skills_max: None,
            result_bytes_max: RESULT_BYTES_MAX,
        }
    }

    /// Returns how long to wait before asking again; nothing when that is in vain.
    pub(super) fn wait(&self, tries: u32, error: &LlmError) -> Option<Duration> {
        if tries >= self.retries_max || !error.is_passing() {
            return None;
        }
        let backoff = Duration::from_millis(self.backoff_ms.saturating_mul(2u64.saturating_pow(tries)));
        let wanted = match error {
            LlmError::Refused { retry_after, .. } => retry_after.unwrap_or_default(),
            LlmError::Deadline { .. }
            | LlmError::Unreachable { .. }
            | LlmError::TooLarge { .. }
            | LlmError::BrokenOff { .. }
            | LlmError::Protocol { .. } => Duration::ZERO,
        };
        Some(backoff.max(wanted).min(Duration::from_millis(WAIT_MS_MAX)))
    }
}

impl ModelChoice {
    pub(super) fn allows(&self, model: &str) -> bool {
        match self {
            Self::Configured => false,
            Self::Listed(models) => models.iter().any(|listed| listed == model),
            Self::Any => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use artel_engine::llm::LlmProtocol;

    use super::*;

    #[test]
    fn waiting_doubles_and_hears_the_endpoint_up_to_a_bound() {
        let config = LlmDriverConfig::new(LlmConfig::new(LlmProtocol::OpenAi, "m"));
        let check = |tries: u32, status: u16, after: Option<u64>, expected: Option<u64>| {
            let retry_after = after.map(Duration::from_secs);
            let error = LlmError::Refused { status, message: String::new(), retry_after };
            assert_eq!(
                config.wait(tries, &error),
                expected.map(Duration::from_millis),
                "{tries} {status} {after:?}"
            );
        };
        check(0, 500, None, Some(500));
        check(3, 503, None, Some(4000));
        check(0, 429, Some(7), Some(7000));
        check(4, 429, Some(7), Some(8000));
        check(0, 429, Some(3600), Some(30_000));
        check(5, 429, Some(1), None);
        check(0, 401, None, None);
    }
}
