//! What scanners and administrators said of a skill's files, put together, and whether it is served.

use std::collections::BTreeMap;

use artel_model::catalog::{Gate, Override, ScanStatus, Served, Severity, VerdictRecord};
use artel_model::time::Timestamp;
use serde::Serialize;

use super::digest::Digest;

/// Everything that decides how skills stand and which are served.
#[derive(Clone, Debug)]
pub struct Judge {
    /// Which skills are served.
    pub gate: Gate,
    /// From where on a finding counts.
    pub fail_on: Severity,
    /// The scanners that have to say something before a skill has passed, each with the version of its rules.
    pub engines: BTreeMap<String, String>,
    verdicts: BTreeMap<String, Vec<VerdictRecord>>,
    overrides: BTreeMap<String, Override>,
}

/// How a skill stands.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ScanState {
    /// How it stands against the threshold.
    pub status: ScanStatus,
    /// How bad the worst finding is.
    pub worst: Option<Severity>,
    /// What each scanner said, by name; a scanner that has not said anything is not here.
    pub engines: Vec<EngineState>,
    /// Whether a scanner's rules have changed since it looked, or it has not looked at all.
    pub is_stale: bool,
    /// An administrator's word that these files are fine.
    pub overridden: Option<Override>,
}

/// What one scanner said.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct EngineState {
    /// The scanner.
    pub engine: String,
    /// The version of its rules.
    pub engine_version: String,
    /// How bad the worst finding is.
    pub worst: Option<Severity>,
    /// Whether everything was scanned.
    pub is_complete: bool,
    /// Why not, harmless to show.
    pub gaps: Vec<String>,
    /// When it looked.
    pub scanned_at: Timestamp,
}

impl Judge {
    /// Puts together what was said. The findings of verdicts are not needed.
    pub fn new(
        gate: Gate,
        fail_on: Severity,
        engines: BTreeMap<String, String>,
        verdicts: Vec<VerdictRecord>,
        overrides: Vec<Override>,
    ) -> Self {
        let mut by_hash: BTreeMap<String, Vec<VerdictRecord>> = BTreeMap::new();
        for verdict in verdicts {
            by_hash.entry(verdict.content_hash.clone()).or_default().push(verdict);
        }
        by_hash.values_mut().for_each(|said| said.sort_by(|a, b| a.engine.cmp(&b.engine)));
        let overrides = overrides.into_iter().map(|given| (given.content_hash.clone(), given)).collect();
        Self { gate, fail_on, engines, verdicts: by_hash, overrides }
    }

    /// Returns how files with that hash stand, and whether they are served.
    ///
    /// A skill has passed when every scanner that has to look has seen everything. What a scanner said that need not look
    /// any more still counts: it can make things worse, never better.
    pub fn judge(&self, content_hash: &str) -> (ScanState, Served) {
        let said = self.verdicts.get(content_hash).map_or(&[][..], Vec::as_slice);
        let worst = said.iter().filter_map(|verdict| verdict.worst).max();
        let of = |engine: &str| said.iter().find(|verdict| verdict.engine == engine);
        let is_seen = |engine: &String| of(engine).is_some_and(|verdict| verdict.is_complete);
        let is_complete = !self.engines.is_empty() && self.engines.keys().all(is_seen);
        let is_current = |(engine, version): (&String, &String)| {
            of(engine).is_some_and(|verdict| verdict.engine_version == *version)
        };
        let state = ScanState {
            status: ScanStatus::of(worst, is_complete, self.fail_on),
            worst,
            engines: said.iter().map(EngineState::of).collect(),
            is_stale: !self.engines.iter().all(is_current),
            overridden: self.overrides.get(content_hash).cloned(),
        };
        let served = self.gate.decide(state.status, worst, state.is_overridden());
        (state, served)
    }
}

impl EngineState {
    fn of(verdict: &VerdictRecord) -> Self {
        Self {
            engine: verdict.engine.clone(),
            engine_version: verdict.engine_version.clone(),
            worst: verdict.worst,
            is_complete: verdict.is_complete,
            gaps: verdict.gaps.clone(),
            scanned_at: verdict.scanned_at,
        }
    }
}

impl ScanState {
    /// Says whether an administrator said that these files are fine.
    pub fn is_overridden(&self) -> bool {
        self.overridden.is_some()
    }

    /// Adds everything of it that is shown.
    pub(super) fn add_to(&self, digest: Digest) -> Digest {
        let word = |severity: Option<Severity>| severity.map_or("", Severity::as_str);
        let overridden = self.overridden.as_ref();
        let digest = digest
            .text(self.status.as_str())
            .text(word(self.worst))
            .number(u64::from(self.is_stale))
            .texts(overridden.iter().flat_map(|given| [given.reason.as_str(), given.by.as_str()]))
            .number(self.engines.len() as u64);
        self.engines.iter().fold(digest, |digest, engine| {
            digest
                .text(&engine.engine)
                .text(&engine.engine_version)
                .text(word(engine.worst))
                .number(u64::from(engine.is_complete))
                .texts(engine.gaps.iter().map(String::as_str))
                .number(engine.scanned_at.as_millis().cast_unsigned())
        })
    }
}
