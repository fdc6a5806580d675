//! `artel plan run`.

use std::num::NonZero;

use artel_catalog::Keep;
use artel_model::plan::{Plan, PlanProblem, resolve_text};
use artel_model::run::{Deadlines, ResultDocument, Submission, SubmissionKind};
use serde_json::Map;

use super::read::{read_plan, refusal, refused};
use crate::cli::PlanRunArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::Shown;
use crate::workshop::{Shelf, Workshop, carry_out, wait_for};

pub(crate) fn run(context: Context<'_>, args: &PlanRunArgs) -> Result<(), Failure> {
    let text = read_plan(&args.file)?;
    wait_for(async {
        let shelf = Shelf::open(context, Keep::Descriptions).await?;
        let plan = match resolve_text(&text, &*shelf.skills) {
            Ok(plan) => plan,
            Err(problems) => return Err(refuse(context, &text, problems)),
        };
        let workshop = Workshop::open(context, shelf).await?;
        let shown = if args.how.watch { Shown::Steps } else { Shown::Nothing };
        let slots = args.slots.map_or(context.config.run.value.slots, NonZero::get);
        let submission = submission(context, plan, args.how.timeout, slots);
        let carried = carry_out(context, &workshop, submission, args.how.key.clone(), shown).await?;
        workshop.close().await;
        print(context, &carried.result, shown)
    })
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
