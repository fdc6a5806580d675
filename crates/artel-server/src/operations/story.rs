//! A run as its log tells it: its state, and what its scripts said.

use std::collections::BTreeSet;

use artel_model::id::RunId;
use artel_model::name::SkillName;
use artel_model::run::{ResultDocument, Run, Trace};
use artel_store::Revision;

use crate::app::App;
use crate::error::ApiError;

/// Events that are read at once.
const PAGE: usize = 1000;

/// Reads the whole log of a run, and makes its result document.
pub(super) async fn read_story(app: &App, id: RunId) -> Result<(Run, ResultDocument), ApiError> {
    let (mut run, mut trace): (Option<Run>, Trace) = (None, Trace::default());
    let mut after = Revision(0);
    loop {
        let page = app.stores().runs.events(id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.revision;
        for logged in &page {
            trace.note(&logged.event);
            match &mut run {
                None => run = Run::replay(id, [&logged.event]),
                Some(run) => {
                    run.apply(&logged.event);
                    // Who only looks keeps no records.
                    run.take_effects("");
                }
            }
        }
    }
    let run = run.ok_or_else(|| ApiError::not_found("run"))?;
    let failed = failed_for_good(app).await?;
    let result = trace.result(&run, |skill| failed.contains(skill));
    Ok((run, result))
}

/// Returns the skills that failed too often to be tried again.
async fn failed_for_good(app: &App) -> Result<BTreeSet<SkillName>, ApiError> {
    let health = app.stores().health.health().await?;
    Ok(health.into_iter().filter(|health| !health.health.is_usable()).map(|health| health.skill).collect())
}
