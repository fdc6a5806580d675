//! `artel mcp`: whoever starts it talks to it over stdin and stdout, so nothing else is written to stdout.

use artel_server::{ServerConfig, serve_stdio};

use super::context::Context;
use crate::failure::{Failure, chain};
use crate::workshop::{Interrupts, Serving, Token, local_principal, wait_for};

pub(crate) fn run(context: Context<'_>) -> Result<(), Failure> {
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
        result.map_err(|error| {
            Failure::failed(chain(&error))
                .hint("`artel mcp` is started by a client of the Model Context Protocol, not by hand")
        })
    })
}
