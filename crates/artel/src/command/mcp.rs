//! `artel mcp`: whoever starts it talks to it over stdin and stdout, so nothing else is written to stdout.

use artel_server::{ServerConfig, serve_stdio};

use super::context::Context;
use super::mcp_relay::relay;
use crate::failure::{Failure, chain};
use crate::runtime::{Interrupts, Serving, Token, local_principal, wait_for};

pub(crate) fn run(context: Context<'_>) -> Result<(), Failure> {
    if context.config.remote.value.is_some() {
        return wait_for(relay(context));
    }
    let principal = local_principal(&context.config.environment);
    wait_for(async {
        let mut interrupts = Interrupts::listen()?;
        let serving = Serving::open(context, ServerConfig::default(), Token::Unneeded).await?;
        serving.recover_or_tell(context).await;
        let result = tokio::select! {
            ended = serve_stdio(serving.app.clone(), principal) => ended,
            () = interrupts.next() => Ok(()),
        };
        serving.close().await;
        result.map_err(|error| by_hand(chain(&error)))
    })
}

/// Says that nobody began to speak.
pub(super) fn by_hand(what: String) -> Failure {
    Failure::failed(what)
        .hint("`artel mcp` is started by a client of the Model Context Protocol, not by hand")
}
