//! Agents that are programs of somebody else: Claude Code, Codex, goose, opencode, or any command line.
//!
//! A program gets a fresh folder with exactly the skills of its agent, a permission file made of the agent's policy where
//! it has one, and nothing of artel's environment but what is named. Knows nothing of what the program does inside.

mod answer;
mod claude;
mod codex;
mod config;
mod driver;
mod environment;
mod folder;
mod goose;
mod granted;
mod opencode;
mod output;
mod permissions;
mod preset;
mod program;
mod prune;
mod rules;
mod sandbox;
mod template;
mod user;
mod watch;

pub use config::{AfterWork, ClientHome, ClientNetwork, ClientUsers, CommandDriverConfig, OwnCommands};
pub use driver::CommandDriver;
pub use preset::CLIENTS;
pub use prune::prune_work_folders;
pub use rules::EffectiveRules;
