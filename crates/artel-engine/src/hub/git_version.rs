//! Which git is installed, and whether it is new enough.

use artel_catalog::hub::GitRemote;
use camino::Utf8Path;

use super::config::HubFetcherConfig;
use super::error::{HubError, HubFailure};
use super::git_program::{GitCall, GitProgram};
use crate::process::Launcher;
use crate::program::{read_capped, run};

/// The oldest git that can be used: an earlier one does not know `http.curloptResolve`, and would look the name of a host
/// up again after its addresses were checked.
pub const GIT_VERSION_MIN: (u32, u32) = (2, 37);
/// Bytes that git may say about its version.
const ANSWER_BYTES_MAX: usize = 1024;

/// Asks git for its version, in a sandbox, with a folder that it may use.
pub async fn git_version(
    launcher: &Launcher,
    git: &Utf8Path,
    folder: &Utf8Path,
) -> Result<String, HubFailure> {
    ask(launcher, git, folder).await.map_err(|error| error.into_failure(None))
}

async fn ask(launcher: &Launcher, git: &Utf8Path, folder: &Utf8Path) -> Result<String, HubError> {
    let config = HubFetcherConfig::new(git, folder);
    let remote = GitRemote::File(folder.to_owned());
    let program =
        GitProgram::new(&config, &GitCall { remote: &remote, addresses: &[], token: None, folder })?;
    let hear = |stdout| read_capped::<HubError>(stdout, ANSWER_BYTES_MAX);
    let (said, _) = run(launcher, program.request(&["--version"]), Vec::new(), hear).await?;
    let said = String::from_utf8_lossy(&said);
    Ok(said.trim().trim_start_matches("git version ").chars().filter(|one| !one.is_control()).collect())
}

/// Says whether a version is new enough; one that cannot be read is not.
pub fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= GIT_VERSION_MIN,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_git_is_known() {
        for (version, expected) in [
            ("2.37.0", true),
            ("2.43.0.windows.1", true),
            ("3.0", true),
            ("2.36.9", false),
            ("1.9", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }
}
