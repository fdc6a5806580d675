//! One execution of a plan, as a state machine: events in, actions out. Its truth is its log of events.

mod event;
mod execution;
mod inputs;
mod machine;
mod refusal;
mod report;
mod result;
mod settle;
#[cfg(test)]
mod simulation;
mod step;
mod summary;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod view;

pub use event::{Deadlines, Interruption, Origin, RunEvent, StampedEvent, Submission, SubmissionKind};
pub use execution::{AttemptRecord, ExecutionRecord, ExecutionStatus};

pub use machine::{Action, Run, StepSignal};
pub use refusal::{StepDenial, plan_denials};
pub use report::{AssetRecord, AttemptOutcome, AttemptReport, ErrorKind, Fault, Retry, StepError};
pub use result::{AttemptTrace, ResultDocument, ToolState, Trace, TraceEntry};
pub use step::{Halt, Settled};
pub use summary::{RunState, RunSummary};
pub use view::{RunEffects, StepView};
