//! Which programs of others may be started for an agent, decided by where the call comes from and by what the operator
//! listed. Knows nothing of how a program is found or started.

use serde::{Deserialize, Serialize};

use super::spawn::{SpawnError, SpawnErrorCode};
use super::spec::CommandLine;

/// Where a call comes from that spawns or starts an agent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOrigin {
    /// The command line of this machine, used by the owner of the data folder.
    Local,
    /// Anything else: HTTP, MCP, chat, another agent, a recovery after a crash; and records that do not say.
    #[default]
    Remote,
}

impl CallOrigin {
    /// Returns the less trusted of two origins: an agent that was spawned over the network stays one when it is started
    /// on the command line, and the other way round.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Local, Self::Local) => Self::Local,
            (Self::Local | Self::Remote, Self::Remote) | (Self::Remote, Self::Local) => Self::Remote,
        }
    }

    /// Says whether records need not say so.
    pub(super) fn is_remote(&self) -> bool {
        *self == Self::Remote
    }
}

/// Decides whether a program may be started. On the command line of the machine every program may; from elsewhere only
/// a client that the operator listed in `[clients] allowed`, with the arguments that artel gives it and no others.
pub fn admit_command(origin: CallOrigin, line: &CommandLine, allowed: &[String]) -> Result<(), SpawnError> {
    match origin {
        CallOrigin::Local => return Ok(()),
        CallOrigin::Remote => {}
    }
    let refused = |message: String| Err(SpawnError::new(SpawnErrorCode::ClientNotAllowed, message));
    let Some(client) = &line.client else {
        return refused(format!(
            "`command`: a command line can only be given on the command line of the server's machine; {}",
            offer(allowed)
        ));
    };
    // Compared as it is written: a client has one name, and no other spelling of it is looked up.
    if !allowed.contains(client) {
        return refused(format!(
            "`client`: this server does not start `{}`; {}",
            shown(client),
            offer(allowed)
        ));
    }
    if !line.command.is_empty() {
        return refused(format!(
            "`command`: `{client}` is started with artel's own arguments only; leave `command` out, `task` and \
             `model` are passed on"
        ));
    }
    Ok(())
}

/// Says what may be started instead, and who can change that.
fn offer(allowed: &[String]) -> String {
    match allowed {
        [] => "its operator has listed no client (`[clients] allowed` in artel.toml)".to_owned(),
        clients => {
            let list: Vec<String> = clients.iter().map(|client| format!("`{client}`")).collect();
            format!("its operator has listed {} (`[clients] allowed` in artel.toml)", list.join(", "))
        }
    }
}

/// Characters of a client's name that are shown.
const SHOWN_CHARS_MAX: usize = 60;

/// A name may hold anything; what is shown is printable and short.
fn shown(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(SHOWN_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(client: Option<&str>, command: &[&str]) -> CommandLine {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        CommandLine { client: client.map(str::to_owned), command }
    }

    /// Says how a call ends: `started`, or what names the field that is refused.
    fn verdict(origin: CallOrigin, client: Option<&str>, command: &[&str], allowed: &[&str]) -> String {
        let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        match admit_command(origin, &line(client, command), &allowed) {
            Ok(()) => "started".to_owned(),
            Err(error) => {
                assert_eq!(error.code, SpawnErrorCode::ClientNotAllowed);
                error.message.split(':').next().unwrap_or_default().to_owned()
            }
        }
    }

    #[test]
    fn over_the_network_only_listed_clients_are_started_as_they_are() {
        let remote = |client, command: &[&str], allowed: &[&str]| {
            verdict(CallOrigin::Remote, client, command, allowed)
        };
        assert_eq!(remote(Some("claude"), &[], &["claude"]), "started");
        // By default nothing is listed.
        assert_eq!(remote(Some("claude"), &[], &[]), "`client`");
        assert_eq!(remote(Some("codex"), &[], &["claude"]), "`client`");
        for name in ["Claude", " claude", "claude ", "claude\0", "/usr/bin/claude", "../claude", "*", ""] {
            assert_eq!(remote(Some(name), &[], &["claude"]), "`client`", "{name:?}");
        }
        // A command line is none of the caller's, alone or with the name of a client.
        assert_eq!(remote(None, &["sh", "-c", "id"], &["claude"]), "`command`");
        assert_eq!(remote(None, &["claude"], &["claude"]), "`command`");
        assert_eq!(remote(Some("claude"), &["sh", "-c", "id"], &["claude"]), "`command`");
        assert_eq!(remote(Some("claude"), &["claude", "--help"], &["claude"]), "`command`");
        assert_eq!(remote(None, &[], &["claude"]), "`command`");
    }

    #[test]
    fn the_owner_of_the_machine_starts_what_they_like() {
        for (client, command) in [(None, vec!["sh"]), (Some("goose"), vec![]), (Some("codex"), vec!["x"])] {
            assert_eq!(verdict(CallOrigin::Local, client, &command, &[]), "started");
        }
    }

    #[test]
    fn a_refusal_names_the_setting_and_is_printable() {
        let refused = admit_command(CallOrigin::Remote, &line(Some("x\u{1b}[2J\n"), &[]), &["goose".into()]);
        assert_eq!(
            refused.unwrap_err().message,
            "`client`: this server does not start `x[2J`; its operator has listed `goose` (`[clients] allowed` in \
             artel.toml)"
        );
    }

    #[test]
    fn an_origin_is_never_trusted_more_than_its_parts() {
        use CallOrigin::{Local, Remote};
        assert_eq!([Local.and(Local), Local.and(Remote), Remote.and(Local)], [Local, Remote, Remote]);
        assert_eq!(CallOrigin::default(), Remote);
    }

    proptest! {
        /// Whatever a caller writes, what starts is a listed client without arguments of the caller's.
        #[test]
        fn nothing_but_a_listed_client_passes(
            client in proptest::option::of("(claude|codex|goose|opencode|[a-zA-Z/ -]{0,8})"),
            command in proptest::collection::vec("[a-z-]{0,4}", 0..3),
            allowed in proptest::collection::vec("(claude|codex|goose|opencode)", 0..4),
        ) {
            let line = CommandLine { client: client.clone(), command: command.clone() };
            let is_listed = client.is_some_and(|client| allowed.contains(&client)) && command.is_empty();
            prop_assert_eq!(admit_command(CallOrigin::Remote, &line, &allowed).is_ok(), is_listed);
        }
    }
}
