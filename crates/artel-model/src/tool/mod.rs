//! Tools by name, and the patterns that policies are made of.
//!
//! A tool is anything a policy can allow or forbid: `skill/script`, an environment's operation (`solid.extrude`), an
//! MCP tool (`server/tool`) or a client's own tool (`Read`, `Bash(git status)`).

mod call;
mod forbidden;
mod glob;
mod pattern;

pub use call::{ToolCall, ToolCallError};
pub(crate) use forbidden::Forbidden;
pub use glob::Glob;
pub use pattern::{Argument, ToolPattern, ToolPatternError};
