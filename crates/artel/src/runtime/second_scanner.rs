//! Skill Scanner, provided by Cisco AI Defense, when it is configured or installed.

use artel_catalog::scan::ScanCopy;
use artel_catalog::scan::cisco::ATTRIBUTION;
use artel_engine::Clock;
use artel_engine::process::{Launcher, LauncherConfig};
use artel_engine::scanner::{SkillScanner, SkillScannerConfig, installed_version};
use artel_model::catalog::VerdictRecord;
use artel_model::limit::SCAN_PROGRAM_SKILLS_MAX;
use camino::Utf8Path;

use super::open::launcher_program;
use crate::config::{Config, ScannerChoice};
use crate::failure::Failure;

/// Where files are put that are needed for a moment, when the environment does not say it.
const TEMPORARY: &str = "/tmp";

/// Opens the second scanner, and says so in the log; nothing when there is none. One that is configured and not there is
/// opened all the same: what it does not look at has not passed.
pub(crate) async fn second_scanner(
    config: &Config,
    launcher: &Launcher,
    work: &Utf8Path,
) -> Option<SkillScanner> {
    let second = config.scanner.value.second.as_ref()?;
    let program = second.path(&config.environment);
    let version = installed_version(&program);
    let why = match second.chosen {
        ScannerChoice::Configured => "it is configured",
        ScannerChoice::Installed => "it is installed; `[scanner] program = \"off\"` switches it off",
    };
    tracing::info!(%program, version, policy = %second.policy, why, "{ATTRIBUTION} is asked beside artel's own scanner");
    let scanner =
        SkillScannerConfig { policy: second.policy.clone(), ..SkillScannerConfig::new(program, work) };
    Some(SkillScanner::open(launcher.clone(), scanner).await)
}

/// Asks the second scanner about skills, without a store or a data folder; says nothing when there is none.
pub(crate) async fn second_verdicts(
    config: &Config,
    scan_copies: Vec<ScanCopy>,
) -> Result<Vec<VerdictRecord>, Failure> {
    let launcher = Launcher::start(LauncherConfig { program: launcher_program(config), guard: None });
    let launcher = launcher.await.map_err(|error| Failure::unavailable(&error))?;
    let work = config.environment.get("TMPDIR").unwrap_or(TEMPORARY);
    let Some(scanner) = second_scanner(config, &launcher, work.into()).await else { return Ok(Vec::new()) };
    let mut waiting = scan_copies.into_iter();
    let mut verdicts = Vec::new();
    loop {
        let together: Vec<ScanCopy> = waiting.by_ref().take(SCAN_PROGRAM_SKILLS_MAX).collect();
        if together.is_empty() {
            return Ok(verdicts);
        }
        verdicts.extend(scanner.scan(together, Clock::system().now()).await);
    }
}
