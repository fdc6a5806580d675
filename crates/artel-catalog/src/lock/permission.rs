//! What a skill may do, as a set of single statements, so that two of them can be told apart.

use std::collections::BTreeSet;
use std::fmt;

use artel_model::data_scope::DataScope;
use artel_model::skill::Skill;
use camino::{Utf8Path, Utf8PathBuf};

/// One thing that a skill may do, or that it forbids. In the order in which they are told: the farthest reach first.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Permission {
    /// Its scripts ask for the network.
    Network,
    /// Its scripts keep data that others than the owner of a run see: the members of a team, or every caller.
    SharesData(DataScope),
    /// Its scripts ask to write this folder.
    Writes(String),
    /// Its scripts ask to read this folder.
    Reads(String),
    /// Its scripts ask for this environment variable.
    Sees(String),
    /// It allows this tool.
    Allows(String),
    /// It forbids this tool.
    Forbids(String),
    /// It has this script.
    Runs {
        /// The script's name.
        name: String,
        /// Its file.
        path: Utf8PathBuf,
        /// The line after `#!`; nothing when the file says none.
        interpreter: Option<String>,
    },
    /// It builds on this skill, or runs it as a step.
    Uses(String),
    /// A model may choose it by itself.
    CalledByModel,
    /// A person may call it by name.
    CalledByUser,
}

impl Permission {
    /// Returns the word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::SharesData(_) => "data_scope",
            Self::Writes(_) => "writes",
            Self::Reads(_) => "reads",
            Self::Sees(_) => "variables",
            Self::Allows(_) => "allowed_tools",
            Self::Forbids(_) => "forbidden_tools",
            Self::Runs { .. } => "scripts",
            Self::Uses(_) => "uses",
            Self::CalledByModel | Self::CalledByUser => "called_by",
        }
    }

    /// Says whether it takes something away instead of giving it.
    pub fn restricts(&self) -> bool {
        match self {
            Self::Forbids(_) => true,
            Self::Network
            | Self::SharesData(_)
            | Self::Writes(_)
            | Self::Reads(_)
            | Self::Sees(_)
            | Self::Allows(_)
            | Self::Runs { .. }
            | Self::Uses(_)
            | Self::CalledByModel
            | Self::CalledByUser => false,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network => f.write_str("asks for the network"),
            Self::SharesData(scope) => write!(f, "shares its data (`data_scope`: `{scope}`)"),
            Self::Writes(path) => write!(f, "asks to write `{path}`"),
            Self::Reads(path) => write!(f, "asks to read `{path}`"),
            Self::Sees(name) => write!(f, "asks for the variable `{name}`"),
            Self::Allows(tool) => write!(f, "allows `{tool}`"),
            Self::Forbids(tool) => write!(f, "forbids `{tool}`"),
            Self::Runs { name, path, interpreter: Some(by) } => {
                write!(f, "has the script `{name}`: {path} by {by}")
            }
            Self::Runs { name, path, interpreter: None } => write!(f, "has the script `{name}`: {path}"),
            Self::Uses(skill) => write!(f, "uses the skill `{skill}`"),
            Self::CalledByModel => f.write_str("may be chosen by a model"),
            Self::CalledByUser => f.write_str("may be called by a person"),
        }
    }
}

/// Returns everything that a skill may do; `interpreter` tells who executes a file.
pub fn permissions(skill: &Skill, interpreter: impl Fn(&Utf8Path) -> Option<String>) -> BTreeSet<Permission> {
    let (rules, sandbox) = (&skill.rules, &skill.sandbox);
    let mut all = BTreeSet::new();
    all.extend(sandbox.network.then_some(Permission::Network));
    let scope = skill.data_scope;
    all.extend(scope.is_wider_than_one_owner().then_some(Permission::SharesData(scope)));
    all.extend(sandbox.write.iter().cloned().map(Permission::Writes));
    all.extend(sandbox.read.iter().cloned().map(Permission::Reads));
    all.extend(sandbox.env.iter().cloned().map(Permission::Sees));
    all.extend(rules.allowed_tools.iter().map(|tool| Permission::Allows(tool.to_string())));
    all.extend(rules.forbidden_tools.iter().map(|tool| Permission::Forbids(tool.to_string())));
    all.extend(skill.scripts.iter().map(|script| Permission::Runs {
        name: script.name.to_string(),
        path: script.path.clone(),
        interpreter: interpreter(&script.path),
    }));
    let steps = skill.composite.iter().flat_map(|composite| &composite.steps).map(|step| &step.skill);
    let others = skill.dependencies.iter().map(|dependency| &dependency.name).chain(steps);
    all.extend(others.map(|name| Permission::Uses(name.to_string())));
    all.extend(skill.invocation.by_model.then_some(Permission::CalledByModel));
    all.extend(skill.invocation.by_user.then_some(Permission::CalledByUser));
    all
}
