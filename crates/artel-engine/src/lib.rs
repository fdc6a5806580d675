//! Runs plans: processes in a sandbox, retries, deadlines, recovery, planners.
//!
//! The only crate that starts processes. Knows nothing of SQL and of HTTP servers.

mod asset;
mod attempt_folder;
mod clock;
mod content;
#[cfg(debug_assertions)]
mod crash_injection;
mod data_folders;
mod driver;
mod engine;
mod error_text;
mod folder_id;
mod hands;
mod home;
pub mod hub;
pub mod llm;
mod metrics;
mod owner_lock;
pub mod planner;
mod poller;
mod private;
pub mod process;
mod program;
mod prune;
mod quote;
mod run_spans;
mod sandbox_users;
pub mod scanner;
mod script_hands;
mod shelf;
mod shelves;
#[cfg(test)]
mod simulation;
mod slots;
mod submit;
pub mod trace;

pub use artel_catalog::remove_folder;
pub use asset::{AssetError, AssetOrigin, AssetStore, KeptAsset};
pub use clock::Clock;
#[cfg(debug_assertions)]
pub use crash_injection::{CrashingStore, Death};
pub use data_folders::DataFolders;
pub use driver::{DriveError, Progress, StoreOutage};
pub use engine::{Command, CommandError, Engine, EngineConfig, Follow, FollowError};
pub use hands::{Assignment, AttemptControl, Hands, Reports};
pub use home::HomeError;
pub use metrics::METRICS;
pub use owner_lock::{OwnerLock, OwnerLockError, Owners, Tenancy, gone};
pub use private::{Closed, close_to_others, keep_files_private, make_private_folder};
pub use prune::{Pruned, prune};
pub use sandbox_users::{SandboxUserError, SandboxUsers, give_folder};
pub use script_hands::{Grants, OwnEnvironment, SandboxMode, ScriptHands, ScriptRules};
pub use shelf::SkillShelf;
pub use shelves::{OneShelf, Shelves};
pub use submit::{SubmitError, Submitted};
