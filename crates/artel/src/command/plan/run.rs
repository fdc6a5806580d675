//! `artel plan run`.

use std::num::NonZero;

use artel_api::client::Client;
use artel_api::plans::RunQuery;
use artel_catalog::Keep;
use artel_model::plan::{Plan, PlanProblem, read_plan_text, resolve_text};
use artel_model::run::{Deadlines, ResultDocument, Submission, SubmissionKind};
use serde_json::Map;

use super::read::{read_plan, refusal, refused};
use super::validate::check_there;
use crate::cli::PlanRunArgs;
use crate::command::Context;
use crate::desk::{Carried, NotBegun, carry_out, carry_out_there, fresh_key, run_plan};
use crate::failure::Failure;
use crate::output::Shown;
use crate::workshop::{Shelf, Workshop, wait_for};

pub(crate) fn run(context: Context<'_>, args: &PlanRunArgs) -> Result<(), Failure> {
    let text = read_plan(&args.file)?;
    let shown = if args.how.watch { Shown::Steps } else { Shown::Nothing };
    let carried = match context.remote()? {
        None => wait_for(run_here(context, args, &text, shown))?,
        Some(client) => wait_for(run_there(context, args, &client, &text, shown))?,
    };
    print(context, &carried.result, shown)
}

async fn run_here(
    context: Context<'_>,
    args: &PlanRunArgs,
    text: &str,
    shown: Shown,
) -> Result<Carried, Failure> {
    let shelf = Shelf::open(context, Keep::Descriptions).await?;
    let plan = match resolve_text(text, &*shelf.skills) {
        Ok(plan) => plan,
        Err(problems) => return Err(refuse(context, text, problems)),
    };
    let workshop = Workshop::open(context, shelf).await?;
    let slots = args.slots.map_or(context.config.run.value.slots, NonZero::get);
    let submission = submission(context, plan, args.how.timeout, slots);
    let carried = carry_out(context, &workshop, submission, args.how.key.clone(), shown).await?;
    workshop.close().await;
    Ok(carried)
}

async fn run_there(
    context: Context<'_>,
    args: &PlanRunArgs,
    client: &Client,
    text: &str,
    shown: Shown,
) -> Result<Carried, Failure> {
    let plan = match read_plan_text(text) {
        Ok((plan, twice)) if twice.is_empty() => plan,
        Ok(_) | Err(_) => {
            let problems = check_there(client, text).await?.err().unwrap_or_default();
            return Err(refuse(context, text, problems));
        }
    };
    let how = RunQuery { timeout_ms: args.how.timeout, slots: args.slots.map(NonZero::get) };
    let key = args.how.key.clone().unwrap_or_else(fresh_key);
    let begin = async {
        run_plan(client, &plan, &how, &key).await.map_err(|error| match error {
            NotBegun::Problems(problems) => refuse(context, text, problems),
            NotBegun::Failed(failure) => failure,
        })
    };
    carry_out_there(context, client, begin, shown).await
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

/// Makes of a plan what the engine is asked for.
pub(super) fn submission(
    context: Context<'_>,
    plan: Plan,
    timeout_ms: Option<u64>,
    slots: usize,
) -> Submission {
    Submission {
        kind: SubmissionKind::Plan,
        plan,
        state: Map::new(),
        deadlines: Deadlines { run_ms: timeout_ms.unwrap_or(context.config.run.value.deadline_ms) },
        slots,
        agent: None,
        policy: None,
        viewer: None,
        trace_parent: None,
    }
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
