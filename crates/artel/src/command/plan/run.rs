//! `artel plan run`.

use std::num::NonZero;

use artel_api::plans::RunQuery;
use artel_catalog::Keep;
use artel_model::plan::{PlanProblem, read_plan_text, resolve_text};
use artel_model::run::ResultDocument;

use super::read::{read_plan, refusal, refused};
use super::validate::check;
use crate::backend::{Backend, Carried, NotBegun};
use crate::cli::PlanRunArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::Shown;
use crate::runtime::{Shelf, wait_for};

pub(crate) fn run(context: Context<'_>, args: &PlanRunArgs) -> Result<(), Failure> {
    let text = read_plan(&args.file)?;
    let shown = if args.how.watch { Shown::Steps } else { Shown::Nothing };
    let carried = wait_for(async {
        let backend = match context.remote()? {
            Some(client) => Backend::Remote(client),
            None => {
                let shelf = Shelf::open(context, Keep::Descriptions).await?;
                // Problems are told before anything is opened or kept.
                resolve_text(&text, &*shelf.skills).map_err(|problems| refuse(context, &text, problems))?;
                Backend::open_to_work(context, shelf).await?
            }
        };
        let carried = run_and_wait(context, args, &backend, &text, shown).await?;
        backend.close().await;
        Ok(carried)
    })?;
    print(context, &carried.result, shown)
}

async fn run_and_wait(
    context: Context<'_>,
    args: &PlanRunArgs,
    backend: &Backend,
    text: &str,
    shown: Shown,
) -> Result<Carried, Failure> {
    let plan = match read_plan_text(text) {
        Ok((plan, twice)) if twice.is_empty() => plan,
        Ok(_) | Err(_) => {
            let problems = check(backend, text).await?.err().unwrap_or_default();
            return Err(refuse(context, text, problems));
        }
    };
    let how = RunQuery { timeout_ms: args.how.timeout, slots: args.slots.map(NonZero::get) };
    let begin = async {
        let begun = backend.run_plan(plan, how, args.how.key.as_deref()).await;
        begun.map_err(|error| match error {
            NotBegun::Problems(problems) => refuse(context, text, problems),
            NotBegun::Failed(failure) => failure,
        })
    };
    backend.carry_out(context, begin, shown).await
}

fn refuse(context: Context<'_>, text: &str, problems: Vec<PlanProblem>) -> Failure {
    let failure = refusal(&problems);
    if context.output.json {
        context.output.document(&refused(text, problems));
    } else {
        context.output.problems(&problems);
        context.output.talk("the plan cannot run, and nothing was started");
    }
    failure
}

/// Prints what came of a plan.
pub(super) fn print(context: Context<'_>, result: &ResultDocument, shown: Shown) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        output.document(result);
    } else {
        // Who has seen every step in a picture needs no table of them.
        let is_seen = shown == Shown::Steps && output.shows_pictures();
        output.narrative(result);
        if !is_seen {
            output.steps(result);
        }
        if shown == Shown::Nothing {
            output.warnings(result);
        }
        output.verdict(result);
    }
    if result.success { Ok(()) } else { Err(Failure::reported()) }
}
