//! The changes that wait, in order, and how many of them are written together.

use std::collections::VecDeque;

use crate::job::Job;

/// How many changes go into one transaction.
const BATCH_MAX: usize = 1024;
/// How many bytes of events and records go into one transaction, or those of a single change.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// How many changes, and how many bytes of them, are written in well below a millisecond.
const BRIEF_MAX: usize = 32;
const BRIEF_BYTES_MAX: usize = 64 << 10;

/// The changes that wait.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: VecDeque<Box<dyn Job>>,
    bytes: usize,
    /// How many of them may be long.
    long: usize,
}

impl Queue {
    /// Says whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Says whether all that waits is written so quickly that a caller may do it on its own thread.
    pub(crate) fn is_brief(&self) -> bool {
        self.long == 0 && self.jobs.len() <= BRIEF_MAX && self.bytes <= BRIEF_BYTES_MAX
    }

    /// Returns how many wait.
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Puts a change behind the others.
    pub(crate) fn push(&mut self, job: Box<dyn Job>) {
        let effort = job.effort();
        self.bytes += effort.bytes();
        self.long += usize::from(effort.is_long());
        self.jobs.push_back(job);
    }

    /// Moves the first changes into a batch until that is as large as a transaction may be; returns how many.
    pub(crate) fn fill(&mut self, batch: &mut Vec<Box<dyn Job>>) -> usize {
        let before = batch.len();
        let mut bytes: usize = batch.iter().map(|job| job.effort().bytes()).sum();
        while batch.len() < BATCH_MAX && bytes < BATCH_BYTES_MAX {
            let Some(job) = self.jobs.pop_front() else { break };
            let effort = job.effort();
            bytes += effort.bytes();
            self.bytes -= effort.bytes();
            self.long -= usize::from(effort.is_long());
            batch.push(job);
        }
        batch.len() - before
    }
}
