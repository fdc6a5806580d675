//! What the store in memory keeps and how it changes. Knows nothing of locks or waiting.

use std::collections::BTreeMap;

use artel_model::access::{KnownTeams, UserId};
use artel_model::catalog::AuditEntry;
use artel_model::data_scope::OwnerKey;
use artel_model::health::{Counted, count};
use artel_model::id::{ExecutionId, RunId};
use artel_model::name::SkillName;
use artel_model::run::{ExecutionRecord, RunSummary, StampedEvent};
use artel_model::time::Timestamp;

use super::agents::AgentTable;
use super::custom::CustomTable;
use super::hubs::HubTable;
use super::keys::KeyTable;
use super::mail::MailTables;
use super::scans::ScanTables;
use super::trail::TrailTable;
use super::waits::WaitTable;
use crate::health::{HealthCount, ProbeClaim, SkillFiles};
use crate::run::{
    AppendError, Claim, ClaimError, Created, Fence, HealthChange, LoggedEvent, NewRun, OwnerId, Revision,
    RunAppend, RunRow,
};

/// Everything that is kept.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) runs: BTreeMap<RunId, KeptRun>,
    pub(super) executions: BTreeMap<ExecutionId, ExecutionRecord>,
    /// By skill and the hash of its files.
    health: BTreeMap<(SkillName, String), BTreeMap<OwnerKey, Counted>>,
    /// Which run tries some files again, and until when it has that for itself.
    probes: BTreeMap<(SkillFiles, Timestamp), (RunId, Timestamp)>,
    keys: BTreeMap<String, RunId>,
    pub(super) agents: AgentTable,
    pub(super) mail: MailTables,
    pub(super) waits: WaitTable,
    pub(super) custom: CustomTable,
    pub(super) hubs: HubTable,
    pub(super) keys_of_users: KeyTable,
    pub(super) people: BTreeMap<UserId, KnownTeams>,
    pub(super) scans: ScanTables,
    /// The audit log, in the order in which it was written.
    pub(super) audit: Vec<AuditEntry>,
    pub(super) trail: TrailTable,
    /// The number and the hash of the catalog.
    pub(super) generation: Option<(u64, String)>,
    /// Counts the writes.
    pub(super) version: u64,
}

/// A run and its log.
#[derive(Debug)]
pub(super) struct KeptRun {
    pub(super) summary: RunSummary,
    events: Vec<StampedEvent>,
    owner: Option<OwnerId>,
    fence: Fence,
}

impl KeptRun {
    fn revision(&self) -> Revision {
        Revision(self.events.len() as u64)
    }

    pub(super) fn row(&self) -> RunRow {
        RunRow {
            summary: self.summary.clone(),
            revision: self.revision(),
            owner: self.owner.clone(),
            fence: self.fence,
        }
    }
}

impl Tables {
    pub(super) fn create(&mut self, run: NewRun) -> Created {
        let id = run.summary.run_id;
        let kept = run.idempotency_key.as_ref().and_then(|key| self.keys.get(key)).copied();
        if let Some(existing) = kept.or_else(|| self.runs.contains_key(&id).then_some(id)) {
            return Created::Existing(existing);
        }
        if let Some(key) = run.idempotency_key {
            self.keys.insert(key, id);
        }
        let fence = Fence(u64::from(run.owner.is_some()));
        self.runs.insert(id, KeptRun { summary: run.summary, events: run.events, owner: run.owner, fence });
        self.version += 1;
        Created::New
    }

    pub(super) fn append(&mut self, append: RunAppend) -> Result<Revision, AppendError> {
        let run = self.runs.get_mut(&append.run).ok_or(AppendError::Unknown)?;
        if append.fence.is_some_and(|fence| fence != run.fence) {
            return Err(AppendError::Fenced);
        }
        if append.expected != run.revision() {
            return Err(AppendError::Conflict { actual: run.revision() });
        }
        run.events.extend(append.events);
        if let Some(summary) = append.summary {
            run.summary = summary;
        }
        let revision = run.revision();
        let records = append.executions.into_iter().map(|record| (record.execution_id, record));
        self.executions.extend(records);
        for change in append.health {
            self.change_health(change);
        }
        self.version += 1;
        Ok(revision)
    }

    fn change_health(&mut self, change: HealthChange) {
        let files = (change.skill, change.content_hash);
        let counted = self.health.entry(files.clone()).or_default();
        count(counted, &change.principal, change.outcome, change.at);
        if counted.is_empty() {
            self.health.remove(&files);
        }
    }

    pub(super) fn events(&self, run: RunId, after: Revision, limit: usize) -> Vec<LoggedEvent> {
        let Some(run) = self.runs.get(&run) else { return Vec::new() };
        let numbered = (1..).map(Revision).zip(&run.events);
        numbered
            .skip(usize::try_from(after.0).unwrap_or(usize::MAX))
            .take(limit)
            .map(|(revision, event)| LoggedEvent { revision, event: event.clone() })
            .collect()
    }

    pub(super) fn claim(&mut self, claim: Claim) -> Result<Fence, ClaimError> {
        let run = self.runs.get_mut(&claim.run).ok_or(ClaimError::Unknown)?;
        if run.fence != claim.seen {
            return Err(ClaimError::Taken);
        }
        run.fence = Fence(run.fence.0 + 1);
        run.owner = Some(claim.owner);
        self.version += 1;
        Ok(run.fence)
    }

    pub(super) fn prune(&mut self, before: Timestamp) -> u64 {
        let ended = |run: &KeptRun| run.summary.completed_at.is_some_and(|at| at < before);
        let count = self.runs.len();
        self.runs.retain(|_, run| !ended(run));
        let removed = (count - self.runs.len()) as u64;
        if removed > 0 {
            self.keys.retain(|_, run| self.runs.contains_key(run));
            self.executions.retain(|_, record| self.runs.contains_key(&record.run_id));
            self.version += 1;
        }
        removed
    }

    pub(super) fn health_counts(&self) -> Vec<HealthCount> {
        let of_files = |((skill, content_hash), counted): (&(SkillName, String), &BTreeMap<_, _>)| {
            let row = |(principal, counted): (&OwnerKey, &Counted)| HealthCount {
                skill: skill.clone(),
                content_hash: content_hash.clone(),
                principal: principal.clone(),
                counted: *counted,
            };
            counted.iter().map(row).collect::<Vec<_>>()
        };
        self.health.iter().flat_map(of_files).collect()
    }

    pub(super) fn reset_health(&mut self, skill: &SkillName, content_hash: Option<&str>) {
        let before = self.health.len();
        self.health.retain(|(name, hash), _| name != skill || content_hash.is_some_and(|only| only != hash));
        let is_about = |files: &SkillFiles| {
            files.skill == *skill && content_hash.is_none_or(|only| only == files.content_hash)
        };
        self.probes.retain(|(files, _), _| !is_about(files));
        if self.health.len() < before {
            self.version += 1;
        }
    }

    pub(super) fn claim_probe(&mut self, claim: ProbeClaim) -> bool {
        let ProbeClaim { files, since, run, now, until } = claim;
        self.probes.retain(|(known, at), (_, ends)| *known != files || *at >= since || *ends > now);
        match self.probes.get(&(files.clone(), since)) {
            Some((holder, ends)) if *ends > now && *holder != run => false,
            Some(_) | None => {
                self.probes.insert((files, since), (run, until));
                true
            }
        }
    }

    pub(super) fn prune_health(&mut self, files: &[SkillFiles], before: Timestamp) {
        for SkillFiles { skill, content_hash } in files {
            let key = (skill.clone(), content_hash.clone());
            let Some(counted) = self.health.get_mut(&key) else { continue };
            let rows = counted.len();
            counted.retain(|_, known| known.at >= before);
            self.version += u64::from(counted.len() < rows);
            if counted.is_empty() {
                self.health.remove(&key);
            }
        }
        self.probes.retain(|_, (_, until)| *until >= before);
    }
}
