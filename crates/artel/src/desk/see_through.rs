//! Sees a run through to its end, wherever it is driven, while somebody watches and may press Ctrl-C.

use std::future::Future;
use std::time::Duration;

use artel_api::client::Client;
use artel_api::runs::StartedRun;
use artel_engine::{Clock, Command, SubmitError, Submitted};
use artel_model::id::RunId;
use artel_model::run::{ResultDocument, Run, Submission};
use artel_store::LoggedEvent;

use super::runs::{CommandRefused, RunDesk};
use super::story::Story;
use crate::command::Context;
use crate::failure::{Failure, chain};
use crate::output::{Shown, Watching};
use crate::workshop::{Interrupts, Store, Workshop, prune, store_failed};

/// How often a picture is drawn, in milliseconds.
const FRAME_MS: u64 = 100;
/// How often to look whether the process that drives a run is alive, in milliseconds.
const ALIVE_MS: u64 = 500;
/// The same for a run at a server, which is asked every time.
const ALIVE_THERE_MS: u64 = 2_000;
/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// What came of a run.
pub(crate) struct Carried {
    pub(crate) run: Run,
    pub(crate) result: ResultDocument,
}

/// Runs something here to its end. Ctrl-C cancels it; a second one leaves it as it is.
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
    let desk = RunDesk::of(context, workshop);
    let story = see_through(context, &desk, submitted, shown, interrupts).await?;
    // What was asked for is done, whatever becomes of what is old.
    if let Err(failure) = keep_as_configured(context, &workshop.store).await {
        context.output.talk(&format!("old runs were not removed: {}", failure.message));
    }
    let (run, result) = desk.result(story).await?;
    Ok(Carried { run, result })
}

/// Lets a server begin something, and waits for its end. Ctrl-C cancels it; a second one leaves it to the server.
pub(crate) async fn carry_out_there(
    context: Context<'_>,
    client: &Client,
    begin: impl Future<Output = Result<StartedRun, Failure>>,
    shown: Shown,
) -> Result<Carried, Failure> {
    let interrupts = Interrupts::listen()?;
    let StartedRun { run_id, repeated, .. } = begin.await?;
    let submitted = if repeated { Submitted::Existing(run_id) } else { Submitted::New(run_id) };
    let desk = RunDesk::There(client.clone());
    let story = see_through(context, &desk, submitted, shown, interrupts).await?;
    let (run, result) = desk.result(story).await?;
    Ok(Carried { run, result })
}

/// Waits for the end of a run that was begun.
pub(super) async fn see_through(
    context: Context<'_>,
    desk: &RunDesk<'_>,
    submitted: Submitted,
    shown: Shown,
    interrupts: Interrupts,
) -> Result<Story, Failure> {
    let mut watching = Watching::new(context.output, shown);
    let story = match submitted {
        Submitted::New(run) => to_the_end_of(context, desk, run, &mut watching, interrupts).await?,
        Submitted::Existing(run) => {
            context.output.talk(&format!("run {run} was asked for with this key before"));
            let take = |logged: Option<&LoggedEvent>| match logged {
                Some(logged) => watching.note(run, &logged.event),
                None => watching.draw(Clock::system().now()),
            };
            desk.follow(run, take, interrupts).await?
        }
    };
    watching.end(Clock::system().now());
    Ok(story)
}

/// Waits for the end of a run that was begun for whoever waits.
async fn to_the_end_of(
    context: Context<'_>,
    desk: &RunDesk<'_>,
    run: RunId,
    watching: &mut Watching<'_>,
    mut interrupts: Interrupts,
) -> Result<Story, Failure> {
    if !watching.is_live() {
        loop {
            tokio::select! {
                story = desk.wait(run) => return story,
                () = interrupts.next() => cancel_or_leave(context, desk, run, watching).await?,
            }
        }
    }
    let mut story = Story::new(run);
    let mut trail = desk.trail(run).await?;
    let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
    loop {
        tokio::select! {
            batch = trail.next() => {
                let batch = batch?;
                if batch.is_empty() {
                    return Ok(story);
                }
                for LoggedEvent { event, .. } in &batch {
                    story.note(event);
                    watching.note(run, event);
                }
            }
            _ = frames.tick(), if watching.is_drawn() => watching.draw(Clock::system().now()),
            () = interrupts.next() => cancel_or_leave(context, desk, run, watching).await?,
        }
    }
}

/// The first time the run is cancelled, the second time it is left.
async fn cancel_or_leave(
    context: Context<'_>,
    desk: &RunDesk<'_>,
    run: RunId,
    watching: &mut Watching<'_>,
) -> Result<(), Failure> {
    if watching.is_interrupted() {
        watching.stand_aside();
        return Err(match desk {
            RunDesk::Here(..) => {
                Failure::failed(format!("run {run} was left unfinished; everything it ran is killed"))
                    .hint("`artel run recover` goes on with it")
            }
            RunDesk::There(_) => {
                Failure::failed(format!("stopped waiting; the server goes on ending run {run}"))
                    .hint(format!("`artel run show {run}` says how it ended"))
            }
        });
    }
    watching.interrupted();
    watching.stand_aside();
    context.output.talk(match desk {
        RunDesk::Here(..) => "cancelling; once more kills everything and leaves the run as it is",
        RunDesk::There(_) => "cancelling; once more stops waiting, and the server goes on ending the run",
    });
    match desk.tell(run, &Command::Cancel).await {
        // It was faster.
        Ok(_) | Err(CommandRefused::Over(_)) => Ok(()),
        Err(CommandRefused::Other(failure)) => Err(failure.hint(match desk {
            RunDesk::Here(..) => "`artel run recover` goes on with what was begun",
            RunDesk::There(_) => "the run goes on at the server; `artel run cancel` ends it",
        })),
    }
}

/// Says why a run was not begun.
pub(super) fn not_submitted(error: &SubmitError) -> Failure {
    match error {
        SubmitError::KeyTaken { run, .. } => Failure::usage(chain(error))
            .hint(format!("give another `--key`, or look at the earlier run with `artel run show {run}`")),
        SubmitError::ProbeTaken(skill) => {
            Failure::failed(chain(error)).hint(format!("`artel skill enable {skill}` lets every run try it"))
        }
        SubmitError::Closing | SubmitError::Store(_) => store_failed(error),
    }
}

/// Removes what ended too long ago, when the configuration says so.
async fn keep_as_configured(context: Context<'_>, store: &Store) -> Result<(), Failure> {
    let Some(days) = context.config.retention_days.value else { return Ok(()) };
    let before = Clock::system().now() - u64::from(days) * DAY_MS;
    prune(context, store, before).await?;
    Ok(())
}

impl RunDesk<'_> {
    /// Follows a run that somebody else began to its end, as long as somebody alive drives it. What happens is handed on,
    /// and also, now and then, that nothing did. Ctrl-C only stops the watching.
    pub(crate) async fn follow(
        &self,
        run: RunId,
        mut take: impl FnMut(Option<&LoggedEvent>),
        mut interrupts: Interrupts,
    ) -> Result<Story, Failure> {
        let mut story = Story::new(run);
        let mut trail = self.trail(run).await?;
        let mut looks = tokio::time::interval(Duration::from_millis(match self {
            Self::Here(..) => ALIVE_MS,
            Self::There(_) => ALIVE_THERE_MS,
        }));
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        let mut is_left_over = false;
        loop {
            tokio::select! {
                biased;
                batch = trail.next() => {
                    let batch = batch?;
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
                    let left_over = self.run(run).await?.is_none_or(|found| found.is_left_over());
                    if left_over && is_left_over {
                        return Err(Failure::failed(format!("nobody drives run {run} any more"))
                            .hint(self.who_goes_on()));
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

    fn who_goes_on(&self) -> &'static str {
        match self {
            Self::Here(..) => "`artel run recover` goes on with it",
            Self::There(_) => "the server goes on with it when it starts again",
        }
    }
}
