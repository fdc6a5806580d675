//! All routes, by what they are about. A handler extracts, parses, calls one method, converts.

mod agents;
mod aliases;
mod all;
mod assets;
mod audit;
mod chat;
mod discovery;
mod docs;
mod events;
mod executions;
mod findings;
mod hubs;
mod imports;
mod keys;
mod messages;
mod operator;
mod plans;
mod rescans;
mod runs;
mod saved_skills;
mod skill_files;
mod skills;
mod system;
mod trail;

pub(crate) use all::all;
pub use hubs::{apply_hub_change, crawl_step, hub_view};
