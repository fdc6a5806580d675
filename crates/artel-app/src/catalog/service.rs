//! The handle of the catalog: the snapshot that is served, and making the next one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use artel_catalog::Catalog;
use artel_catalog::scan::{ENGINE, ENGINE_VERSION, cisco};
use artel_catalog::shared::{Freshness, Indexes, Judge, Snapshot, SnapshotDraft, SourceState, View};
use artel_engine::Clock;
use artel_engine::scanner::SkillScanner;
use artel_engine::trace::{self, Span, SpanKind};
use artel_model::access::{Principal, UserId, Viewer};
use artel_model::catalog::{Gate, Severity, SourceKind};
use artel_model::data_scope::OwnerKey;
use artel_model::id::{CustomSkillId, HubId};
use artel_model::quota::Quotas;
use artel_model::time::Timestamp;
use artel_store::{HealthCount, SkillHealth, StoreError, seen_health};
use camino::Utf8PathBuf;
use tokio::sync::{Mutex, watch};

use super::agreement::{Agreement, Numbered};
use super::scans::{Candidate, Rescan, Scans};
use super::sources::{SavedUse, Sources};
use super::supervisor::{Supervisor, SupervisorStatus, SyncStatus, number};
use super::watching::FolderWatch;
use crate::app::Stores;
use crate::quota_turns::QuotaTurns;

/// Loads the folders of the server and what is in the binary. Blocks.
pub type LoadDefault = Arc<dyn Fn() -> Result<Catalog, String> + Send + Sync>;

/// What an operator can say about the catalog.
#[derive(Clone, Debug)]
pub struct CatalogConfig {
    /// Which skills are served.
    pub gate: Gate,
    /// From where on a finding counts.
    pub fail_on: Severity,
    /// How often to look whether somebody else changed something.
    pub check: Duration,
    /// Where saved skills and the content of hubs are written, so that they can be run.
    pub data: Utf8PathBuf,
    /// How much each user may save.
    pub quotas: Quotas,
    /// Ids of skills that may share their data with every caller.
    pub shared_data: Vec<String>,
}

/// What the catalog is made of.
#[derive(Clone)]
pub struct CatalogParts {
    /// What an operator said.
    pub config: CatalogConfig,
    /// What is kept.
    pub stores: Stores,
    /// What time it is.
    pub clock: Clock,
    /// Loads the default source.
    pub load_default: LoadDefault,
}

/// Which sources are read again; what is kept in the store always is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reread {
    /// Only what people saved, and what scanners and administrators said.
    Kept,
    /// Folders as well.
    Folders,
}

/// Why there is no new snapshot; the one before is still served.
#[derive(Debug, thiserror::Error)]
pub enum RefreshFailed {
    /// The number of the catalog is not known.
    #[error("the store does not say which catalog this is")]
    Store(#[source] StoreError),
}

/// The catalog. Clones are the same.
#[derive(Clone)]
pub struct Catalogs {
    shared: Arc<Shared>,
}

struct Shared {
    parts: CatalogParts,
    current: ArcSwapOption<Snapshot>,
    indexes: Arc<Indexes>,
    /// What was read so far. Whoever holds it makes the next snapshot.
    reading: Mutex<Reading>,
    changed: watch::Sender<u64>,
    revisions: ArcSwap<BTreeMap<CustomSkillId, u64>>,
    supervisor: Supervisor,
    agreement: Agreement,
    /// How well skills do, and how often that changed.
    health: ArcSwap<Vec<HealthCount>>,
    second_scanner: OnceLock<SkillScanner>,
    /// Skills that the second scanner has not seen.
    waiting_scans: AtomicUsize,
    /// How many refreshes have begun.
    begun: AtomicU64,
    folder_watch: ArcSwap<FolderWatch>,
    /// What is served, by what scanners said.
    gate: ArcSwap<(Gate, Severity)>,
    /// Whose turn it is to save a skill.
    save_turns: QuotaTurns,
}

#[derive(Default)]
struct Reading {
    sources: Sources,
    scans: Scans,
    /// Which of all refreshes was the last that came to its end.
    kept_as_of: u64,
    /// Which was the last that read folders.
    folders_as_of: u64,
}

impl Reading {
    /// Returns which refresh last read that much.
    fn as_of(&self, reread: Reread) -> u64 {
        match reread {
            Reread::Kept => self.kept_as_of,
            Reread::Folders => self.folders_as_of,
        }
    }

    fn read(&mut self, reread: Reread, begun: u64) {
        self.kept_as_of = begun;
        match reread {
            Reread::Kept => {}
            Reread::Folders => self.folders_as_of = begun,
        }
    }
}

impl Catalogs {
    /// Makes a catalog that has not been read; [`Catalogs::refresh`] reads it.
    pub fn new(parts: CatalogParts) -> Self {
        let gate = ArcSwap::from_pointee((parts.config.gate, parts.config.fail_on));
        Self {
            shared: Arc::new(Shared {
                parts,
                current: ArcSwapOption::empty(),
                indexes: Indexes::new(),
                reading: Mutex::default(),
                changed: watch::Sender::new(0),
                revisions: ArcSwap::default(),
                supervisor: Supervisor::default(),
                agreement: Agreement::default(),
                health: ArcSwap::default(),
                second_scanner: OnceLock::new(),
                waiting_scans: AtomicUsize::new(0),
                begun: AtomicU64::new(0),
                folder_watch: ArcSwap::default(),
                gate,
                save_turns: QuotaTurns::default(),
            }),
        }
    }

    /// Returns what is served; nothing before it was read for the first time.
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.shared.current.load_full()
    }

    /// Returns what somebody sees; nothing when nothing can be served, which is not the same as an empty catalog.
    pub fn view(&self, viewer: &Viewer) -> Option<Arc<View>> {
        self.served(viewer).map(|(_, view)| view)
    }

    /// Returns what is served, and what somebody sees of it. Whether something can be served is asked of what they see:
    /// the skills of others must not make a difference.
    pub fn served(&self, viewer: &Viewer) -> Option<(Arc<Snapshot>, Arc<View>)> {
        let snapshot = self.snapshot()?;
        let view = snapshot.view(viewer);
        let has_failed = |source: &SourceState| matches!(source.state, Freshness::Unavailable { .. });
        let is_unavailable = view.is_empty() && view.sources().iter().any(has_failed);
        (!is_unavailable).then_some((snapshot, view))
    }

    /// Returns what was loaded from the server's folders and the binary, also what is switched off.
    pub async fn folders(&self) -> Option<Arc<Catalog>> {
        self.shared.reading.lock().await.sources.folders()
    }

    /// Returns whose turn it is to save a skill.
    pub(super) fn save_turns(&self) -> &QuotaTurns {
        &self.shared.save_turns
    }

    /// Counts what a user saved, without one that is replaced.
    pub(super) async fn saved_by(&self, owner: &UserId, replaced: Option<CustomSkillId>) -> SavedUse {
        self.shared.reading.lock().await.sources.saved_by(owner, replaced)
    }

    /// Returns the revisions of what people saved. Taken before what is served, they are never ahead of it: whoever sends
    /// one back replaces what they saw or is refused.
    pub fn revisions(&self) -> Arc<BTreeMap<CustomSkillId, u64>> {
        self.shared.revisions.load_full()
    }

    /// Tells of every change of what is served, by the number of the catalog.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }

    /// Changes which skills are served, from the next refresh on.
    pub fn set_gate(&self, gate: Gate, fail_on: Severity) {
        self.shared.gate.store(Arc::new((gate, fail_on)));
    }

    /// Reads sources again, scans what nobody has scanned, and serves the result. One at a time.
    pub async fn refresh(&self, reread: Reread) -> Result<Arc<Snapshot>, RefreshFailed> {
        self.rebuild(reread, &Rescan::Nothing).await
    }

    /// The same; what is meant is scanned again.
    pub(super) async fn rebuild(
        &self,
        reread: Reread,
        rescan: &Rescan,
    ) -> Result<Arc<Snapshot>, RefreshFailed> {
        let asked = self.shared.begun.load(Ordering::SeqCst);
        let mut reading = self.shared.reading.lock().await;
        // Whoever began after we asked has read what we wanted to be read.
        if *rescan == Rescan::Nothing
            && reading.as_of(reread) > asked
            && let Some(snapshot) = self.snapshot()
        {
            return Ok(snapshot);
        }
        let begun = self.shared.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let parts = &self.shared.parts;
        let now = parts.clock.now();
        // Taken before anything is read: what changes while it is read counts as not read.
        let kept = parts.stores.generation.generation().await.ok();
        let Reading { sources, scans, .. } = &mut *reading;
        if reread == Reread::Folders || !sources.has_default() {
            sources.read_default(&parts.load_default, now).await;
        }
        self.read_health().await;
        sources.read_custom(&*parts.stores.skills, &parts.config.data, now).await;
        sources.read_hubs(&*parts.stores.hubs, &parts.config.data, now).await;
        scans.read(&*parts.stores.scans).await;
        let span = Span::begin("scan", SpanKind::Internal, trace::current());
        span.around(self.scan(scans, &sources.all(), rescan, now)).await;
        let engines = self.engines();
        let (gate, fail_on) = **self.shared.gate.load();
        let judge = Judge::new(gate, fail_on, engines, scans.verdicts(), scans.overrides());
        let mut draft = SnapshotDraft::new(0, now, judge);
        sources.add_to(&mut draft);
        if let Some(reason) = scans.failure() {
            draft.add_source(scans_unknown(reason));
        }
        let snapshot = self.finished(draft).await;
        let before = self.snapshot();
        let same = before.as_ref().filter(|before| before.content_hash() == snapshot.content_hash());
        let (generation, numbered) = match same {
            // The same content has the same number; two nodes with different folders do not push each other on.
            Some(before) => (before.generation(), None),
            None => {
                let numbered = parts.stores.generation.generation_of(snapshot.content_hash()).await;
                let number = numbered.map_err(RefreshFailed::Store)?;
                (number, Some((number, snapshot.content_hash())))
            }
        };
        self.shared.agreement.note_read(kept, numbered, sources.differing_hubs());
        let snapshot = snapshot.numbered(generation);
        let snapshot = Arc::new(match &before {
            Some(before) => snapshot.following(before),
            None => snapshot,
        });
        self.publish(Arc::clone(&snapshot));
        self.shared.revisions.store(Arc::new(sources.revisions()));
        reading.read(reread, begun);
        Ok(snapshot)
    }

    /// Puts a snapshot together, with what people see who have no skills of their own. That takes a while where there are
    /// many skills, and others are to be answered meanwhile.
    async fn finished(&self, draft: SnapshotDraft) -> Snapshot {
        let indexes = Arc::clone(&self.shared.indexes);
        let finish = move || {
            let snapshot = draft.finish(indexes);
            snapshot.view(&nobody());
            snapshot
        };
        tokio::task::spawn_blocking(finish).await.expect("putting a snapshot together does not panic")
    }

    /// Lets scanners look at what they have not seen. When nothing is served yet, the second one, which is slow, looks
    /// afterwards: what it has seen before is known, and the rest is unscanned until then.
    async fn scan(&self, scans: &mut Scans, skills: &[Candidate], rescan: &Rescan, now: Timestamp) {
        let store = &*self.shared.parts.stores.scans;
        scans.scan_missing(skills, rescan, store, now).await;
        match self.shared.second_scanner.get() {
            Some(scanner) if self.snapshot().is_some() => scans.ask(scanner, skills, store, now).await,
            Some(scanner) => scans.leave_waiting(scanner, skills),
            None => {}
        }
        self.shared.waiting_scans.store(scans.waiting(), Ordering::Relaxed);
    }

    /// Returns the scanners that have to look before a skill has passed, with the version of their rules.
    fn engines(&self) -> BTreeMap<String, String> {
        let own = (ENGINE.to_owned(), ENGINE_VERSION.to_owned());
        let second = self.shared.second_scanner.get();
        let second = second.map(|second| (cisco::ENGINE.to_owned(), second.engine_version().to_owned()));
        [own].into_iter().chain(second).collect()
    }

    /// Returns how changes of folders are noticed.
    pub(super) fn folder_watch(&self) -> FolderWatch {
        FolderWatch::clone(&self.shared.folder_watch.load())
    }

    pub(super) fn set_folder_watch(&self, watch: FolderWatch) {
        self.shared.folder_watch.store(Arc::new(watch));
    }

    /// Says whether something of a hub may still be used here: by what is served, or by a run that began earlier.
    pub(super) async fn uses_hub(&self, hub: HubId) -> bool {
        self.shared.reading.lock().await.sources.uses_hub(hub)
    }

    /// Says whether something of a saved skill may still be used here.
    pub(super) async fn uses_custom(&self, id: CustomSkillId) -> bool {
        self.shared.reading.lock().await.sources.uses_custom(id)
    }

    /// Says whether that content of a hub is the one that was read here.
    pub(super) async fn has_read_hub(&self, hub: HubId, content: Option<&str>) -> bool {
        content.is_none() || self.shared.reading.lock().await.sources.hub_content(hub) == content
    }

    /// Returns the hubs that have to be fetched here before this machine serves what it should.
    pub(super) async fn hubs_behind(&self) -> Vec<HubId> {
        self.shared.reading.lock().await.sources.hubs_behind()
    }

    /// Shows the second scanner a few skills that it has not seen, while others read and save; says whether there were any.
    pub async fn scan_waiting(&self) -> Result<bool, RefreshFailed> {
        let Some(scanner) = self.shared.second_scanner.get() else { return Ok(false) };
        let scan_copies = {
            let reading = self.shared.reading.lock().await;
            reading.scans.next(scanner, &reading.sources.all())
        };
        if scan_copies.is_empty() {
            return Ok(false);
        }
        let verdicts = scanner.scan(scan_copies, self.shared.parts.clock.now()).await;
        self.shared.reading.lock().await.scans.said(verdicts, &*self.shared.parts.stores.scans).await;
        self.refresh(Reread::Kept).await.map(|_| true)
    }

    /// Lets the second scanner see everything, bit by bit, until it is dropped.
    pub async fn keep_scanned(self) {
        let mut changes = self.changes();
        loop {
            match self.scan_waiting().await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "verdicts cannot be served yet");
                }
            }
            // The catalog lives as long as we hold it, so there is always somebody to tell of changes.
            let _ = changes.changed().await;
        }
    }

    pub(super) fn second_scanner(&self) -> &OnceLock<SkillScanner> {
        &self.shared.second_scanner
    }

    pub(super) fn waiting_scans(&self) -> &AtomicUsize {
        &self.shared.waiting_scans
    }

    /// Looks how well skills do; without the store, as well as they did.
    pub async fn read_health(&self) {
        if let Ok(counts) = self.shared.parts.stores.health.health_counts().await {
            self.shared.health.store(Arc::new(counts));
        }
    }

    /// Returns the health of skills as the owner of runs sees it; what is not there is healthy.
    pub fn health(&self, owner: Option<&Viewer>) -> Vec<SkillHealth> {
        let key = OwnerKey::of(owner.map(|viewer| &viewer.user));
        seen_health(&self.shared.health.load(), &key, self.shared.parts.clock.now())
    }

    fn publish(&self, snapshot: Arc<Snapshot>) {
        let generation = snapshot.generation();
        let view = snapshot.view(&nobody());
        self.shared.current.store(Some(snapshot));
        // Whoever searches first need not wait for the index.
        tokio::task::spawn_blocking(move || view.prepare_search());
        self.shared.changed.send_if_modified(|known| std::mem::replace(known, generation) != generation);
    }

    /// Lets the supervisor take over what is served, and says how it stands.
    pub fn rebuild_supervisor(&self) -> SupervisorStatus {
        // The number is that of what is read, whatever is published meanwhile.
        if let Some(snapshot) = self.snapshot() {
            self.shared.supervisor.build(snapshot, self.shared.parts.clock.now());
        }
        self.supervisor_status()
    }

    /// Says how the supervisor stands.
    pub fn supervisor_status(&self) -> SupervisorStatus {
        let mut status = self.shared.supervisor.status(self.snapshot().as_deref(), self.folder_watch());
        if status.sync_status == SyncStatus::InSync && self.shared.agreement.has_differing_hubs() {
            status.sync_status = SyncStatus::SupervisorStale;
        }
        status
    }

    /// Says how the supervisor stands for a caller. How many skills others have, and when or how often they change, is for
    /// administrators: everyone else gets the moments of the changes that they can see, and numbers made from them. The
    /// store is asked whether another process has changed something since.
    pub async fn supervisor_status_for(&self, caller: &Principal) -> SupervisorStatus {
        let kept = self.shared.parts.stores.generation.generation().await;
        let mut status = self.supervisor_status();
        status.sync_status = match (status.sync_status, kept) {
            (SyncStatus::InSync, Ok(kept)) if self.has_read(&kept) => SyncStatus::InSync,
            (SyncStatus::InSync, Ok(_)) => SyncStatus::SupervisorStale,
            (SyncStatus::InSync, Err(_)) => SyncStatus::Unknown,
            (other @ (SyncStatus::SupervisorStale | SyncStatus::Unknown), _) => other,
        };
        if caller.is_admin() {
            return status;
        }
        let changed = |snapshot: Option<Arc<Snapshot>>| snapshot.map(|one| one.changed_for(&caller.viewer));
        let (built, served) = (changed(self.shared.supervisor.snapshot()), changed(self.snapshot()));
        let view = self.supervisor_view(&caller.viewer);
        status.seen_by_others(built, served, view.map_or(0, |view| view.len()))
    }

    /// Returns the number of what is served as a caller is told it: the catalog's own for administrators, for everyone
    /// else one that changes only with what they see.
    pub fn generation_for(caller: &Principal, snapshot: &Snapshot) -> u64 {
        if caller.is_admin() { snapshot.generation() } else { number(snapshot.changed_for(&caller.viewer)) }
    }

    /// Returns what the supervisor offers somebody; nothing when it was not built.
    pub fn supervisor_view(&self, viewer: &Viewer) -> Option<Arc<View>> {
        self.shared.supervisor.snapshot().map(|snapshot| snapshot.view(viewer))
    }

    /// Serves what other processes change that share the store, until it is dropped.
    pub async fn keep_current(self) {
        loop {
            tokio::time::sleep(self.shared.parts.config.check).await;
            self.read_health().await;
            // Whoever saved something here is to find it in the chat.
            if self.supervisor_status().sync_status == SyncStatus::SupervisorStale {
                self.rebuild_supervisor();
            }
            // Without the store nobody can have changed anything.
            let Ok(kept) = self.shared.parts.stores.generation.generation().await else { continue };
            // What was read once is not read again: a node with other folders never comes to the same content.
            if self.has_read(&kept) {
                continue;
            }
            if let Err(error) = self.refresh(Reread::Kept).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "the catalog cannot be read again");
            }
            self.rebuild_supervisor();
        }
    }

    /// Says whether everything was read since the store began to keep that number, or serves the very content.
    fn has_read(&self, kept: &Numbered) -> bool {
        let is_served = |hash: &str| self.snapshot().is_some_and(|served| served.content_hash() == hash);
        kept.as_ref().is_some_and(|(_, hash)| is_served(hash)) || self.shared.agreement.has_read(kept)
    }

    pub fn parts(&self) -> &CatalogParts {
        &self.shared.parts
    }
}

/// Somebody who sees what everybody sees.
pub(super) fn nobody() -> Viewer {
    Viewer { user: "-".parse().expect("a constant name is valid"), teams: Default::default() }
}

fn scans_unknown(reason: &str) -> SourceState {
    SourceState {
        kind: SourceKind::AgentSkills,
        id: Some("scans".to_owned()),
        label: "Scan results".to_owned(),
        audience: Vec::new(),
        loaded_at: None,
        state: Freshness::Unavailable { reason: reason.to_owned() },
    }
}
