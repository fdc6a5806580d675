//! Fetching hubs: through `git`, GitHub's API, or a site's index of skills.
//!
//! What of a hub is taken and published is the catalog's to decide. Knows nothing of who registered a hub.

mod config;
mod content;
mod error;
mod fetcher;
mod git;
mod git_output;
mod git_program;
mod git_version;
mod github;
mod guard;
mod progress;
mod request;
mod token;
mod web;
mod well_known;

pub use config::{HubFetcherConfig, HubProxy, SshAccess};
pub use error::{HubFailure, HubFailureKind};
pub use fetcher::HubFetcher;
pub use git_version::{GIT_VERSION_MIN, git_version, is_new_enough};
pub use progress::HubProgress;
pub use request::{HubOutcome, HubRequest, HubRequestProblem};
pub use token::{HubSecrets, HubToken};
