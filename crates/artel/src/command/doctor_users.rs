//! What `artel doctor` says about the users that scripts and programs of agents run as.

use super::doctor::{Check, State};
use crate::config::{Config, SandboxUsersChoice};
use crate::runtime::{UsersState, client_user, users_state};

/// Whom scripts run as, and whom programs of agents do when the operator names a user.
pub(super) fn user_checks(config: &Config) -> Vec<Check> {
    let mut checks = vec![scripts(config)];
    if let Some(wanted) = &config.clients.value.user {
        let (state, detail) = match client_user(config) {
            Ok(_) => (State::Good, format!("programs of agents run as `{wanted}`")),
            Err(failure) => (State::Bad, failure.message),
        };
        checks.push(Check { name: "[clients] user".to_owned(), state, detail });
    }
    checks
}

fn scripts(config: &Config) -> Check {
    let chosen = config.sandbox_users.value;
    let (state, detail) = match users_state(config) {
        UsersState::On(range) => {
            (State::Good, format!("every data folder of a skill has a user of its own, from {range}"))
        }
        UsersState::Off => (State::Good, "not used: switched off".to_owned()),
        UsersState::Unable(why @ artel_engine::process::NoUsers::NotRoot) => {
            (State::Good, format!("not used: {why}; scripts run as the user of artel"))
        }
        UsersState::Unable(why) => {
            let state = match chosen {
                SandboxUsersChoice::Range(_) => State::Bad,
                SandboxUsersChoice::Auto | SandboxUsersChoice::Off => State::Odd,
            };
            (state, format!("not used: {why}; scripts run as root"))
        }
    };
    Check { name: "sandbox: users".to_owned(), state, detail }
}
