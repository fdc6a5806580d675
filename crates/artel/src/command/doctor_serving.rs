//! What `artel doctor` says about what a server needs: git for hubs, the identity provider, the certificate, and the scanner
//! that a strict gate waits for.

use std::os::unix::fs::PermissionsExt as _;

use artel_engine::Clock;
use artel_engine::hub::{GIT_VERSION_MIN, git_version, is_new_enough};
use artel_engine::process::{Launcher, LauncherConfig};
use artel_model::catalog::Gate;
use artel_model::time::Timestamp;
use artel_server::{Certificate, OidcConfig, probe_oidc};
use camino::{Utf8Path, Utf8PathBuf};

use super::context::Context;
use super::doctor::{Check, State};
use crate::config::OidcSettings;
use crate::failure::{Failure, chain};
use crate::runtime::{launcher_program, server_config, wait_for};

/// Days that a certificate should still be good for.
const CERTIFICATE_DAYS_MIN: i64 = 21;
/// Seconds that the clocks of artel and of the identity provider may differ.
const SKEW_SECONDS_MAX: i64 = 60;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Everything that is checked for a server that is started here.
pub(super) fn serving_checks(context: Context<'_>) -> Vec<Check> {
    let checks = [Some(git(context)), oidc(context), certificate(context), gate(context)];
    checks.into_iter().flatten().collect()
}

fn git(context: Context<'_>) -> Check {
    let Some(path) = context.config.environment.on_path("git") else {
        return check(
            "git",
            State::Odd,
            "not found on PATH; hubs that are repositories cannot be fetched".to_owned(),
        );
    };
    let asked = wait_for(async {
        let launcher = LauncherConfig { program: launcher_program(context.config), guard: None };
        let launcher = Launcher::start(launcher).await.map_err(|error| Failure::missing(chain(&error)))?;
        let folder = tempfile::tempdir().map_err(|error| Failure::missing(error.to_string()))?;
        let folder = folder.path().canonicalize().map_err(|error| Failure::missing(error.to_string()))?;
        let folder = Utf8PathBuf::from_path_buf(folder)
            .map_err(|_| Failure::missing("the temporary folder is not UTF-8"))?;
        git_version(&launcher, &path, &folder).await.map_err(|failure| Failure::missing(failure.message))
    });
    let (major, minor) = GIT_VERSION_MIN;
    match asked {
        Ok(version) if is_new_enough(&version) => check("git", State::Good, format!("{path} {version}")),
        Ok(version) => {
            check("git", State::Bad, format!("{path} is {version}; hubs need {major}.{minor} or later"))
        }
        Err(failure) => check("git", State::Bad, format!("{path} does not run: {}", failure.message)),
    }
}

fn oidc(context: Context<'_>) -> Option<Check> {
    let OidcSettings { issuer, audience, .. } = context.config.oidc.value.as_ref()?;
    let config = OidcConfig::new(issuer.clone(), audience.clone());
    let (state, detail) = match wait_for(async { probe_oidc(&config).await.map_err(Failure::missing) }) {
        Err(failure) => (State::Bad, format!("{issuer}: {}", failure.message)),
        Ok(answer) => {
            let skew = answer.date.as_deref().and_then(skew_seconds);
            let keys = format!("{issuer} answers, {} keys", answer.keys);
            match skew {
                Some(skew) if skew.abs() > SKEW_SECONDS_MAX => (
                    State::Odd,
                    format!(
                        "{keys}; its clock differs from this one by {skew} s, so good tokens may be refused"
                    ),
                ),
                Some(_) | None => (State::Good, keys),
            }
        }
    };
    Some(check("oidc", state, detail))
}

/// Returns how many seconds the clock of who wrote a date is ahead of this one.
fn skew_seconds(date: &str) -> Option<i64> {
    let theirs = jiff::fmt::rfc2822::parse(date).ok()?.timestamp().as_second();
    Some(theirs - Clock::system().now().as_millis() / 1000)
}

fn certificate(context: Context<'_>) -> Option<Check> {
    let (path, key) = context.config.server.value.tls.as_ref()?;
    let facts = match server_config(context.config) {
        Err(failure) => return Some(check("certificate", State::Bad, failure.message)),
        Ok(config) => config.certificate.as_ref().map(Certificate::facts)?,
    };
    let (state, detail) = match facts {
        Err(error) => (State::Bad, format!("{path}: {}", chain(&error))),
        Ok(facts) => {
            let (state, how_long) = validity(facts.not_before, facts.not_after, Clock::system().now());
            (state, format!("{path} is for {}; {how_long}", facts.names.join(", ")))
        }
    };
    match state {
        State::Good if is_readable_by_others(key) => {
            let detail =
                format!("{detail}; its key {key} can be read by others: `chmod 600 {key}` changes that");
            Some(check("certificate", State::Odd, detail))
        }
        State::Good | State::Odd | State::Bad => Some(check("certificate", state, detail)),
    }
}

fn validity(not_before: Timestamp, not_after: Timestamp, now: Timestamp) -> (State, String) {
    let days = (not_after.as_millis() - now.as_millis()).div_euclid(DAY_MS);
    match () {
        () if now < not_before => (State::Bad, format!("it is not good before {not_before}")),
        () if now >= not_after => (State::Bad, format!("it has expired, on {not_after}")),
        () if days < CERTIFICATE_DAYS_MIN => {
            (State::Odd, format!("it expires in {days} days, on {not_after}"))
        }
        () => (State::Good, format!("good for {days} days, until {not_after}")),
    }
}

fn is_readable_by_others(path: &Utf8Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// A strict gate serves only what every scanner has passed: one that is missing lets nothing through.
fn gate(context: Context<'_>) -> Option<Check> {
    let scanner = &context.config.scanner.value;
    let second = scanner.second.as_ref().filter(|_| scanner.gate == Gate::Strict)?;
    let is_there = second.path(&context.config.environment).is_file();
    let (state, detail) = match is_there {
        true => (State::Good, format!("strict, and `{}` is there", second.program)),
        false => {
            let missing = format!(
                "strict, but its scanner `{}` is not found: no skill passes, so none is served",
                second.program
            );
            (State::Bad, format!("{missing}; install it, or take `program` and `policy` out of `[scanner]`"))
        }
    };
    Some(check("gate", state, detail))
}

fn check(name: &str, state: State, detail: String) -> Check {
    Check { name: name.to_owned(), state, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_told_before_it_expires() {
        let at = |days: i64| Timestamp::from_millis(days * DAY_MS);
        let state = |until: i64| validity(at(0), at(until), at(100)).0;
        assert!(state(100) == State::Bad && state(101) == State::Odd && state(122) == State::Good);
        assert!(validity(at(101), at(500), at(100)).0 == State::Bad);
    }

    #[test]
    fn the_time_of_a_provider_is_read_as_http_writes_it() {
        assert!(skew_seconds("Tue, 17 Nov 2020 21:59:00 GMT").unwrap() < -SKEW_SECONDS_MAX);
        assert_eq!(skew_seconds("yesterday"), None);
    }
}
