//! How long it takes until a folder of skills is a snapshot that is served, and until somebody sees what is theirs.
//!
//! An argument that is a folder is read. It prints numbers and judges nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::time::{Duration, Instant};

use artel_catalog::shared::{
    Freshness, Indexes, Judge, ListQuery, Sealed, Snapshot, SnapshotDraft, SourceState, seal_all,
};
use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};
use artel_model::access::Viewer;
use artel_model::catalog::{Gate, Severity, SourceKind};
use artel_model::time::Timestamp;
use camino::Utf8PathBuf;

const ROUNDS: usize = 5;
/// People who look at the same snapshot.
const VIEWERS: usize = 1000;
const NOW_MILLIS: i64 = 1_700_000_000_000;

fn main() {
    let given = std::env::args().skip(1).map(Utf8PathBuf::from).find(|path| path.is_dir());
    let Some(root) = given else {
        println!("no folder of skills was given");
        return;
    };
    let mut best = [Duration::MAX; STEPS.len()];
    for _ in 0..ROUNDS {
        for (best, took) in best.iter_mut().zip(round(&root)) {
            *best = took.min(*best);
        }
    }
    for (step, best) in STEPS.iter().zip(best) {
        println!("{step} {:.3}", best.as_secs_f64() * 1e6);
    }
}

const STEPS: [&str; 8] = [
    "folders are read",
    "files are hashed",
    "a snapshot is made",
    "all of these",
    "somebody's view, the first time",
    "somebody's view, later",
    "a page of 50",
    "the index for searches",
];

/// Goes through every step once.
fn round(root: &Utf8PathBuf) -> [Duration; STEPS.len()] {
    let (catalog, read) = timed(|| load(root));
    let (sealed, hashed) =
        timed(|| seal_all(catalog.published()).into_iter().filter_map(Result::ok).collect::<Vec<_>>());
    let (snapshot, made) = timed(|| snapshot(&catalog, sealed));
    let viewer = |number: usize| Viewer {
        user: format!("user-{number}").parse().expect("it is a name"),
        teams: BTreeSet::new(),
    };
    let (view, first) = timed(|| snapshot.view(&viewer(0)));
    let viewers: Vec<Viewer> = (1..=VIEWERS).map(viewer).collect();
    let ((), later) = timed(|| viewers.iter().for_each(|viewer| drop(black_box(snapshot.view(viewer)))));
    let ((), page) = timed(|| drop(black_box(view.list(&ListQuery::default()))));
    let ((), index) = timed(|| view.prepare_search());
    let per_viewer = later / u32::try_from(VIEWERS).unwrap_or(u32::MAX);
    [read, hashed, made, read + hashed + made, first, per_viewer, page, index]
}

fn load(root: &Utf8PathBuf) -> Catalog {
    Catalog::load(&CatalogRequest {
        roots: vec![root.clone()],
        options: LoadOptions::from(Keep::Instructions),
        disabled: BTreeSet::new(),
        chosen: Vec::new(),
    })
}

fn snapshot(catalog: &Catalog, sealed: Vec<Sealed>) -> Snapshot {
    let judge = Judge::new(Gate::Off, Severity::High, BTreeMap::new(), Vec::new(), Vec::new());
    let now = Timestamp::from_millis(NOW_MILLIS);
    let mut draft = SnapshotDraft::new(1, now, judge);
    let state = SourceState {
        kind: SourceKind::Default,
        id: None,
        label: "Folders".to_owned(),
        audience: Vec::new(),
        loaded_at: Some(now),
        state: Freshness::Fresh,
    };
    draft.add_default(state, catalog, sealed);
    draft.finish(Indexes::new())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}
