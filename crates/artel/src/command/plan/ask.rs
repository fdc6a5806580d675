//! `artel plan ask`.

use artel_api::plans::AskRequest;
use artel_catalog::Keep;
use artel_engine::planner::{AttemptOutcome, AttemptSummary};
use artel_model::id::StepId;
use artel_model::name::SkillName;

use super::planner::word;
use super::run::print;
use crate::backend::Backend;
use crate::cli::{AskArgs, GenerateArgs};
use crate::command::Context;
use crate::failure::Failure;
use crate::output::Shown;
use crate::runtime::{Shelf, wait_for};

pub(crate) fn ask(context: Context<'_>, args: &AskArgs) -> Result<(), Failure> {
    let shown = if args.watch { Shown::Steps } else { Shown::Nothing };
    let GenerateArgs { request, planner } = &args.what;
    let request =
        AskRequest { request: request.join(" "), timeout_ms: args.timeout, planner: word(*planner) };
    let answered = wait_for(async {
        let backend = match context.remote()? {
            Some(client) => Backend::Remote(client),
            None => Backend::open_to_work(context, Shelf::open(context, Keep::Instructions).await?).await?,
        };
        let answered = backend.ask(context, request, shown).await?;
        backend.close().await;
        Ok(answered)
    })?;
    tell_attempts(context, &answered.attempts);
    print(context, &answered.result, shown)
}

/// Says how it came to the answer, when it took more than one plan.
fn tell_attempts(context: Context<'_>, attempts: &[AttemptSummary]) {
    if attempts.len() < 2 && !context.output.verbose {
        return;
    }
    for attempt in attempts {
        let skills: Vec<&str> = attempt.skills.iter().map(SkillName::as_str).collect();
        let skills = if skills.is_empty() { "nothing".to_owned() } else { skills.join(", ") };
        let failed: Vec<&str> = attempt.failed_tools.iter().map(StepId::as_str).collect();
        let failed =
            if failed.is_empty() { String::new() } else { format!(" ({} failed)", failed.join(", ")) };
        let outcome = outcome(attempt.outcome);
        context.output.talk(&format!("attempt {}: {skills}: {outcome}{failed}", attempt.attempt));
        for note in &attempt.notes {
            context.output.talk(&format!("  {note}"));
        }
    }
}

fn outcome(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Success => "succeeded",
        AttemptOutcome::Failed(_) => "failed",
        AttemptOutcome::Invalid(_) => "could not be run",
        AttemptOutcome::NotPlanned => "there was no plan",
        AttemptOutcome::NothingLeft => "nothing is left to plan with",
    }
}
