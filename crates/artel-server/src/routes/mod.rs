//! All routes, by what they are about. A handler extracts, parses, calls one method, converts.

mod agents;
mod aliases;
mod all;
mod audit;
mod chat;
mod discovery;
mod docs;
mod events;
mod executions;
mod findings;
mod hubs;
mod keys;
mod messages;
mod plans;
mod runs;
mod saved_skills;
mod skills;
mod system;

pub(crate) use all::all;
pub use hubs::hub_view;
