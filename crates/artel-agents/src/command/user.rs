//! Whom the program of an agent runs as, and that its folders belong to that user. Knows nothing of how that is enforced.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use artel_engine::process::{ClosedFiles, RunAs};
use artel_engine::{SandboxMode, give_folder};
use artel_model::id::AgentId;
use camino::Utf8Path;

use super::config::{ClientUsers, CommandDriverConfig};

/// Returns whom the program runs as, once the folder of its work belongs to that user.
pub(super) fn run_as(
    config: &CommandDriverConfig,
    agent: AgentId,
    folder: &Utf8Path,
) -> Result<RunAs, String> {
    let (user, group) = match (&config.users, config.sandbox) {
        // A program without the sandbox can do whatever artel can.
        (ClientUsers::Artel, _) | (_, SandboxMode::Off) => return Ok(RunAs::Artel),
        (ClientUsers::OnePerAgent(users), SandboxMode::Enforce | SandboxMode::BestEffort) => {
            let user = users.own(&name(agent), folder);
            let user = user.map_err(|error| super::driver::chain(&error))?;
            (user, user)
        }
        (ClientUsers::One { user, group }, SandboxMode::Enforce | SandboxMode::BestEffort) => {
            give_folder(folder, *user, *group)
                .map_err(|error| format!("cannot give `{folder}` to the user {user}: {error}"))?;
            (*user, *group)
        }
    };
    Ok(RunAs::User { user, group, closed_files: ClosedFiles::Read })
}

/// Frees the user of an agent of which no folder is left. `owner` is the user that its last folder belonged to.
pub(super) fn free(config: &CommandDriverConfig, agent: AgentId, owner: Option<u32>) {
    let (ClientUsers::OnePerAgent(users), Some(owner)) = (&config.users, owner) else { return };
    if !config.work_root.join(agent.to_string()).exists() {
        users.free(owner, &name(agent));
    }
}

/// Returns the user that the pieces of work of an agent belong to.
pub(super) fn owner(root: &Utf8Path, agent: AgentId) -> Option<u32> {
    let mut pieces = root.join(agent.to_string()).read_dir_utf8().ok()?;
    fs::symlink_metadata(pieces.next()?.ok()?.path()).ok().map(|found| found.uid())
}

fn name(agent: AgentId) -> String {
    format!("agent/{agent}")
}
