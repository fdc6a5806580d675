//! What a snapshot and its views promise.

use std::sync::Arc;

use artel_model::catalog::{Gate, Override, ScanStatus, Severity, SourceKind, Visibility};
use artel_model::time::Timestamp;

use super::testing::{
    Said, custom_id, fresh, hub, judge, made, personal, sealed, snapshot, snapshot_on, team, verdict, viewer,
};
use super::{
    EntryId, Freshness, Indexes, ListQuery, NO_MATCHES, Page, PageError, Sealed, Snapshot, SnapshotDraft,
    SourceState, View, Who, seal,
};
use crate::catalog::Catalog;
use crate::load::{Keep, load_registry_file};
use crate::prompt::{PromptBudget, PromptFormat};
use crate::scan::{ScanOptions, Scanned, verdict_of_report};

fn names(view: &View, query: &ListQuery) -> Vec<String> {
    view.list(query).items.iter().map(|item| item.entry.name.to_string()).collect()
}

fn ids(view: &View) -> Vec<String> {
    view.entries().map(|entry| entry.id.to_string()).collect()
}

fn asking(words: &str) -> ListQuery {
    ListQuery { words: Some(words.to_owned()), ..ListQuery::default() }
}

#[test]
fn lists_go_by_source_then_name_and_the_earlier_hides_the_later() {
    let all = [
        made(SourceKind::Hub, 1, "zebra", "z"),
        made(SourceKind::Hub, 2, "zebra", "second"),
        made(SourceKind::Hub, 2, "apple", "a"),
        made(SourceKind::Default, 0, "pear", "p"),
        made(SourceKind::AgentSkills, 1, "pear", "mine"),
    ];
    let snapshot = snapshot(&all);
    let view = snapshot.view(&viewer("ann", &[]));
    let hub_id = |number| hub(number).id;
    assert_eq!(
        ids(&view),
        ["default/pear".to_owned(), format!("hub/{}/apple", hub_id(2)), format!("hub/{}/zebra", hub_id(1))]
    );
    let hidden = view.get(&EntryId::Custom(custom_id("pear", 1))).unwrap();
    assert_eq!(hidden.shadowed_by, Some(&EntryId::Default("pear".parse().unwrap())));
    assert_eq!(hidden.entry.content(), "mine");
    let later = view.get(&EntryId::Hub(hub_id(2), "zebra".parse().unwrap())).unwrap();
    assert_eq!(later.shadowed_by, Some(&EntryId::Hub(hub_id(1), "zebra".parse().unwrap())));
    assert_eq!(view.by_name(&"zebra".parse().unwrap()).unwrap().content(), "z");
    assert!(view.get(&EntryId::Default("apple".parse().unwrap())).is_none());
}

#[test]
fn entries_say_what_their_files_say() {
    let snapshot = snapshot(&[made(SourceKind::Default, 0, "pear", "juice")]);
    let view = snapshot.view(&viewer("ann", &[]));
    let entry = view.by_name(&"pear".parse().unwrap()).unwrap();
    assert_eq!((entry.title.as_str(), entry.description.as_str()), ("pear", "About juice."));
    assert_eq!(entry.metadata["version"], "1.0.0");
    assert_eq!(entry.metadata["tags"], serde_json::json!(["pear", "plain"]));
    let files: Vec<(&str, bool)> =
        entry.files.iter().map(|file| (file.path.as_str(), file.is_executable)).collect();
    assert_eq!(files, [("SKILL.md", false), ("scripts/run.sh", true)]);
    assert_eq!(entry.file("scripts/run.sh").unwrap().size, 21);
    assert!(entry.file("scripts/other").is_none());
    assert_eq!((entry.source_id(), entry.scan.status), (None, ScanStatus::Unscanned));
}

#[test]
fn what_others_save_leaves_my_etag_as_it_is() {
    let shared = [made(SourceKind::Default, 0, "pear", "p"), personal(1, "mine", "m", "ann")];
    let ann = viewer("ann", &["red"]);
    let etag = |more: &[super::testing::Made]| {
        let all = [&shared[..], more].concat();
        snapshot(&all).view(&ann).etag().to_owned()
    };
    let before = etag(&[]);
    assert_eq!(before, etag(&[personal(2, "theirs", "x", "bob"), team(3, "pear", "y", &["blue"])]));
    assert_ne!(before, etag(&[team(3, "reds", "y", &["red", "blue"])]));
    // What is hidden from the list can still be read by its id.
    assert_ne!(before, etag(&[personal(2, "pear", "x", "ann")]));
}

#[test]
fn what_others_save_leaves_my_moment_of_change_as_it_is() {
    let made_at = |millis: u64, all: &[super::testing::Made]| {
        snapshot_on("m", millis, all, Said::default(), &Indexes::new())
    };
    let (ann, bob) = (viewer("ann", &["red"]), viewer("bob", &["blue"]));
    let moments = |snapshot: &Snapshot| {
        let at = |viewer| snapshot.changed_for(viewer).as_millis();
        (at(&ann), at(&bob))
    };
    let pear = made(SourceKind::Default, 0, "pear", "p");
    let first = made_at(100, std::slice::from_ref(&pear));
    assert_eq!(moments(&first), (100, 100));
    let with_hers = made_at(200, &[pear.clone(), personal(1, "mine", "m", "ann")]).following(&first);
    assert_eq!(moments(&with_hers), (200, 100));
    let with_blue =
        made_at(300, &[pear.clone(), personal(1, "mine", "m", "ann"), team(2, "sea", "s", &["blue"])]);
    let with_blue = with_blue.following(&with_hers);
    assert_eq!(moments(&with_blue), (200, 300));
    // What is deleted has changed too, and a clock that goes back takes no moment with it.
    let without = made_at(250, std::slice::from_ref(&pear)).following(&with_blue);
    assert_eq!(moments(&without), (250, 301));
    let still = made_at(400, std::slice::from_ref(&pear)).following(&without);
    assert_eq!(moments(&still), (250, 301));
    let all = made_at(500, &[made(SourceKind::Default, 0, "pear", "other")]).following(&still);
    assert_eq!(moments(&all), (500, 500));
}

#[test]
fn the_etag_follows_scans_and_failing_sources() {
    let all = [made(SourceKind::Default, 0, "pear", "p")];
    let ann = viewer("ann", &[]);
    let hash = snapshot(&all).entries()[0].content_hash.clone();
    let etag = |said| snapshot_on("m", 1, &all, said, &Indexes::new()).view(&ann).etag().to_owned();
    let before = etag(Said::default());
    let verdicts = vec![verdict(&hash, None, true)];
    assert_ne!(before, etag(Said { verdicts, ..Said::default() }));

    let with_source = |state: Freshness| {
        let mut draft = SnapshotDraft::new(1, Timestamp::from_millis(0), judge(Said::default()));
        draft.add_source(SourceState { state, ..fresh(SourceKind::Hub) });
        draft.finish(Indexes::new())
    };
    let down = with_source(Freshness::Unavailable { reason: "it is away".to_owned() });
    let up = with_source(Freshness::Fresh);
    assert_ne!(down.view(&ann).etag(), up.view(&ann).etag());
    assert!(down.is_unavailable() && !up.is_unavailable());
}

#[test]
fn people_who_see_the_same_share_a_view_and_its_index() {
    let all = [
        made(SourceKind::Default, 0, "pear", "p"),
        team(1, "both", "b", &["red", "blue"]),
        personal(1, "mine", "m", "ann"),
    ];
    let indexes = Indexes::new();
    let first = snapshot_on("m", 1, &all, Said::default(), &indexes);
    let same = |a: (&str, &[&str]), b: (&str, &[&str])| {
        Arc::ptr_eq(&first.view(&viewer(a.0, a.1)), &first.view(&viewer(b.0, b.1)))
    };
    assert!(same(("bob", &[]), ("eve", &["grey"])));
    assert!(same(("bob", &["red"]), ("eve", &["blue", "grey"])));
    assert!(!same(("bob", &["red"]), ("ann", &["red"])));
    assert!(!same(("bob", &[]), ("bob", &["red"])));

    assert_eq!(names(&first.view(&viewer("bob", &[])), &asking("pear")), ["pear"]);
    assert_eq!(indexes.len(), 1);
    let more = [&all[..], &[personal(2, "other", "o", "ann")]].concat();
    let second = snapshot_on("m", 2, &more, Said::default(), &indexes);
    assert_eq!(names(&second.view(&viewer("eve", &[])), &asking("pear")), ["pear"]);
    assert_eq!(indexes.len(), 1, "what the view does not hold has changed");
    assert_eq!(names(&second.view(&viewer("ann", &[])), &asking("other")), ["other"]);
    assert_eq!(indexes.len(), 2);
    second.view(&viewer("bob", &["red"])).prepare_search();
    assert_eq!(indexes.len(), 3);
}

#[test]
fn pages_and_filters() {
    let all = [
        made(SourceKind::Default, 0, "aa", "fruit"),
        made(SourceKind::Default, 0, "bb", "fruit"),
        made(SourceKind::Hub, 1, "cc", "fruit"),
        personal(1, "dd", "stone", "ann"),
    ];
    let snapshot = snapshot(&all);
    let view = snapshot.view(&viewer("ann", &[]));
    let page = |number| ListQuery { page: Page::new(number, 3).unwrap(), ..ListQuery::default() };
    assert_eq!(names(&view, &page(1)), ["aa", "bb", "dd"]);
    assert_eq!(names(&view, &page(2)), ["cc"]);
    let more = |query: &ListQuery| {
        let listing = view.list(query);
        (listing.total, listing.has_more, listing.message)
    };
    assert_eq!(more(&page(1)), (4, true, None));
    assert_eq!(more(&page(2)), (4, false, None));
    assert_eq!(more(&page(u32::MAX)), (4, false, None));
    assert_eq!((Page::new(0, 5), Page::new(1, 0)), (Err(PageError::Number), Err(PageError::Size)));
    assert_eq!(Page::new(1, 201), Err(PageError::Size));

    let only = |change: &dyn Fn(&mut ListQuery)| {
        let mut query = ListQuery::default();
        change(&mut query);
        names(&view, &query)
    };
    assert_eq!(only(&|query| query.source = Some(SourceKind::Hub)), ["cc"]);
    assert_eq!(only(&|query| query.who = Some(Who::OnePerson)), ["dd"]);
    assert_eq!(only(&|query| query.who = Some("global".parse().unwrap())), ["aa", "bb", "cc"]);
    assert_eq!(only(&|query| query.tags = vec!["PLAIN".to_owned(), "bb".to_owned()]), ["bb"]);
    assert_eq!(only(&|query| query.scan_status = Some(ScanStatus::Passed)), [""; 0]);
    assert!("public".parse::<Who>().is_err());

    assert_eq!(more(&asking("fruit")), (3, false, None));
    let second = ListQuery { page: Page::new(2, 2).unwrap(), ..asking("fruit") };
    assert_eq!(view.list(&second).items.len(), 1);
    assert_eq!(names(&view, &ListQuery { source: Some(SourceKind::Hub), ..asking("fruit") }), ["cc"]);
    for words in ["walnut", "???"] {
        assert_eq!(more(&asking(words)), (0, false, Some(NO_MATCHES)));
    }
    assert_eq!(more(&asking("  ")), (4, false, None));
}

#[test]
fn the_gate_decides_what_is_served() {
    let all = [made(SourceKind::Default, 0, "pear", "p")];
    let hash = snapshot(&all).entries()[0].content_hash.clone();
    let check = |gate, worst: Option<Option<Severity>>, is_overridden: bool, expected: (ScanStatus, bool)| {
        let verdicts = worst.map(|worst| verdict(&hash, worst, true)).into_iter().collect();
        let given = Override {
            content_hash: hash.clone(),
            reason: "I looked".to_owned(),
            by: "root".parse().unwrap(),
            at: Timestamp::from_millis(3),
        };
        let overrides = is_overridden.then_some(given).into_iter().collect();
        let snapshot = snapshot_on("m", 1, &all, Said { gate, verdicts, overrides }, &Indexes::new());
        let is_served = !snapshot.view(&viewer("ann", &[])).is_empty();
        assert_eq!(snapshot.blocked().len(), usize::from(!is_served));
        let id = EntryId::Default("pear".parse().unwrap());
        let scan = &snapshot.any(&id).unwrap().scan;
        assert_eq!(snapshot.view(&viewer("ann", &[])).get(&id).is_some(), is_served);
        assert_eq!((scan.status, is_served), expected, "{gate:?} {worst:?}");
        assert_eq!((scan.is_overridden(), scan.is_stale), (is_overridden, worst.is_none()));
    };
    use ScanStatus::{Flagged, Passed, Unscanned};
    use Severity::{Critical, High, Low};
    check(Gate::Warn, None, false, (Unscanned, true));
    check(Gate::Warn, Some(None), false, (Passed, true));
    check(Gate::Warn, Some(Some(High)), false, (Flagged, true));
    check(Gate::Warn, Some(Some(Critical)), false, (Flagged, false));
    check(Gate::Warn, Some(Some(Critical)), true, (Flagged, true));
    check(Gate::Strict, None, false, (Unscanned, false));
    check(Gate::Strict, None, true, (Unscanned, true));
    check(Gate::Strict, Some(Some(Low)), false, (Passed, true));
    check(Gate::Strict, Some(Some(High)), false, (Flagged, false));
    check(Gate::Off, Some(Some(Critical)), false, (Flagged, true));
}

#[test]
fn a_skill_has_passed_when_every_scanner_has_seen_everything() {
    let said = |verdicts| {
        let mut judge = judge(Said { verdicts, ..Said::default() });
        judge.engines.insert("second".to_owned(), "2".to_owned());
        judge
    };
    let of = |engine: &str, version: &str, worst, is_complete| {
        let mut verdict = verdict("hash", worst, is_complete);
        (verdict.engine, verdict.engine_version) = (engine.to_owned(), version.to_owned());
        verdict
    };
    let status = |verdicts| {
        let (state, _) = said(verdicts).judge("hash");
        (state.status, state.is_stale)
    };
    let first = of("artel", "1", None, true);
    assert_eq!(status(vec![first.clone()]), (ScanStatus::Unscanned, true));
    assert_eq!(status(vec![of("second", "2", None, true), first.clone()]), (ScanStatus::Passed, false));
    assert_eq!(status(vec![of("second", "1", None, true), first.clone()]), (ScanStatus::Passed, true));
    assert_eq!(status(vec![of("second", "2", None, false), first.clone()]), (ScanStatus::Unscanned, false));
    let high = Some(Severity::High);
    assert_eq!(status(vec![of("second", "2", high, false), first.clone()]), (ScanStatus::Flagged, false));
    // Who need not look any more can only make things worse.
    assert_eq!(status(vec![of("gone", "9", high, true), first.clone()]), (ScanStatus::Flagged, true));
    assert_eq!(status(vec![of("gone", "9", None, true), first]), (ScanStatus::Unscanned, true));
    let nobody = judge_without_engines().judge("hash").0.status;
    assert_eq!(nobody, ScanStatus::Unscanned);
}

fn judge_without_engines() -> super::Judge {
    let mut judge = judge(Said { verdicts: vec![verdict("hash", None, true)], ..Said::default() });
    judge.engines.clear();
    judge
}

#[test]
fn a_view_is_a_catalog_of_its_skills_in_all_their_versions() {
    let (usual, old) = (sealed("pear", "1.0.0", "one", "m"), sealed("pear", "2.0.0", "two", "m"));
    let catalog = Catalog::of(vec![Arc::clone(usual.loaded())], vec![Arc::clone(old.loaded())]);
    let snapshot_of = |said: Said| -> Snapshot {
        let mut draft = SnapshotDraft::new(1, Timestamp::from_millis(0), judge(said));
        let all: Vec<Sealed> = vec![old.clone(), usual.clone()];
        draft.add_default(fresh(SourceKind::Default), &catalog, all);
        draft.finish(Indexes::new())
    };
    let snapshot = snapshot_of(Said::default());
    let view = snapshot.view(&viewer("ann", &[]));
    assert_eq!(view.by_name(&"pear".parse().unwrap()).unwrap().content(), "one");
    let shelf = view.catalog();
    let text = |version: Option<&str>| {
        let version = version.map(|version| version.parse().unwrap());
        let found = shelf.find(&"pear".parse().unwrap(), version.as_ref());
        found.ok().and_then(|loaded| loaded.instructions.as_deref()).map(str::to_owned)
    };
    assert_eq!(text(None).as_deref(), Some("one"), "the usual version is not the highest");
    assert_eq!(text(Some("2.0.0")).as_deref(), Some("two"));
    assert_eq!(shelf.published().len(), 2);

    // A version with harm in it is left out though the usual one is fine.
    let verdicts = vec![verdict(old.content_hash(), Some(Severity::Critical), true)];
    let snapshot = snapshot_of(Said { verdicts, ..Said::default() });
    assert_eq!(snapshot.view(&viewer("ann", &[])).catalog().published().len(), 1);
}

#[test]
fn prompts_name_addresses_and_no_folders() {
    let snapshot = snapshot(&[
        made(SourceKind::Default, 0, "pear", "p"),
        made(SourceKind::Hub, 1, "apple", "a"),
        personal(1, "mine", "m", "bob"),
    ]);
    let view = snapshot.view(&viewer("ann", &[]));
    let budget = PromptBudget { skills_max: Some(1), chars_max: None };
    let prompt = view.prompt(PromptFormat::Xml, budget);
    assert_eq!((prompt.listed, prompt.left_out), (1, 1));
    assert!(prompt.text.contains("skill://apple/SKILL.md"), "{}", prompt.text);
    assert!(!prompt.text.contains("/machine"), "{}", prompt.text);
}

#[test]
fn an_id_that_comes_twice_is_used_once_and_told() {
    let mut draft = SnapshotDraft::new(1, Timestamp::from_millis(0), judge(Said::default()));
    let twice = [sealed("pear", "1.0.0", "one", "m"), sealed("pear", "2.0.0", "two", "m")];
    let twice = twice.map(|sealed| (Visibility::Global, sealed)).to_vec();
    draft.add_hub(&hub(1), fresh(SourceKind::Hub), None, twice);
    let snapshot = draft.finish(Indexes::new());
    assert_eq!(snapshot.entries().len(), 1);
    assert_eq!(snapshot.repeated(), [EntryId::Hub(hub(1).id, "pear".parse().unwrap())]);
}

#[test]
fn a_skill_without_files_is_scanned_by_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap().join("some.skill.yaml");
    let text = "name: greet\nversion: 1.0.0\ndescription: Says hello.\n";
    std::fs::write(&path, text).unwrap();
    let loaded = load_registry_file(&path, Keep::Instructions).remove(0);
    let sealed = seal(Arc::new(loaded)).unwrap();
    assert!(sealed.files().is_empty());
    let about = Scanned {
        source: SourceKind::Default,
        source_id: None,
        skill_id: "default/greet".to_owned(),
        content_hash: sealed.content_hash().to_owned(),
    };
    let report = sealed.scan(&ScanOptions::default());
    let verdict = verdict_of_report(&report, &about, Timestamp::from_millis(1));
    assert!(verdict.is_complete, "{:?}", verdict.gaps);
}
