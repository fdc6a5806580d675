//! `artel agent start`.

use artel_catalog::Keep;
use artel_model::agent::AgentDocument;

use super::spawn::{not_begun, print};
use super::wait_for_agent::WaitForAgent;
use crate::backend::Backend;
use crate::cli::StartArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::Shown;
use crate::runtime::{Interrupts, Shelf, wait_for};

/// What it comes to when something does not fit.
const NOT_STARTED: &str = "the agent did not begin";
/// What to do about an agent that is not free.
const FREE_HINT: &str = "`artel agent free` frees an agent whose work is done or failed";

pub(crate) fn start(context: Context<'_>, args: &StartArgs) -> Result<(), Failure> {
    let shown = if args.watch { Shown::Steps } else { Shown::Said };
    let agent = wait_for(async {
        let backend = match context.remote()? {
            Some(client) => Backend::Remote(client),
            // The agent may need plans to be made for it.
            None => Backend::open_to_work(context, Shelf::open(context, Keep::Instructions).await?).await?,
        };
        let agent = start_and_wait(context, args, &backend, shown).await?;
        backend.close().await;
        Ok(agent)
    })?;
    print(context, &agent)
}

async fn start_and_wait(
    context: Context<'_>,
    args: &StartArgs,
    backend: &Backend,
    shown: Shown,
) -> Result<AgentDocument, Failure> {
    let agent = backend.find_agent(&args.which.agent).await?.agent_id;
    // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
    let interrupts = Interrupts::listen()?;
    let agent = backend.start_agent(agent).await.map_err(|error| match error.code() {
        Some("INVALID_STATE") => Failure::from(error).hint(FREE_HINT),
        Some(_) | None => not_begun(context, error, NOT_STARTED),
    })?;
    WaitForAgent { context, backend, shown }.end(agent, interrupts).await
}
