//! `artel plan ask`.

use std::sync::Arc;

use artel_api::plans::Wish as AskWish;
use artel_catalog::Keep;
use artel_engine::planner::{
    Answer, AttemptOutcome, AttemptSummary, PlanRunner, Question, Ran, ReplanConfig, Replanner, RunVerdict,
};
use artel_model::id::{PlanId, StepId};
use artel_model::name::SkillName;
use artel_model::plan::{PlanDocument, resolve};
use artel_model::run::Run;
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use uuid::Uuid;

use super::planner::{kind, offered, word};
use super::run::{print, submission};
use crate::cli::{AskArgs, GenerateArgs};
use crate::command::Context;
use crate::desk::{self, carry_out};
use crate::failure::Failure;
use crate::output::Shown;
use crate::workshop::{Interrupts, Shelf, Workshop, planner, wait_for};

pub(crate) fn ask(context: Context<'_>, args: &AskArgs) -> Result<(), Failure> {
    let shown = if args.watch { Shown::Steps } else { Shown::Nothing };
    let (result, attempts) = match context.remote()? {
        None => {
            let answer = wait_for(ask_here(context, args, shown))?;
            (answer.result, answer.attempts)
        }
        Some(client) => {
            let GenerateArgs { request, planner } = &args.what;
            let wish =
                AskWish { request: request.join(" "), timeout_ms: args.timeout, planner: word(*planner) };
            let answered = wait_for(desk::ask(context, &client, &wish, shown))?;
            (answered.result, answered.attempts)
        }
    };
    tell_attempts(context, &attempts);
    print(context, &result, shown)
}

async fn ask_here(context: Context<'_>, args: &AskArgs, shown: Shown) -> Result<Answer, Failure> {
    let shelf = Shelf::open(context, Keep::Instructions).await?;
    let question = Question {
        text: args.what.request.join(" "),
        offers: offered(&shelf),
        disabled: std::collections::BTreeSet::new(),
        check: shelf.skills.clone(),
    };
    let workshop = Workshop::open(context, shelf).await?;
    let planner = planner(context, kind(context, args.what.planner), &workshop.launcher)?;
    let mut config = ReplanConfig::new(Arc::new(|| PlanId(Uuid::new_v4())));
    config.deadline_ms = args.timeout.unwrap_or(config.deadline_ms);
    let answer = answer(context, &workshop, &Replanner::new(planner, config), &question, shown).await?;
    workshop.close().await;
    Ok(answer)
}

/// Lets the loop ask for plans to be run, and runs them here: what is shown meanwhile stays on one thread.
async fn answer(
    context: Context<'_>,
    workshop: &Workshop,
    replanner: &Replanner,
    question: &Question,
    shown: Shown,
) -> Result<Answer, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let (sender, mut wishes) = mpsc::channel(1);
    let relay = Relay(sender);
    let mut answer = std::pin::pin!(replanner.answer(question, &relay));
    loop {
        tokio::select! {
            biased;
            answer = &mut answer => return Ok(answer),
            Some(Wish { document, deadline, reply }) = wishes.recv() => {
                let verdict = run(context, workshop, &document, deadline, shown).await?;
                // The loop waits for it.
                let _ = reply.send(verdict);
            }
            () = interrupts.next() => return Err(Failure::failed("stopped while planning")),
        }
    }
}

/// A plan to be run, and where to say what came of it.
struct Wish {
    document: PlanDocument,
    deadline: Instant,
    reply: oneshot::Sender<RunVerdict>,
}

struct Relay(mpsc::Sender<Wish>);

#[async_trait]
impl PlanRunner for Relay {
    async fn run(&self, document: PlanDocument, deadline: Instant) -> RunVerdict {
        let (reply, verdict) = oneshot::channel();
        let is_heard = self.0.send(Wish { document, deadline, reply }).await.is_ok();
        match verdict.await {
            Ok(verdict) if is_heard => verdict,
            // Nobody runs it any more, and nobody waits for the answer either.
            Ok(_) | Err(_) => std::future::pending().await,
        }
    }
}

async fn run(
    context: Context<'_>,
    workshop: &Workshop,
    document: &PlanDocument,
    deadline: Instant,
    shown: Shown,
) -> Result<RunVerdict, Failure> {
    let plan = match resolve(document, &*workshop.skills) {
        Ok(plan) => plan,
        Err(problems) => return Ok(RunVerdict::Invalid(problems)),
    };
    let settings = context.config.run.value;
    let left = deadline.saturating_duration_since(Instant::now()).as_millis();
    let timeout_ms = u64::try_from(left).unwrap_or(u64::MAX).clamp(1, settings.deadline_ms);
    let submission = submission(context, plan, Some(timeout_ms), settings.slots);
    let carried = carry_out(context, workshop, submission, None, shown).await?;
    Ok(RunVerdict::Ran(Box::new(Ran { tools: tools(&carried.run), result: carried.result })))
}

/// Returns the skill of every tool; of a composite it is the composite.
fn tools(run: &Run) -> Vec<(StepId, SkillName)> {
    let steps = run.plan().steps().iter().enumerate().filter(|(_, step)| step.scope.is_none());
    steps.map(|(index, step)| (step.id.clone(), run.skill(index).0.clone())).collect()
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
