//! `artel serve`.

use std::net::SocketAddr;

use artel_engine::process::allow_all_descriptors;
use artel_server::{Entrance, ListenError, Server};
use serde_json::json;

use super::context::Context;
use super::doctor::mode_word;
use crate::cli::ServeArgs;
use crate::failure::{Failure, chain};
use crate::runtime::{Interrupts, Reloading, Serving, Token, server_config, wait_for};

pub(crate) fn run(context: Context<'_>, args: &ServeArgs) -> Result<(), Failure> {
    let mut config = server_config(context.config)?;
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    crate::logging::change(&context.config.environment, context.config.server.value.log);
    // Before anybody connects; scripts have limits of their own.
    allow_all_descriptors();
    let token = if args.new_token { Token::Renewed } else { Token::Kept };
    wait_for(async {
        let mut interrupts = Interrupts::listen()?;
        let hangups = Interrupts::hangups()?;
        let scheme = if config.certificate.is_some() { "https" } else { "http" };
        // Before anything is made: a token that is kept but never shown would lock everybody out.
        let entrance = Entrance::open(&config).await.map_err(|error| cannot_listen(&error))?;
        let mut serving = Serving::open(context, config, token).await?;
        let Some(http) = serving.http.clone() else { return Err(Failure::failed("nothing is served")) };
        let server = Server::behind(entrance, http.clone());
        tell(context, scheme, server.address(), serving.fresh_token.take().as_deref());
        log_start(context, scheme, server.address(), &serving.store);
        let reloading = Reloading {
            http,
            catalogs: serving.catalogs.clone(),
            certificate: server.certificate(),
            started_with: context.config.clone(),
        };
        let reloading = tokio::spawn(reloading.follow(hangups));
        serving.recover_or_tell(context).await;
        let mut is_lost = false;
        let stopped = async {
            tokio::select! {
                () = interrupts.next() => {
                    context.output.talk("stopping: running steps may end; once more ends them at once");
                    serving.drain(&mut interrupts).await;
                }
                () = serving.store_lost() => is_lost = true,
            }
        };
        server.run(stopped).await;
        reloading.abort();
        if is_lost {
            // What runs cannot be recorded: it is ended, and goes on from the log.
            serving.end_steps_now();
        }
        serving.close().await;
        tracing::info!(version = env!("CARGO_PKG_VERSION"), "the server has stopped");
        if is_lost { Err(store_lost()) } else { Ok(()) }
    })
}

fn store_lost() -> Failure {
    Failure::store_lost("the store may have lost what was written last, so this process cannot go on")
        .hint("start the server again: it goes on with what is there; a supervisor does that by itself")
}

/// Writes down which server starts, where, and on what.
fn log_start(context: Context<'_>, scheme: &str, address: SocketAddr, store: &str) {
    let config = context.config;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        store,
        bus = %config.bus.value,
        listen = %address,
        tls = scheme == "https",
        gate = config.scanner.value.gate.as_str(),
        sandbox = mode_word(config.sandbox.value),
        oidc = config.oidc.value.as_ref().map_or("none", |oidc| oidc.issuer.as_str()),
        "the server starts"
    );
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
