//! What can go wrong with a store, whatever it is made of.

use std::error::Error;

/// The store could not do what was asked; nothing was half written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached or opened just then; trying again may help.
    #[error("the store cannot be reached: {what}")]
    Unavailable {
        /// What was tried.
        what: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is no space left.
    #[error("the store is full: {what}")]
    Full {
        /// What was tried.
        what: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// What was written last may be lost, and what this process remembers with it: only another process can go on, from
    /// what is there.
    #[error("the store may have lost what was written last: {what}")]
    Lost {
        /// What was tried.
        what: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// What is kept cannot be understood.
    #[error("the store is damaged: {what}")]
    Corrupt {
        /// What was read.
        what: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// It was written by a later version of artel.
    #[error("the store has version {found}, this artel knows {known}: use the newer artel that wrote it")]
    TooNew {
        /// Its version.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// Somebody asked for the page after a place that no list of ours gave out.
    #[error("`{}` is not the end of a page", .cursor.escape_default())]
    UnknownCursor {
        /// The beginning of what was given.
        cursor: String,
    },
}
