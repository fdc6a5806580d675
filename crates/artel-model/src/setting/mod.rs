//! The settings of a skill: what `config-schema.json` allows, and what `config.json` and the environment give.
//!
//! Values of environment variables are filled in only when a script runs. They are never stored and never shown.

mod config_schema;
mod effective;
mod field;
mod personal;
mod sensitive;
mod variable;

pub use config_schema::{ConfigProblem, ConfigProblemKind, ConfigSchema, ShownField};
pub use effective::{EffectiveConfig, MASK};
pub use field::{Field, FieldKind};
pub use personal::PersonalMark;
pub use variable::EnvAllowList;
