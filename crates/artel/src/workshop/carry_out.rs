//! Runs something and waits for its end, while somebody watches and may press Ctrl-C.

use std::time::Duration;

use artel_engine::{Clock, Command, CommandError, FollowError, SubmitError, Submitted};
use artel_model::id::RunId;
use artel_model::run::{ResultDocument, Run, RunSummary, StampedEvent, Submission};
use artel_store::{LoggedEvent, Revision};

use super::interrupts::Interrupts;
use super::open::{Workshop, person, store_failed};
use super::prune::prune;
use super::shelf::failed_for_good;
use super::store::Store;
use super::story::Story;
use super::teller::is_driven;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::output::{Shown, Watching};

/// How often a picture is drawn, in milliseconds.
const FRAME_MS: u64 = 100;
/// How often to look whether the process that drives a run is alive, in milliseconds.
const ALIVE_MS: u64 = 500;
/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// What came of a run.
pub(crate) struct Carried {
    pub(crate) run: Run,
    pub(crate) result: ResultDocument,
}

/// Runs something to its end. Ctrl-C cancels it; a second one leaves it as it is.
pub(crate) async fn carry_out(
    context: Context<'_>,
    workshop: &Workshop,
    submission: Submission,
    key: Option<String>,
    shown: Shown,
) -> Result<Carried, Failure> {
    // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
    let interrupts = Interrupts::listen()?;
    let submitted = workshop.engine.submit(submission, key).await.map_err(|error| not_submitted(&error))?;
    let mut watching = Watching::new(context.output, shown);
    let story = match submitted {
        Submitted::New(run) => drive_to_its_end(context, workshop, run, &mut watching, interrupts).await?,
        Submitted::Existing(run) => {
            context.output.talk(&format!("run {run} was asked for with this key before"));
            let follow = Follower { context, engine: &workshop.engine, store: &workshop.store };
            let take = |logged: Option<&LoggedEvent>| match logged {
                Some(logged) => watching.note(run, &logged.event),
                None => watching.draw(Clock::system().now()),
            };
            follow.to_its_end(run, take, interrupts).await?
        }
    };
    watching.end(Clock::system().now());
    // What was asked for is done, whatever becomes of what is old.
    if let Err(failure) = keep_as_configured(context, &workshop.store).await {
        context.output.talk(&format!("old runs were not removed: {}", failure.message));
    }
    let (run, result) = story.result(&failed_for_good(&workshop.store).await?)?;
    Ok(Carried { run, result })
}

/// Waits for the end of a run that is driven here.
async fn drive_to_its_end(
    context: Context<'_>,
    workshop: &Workshop,
    run: RunId,
    watching: &mut Watching<'_>,
    mut interrupts: Interrupts,
) -> Result<Story, Failure> {
    if !watching.is_live() {
        loop {
            tokio::select! {
                over = workshop.engine.wait(run) => {
                    over.map_err(|error| stopped(run, &error))?;
                    return Story::read(&*workshop.store.runs, run).await;
                }
                () = interrupts.next() => cancel_or_leave(context, workshop, run, watching).await?,
            }
        }
    }
    let mut story = Story::new(run);
    let mut follow = workshop.engine.follow(run, Revision(0));
    let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
    loop {
        tokio::select! {
            batch = follow.next() => {
                let batch = batch.map_err(|error| stopped(run, &error))?;
                if batch.is_empty() {
                    return Ok(story);
                }
                for LoggedEvent { event, .. } in &batch {
                    take(&mut story, watching, run, event);
                }
            }
            _ = frames.tick(), if watching.is_drawn() => watching.draw(Clock::system().now()),
            () = interrupts.next() => cancel_or_leave(context, workshop, run, watching).await?,
        }
    }
}

fn take(story: &mut Story, watching: &mut Watching<'_>, run: RunId, event: &StampedEvent) {
    story.note(event);
    watching.note(run, event);
}

/// The first time the run is cancelled, the second time it is left.
async fn cancel_or_leave(
    context: Context<'_>,
    workshop: &Workshop,
    run: RunId,
    watching: &mut Watching<'_>,
) -> Result<(), Failure> {
    if watching.is_interrupted() {
        watching.stand_aside();
        return Err(Failure::failed(format!("run {run} was left unfinished; everything it ran is killed"))
            .hint("`artel run recover` goes on with it"));
    }
    watching.interrupted();
    watching.stand_aside();
    context.output.talk("cancelling; once more kills everything and leaves the run as it is");
    let by = person(&context.config.environment);
    match workshop.engine.command(run, &Command::Cancel, by).await {
        // It was faster.
        Ok(_) | Err(CommandError::Over(_)) => Ok(()),
        Err(
            error @ (CommandError::Unknown(_)
            | CommandError::NotNow { .. }
            | CommandError::NotAwaiting { .. }
            | CommandError::Drive(_)),
        ) => Err(store_failed(&error)),
    }
}

fn not_submitted(error: &SubmitError) -> Failure {
    match error {
        SubmitError::KeyTaken { run, .. } => Failure::usage(chain(error))
            .hint(format!("give another `--key`, or look at the earlier run with `artel run show {run}`")),
        SubmitError::Store(_) => store_failed(error),
    }
}

fn stopped(run: RunId, error: &FollowError) -> Failure {
    Failure::missing(format!("run {run}: {}", chain(error))).hint("`artel run recover` goes on with it")
}

/// Removes what ended too long ago, when the configuration says so.
async fn keep_as_configured(context: Context<'_>, store: &Store) -> Result<(), Failure> {
    let Some(days) = context.config.retention_days.value else { return Ok(()) };
    let before = Clock::system().now() - u64::from(days) * DAY_MS;
    prune(context, store, before).await?;
    Ok(())
}

/// Follows a run that somebody else drives.
pub(crate) struct Follower<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) engine: &'a artel_engine::Engine,
    pub(crate) store: &'a Store,
}

impl Follower<'_> {
    /// Follows the run to its end, as long as somebody alive drives it. What happens is handed on, and also, now and
    /// then, that nothing did. Ctrl-C only stops the watching.
    pub(crate) async fn to_its_end(
        &self,
        run: RunId,
        mut take: impl FnMut(Option<&LoggedEvent>),
        mut interrupts: Interrupts,
    ) -> Result<Story, Failure> {
        let mut story = Story::new(run);
        let mut follow = self.engine.follow(run, Revision(0));
        let mut looks = tokio::time::interval(Duration::from_millis(ALIVE_MS));
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        let mut is_left_over = false;
        loop {
            tokio::select! {
                biased;
                batch = follow.next() => {
                    let batch = batch.map_err(|error| stopped(run, &error))?;
                    if batch.is_empty() {
                        return Ok(story);
                    }
                    for logged in &batch {
                        story.note(&logged.event);
                        take(Some(logged));
                    }
                }
                _ = looks.tick() => {
                    // Who ends a run is alive until it is written, so a second look finds the end that the first missed.
                    let left_over = !self.is_over_or_driven(run).await?;
                    if left_over && is_left_over {
                        return Err(Failure::failed(format!("nobody drives run {run} any more"))
                            .hint("`artel run recover` goes on with it"));
                    }
                    is_left_over = left_over;
                }
                _ = frames.tick() => take(None),
                () = interrupts.next() => {
                    return Err(Failure::failed(format!("stopped watching; run {run} goes on")));
                }
            }
        }
    }

    async fn is_over_or_driven(&self, run: RunId) -> Result<bool, Failure> {
        let row = self.store.runs.run(run).await.map_err(|error| Failure::unavailable(&error))?;
        let is_over = |summary: &RunSummary| summary.state.is_final();
        Ok(row.is_some_and(|row| is_over(&row.summary) || is_driven(self.context, &row)))
    }
}
