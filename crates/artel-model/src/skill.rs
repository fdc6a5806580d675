//! A skill: a named, versioned capability with instructions, scripts or steps, an interface and rules.
//!
//! This is the form that every kind of file on disk is read into. It is immutable once made.

use std::fmt;

use camino::Utf8PathBuf;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::composite::{Composite, ErrorPolicy, Step};
use crate::data_scope::DataScope;
use crate::name::{LocalName, SkillName};
use crate::rule::Rules;
use crate::schema::Schema;
use crate::version::{Dependency, Version};

/// The priority of a skill that does not say one.
pub const PRIORITY_DEFAULT: u8 = 50;
/// Seconds that an attempt may take when the skill does not say.
pub const TIMEOUT_S_DEFAULT: u32 = 30;
/// Milliseconds before the first retry when the skill does not say.
pub const BACKOFF_MS_DEFAULT: u32 = 100;

/// A skill as its files define it.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// Its name, unique in a catalog together with the version.
    pub name: SkillName,
    /// Its version; `0.0.0` when the files say none.
    pub version: Version,
    /// What it does and when to use it.
    pub description: String,
    /// Text that people and clients see.
    pub about: About,
    /// Who may call it.
    pub invocation: Invocation,
    /// What goes in and out.
    pub interface: Interface,
    /// How attempts are bounded and repeated.
    pub attempts: Attempts,
    /// Skills it builds on.
    pub dependencies: Vec<Dependency>,
    /// Its executables, by name.
    pub scripts: Vec<Script>,
    /// The script that runs when the skill is run.
    pub entrypoint: Option<LocalName>,
    /// Its steps, when it is made of other skills.
    pub composite: Option<Composite>,
    /// Which tools it allows and forbids, and which skills it goes with.
    pub rules: Rules,
    /// What its scripts ask for beyond the default sandbox.
    pub sandbox: SandboxRequest,
    /// Who shares the data that its scripts keep.
    pub data_scope: DataScope,
}

/// Text about a skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// A name for people.
    pub display_name: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// Under which terms.
    pub license: Option<String>,
    /// Where to read more.
    pub homepage: Option<String>,
    /// What it needs around it.
    pub compatibility: Option<String>,
    /// Labels to find it by.
    pub tags: Vec<String>,
    /// What it can do, in words of its own.
    pub capabilities: Vec<String>,
    /// 0 to 100; higher comes first.
    pub priority: u8,
    /// Everything else the files say.
    pub metadata: Map<String, Value>,
}

/// Who may call a skill.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Invocation {
    /// A model may choose it by itself.
    pub by_model: bool,
    /// A person may call it by name.
    pub by_user: bool,
}

/// What a skill takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// The parameters.
    pub parameters: Schema,
    /// The result, when the skill promises one.
    pub returns: Option<Schema>,
}

/// How attempts are bounded and repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attempts {
    /// Seconds one attempt may take.
    pub timeout_s: u32,
    /// Retries after the first try.
    pub max_retries: u32,
    /// Milliseconds before the first retry; each further one waits twice as long.
    pub backoff_ms: u32,
    /// Whether an interrupted attempt may simply be repeated.
    pub idempotent: bool,
}

/// An executable file of a skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Script {
    /// Its name within the skill.
    pub name: LocalName,
    /// Where it lies inside the skill's folder.
    pub path: Utf8PathBuf,
    /// Whether it may be executed.
    pub is_executable: bool,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its parameters; the skill's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters_schema: Option<Schema>,
    /// Its result; the skill's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns_schema: Option<Schema>,
    /// Seconds one attempt may take; the skill's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
}

/// What a skill's scripts ask for beyond the default sandbox.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct SandboxRequest {
    /// Whether they want the network.
    pub network: bool,
    /// Folders they want to read.
    pub read: Vec<String>,
    /// Folders they want to write.
    pub write: Vec<String>,
    /// Environment variables they want to see.
    pub env: Vec<String>,
}

/// How far a skill's scripts want to reach.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// It stays within its own folder.
    Contained,
    /// It asks for the network.
    Network,
    /// It asks to write beyond its folder.
    WritesOutside,
}

impl Skill {
    /// Makes a skill that has a name and a description, and defaults for all else.
    pub fn new(name: SkillName, version: Version, description: String) -> Self {
        Self {
            name,
            version,
            description,
            about: About { priority: PRIORITY_DEFAULT, ..About::default() },
            invocation: Invocation { by_model: true, by_user: true },
            interface: Interface { parameters: Schema::any_object(), returns: None },
            attempts: Attempts {
                timeout_s: TIMEOUT_S_DEFAULT,
                max_retries: 0,
                backoff_ms: BACKOFF_MS_DEFAULT,
                idempotent: false,
            },
            dependencies: Vec::new(),
            scripts: Vec::new(),
            entrypoint: None,
            composite: None,
            rules: Rules::default(),
            sandbox: SandboxRequest::default(),
            data_scope: DataScope::default(),
        }
    }

    /// Returns the name for people.
    pub fn title(&self) -> &str {
        self.about.display_name.as_deref().unwrap_or(self.name.as_str())
    }

    /// Returns the script of that name.
    pub fn script(&self, name: &LocalName) -> Option<&Script> {
        self.scripts.iter().find(|script| script.name == *name)
    }

    /// Says how far the skill's scripts want to reach.
    pub fn reach(&self) -> Reach {
        if self.sandbox.network {
            Reach::Network
        } else if !self.sandbox.write.is_empty() {
            Reach::WritesOutside
        } else {
            Reach::Contained
        }
    }

    /// Returns the name and version as `name@version`.
    pub fn pin(&self) -> SkillPin {
        SkillPin { name: self.name.clone(), version: self.version.clone() }
    }

    /// Returns the manifest: the skill in the words of `skill.json`, defaults filled in.
    pub fn manifest(&self) -> Manifest<'_> {
        Manifest {
            name: &self.name,
            version: &self.version,
            display_name: self.about.display_name.as_deref(),
            description: &self.description,
            author: self.about.author.as_deref(),
            license: self.about.license.as_deref(),
            homepage: self.about.homepage.as_deref(),
            compatibility: self.about.compatibility.as_deref(),
            tags: &self.about.tags,
            capabilities: &self.about.capabilities,
            priority: self.about.priority,
            parameters_schema: &self.interface.parameters,
            returns_schema: self.interface.returns.as_ref(),
            timeout: self.attempts.timeout_s,
            max_retries: self.attempts.max_retries,
            backoff_ms: self.attempts.backoff_ms,
            idempotent: self.attempts.idempotent,
            dependencies: &self.dependencies,
            scripts: &self.scripts,
            entrypoint: self.entrypoint.as_ref(),
            steps: self.composite.as_ref().map(|composite| composite.steps.as_slice()),
            error_policy: self.composite.as_ref().map(|composite| &composite.on_failure),
            rules: &self.rules,
            sandbox: &self.sandbox,
            data_scope: self.data_scope,
            disable_model_invocation: !self.invocation.by_model,
            user_invocable: self.invocation.by_user,
            metadata: &self.about.metadata,
        }
    }
}

/// A skill in the words of `skill.json`, for printing and for the API.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest<'a> {
    name: &'a SkillName,
    version: &'a Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<&'a str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    homepage: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<&'a str>,
    tags: &'a [String],
    capabilities: &'a [String],
    priority: u8,
    parameters_schema: &'a Schema,
    #[serde(skip_serializing_if = "Option::is_none")]
    returns_schema: Option<&'a Schema>,
    timeout: u32,
    max_retries: u32,
    backoff_ms: u32,
    idempotent: bool,
    dependencies: &'a [Dependency],
    scripts: &'a [Script],
    #[serde(skip_serializing_if = "Option::is_none")]
    entrypoint: Option<&'a LocalName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<&'a [Step]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_policy: Option<&'a ErrorPolicy>,
    rules: &'a Rules,
    sandbox: &'a SandboxRequest,
    data_scope: DataScope,
    disable_model_invocation: bool,
    user_invocable: bool,
    metadata: &'a Map<String, Value>,
}

/// Exactly one version of a skill.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SkillPin {
    /// Its name.
    pub name: SkillName,
    /// Its version.
    pub version: Version,
}

impl fmt::Display for SkillPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}
