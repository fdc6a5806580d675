//! Plans: what is written as Plan JSON, and what it becomes once every tool and every reference in it is known.
//!
//! [`resolve_text`] reads a document and makes a [`Plan`] of it, or says everything that is wrong. What skills there are
//! is asked through [`SkillLookup`]. [`fill_step`] fills in what earlier steps gave, when a step starts.

mod check_input;
mod document;
mod expand;
mod input;
mod json;
mod links;
mod lookup;
mod problem;
mod read;
mod resolve;
mod resolved;
mod run_skill;
mod steps;
mod target;

#[cfg(test)]
mod tests;

pub use document::{PlanDocument, RetryPolicy, SkillChoice, SkillChoiceError, ToolInvocation};
pub use input::{FillError, FillProblem, FoundThere, Scope, StepOutput, fill, fill_step};
pub use json::read_plan_text;
pub use lookup::{SkillLookup, SkillView, ToolPath};
pub use problem::{FailureReason, PlanProblem, PlanProblemCode, failure_reason};
pub use resolve::{resolve, resolve_text, resolve_value};
pub use resolved::{
    AfterFailure, Approval, Concurrency, ErrorRule, Importance, Need, Plan, PlanMetadata, PlanParts,
    PlanPartsError, PlanStep, RetryRule, ScriptTarget, Stand, StepIndex, Work,
};
pub use run_skill::{ChainRequest, SkillRequest, chain_plan, skill_plan};
