//! What agents need around them.

use std::sync::Arc;

use artel_engine::planner::Planner;
use artel_engine::{Clock, Engine, Shelves};
use artel_model::agent::{Layer, Role, RoleName, SpawnLimits};
use artel_store::{AgentStore, OwnerId, RunStore};

use crate::announce::Announce;
use crate::driver::WorkDriver;

/// How agents work.
#[derive(Clone, Debug)]
pub struct AgentsConfig {
    /// Who sees to the agents that are spawned here.
    pub owner: OwnerId,
    /// How many living agents there may be.
    pub agents_max: usize,
    /// What happens to a spawn when there are that many.
    pub at_limit: AtLimit,
    /// How deep and wide agents may spawn agents.
    pub limits: SpawnLimits,
    /// What agents may do that are given nothing and have no parent.
    pub default: Layer,
    /// The clients that may be started for a call that does not come from the command line of this machine.
    pub clients: Vec<String>,
    /// Milliseconds that one piece of work may take, when its agent does not say.
    pub deadline_ms: u64,
    /// Steps of one run that may run at once.
    pub slots: usize,
    /// How often to look for what other processes wrote, in milliseconds.
    pub poll_ms: u64,
    /// How long work may take to end after it was told to, in milliseconds.
    pub grace_ms: u64,
}

/// What happens to a spawn when there are as many agents as there may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AtLimit {
    /// It is refused.
    Reject,
    /// It waits for room, as long as this many milliseconds.
    Queue {
        /// How long.
        wait_ms: u64,
    },
}

/// Finds roles by their name.
pub trait RoleBook: Send + Sync {
    /// Returns a role.
    fn role(&self, name: &RoleName) -> Option<Role>;
}

/// A book without roles.
impl RoleBook for () {
    fn role(&self, _: &RoleName) -> Option<Role> {
        None
    }
}

/// Says whether somebody alive sees to what an owner began. One of whom nothing is known is alive: nobody here can say that
/// they are not.
pub type IsAlive = Arc<dyn Fn(&OwnerId) -> bool + Send + Sync>;

/// Where agents and their runs are kept.
#[derive(Clone)]
pub struct Stores {
    /// Agents.
    pub agents: Arc<dyn AgentStore>,
    /// Runs.
    pub runs: Arc<dyn RunStore>,
}

/// What agents need around them.
#[derive(Clone)]
pub struct AgentsParts {
    /// Where they are kept.
    pub stores: Stores,
    /// What runs their plans.
    pub engine: Engine,
    /// Who is alive.
    pub is_alive: IsAlive,
    /// The skills that everybody sees.
    pub shelves: Arc<dyn Shelves>,
    /// Who makes plans for tasks.
    pub planner: Arc<dyn Planner>,
    /// The roles there are.
    pub roles: Arc<dyn RoleBook>,
    /// What lets a model work; nothing when none is configured.
    pub llm: Option<Arc<dyn WorkDriver>>,
    /// What lets programs of others work.
    pub command: Option<Arc<dyn WorkDriver>>,
    /// Where events go, and messages of agents.
    pub announce: Arc<dyn Announce>,
    /// What time it is.
    pub clock: Clock,
}
