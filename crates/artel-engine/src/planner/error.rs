//! Why there is no plan. Every variant says what was being done, and none holds a secret.

use artel_model::plan::PlanProblem;
use camino::Utf8PathBuf;

use crate::process::SpawnError;

/// Problems of a plan that are told to the next attempt.
const PROBLEMS_TOLD_MAX: usize = 20;

/// Why a planner made no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanningError {
    /// It took too long.
    #[error("planning took longer than it may")]
    Deadline,
    /// The program cannot be started.
    #[error("the planner `{program}` cannot be started")]
    Start {
        /// The program.
        program: Utf8PathBuf,
        /// Why.
        source: Box<SpawnError>,
    },
    /// The program says that it failed.
    #[error("the planner `{program}` ended with {end}{}", said(stderr))]
    Failed {
        /// The program.
        program: Utf8PathBuf,
        /// Its exit code or signal, or the limit that ended it.
        end: String,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
    /// The program wrote more than a plan may have.
    #[error("the planner `{program}` wrote more than {bytes_max} bytes")]
    TooLarge {
        /// The program.
        program: Utf8PathBuf,
        /// The limit.
        bytes_max: usize,
    },
    /// The answer is no JSON.
    #[error("the planner's answer is no JSON object: {what}")]
    NotJson {
        /// What is wrong, and at which line and column.
        what: String,
    },
    /// The answer is JSON, but no plan.
    #[error("the planner's answer is no plan: {}", first(problems))]
    NotAPlan {
        /// Everything that is wrong with it.
        problems: Vec<PlanProblem>,
    },
}

impl PlanningError {
    /// Returns what the next attempt should know.
    pub fn feedback(&self) -> Vec<String> {
        match self {
            Self::NotAPlan { problems } => told(problems),
            Self::Deadline
            | Self::Start { .. }
            | Self::Failed { .. }
            | Self::TooLarge { .. }
            | Self::NotJson { .. } => {
                vec![self.to_string()]
            }
        }
    }
}

/// Returns problems as lines for the next attempt; a great many are told as a number.
pub(super) fn told(problems: &[PlanProblem]) -> Vec<String> {
    let line = |problem: &PlanProblem| {
        let place = if problem.path.is_empty() { "the plan" } else { &problem.path };
        match &problem.hint {
            Some(hint) => format!("{place}: {} ({hint})", problem.message),
            None => format!("{place}: {}", problem.message),
        }
    };
    let mut lines: Vec<String> = problems.iter().take(PROBLEMS_TOLD_MAX).map(line).collect();
    if problems.len() > PROBLEMS_TOLD_MAX {
        lines.push(format!("and {} more problems", problems.len() - PROBLEMS_TOLD_MAX));
    }
    lines
}

fn first(problems: &[PlanProblem]) -> String {
    let first = told(problems).into_iter().next().unwrap_or_default();
    match problems.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}
