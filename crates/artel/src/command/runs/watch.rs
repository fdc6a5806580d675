//! `artel run watch`.

use artel_engine::Clock;
use artel_store::LoggedEvent;

use super::show::line;
use crate::backend::Backend;
use crate::cli::RunPrefix;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Shown, Watching};
use crate::runtime::{Interrupts, wait_for};

pub(crate) fn watch(context: Context<'_>, id: &RunPrefix) -> Result<(), Failure> {
    wait_for(async {
        let backend = Backend::open(context).await?;
        let run = backend.find_run(id).await?.run_id;
        let interrupts = Interrupts::listen()?;
        let output = context.output;
        let shown = if output.width.is_some() { Shown::Steps } else { Shown::Data };
        let mut watching = Watching::new(output, shown);
        let take = |logged: Option<&LoggedEvent>| match logged {
            Some(logged) if output.json => output.line(&line(logged)),
            Some(logged) => watching.note(run, &logged.event),
            None => watching.draw(Clock::system().now()),
        };
        let run_history = backend.watch_run(run, take, interrupts).await?;
        watching.end(Clock::system().now());
        let (_, result) = backend.run_result(run_history).await?;
        output.verdict(&result);
        if result.success { Ok(()) } else { Err(Failure::reported()) }
    })
}
