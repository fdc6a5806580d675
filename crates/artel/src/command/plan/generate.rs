//! `artel plan generate`.

use artel_api::plans::{AskRequest, GeneratedPlan};
use artel_catalog::Keep;

use super::planner::word;
use crate::backend::Backend;
use crate::cli::GenerateArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::runtime::{Shelf, wait_for};

pub(crate) fn generate(context: Context<'_>, args: &GenerateArgs) -> Result<(), Failure> {
    let request =
        AskRequest { request: args.request.join(" "), timeout_ms: None, planner: word(args.planner) };
    let planned = wait_for(async {
        let backend = match context.remote()? {
            Some(client) => Backend::Remote(client),
            None => Backend::open_to_work(context, Shelf::open(context, Keep::Instructions).await?).await?,
        };
        let planned = backend.generate(request).await?;
        backend.close().await;
        Ok(planned)
    })?;
    print(context, &planned);
    Ok(())
}

/// The plan itself is the data, so that it can be kept in a file or run at once.
fn print(context: Context<'_>, planned: &GeneratedPlan) {
    let output = context.output;
    output.document(&planned.plan);
    for note in &planned.notes {
        output.talk(note);
    }
    let tools = planned.plan.tools.len();
    let tools = if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") };
    output.talk(&format!("{tools}, planned by {}", planned.planner));
}
