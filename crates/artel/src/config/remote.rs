//! Which server commands work on, if they do not work on the data folder.

use artel_api::client::{ServerToken, ServerUrl};

use super::environment::Environment;
use super::load::{Origin, Setting};
use crate::cli::GlobalArgs;
use crate::failure::Failure;

/// Names the server.
const SERVER: &str = "ARTEL_SERVER";
/// Holds what is shown to it.
const TOKEN: &str = "ARTEL_TOKEN";

/// A server that commands work on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RemoteSettings {
    pub(crate) server: ServerUrl,
    pub(crate) token: Option<ServerToken>,
}

/// Reads the flag or the variable. A token comes from the environment alone: command lines are seen by everybody.
pub(super) fn remote(
    args: &GlobalArgs,
    environment: &Environment,
) -> Result<Setting<Option<RemoteSettings>>, Failure> {
    let (text, origin) = match (&args.server, environment.get(SERVER)) {
        (Some(text), _) => (text.as_str(), Origin::Flag("server")),
        (None, Some(text)) => (text, Origin::Environment(SERVER)),
        (None, None) => return Ok(Setting { value: None, origin: Origin::Default }),
    };
    let server: ServerUrl = text.parse().map_err(|error| Failure::usage(format!("{origin}: {error}")))?;
    let token = match environment.get(TOKEN) {
        Some(text) => Some(ServerToken::new(text).ok_or_else(|| {
            Failure::usage(format!("${TOKEN} is no token"))
                .hint("a token is one word of letters, digits and signs")
        })?),
        None => None,
    };
    Ok(Setting { value: Some(RemoteSettings { server, token }), origin })
}
