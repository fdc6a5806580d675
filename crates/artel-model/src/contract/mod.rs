//! The documents that are contracts with the outside, as JSON Schemas made from the types.

mod kind;
mod manifest;

pub use kind::DocumentKind;
pub use manifest::{
    AnySchema, CompanionRule, CompatibilityRuleDocument, CompatibilityWord, ComposabilityRuleDocument,
    ComposabilityWord, ErrorPolicyDocument, FailureWord, FallbackDocument, ManifestDocument,
    OutputContractDocument, PartialWord, SandboxDocument, ScriptDocument, StepDocument, TargetDocument,
};
