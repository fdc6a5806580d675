//! The place in a trace that this task works at. A task that is spawned begins without one: whoever spawns it takes the place
//! along.

use std::sync::OnceLock;

use artel_model::trace::TraceParent;

tokio::task_local! {
    static CURRENT: Option<TraceParent>;
}

/// The place that the whole process was started at, by somebody who traces.
static OUTER: OnceLock<TraceParent> = OnceLock::new();

/// Returns the place in a trace that this task works at.
pub fn current() -> Option<TraceParent> {
    match CURRENT.try_with(|current| *current) {
        Ok(current) => current,
        Err(_) => OUTER.get().copied(),
    }
}

/// Does some work at a place in a trace.
pub async fn within<T>(place: Option<TraceParent>, work: impl Future<Output = T>) -> T {
    CURRENT.scope(place, work).await
}

/// Says which place the whole process was started at; the first who says so is believed.
pub fn set_outer(place: TraceParent) {
    let _ = OUTER.set(place);
}
