//! A skill as one file gives it: every field may be missing.

use artel_model::composite::{ErrorPolicy, Step};
use artel_model::data_scope::DataScope;
use artel_model::diagnostic::Position;
use artel_model::name::LocalName;
use artel_model::rule::{CompatibilityRule, ComposabilityRule, OutputContract};
use artel_model::schema::Schema;
use artel_model::skill::SandboxRequest;
use artel_model::tool::ToolPattern;
use artel_model::version::{Dependency, Version};
use camino::Utf8PathBuf;
use serde_json::{Map, Value};

/// A value and where it stands in its file.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) position: Position,
}

/// A script as the manifest declares it.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredScript {
    pub(crate) name: LocalName,
    pub(crate) path: Utf8PathBuf,
    pub(crate) position: Position,
    pub(crate) description: Option<String>,
    pub(crate) parameters: Option<Schema>,
    pub(crate) returns: Option<Schema>,
    pub(crate) timeout_s: Option<u32>,
}

/// What one file says about a skill.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) name: Option<At<String>>,
    pub(crate) version: Option<At<Version>>,
    pub(crate) description: Option<At<String>>,
    pub(crate) display_name: Option<At<String>>,
    pub(crate) author: Option<At<String>>,
    pub(crate) license: Option<At<String>>,
    pub(crate) homepage: Option<At<String>>,
    pub(crate) compatibility: Option<At<String>>,
    pub(crate) tags: Option<At<Vec<String>>>,
    pub(crate) capabilities: Option<Vec<String>>,
    pub(crate) priority: Option<u32>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) disable_model_invocation: Option<At<bool>>,
    pub(crate) user_invocable: Option<At<bool>>,
    pub(crate) parameters: Option<Schema>,
    pub(crate) returns: Option<Schema>,
    pub(crate) timeout_s: Option<u32>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) backoff_ms: Option<u32>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) dependencies: Option<Vec<At<Dependency>>>,
    pub(crate) scripts: Vec<DeclaredScript>,
    pub(crate) entrypoint: Option<At<LocalName>>,
    pub(crate) steps: Option<Vec<At<Step>>>,
    pub(crate) error_policy: Option<ErrorPolicy>,
    /// Where the fallback names its skill.
    pub(crate) fallback_position: Option<Position>,
    pub(crate) allowed_tools: Option<At<Vec<ToolPattern>>>,
    pub(crate) forbidden_tools: Option<Vec<ToolPattern>>,
    pub(crate) execution_protocol: Option<Vec<String>>,
    pub(crate) preconditions: Option<Vec<String>>,
    pub(crate) postconditions: Option<Vec<String>>,
    pub(crate) output_contract: Option<OutputContract>,
    pub(crate) compatibility_rules: Vec<CompatibilityRule>,
    pub(crate) composability_rules: Vec<ComposabilityRule>,
    pub(crate) sandbox: Option<SandboxRequest>,
    pub(crate) data_scope: Option<DataScope>,
}
