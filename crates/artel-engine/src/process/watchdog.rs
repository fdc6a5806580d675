//! Watches what the kernel's limits cannot see: how much a whole tree of processes uses together. Decides; the launcher
//! kills. A process that ends within a few milliseconds costs nothing here.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::exit::{Limit, LimitReached};
use super::folder::{DEPTH_MAX, FolderMeasure, Progress};
use super::request::ProcessLimits;
use super::tree::{self, TreeUsage};
use super::unnamed;

/// The age at which a process is looked at for the first time, and the time between looks.
pub(super) const WATCH_MS: u64 = 50;
/// How long open files may be where they cannot be counted: on their way from one process to another.
const HIDDEN_S_MAX: u64 = 1;
/// A measurement may take this share of the launcher's time.
const REST_FACTOR: u32 = 20;

/// What is known of one tree of processes.
#[derive(Debug)]
pub(super) struct Watch {
    limits: ProcessLimits,
    folders: Vec<PathBuf>,
    next: Instant,
    folder: Option<FolderMeasure>,
    folder_began: Instant,
    folder_next: Instant,
    memory_next: Instant,
    /// Since when files may be held that cannot be counted.
    hidden_since: Option<Instant>,
}

impl Watch {
    /// Begins to watch a process that has just started.
    pub(super) fn begin(now: Instant, limits: ProcessLimits, folders: Vec<PathBuf>) -> Self {
        let next = now + Duration::from_millis(WATCH_MS);
        Self {
            limits,
            folders,
            next,
            folder: None,
            folder_began: now,
            folder_next: next,
            memory_next: next,
            hidden_since: None,
        }
    }

    /// Returns when the next look is due.
    pub(super) fn due(&self) -> Instant {
        self.next
    }

    /// Looks at a tree, given its roots and a clock, and returns the limit that it has reached.
    pub(super) fn look(&mut self, roots: Vec<i32>, clock: impl Fn() -> Instant) -> Option<LimitReached> {
        let began = clock();
        let usage = tree::measure(roots, self.limits.processes);
        let reached = self.by_tree(&usage, &clock).or_else(|| self.by_folder(&usage, &clock));
        let ended = clock();
        self.next = ended + rest(ended - began).max(Duration::from_millis(WATCH_MS));
        reached
    }

    fn by_tree(&mut self, usage: &TreeUsage, clock: &impl Fn() -> Instant) -> Option<LimitReached> {
        let limits = &self.limits;
        if usage.tasks > limits.processes {
            return Some(LimitReached { limit: Limit::Processes, allowed: limits.processes });
        }
        if usage.cpu_ms > limits.cpu_s.saturating_mul(1000) {
            return Some(LimitReached { limit: Limit::Cpu, allowed: limits.cpu_s });
        }
        let began = clock();
        if usage.memory_bytes <= limits.memory_bytes || began < self.memory_next {
            return None;
        }
        // Forked processes share memory until they write, so the quick sum is only a suspicion.
        let exact = tree::proportional_memory_bytes(&usage.pids);
        self.memory_next = clock() + rest(clock() - began);
        let reached = LimitReached { limit: Limit::Memory, allowed: limits.memory_bytes };
        (exact > limits.memory_bytes).then_some(reached)
    }

    fn by_folder(&mut self, usage: &TreeUsage, clock: &impl Fn() -> Instant) -> Option<LimitReached> {
        let now = clock();
        if self.folders.is_empty() || now < self.folder_next {
            return None;
        }
        let folders = &self.folders;
        let mut measure = self.folder.take().unwrap_or_else(|| {
            self.folder_began = now;
            FolderMeasure::begin(folders.clone())
        });
        let bytes = match measure.step() {
            Progress::AtLeast(bytes) => {
                self.folder = Some(measure);
                bytes
            }
            Progress::TooDeep => {
                let allowed = u64::try_from(DEPTH_MAX).unwrap_or(u64::MAX);
                return Some(LimitReached { limit: Limit::FolderDepth, allowed });
            }
            Progress::Total(bytes) => {
                let unnamed = unnamed::measure(&usage.pids, self.limits.file_bytes);
                let ended = clock();
                self.folder_next = ended + (ended - self.folder_began);
                if self.is_hidden_too_long(unnamed.hidden, ended) {
                    return Some(LimitReached { limit: Limit::HiddenFiles, allowed: HIDDEN_S_MAX });
                }
                bytes.saturating_add(unnamed.bytes)
            }
        };
        let reached = LimitReached { limit: Limit::Folder, allowed: self.limits.folder_bytes };
        (bytes > self.limits.folder_bytes).then_some(reached)
    }

    /// Files that are handed from one process to another are out of sight for a moment; those that stay so are hidden.
    fn is_hidden_too_long(&mut self, hidden: bool, now: Instant) -> bool {
        self.hidden_since = if hidden { self.hidden_since.or(Some(now)) } else { None };
        self.hidden_since.is_some_and(|since| now - since >= Duration::from_secs(HIDDEN_S_MAX))
    }
}

fn rest(work: Duration) -> Duration {
    work * REST_FACTOR
}
