//! What an agent may call. A policy is a stack of layers, the agent's own and those of everyone above it: a call passes
//! when every layer allows it and none forbids it. So a child can never do more than its parent, by construction, and
//! every refusal knows the layer that decided.

use serde::{Deserialize, Serialize};

use super::role::{Role, RoleName};
use crate::id::AgentId;
use crate::name::SkillName;
use crate::policy::{ComposedSkill, Grant};
use crate::tool::{ToolCall, ToolPattern};

/// What an agent may call; made when it is spawned and never changed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Policy {
    /// The outermost first: the first ancestor's, … , the agent's own.
    layers: Vec<Layer>,
}

/// One reason for what an agent may call.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Layer {
    /// Where it comes from.
    pub origin: LayerOrigin,
    /// What may be called.
    pub allowed: Vec<LayerGrant>,
    /// What may not, whatever is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<LayerGrant>,
}

/// Where a layer comes from.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum LayerOrigin {
    /// What the agent was given when it was spawned.
    Given {
        /// Its skills, in the order they were given.
        skills: Vec<SkillName>,
        /// Its role.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<RoleName>,
    },
    /// What the configuration says about agents that were given nothing.
    Default,
    /// An agent above.
    Parent {
        /// The agent.
        agent: AgentId,
        /// Where it had the layer from.
        origin: Box<LayerOrigin>,
    },
}

/// A pattern and who brought it in.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LayerGrant {
    /// The tools that are meant.
    #[serde(with = "pattern")]
    pub pattern: ToolPattern,
    /// The skills that say so; none when it is a role or the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillName>,
}

/// The answer of a policy to one call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict<'p> {
    /// It may be made.
    Allowed(Vec<Allowance<'p>>),
    /// A layer forbids it.
    Forbidden {
        /// The layer.
        layer: &'p Layer,
        /// What in it.
        grant: &'p LayerGrant,
        /// How the tool was called there.
        name: ToolCall,
    },
    /// A layer does not allow it; nothing when there is no layer at all.
    NotAllowed(Option<&'p Layer>),
}

/// How one layer allows a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Allowance<'p> {
    /// The layer.
    pub layer: &'p Layer,
    /// What in it.
    pub grant: &'p LayerGrant,
}

/// How close a layer is to an agent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rank {
    /// Its own.
    Own,
    /// That of an agent above.
    Inherited,
}

impl Policy {
    /// Makes the policy of an agent of its own layers and its parent's policy. Without a layer of its own, an agent may
    /// do what its parent may.
    pub fn attenuate(parent: Option<(AgentId, &Self)>, own: Vec<Layer>) -> Self {
        let mut layers: Vec<Layer> = Vec::new();
        if let Some((agent, policy)) = parent {
            for layer in &policy.layers {
                let mut inherited = layer.clone();
                if layer.rank() == Rank::Own {
                    let origin = Box::new(layer.origin.clone());
                    inherited.origin = LayerOrigin::Parent { agent, origin };
                }
                layers.push(inherited);
            }
        }
        layers.extend(own);
        Self { layers }
    }

    /// Returns the layers, the agent's own last.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Decides about a tool that may go by several names: it is forbidden when one of them is, and allowed by a layer
    /// when one of them is.
    pub fn check(&self, names: &[ToolCall]) -> Verdict<'_> {
        for layer in &self.layers {
            for grant in &layer.forbidden {
                if let Some(name) = names.iter().find(|name| grant.pattern.forbids(name)) {
                    return Verdict::Forbidden { layer, grant, name: name.clone() };
                }
            }
        }
        let mut allowances = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let allows = |grant: &&LayerGrant| names.iter().any(|name| grant.pattern.allows(name));
            match layer.allowed.iter().find(allows) {
                Some(grant) => allowances.push(Allowance { layer, grant }),
                None => return Verdict::NotAllowed(Some(layer)),
            }
        }
        if allowances.is_empty() { Verdict::NotAllowed(None) } else { Verdict::Allowed(allowances) }
    }

    /// Says whether something forbids a tool, whatever is allowed.
    pub fn forbids(&self, names: &[ToolCall]) -> bool {
        match self.check(names) {
            Verdict::Forbidden { .. } => true,
            Verdict::Allowed(_) | Verdict::NotAllowed(_) => false,
        }
    }

    /// Says whether a tool may be called.
    pub fn allows(&self, names: &[ToolCall]) -> bool {
        match self.check(names) {
            Verdict::Allowed(_) => true,
            Verdict::Forbidden { .. } | Verdict::NotAllowed(_) => false,
        }
    }
}

impl Layer {
    /// Makes the layer of what an agent is given: what its skills or its role allow, minus what either forbids.
    pub fn given(composed: &ComposedSkill, role: Option<&Role>) -> Self {
        let of_skills = |grants: &[Grant]| -> Vec<LayerGrant> {
            let grant =
                |grant: &Grant| LayerGrant { pattern: grant.pattern.clone(), skills: grant.skills.clone() };
            grants.iter().map(grant).collect()
        };
        let (mut allowed, mut forbidden) =
            (of_skills(&composed.allowed_tools), of_skills(&composed.forbidden_tools));
        if let Some(role) = role {
            allowed.extend(plain(&role.allowed));
            forbidden.extend(plain(&role.forbidden));
        }
        let origin =
            LayerOrigin::Given { skills: composed.skills.clone(), role: role.map(|role| role.name.clone()) };
        Self { origin, allowed, forbidden }
    }

    /// Makes the layer of agents that are given nothing.
    pub fn configured(allowed: &[ToolPattern], forbidden: &[ToolPattern]) -> Self {
        Self { origin: LayerOrigin::Default, allowed: plain(allowed), forbidden: plain(forbidden) }
    }

    /// Says whether it is the agent's own.
    pub fn rank(&self) -> Rank {
        match self.origin {
            LayerOrigin::Given { .. } | LayerOrigin::Default => Rank::Own,
            LayerOrigin::Parent { .. } => Rank::Inherited,
        }
    }
}

fn plain(patterns: &[ToolPattern]) -> Vec<LayerGrant> {
    patterns.iter().map(|pattern| LayerGrant { pattern: pattern.clone(), skills: Vec::new() }).collect()
}

impl LayerOrigin {
    /// Says in words who decided, where a pattern did.
    pub fn who_granted(&self, grant: &LayerGrant) -> String {
        match self {
            Self::Parent { agent, origin } => format!("{} of agent {agent}", origin.who_granted(grant)),
            Self::Given { .. } if !grant.skills.is_empty() => {
                format!(
                    "{} {}",
                    if grant.skills.len() == 1 { "skill" } else { "skills" },
                    list(&grant.skills)
                )
            }
            Self::Given { role: Some(role), .. } => format!("role `{role}`"),
            Self::Given { role: None, .. } => "what it was given".to_owned(),
            Self::Default => "the configured default".to_owned(),
        }
    }

    /// Says in words that nothing in the layer allows something.
    pub fn not_allowed(&self) -> String {
        match self {
            Self::Given { skills, role: None } if skills.is_empty() => {
                "its list of skills is empty, which allows nothing".to_owned()
            }
            Self::Given { skills, role: None } => format!("none of its skills allows it ({})", list(skills)),
            Self::Given { skills, role: Some(role) } if skills.is_empty() => {
                format!("role `{role}` does not allow it")
            }
            Self::Given { skills, role: Some(role) } => {
                format!("neither role `{role}` nor a skill allows it ({})", list(skills))
            }
            Self::Default => "the configured default does not allow it".to_owned(),
            Self::Parent { agent, origin } => format!("for agent {agent} above it, {}", origin.not_allowed()),
        }
    }
}

fn list(skills: &[SkillName]) -> String {
    skills.iter().map(|skill| format!("`{skill}`")).collect::<Vec<_>>().join(", ")
}

/// Patterns are written as text.
mod pattern {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::tool::ToolPattern;

    pub(super) fn serialize<S: Serializer>(pattern: &ToolPattern, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(pattern)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolPattern, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
