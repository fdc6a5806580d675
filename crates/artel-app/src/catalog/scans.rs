//! What scanners and administrators said, and scanning what nobody has scanned.

use std::collections::{BTreeMap, BTreeSet};

use artel_catalog::scan::{ENGINE, ENGINE_VERSION, ScanCopy, ScanOptions, Scanned, cisco, verdict_of_report};
use artel_catalog::shared::Sealed;
use artel_engine::scanner::SkillScanner;
use artel_model::catalog::{Override, SourceKind, VerdictRecord};
use artel_model::id::HubId;
use artel_model::limit::SCAN_PROGRAM_SKILLS_MAX;
use artel_model::time::Timestamp;
use artel_store::{ScanStore, StoreError};

use crate::metrics;

/// How often the second scanner is run before what somebody waits for is served; the rest waits for its turn.
const RUNS_MAX: usize = 4;

/// A skill of some source, to be scanned.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) about: Scanned,
    pub(super) sealed: Sealed,
}

/// Which skills are scanned again, whatever scanners said before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Rescan {
    /// None: only what nobody has scanned is.
    Nothing,
    /// The skill of that id.
    Skill(String),
    /// All skills of a hub.
    Hub(HubId),
}

/// What was said so far; a store that fails leaves what it said before.
#[derive(Default)]
pub(super) struct Scans {
    /// By the hash of what was scanned, and the scanner.
    verdicts: BTreeMap<(String, String), VerdictRecord>,
    overrides: Vec<Override>,
    failure: Option<String>,
    /// What the second scanner was asked about since this process began: what it failed at is not tried again and again.
    asked: BTreeSet<String>,
    /// What it is to be asked about again, whatever it said.
    again: BTreeSet<String>,
    waiting: usize,
}

impl Rescan {
    fn is_meant(&self, about: &Scanned) -> bool {
        match self {
            Self::Nothing => false,
            Self::Skill(id) => about.skill_id == *id,
            Self::Hub(id) => {
                about.source == SourceKind::Hub && about.source_id.as_deref() == Some(id.to_string().as_str())
            }
        }
    }
}

impl Scans {
    /// Reads what was said.
    pub(super) async fn read(&mut self, store: &dyn ScanStore) {
        match self.try_read(store).await {
            Ok(()) => self.failure = None,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "verdicts cannot be read");
                self.failure = Some("the store does not say what scanners found".to_owned());
            }
        }
    }

    async fn try_read(&mut self, store: &dyn ScanStore) -> Result<(), StoreError> {
        let verdicts = store.all_verdicts().await?;
        self.overrides = store.overrides().await?;
        self.verdicts = verdicts.into_iter().map(|verdict| (key(&verdict), verdict)).collect();
        Ok(())
    }

    /// Scans every skill whose files have no verdict by the rules of this version, or that is to be scanned again, and keeps
    /// the verdicts.
    pub(super) async fn scan_missing(
        &mut self,
        skills: &[Candidate],
        rescan: &Rescan,
        store: &dyn ScanStore,
        now: Timestamp,
    ) {
        let is_current =
            |verdict: &&VerdictRecord| verdict.engine == ENGINE && verdict.engine_version == ENGINE_VERSION;
        let mut known: BTreeSet<String> =
            self.verdicts.values().filter(is_current).map(|verdict| verdict.content_hash.clone()).collect();
        for skill in skills.iter().filter(|skill| rescan.is_meant(&skill.about)) {
            known.remove(&skill.about.content_hash);
            self.again.insert(skill.about.content_hash.clone());
        }
        for skill in skills {
            if !known.insert(skill.about.content_hash.clone()) {
                continue;
            }
            let Candidate { about, sealed } = skill.clone();
            let scanned = tokio::task::spawn_blocking(move || {
                verdict_of_report(&sealed.scan(&ScanOptions::default()), &about, now)
            });
            // A scanner that fails has said nothing.
            let Ok(verdict) = scanned.await else {
                tracing::error!(skill = skill.about.skill_id, "a scan failed; the skill stays unscanned");
                continue;
            };
            self.keep(verdict, store).await;
        }
    }

    /// Asks the second scanner about what somebody waits for: what people saved, and what is to be scanned again. The rest
    /// waits for its turn.
    pub(super) async fn ask(
        &mut self,
        scanner: &SkillScanner,
        skills: &[Candidate],
        store: &dyn ScanStore,
        now: Timestamp,
    ) {
        for _ in 0..RUNS_MAX {
            let mut unseen = self.unseen(scanner, skills);
            unseen.retain(|skill| {
                skill.about.source == SourceKind::AgentSkills
                    || self.again.contains(&skill.about.content_hash)
            });
            let together = akin(&unseen);
            if together.is_empty() {
                break;
            }
            let verdicts = scanner.scan(scan_copies(&together), now).await;
            self.said(verdicts, store).await;
        }
        self.leave_waiting(scanner, skills);
    }

    /// Returns the skills that the second scanner is to be shown next.
    pub(super) fn next(&self, scanner: &SkillScanner, skills: &[Candidate]) -> Vec<ScanCopy> {
        scan_copies(&akin(&self.unseen(scanner, skills)))
    }

    /// Keeps what the second scanner said.
    pub(super) async fn said(&mut self, verdicts: Vec<VerdictRecord>, store: &dyn ScanStore) {
        for verdict in verdicts {
            self.asked.insert(verdict.content_hash.clone());
            self.again.remove(&verdict.content_hash);
            self.keep(verdict, store).await;
        }
    }

    /// Counts what the second scanner has not seen, without asking it.
    pub(super) fn leave_waiting(&mut self, scanner: &SkillScanner, skills: &[Candidate]) {
        self.waiting = self.unseen(scanner, skills).len();
    }

    /// Returns how many skills wait for the second scanner.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns what the second scanner has not seen: what people saved, the last first, then hubs, then folders.
    fn unseen<'a>(&self, scanner: &SkillScanner, skills: &'a [Candidate]) -> Vec<&'a Candidate> {
        let is_settled = |hash: &String| {
            let verdict = self.verdicts.get(&(hash.clone(), cisco::ENGINE.to_owned()));
            let is_current = verdict.is_some_and(|verdict| {
                verdict.is_complete && verdict.engine_version == scanner.engine_version()
            });
            !self.again.contains(hash) && (is_current || self.asked.contains(hash))
        };
        let mut seen = BTreeSet::new();
        let mut unseen: Vec<&Candidate> = skills
            .iter()
            .filter(|skill| !is_settled(&skill.about.content_hash))
            .filter(|skill| seen.insert(skill.about.content_hash.as_str()))
            .collect();
        let turn = |source: SourceKind| match source {
            SourceKind::AgentSkills => 0,
            SourceKind::Hub => 1,
            SourceKind::Default => 2,
        };
        // Ids of what people saved grow with time.
        unseen.sort_by(|a, b| {
            turn(a.about.source).cmp(&turn(b.about.source)).then(b.about.source_id.cmp(&a.about.source_id))
        });
        unseen
    }

    async fn keep(&mut self, verdict: VerdictRecord, store: &dyn ScanStore) {
        metrics::scanned(&verdict);
        if let Err(error) = store.set_verdict(&verdict).await {
            tracing::error!(error = &error as &dyn std::error::Error, "a verdict cannot be kept");
        }
        self.verdicts.insert(key(&verdict), VerdictRecord { findings: Vec::new(), ..verdict });
    }

    /// Returns every verdict, without its findings.
    pub(super) fn verdicts(&self) -> Vec<VerdictRecord> {
        self.verdicts.values().cloned().collect()
    }

    /// Returns every override.
    pub(super) fn overrides(&self) -> Vec<Override> {
        self.overrides.clone()
    }

    /// Returns why it is not known what was said.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

/// Returns the first skills that come from the same place. Those are scanned together: one that brings the scanner down takes
/// only its own kind with it.
fn akin<'a>(skills: &[&'a Candidate]) -> Vec<&'a Candidate> {
    let place = |skill: &Candidate| (skill.about.source, skill.about.source_id.clone());
    let Some(first) = skills.first().map(|skill| place(skill)) else { return Vec::new() };
    skills.iter().take(SCAN_PROGRAM_SKILLS_MAX).take_while(|skill| place(skill) == first).copied().collect()
}

fn scan_copies(skills: &[&Candidate]) -> Vec<ScanCopy> {
    skills.iter().map(|skill| skill.sealed.scan_copy(skill.about.clone())).collect()
}

fn key(verdict: &VerdictRecord) -> (String, String) {
    (verdict.content_hash.clone(), verdict.engine.clone())
}
