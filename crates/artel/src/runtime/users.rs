//! Which users scripts and programs of agents run as: what the configuration asks for, as far as this machine can.

use artel_engine::SandboxMode;
use artel_engine::process::{NoUsers, can_run_as};
use artel_model::user_range::UserRange;

use crate::config::{ClientUser, Config, SandboxUsersChoice};
use crate::failure::Failure;

/// Where users are listed.
const PASSWD: &str = "/etc/passwd";

/// Whether scripts run as users of their own.
pub(crate) enum UsersState {
    /// They do, as users of this range.
    On(UserRange),
    /// They do not, as the operator wants.
    Off,
    /// They cannot.
    Unable(NoUsers),
}

/// Says whether scripts run as users of their own here.
pub(crate) fn users_state(config: &Config) -> UsersState {
    let range = match (config.sandbox.value, config.sandbox_users.value.range()) {
        (SandboxMode::Enforce | SandboxMode::BestEffort, Some(range)) => range,
        (SandboxMode::Off, _) | (_, None) => return UsersState::Off,
    };
    match can_run_as(range.first()..=range.last()) {
        Ok(()) => UsersState::On(range),
        Err(why) => UsersState::Unable(why),
    }
}

/// Returns the users that scripts run as; none where artel is no root or the operator wants none. Root that cannot use the
/// range that the operator named is a mistake.
pub(crate) fn sandbox_users(config: &Config) -> Result<Option<UserRange>, Failure> {
    match (users_state(config), config.sandbox_users.value) {
        (UsersState::On(range), _) => Ok(Some(range)),
        (UsersState::Off | UsersState::Unable(NoUsers::NotRoot), _) => Ok(None),
        (UsersState::Unable(why), SandboxUsersChoice::Auto | SandboxUsersChoice::Off) => {
            tracing::warn!(%why, "scripts run as the user of artel, which is root");
            Ok(None)
        }
        (UsersState::Unable(why), SandboxUsersChoice::Range(range)) => {
            Err(Failure::usage(format!("`sandbox_users = \"{range}\"` cannot be used: {why}"))
                .hint("name users that are there, or set `sandbox_users = \"off\"`"))
        }
    }
}

/// Returns the user and the group that programs of agents run as, if the operator names one.
pub(crate) fn client_user(config: &Config) -> Result<Option<(u32, u32)>, Failure> {
    let Some(wanted) = &config.clients.value.user else { return Ok(None) };
    let refused = |why: String| Failure::usage(format!("[clients] user: `{wanted}` cannot be used: {why}"));
    if config.sandbox.value == SandboxMode::Off {
        return Err(refused("programs run as another user only in the sandbox, which is off".to_owned()));
    }
    let listed = std::fs::read_to_string(PASSWD).unwrap_or_default();
    let (user, group) = find(wanted, &listed).ok_or_else(|| {
        refused(format!("there is no such user in `{PASSWD}`")).hint("make the user, or name another")
    })?;
    if user == 0 {
        return Err(refused("it is root".to_owned()).hint("name a user that can do less than artel"));
    }
    can_run_as(user..=user).map_err(|why| {
        refused(why.to_string()).hint("only artel as root can start programs as another user")
    })?;
    Ok(Some((user, group)))
}

/// Returns the number of a user and that of its group. A number needs no entry.
fn find(wanted: &ClientUser, passwd: &str) -> Option<(u32, u32)> {
    let entries = passwd.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, user, group, ..] = fields[..] else { return None };
        Some((name, user.parse::<u32>().ok()?, group.parse::<u32>().ok()?))
    });
    match wanted {
        ClientUser::Name(wanted) => {
            entries.filter(|(name, ..)| name == wanted).map(|(_, user, group)| (user, group)).next()
        }
        ClientUser::Number(wanted) => {
            let listed =
                entries.filter(|(_, user, _)| user == wanted).map(|(_, user, group)| (user, group)).next();
            Some(listed.unwrap_or((*wanted, *wanted))).filter(|(user, _)| *user != u32::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nbroken\nada:x:1000:100:Ada:/home/ada:/bin/sh\n";
        let found = |wanted: ClientUser| find(&wanted, passwd);
        assert_eq!(found(ClientUser::Name("ada".to_owned())), Some((1000, 100)));
        assert_eq!(found(ClientUser::Name("root".to_owned())), Some((0, 0)));
        assert_eq!(found(ClientUser::Name("bob".to_owned())), None);
        assert_eq!(found(ClientUser::Name("1000".to_owned())), None);
        assert_eq!(found(ClientUser::Number(1000)), Some((1000, 100)));
        assert_eq!(found(ClientUser::Number(4711)), Some((4711, 4711)));
        assert_eq!(found(ClientUser::Number(u32::MAX)), None);
    }
}
