//! Waits for the end of a run, wherever it is driven, while a person watches and may press Ctrl-C.

use std::time::Duration;

use artel_api::runs::StartedRun;
use artel_engine::{Clock, Command};
use artel_model::id::RunId;
use artel_model::run::{ResultDocument, Run};
use artel_store::LoggedEvent;

use super::log::run_event;
use super::open::Backend;
use super::run_history::RunHistory;
use super::runs::{is_left_over, is_over};
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Shown, Watching};
use crate::runtime::Interrupts;

/// How often a picture is drawn, in milliseconds.
const FRAME_MS: u64 = 100;
/// How often to look whether the process that drives a run is alive, in milliseconds.
const ALIVE_MS: u64 = 500;
/// The same for a run at a server, which is asked every time.
const ALIVE_REMOTE_MS: u64 = 2_000;
/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// What came of a run.
pub(crate) struct Carried {
    pub(crate) run: Run,
    pub(crate) result: ResultDocument,
}

impl Backend {
    /// Begins a run and waits for its end. Ctrl-C cancels it; a second one leaves it.
    pub(crate) async fn carry_out(
        &self,
        context: Context<'_>,
        begin: impl Future<Output = Result<StartedRun, Failure>>,
        shown: Shown,
    ) -> Result<Carried, Failure> {
        // From here on Ctrl-C is heard, so that nothing is begun that cannot be ended cleanly.
        let interrupts = Interrupts::listen()?;
        let StartedRun { run_id, repeated, .. } = begin.await?;
        let run_history = self.wait_for_run(context, run_id, repeated, shown, interrupts).await;
        let run_history = run_history.map_err(|failure| self.recoverable(failure))?;
        // A failure to prune does not fail the run.
        if let Err(failure) = self.prune_as_configured(context).await {
            context.output.talk(&format!("old runs were not removed: {}", failure.message));
        }
        let (run, result) = self.run_result(run_history).await?;
        Ok(Carried { run, result })
    }

    /// Says how to go on with a run that this process drove and lost.
    fn recoverable(&self, failure: Failure) -> Failure {
        match self {
            Self::Local(_) if failure.hint.is_none() => {
                failure.hint("`artel run recover` goes on with what was begun")
            }
            Self::Local(_) | Self::Remote(_) => failure,
        }
    }

    /// Waits for the end of a run that was begun.
    pub(super) async fn wait_for_run(
        &self,
        context: Context<'_>,
        run: RunId,
        is_repeated: bool,
        shown: Shown,
        interrupts: Interrupts,
    ) -> Result<RunHistory, Failure> {
        let mut watching = Watching::new(context.output, shown);
        let run_history = if is_repeated {
            context.output.talk(&format!("run {run} was asked for with this key before"));
            let take = |logged: Option<&LoggedEvent>| match logged {
                Some(logged) => watching.note(run, &logged.event),
                None => watching.draw(Clock::system().now()),
            };
            self.watch_run(run, take, interrupts).await?
        } else {
            self.to_the_end_of(context, run, &mut watching, interrupts).await?
        };
        watching.end(Clock::system().now());
        Ok(run_history)
    }

    /// Waits for the end of a run that was begun for this command.
    async fn to_the_end_of(
        &self,
        context: Context<'_>,
        run: RunId,
        watching: &mut Watching<'_>,
        mut interrupts: Interrupts,
    ) -> Result<RunHistory, Failure> {
        let mut run_history = RunHistory::new(run);
        let mut events = self.follow_run(run).await?;
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        loop {
            tokio::select! {
                line = events.next_line() => {
                    let Some(line) = line? else { return self.ended(run, run_history).await };
                    let LoggedEvent { event, .. } = run_event(line)?;
                    run_history.note(&event);
                    if watching.is_live() {
                        watching.note(run, &event);
                    }
                }
                _ = frames.tick(), if watching.is_drawn() => watching.draw(Clock::system().now()),
                () = interrupts.next() => self.cancel_or_leave(context, run, watching).await?,
            }
        }
    }

    /// Returns the log of a run that came to its end; a stream that ends before the run means that nothing drives it here.
    async fn ended(&self, run: RunId, run_history: RunHistory) -> Result<RunHistory, Failure> {
        let status = self.run(run).await?;
        match status.filter(|status| !status.state.is_final()) {
            None => Ok(run_history),
            Some(_) => Err(Failure::missing(format!("run {run} is not driven here any more"))
                .hint("`artel run recover` goes on with it")),
        }
    }

    /// The first time the run is cancelled, the second time it is left.
    async fn cancel_or_leave(
        &self,
        context: Context<'_>,
        run: RunId,
        watching: &mut Watching<'_>,
    ) -> Result<(), Failure> {
        if watching.is_interrupted() {
            watching.stand_aside();
            return Err(match self {
                Self::Local(_) => {
                    Failure::failed(format!("run {run} was left unfinished; everything it ran is killed"))
                        .hint("`artel run recover` goes on with it")
                }
                Self::Remote(_) => {
                    Failure::failed(format!("stopped waiting; the server goes on ending run {run}"))
                        .hint(format!("`artel run show {run}` says how it ended"))
                }
            });
        }
        watching.interrupted();
        watching.stand_aside();
        context.output.talk(match self {
            Self::Local(_) => "cancelling; once more kills everything and leaves the run as it is",
            Self::Remote(_) => "cancelling; once more stops waiting, and the server goes on ending the run",
        });
        match self.command_run(run, &Command::Cancel).await {
            Ok(_) => Ok(()),
            // It was faster.
            Err(error) if is_over(&error) => Ok(()),
            Err(error) => Err(Failure::from(error).hint(match self {
                Self::Local(_) => "`artel run recover` goes on with what was begun",
                Self::Remote(_) => "the run goes on at the server; `artel run cancel` ends it",
            })),
        }
    }

    /// Removes what ended too long ago, when the configuration of this data folder says so.
    async fn prune_as_configured(&self, context: Context<'_>) -> Result<(), Failure> {
        let (Self::Local(_), Some(days)) = (self, context.config.retention_days.value) else { return Ok(()) };
        self.prune_runs(Clock::system().now() - u64::from(days) * DAY_MS).await?;
        Ok(())
    }

    /// Follows a run that another process began to its end, as long as a living process drives it. What happens is handed
    /// on, and also, now and then, that nothing did. Ctrl-C only stops the watching.
    pub(crate) async fn watch_run(
        &self,
        run: RunId,
        mut take: impl FnMut(Option<&LoggedEvent>),
        mut interrupts: Interrupts,
    ) -> Result<RunHistory, Failure> {
        let mut run_history = RunHistory::new(run);
        let mut events = self.follow_run(run).await?;
        let mut looks = tokio::time::interval(Duration::from_millis(match self {
            Self::Local(_) => ALIVE_MS,
            Self::Remote(_) => ALIVE_REMOTE_MS,
        }));
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        let mut was_left_over = false;
        loop {
            tokio::select! {
                biased;
                line = events.next_line() => {
                    let Some(line) = line? else { return Ok(run_history) };
                    let logged = run_event(line)?;
                    run_history.note(&logged.event);
                    take(Some(&logged));
                }
                _ = looks.tick() => {
                    // The process that ends a run is alive until the end is written, so a second look finds the end that
                    // the first one missed.
                    let left_over = self.run(run).await?.is_none_or(|found| is_left_over(&found));
                    if left_over && was_left_over {
                        return Err(Failure::failed(format!("no process drives run {run} any more")).hint(match self {
                            Self::Local(_) => "`artel run recover` goes on with it",
                            Self::Remote(_) => "the server goes on with it when it starts again",
                        }));
                    }
                    was_left_over = left_over;
                }
                _ = frames.tick() => take(None),
                () = interrupts.next() => {
                    return Err(Failure::failed(format!("stopped watching; run {run} goes on")));
                }
            }
        }
    }
}
