//! Waiting for a run on behalf of a call: its progress is told on the way, and cancelling the call cancels the run.

use std::collections::BTreeSet;
use std::time::Duration;

use artel_app::operations::command_run;
use artel_app::{App, OperationError};
use artel_engine::Command;
use artel_model::access::Principal;
use artel_model::id::RunId;
use artel_model::plan::StepIndex;
use artel_model::protocol::ToolEvent;
use artel_model::run::{RunEvent, RunState};
use artel_store::{LoggedEvent, Revision};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// What becomes of a run when the call that waits for it is cancelled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum WhenCancelled {
    /// The run is cancelled: the call had started it.
    CancelRun,
    /// It goes on: the call only looks at it.
    LeaveRun,
}

/// Waits until a run is over, stands still, or `patience` is at its end.
pub(super) async fn wait_for(
    app: &App,
    caller: &Principal,
    run: RunId,
    patience: Duration,
    context: &RequestContext<RoleServer>,
    when_cancelled: WhenCancelled,
) -> Result<(), OperationError> {
    let mut progress = Progress::new(context);
    tokio::select! {
        biased;
        () = context.ct.cancelled() => match when_cancelled {
            WhenCancelled::CancelRun => cancel(app, caller, run).await,
            WhenCancelled::LeaveRun => Ok(()),
        },
        followed = follow(app, run, &mut progress) => followed,
        () = tokio::time::sleep(patience) => Ok(()),
    }
}

async fn cancel(app: &App, caller: &Principal, run: RunId) -> Result<(), OperationError> {
    command_run(app, caller, run, &Command::Cancel).await.map(drop)
}

async fn follow(app: &App, run: RunId, progress: &mut Progress) -> Result<(), OperationError> {
    let mut follow = app.engine().follow(run, Revision(0));
    let lost = |error: artel_engine::FollowError| {
        tracing::debug!(%error, "a run cannot be followed any further");
        OperationError::unavailable(
            "run_not_followed",
            "The run cannot be followed any further; ask for it with get_run.",
        )
    };
    loop {
        let events = follow.next().await.map_err(lost)?;
        if events.is_empty() {
            return Ok(());
        }
        progress.note(&events);
        let row = follow.row().await.map_err(lost)?;
        progress.tell(row.summary.steps).await;
        match row.summary.state {
            // Nobody can say yes or go on over this protocol, so that waiting would be in vain.
            RunState::AwaitingApproval | RunState::Paused => return Ok(()),
            // The end is told by the log, which may hold more.
            RunState::Running
            | RunState::Stopping
            | RunState::Succeeded
            | RunState::Failed
            | RunState::Cancelled => {}
        }
    }
}

/// What a client is told about how far a run is.
struct Progress {
    /// Nobody is told who did not ask.
    listener: Option<(ProgressToken, Peer<RoleServer>)>,
    ended: BTreeSet<StepIndex>,
    /// What was told since the last step ended.
    told: u32,
    message: Option<String>,
}

impl Progress {
    fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let listener = token.map(|token| (token, context.peer.clone()));
        Self { listener, ended: BTreeSet::new(), told: 0, message: None }
    }

    fn note(&mut self, events: &[LoggedEvent]) {
        for logged in events {
            match &logged.event.event {
                RunEvent::Ended { step, .. } => {
                    if self.ended.insert(*step) {
                        self.told = 0;
                    }
                }
                RunEvent::Emitted { events, .. } => {
                    self.message = events.iter().rev().find_map(said).or(self.message.take());
                }
                RunEvent::Submitted(_)
                | RunEvent::Started { .. }
                | RunEvent::TimeReached
                | RunEvent::CancelRequested { .. }
                | RunEvent::PauseRequested { .. }
                | RunEvent::ResumeRequested { .. }
                | RunEvent::Approved { .. }
                | RunEvent::Rejected { .. }
                | RunEvent::Interrupted { .. } => {}
            }
        }
    }

    /// Tells how far the run is: steps that ended, and a part of a step that grows with everything that is told, because
    /// progress must grow.
    fn value(&self) -> f64 {
        let ended = u32::try_from(self.ended.len()).unwrap_or(u32::MAX);
        f64::from(ended) + f64::from(self.told) / f64::from(self.told + 1)
    }

    async fn tell(&mut self, steps: usize) {
        let Some((token, peer)) = &self.listener else { return };
        let total = f64::from(u32::try_from(steps).unwrap_or(u32::MAX));
        let mut notification = ProgressNotificationParam::new(token.clone(), self.value()).with_total(total);
        notification.message = self.message.take();
        // A client that went away is noticed by the call.
        let _ = peer.notify_progress(notification).await;
        self.told += 1;
    }
}

/// Returns what a script said that is worth telling.
fn said(event: &ToolEvent) -> Option<String> {
    match event {
        ToolEvent::Log { message, .. } => Some(message.clone()),
        ToolEvent::Error { error_message, .. } => Some(error_message.clone()),
        ToolEvent::StatePatch { .. }
        | ToolEvent::Asset { .. }
        | ToolEvent::UiEvent { .. }
        | ToolEvent::Done { .. } => None,
    }
}
