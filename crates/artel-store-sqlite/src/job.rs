//! A change of any kind and who waits for its answer, so that many kinds fit into one queue and one transaction.

use std::sync::Arc;

use artel_store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::change::Change;
use crate::effort::Effort;
use crate::failure::store_error;

/// A change of any kind.
pub(crate) trait Job: Send {
    /// Returns how much work it is; always the same.
    fn effort(&self) -> Effort;
    /// Makes it inside a transaction; it may be made again after a rollback.
    fn apply(&mut self, connection: &Connection) -> rusqlite::Result<()>;
    /// Answers with what came of the change, which is written.
    fn succeed(self: Box<Self>);
    /// Answers that nothing was written.
    fn fail(self: Box<Self>, error: &rusqlite::Error);
}

/// A change that waits to be made.
pub(crate) struct Pending<C: Change> {
    pub(crate) change: C,
    pub(crate) outcome: Option<C::Answer>,
    pub(crate) reply: oneshot::Sender<Result<C::Answer, StoreError>>,
    pub(crate) path: Arc<str>,
}

impl<C: Change> Job for Pending<C> {
    fn effort(&self) -> Effort {
        self.change.effort()
    }

    fn apply(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.outcome = Some(self.change.apply(connection)?);
        Ok(())
    }

    fn succeed(self: Box<Self>) {
        let outcome = self.outcome.expect("a change is made before it is answered");
        // Who asked may have gone; the change stays.
        let _ = self.reply.send(Ok(outcome));
    }

    fn fail(self: Box<Self>, error: &rusqlite::Error) {
        let what = format!("{} in `{}`", C::WHAT, self.path);
        let _ = self.reply.send(Err(store_error(&what, error)));
    }
}
