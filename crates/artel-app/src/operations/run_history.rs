//! A run as its log tells it: its state, and what its scripts said.

use artel_model::access::Viewer;
use artel_model::data_scope::OwnerKey;
use artel_model::id::RunId;
use artel_model::name::SkillName;
use artel_model::run::{ResultDocument, Run, Trace};
use artel_store::{Revision, SkillHealth, seen_health};

use crate::app::App;
use crate::error::OperationError;

/// Events that are read at once.
const PAGE: usize = 1000;

/// Reads the whole log of a run, and makes its result document.
pub(super) async fn read_history(app: &App, id: RunId) -> Result<(Run, ResultDocument), OperationError> {
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
    let run = run.ok_or_else(|| OperationError::not_found("run"))?;
    let failed = failed_for_good(app, run.submission().viewer.as_ref()).await?;
    let has_failed = |skill: &SkillName, hash: &str| {
        failed.iter().any(|failed| failed.skill == *skill && failed.content_hash == hash)
    };
    let result = trace.result(&run, has_failed);
    Ok((run, result))
}

/// Returns the skills that failed too often to be tried again by the owner of a run.
async fn failed_for_good(app: &App, owner: Option<&Viewer>) -> Result<Vec<SkillHealth>, OperationError> {
    let counts = app.stores().health.health_counts().await?;
    let key = OwnerKey::of(owner.map(|viewer| &viewer.user));
    let mut health = seen_health(&counts, &key, app.clock().now());
    health.retain(|health| !health.health.is_usable());
    Ok(health)
}
