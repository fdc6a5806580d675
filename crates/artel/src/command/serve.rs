//! `artel serve`.

use std::net::SocketAddr;

use artel_engine::process::allow_all_descriptors;
use artel_server::{Entrance, ListenError, Server};
use serde_json::json;

use super::context::Context;
use crate::cli::ServeArgs;
use crate::failure::{Failure, chain};
use crate::workshop::{Interrupts, Serving, Token, server_config, wait_for};

pub(crate) fn run(context: Context<'_>, args: &ServeArgs) -> Result<(), Failure> {
    let mut config = server_config(context.config)?;
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    // Before anybody connects; scripts have limits of their own.
    allow_all_descriptors();
    let token = if args.new_token { Token::Renewed } else { Token::Kept };
    wait_for(async {
        let mut interrupts = Interrupts::listen()?;
        let scheme = if config.certificate.is_some() { "https" } else { "http" };
        // Before anything is made: a token that is kept but never shown would lock everybody out.
        let entrance = Entrance::open(&config).await.map_err(|error| cannot_listen(&error))?;
        let mut serving = Serving::open(context, config, token).await?;
        let server = Server::behind(entrance, serving.app.clone());
        tell(context, scheme, server.address(), serving.fresh_token.take().as_deref());
        serving.recover_or_tell(context).await;
        server.run(interrupts.next()).await;
        context.output.talk("stopping");
        serving.close().await;
        Ok(())
    })
}

/// Says where the server is. The token is shown once, when it is made.
fn tell(context: Context<'_>, scheme: &str, address: SocketAddr, token: Option<&str>) {
    let output = context.output;
    let url = format!("{scheme}://{address}/");
    if output.json {
        output.document(&json!({"url": url, "token": token}));
        return;
    }
    match token {
        Some(token) => output.line(&format!("Open {url}?token={token}")),
        None => {
            output.line(&format!("Open {url}"));
            output.talk(
                "the administrator's token is the one that was printed first; `--new-token` makes another",
            );
        }
    }
    if !address.ip().is_loopback() && scheme == "http" {
        output.talk(
            "others can reach this address, and nothing is encrypted: put a proxy in front, or configure TLS",
        );
    }
    output.talk("Ctrl-C stops it");
}

fn cannot_listen(error: &ListenError) -> Failure {
    Failure::missing(chain(error))
        .hint("`--listen 127.0.0.1:0` takes any free port; another `artel serve` may be running")
}
