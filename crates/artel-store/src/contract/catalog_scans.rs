//! Verdicts, findings and overrides.

use artel_model::catalog::{FindingRecord, Severity, SourceKind, VerdictRecord};
use tokio::task::JoinSet;

use super::catalog_sample::{HOSTILE, SharedCatalog, all_pages, finding, verdict, word};
use super::sample::WORKS;
use crate::scan::FindingFilter;

async fn numbers(store: &SharedCatalog, filter: &FindingFilter, limit: usize) -> Vec<u128> {
    let found = all_pages(limit, async |page| store.findings(filter, &page).await).await;
    found.into_iter().map(|finding| finding.id.as_u128()).collect()
}

/// An engine has one word about the same files: its last.
pub async fn a_verdict_replaces_the_one_before(store: SharedCatalog) {
    assert_eq!(store.verdicts("one").await.expect(WORKS), []);
    let worst_first = vec![
        finding(1, "one", Severity::Critical, 10),
        finding(3, "one", Severity::High, 10),
        finding(2, "one", Severity::Info, 10),
    ];
    let own = verdict("one", "own", 10, worst_first);
    let llm = verdict("one", "llm", 10, Vec::new());
    let other = verdict("two", "own", 10, vec![finding(9, "two", Severity::Low, 10)]);
    for said in [&own, &llm, &other] {
        store.set_verdict(said).await.expect(WORKS);
    }
    assert_eq!(store.verdicts("one").await.expect(WORKS), [llm.clone(), own]);
    let later = VerdictRecord {
        engine_version: "rules 2".to_owned(),
        ..verdict("one", "own", 20, vec![finding(4, "one", Severity::Medium, 20)])
    };
    store.set_verdict(&later).await.expect(WORKS);
    assert_eq!(store.verdicts("one").await.expect(WORKS), [llm.clone(), later.clone()]);
    assert_eq!(store.verdicts("two").await.expect(WORKS), std::slice::from_ref(&other));
    assert_eq!(numbers(&store, &FindingFilter::default(), 9).await, [4, 9]);
    let bare = |verdict: VerdictRecord| VerdictRecord { findings: Vec::new(), ..verdict };
    assert_eq!(store.all_verdicts().await.expect(WORKS), [bare(llm), bare(later), bare(other)]);
    let odd = verdict(HOSTILE, HOSTILE, 10, vec![finding(7, HOSTILE, Severity::Low, -5)]);
    store.set_verdict(&odd).await.expect(WORKS);
    assert_eq!(store.verdicts(HOSTILE).await.expect(WORKS), [odd]);
}

/// Findings are found by every filter and by all of them together, the last first, and pages of any size agree.
pub async fn findings_are_found_by_every_filter(store: SharedCatalog) {
    let of_a_hub = |finding: FindingRecord, source_id: Option<&str>| FindingRecord {
        source_type: SourceKind::Hub,
        source_id: source_id.map(str::to_owned),
        skill_id: "hub:two".to_owned(),
        ..finding
    };
    let one = vec![finding(1, "one", Severity::Critical, 10), finding(5, "one", Severity::Low, 10)];
    let two = vec![
        of_a_hub(finding(2, "two", Severity::Critical, 30), Some("first")),
        of_a_hub(finding(3, "two", Severity::Medium, 10), Some("second")),
        of_a_hub(finding(4, "two", Severity::Info, 20), None),
    ];
    store.set_verdict(&verdict("one", "own", 10, one)).await.expect(WORKS);
    store.set_verdict(&verdict("two", "own", 10, two)).await.expect(WORKS);
    let all = FindingFilter::default();
    let text = |text: &str| Some(text.to_owned());
    let from_hubs = FindingFilter { source_type: Some(SourceKind::Hub), ..all.clone() };
    let cases: Vec<(FindingFilter, Vec<u128>)> = vec![
        (all.clone(), vec![2, 4, 5, 3, 1]),
        (from_hubs.clone(), vec![2, 4, 3]),
        (FindingFilter { source_type: Some(SourceKind::Default), ..all.clone() }, vec![]),
        (FindingFilter { source_id: text("first"), ..all.clone() }, vec![2]),
        (FindingFilter { source_id: text("one"), ..all.clone() }, vec![5, 1]),
        (FindingFilter { skill_id: text("hub:two"), ..all.clone() }, vec![2, 4, 3]),
        (FindingFilter { skill_id: text(HOSTILE), ..all.clone() }, vec![]),
        (FindingFilter { severity_min: Some(Severity::Info), ..all.clone() }, vec![2, 4, 5, 3, 1]),
        (FindingFilter { severity_min: Some(Severity::Medium), ..all.clone() }, vec![2, 3, 1]),
        (FindingFilter { severity_min: Some(Severity::Critical), ..all.clone() }, vec![2, 1]),
        (FindingFilter { content_revision: text("one"), ..all.clone() }, vec![5, 1]),
        (
            FindingFilter {
                source_id: text("second"),
                skill_id: text("hub:two"),
                severity_min: Some(Severity::Low),
                content_revision: text("two"),
                ..from_hubs
            },
            vec![3],
        ),
    ];
    for (filter, expected) in cases {
        for limit in [1, 2, 100] {
            assert_eq!(numbers(&store, &filter, limit).await, expected, "{filter:?}");
        }
    }
}

/// Two who scan the same files at once leave one verdict, with its own findings only.
pub async fn one_of_many_verdicts_stays(store: SharedCatalog) {
    let mut tasks = JoinSet::new();
    for number in 1..=12 {
        let store = store.clone();
        let found = vec![
            finding(number * 10, "one", Severity::High, 10),
            finding(number * 10 + 1, "one", Severity::Low, 10),
        ];
        tasks.spawn(async move { store.set_verdict(&verdict("one", "own", 10, found)).await.expect(WORKS) });
    }
    tasks.join_all().await;
    let kept = store.verdicts("one").await.expect(WORKS);
    assert_eq!(kept.len(), 1);
    let first = kept[0].findings[0].id.as_u128();
    let kept: Vec<u128> = kept[0].findings.iter().map(|finding| finding.id.as_u128()).collect();
    assert_eq!(kept, [first, first + 1]);
    assert_eq!(numbers(&store, &FindingFilter::default(), 9).await, [first + 1, first]);
}

/// An override is about exactly one hash, the last one counts, and it can be taken back.
pub async fn overrides_are_kept_by_hash(store: SharedCatalog) {
    assert_eq!(store.overrides().await.expect(WORKS), []);
    for hash in ["b", "a", HOSTILE] {
        store.set_override(&word(hash, "checked")).await.expect(WORKS);
    }
    let later = word("b", HOSTILE);
    store.set_override(&later).await.expect(WORKS);
    assert_eq!(
        store.overrides().await.expect(WORKS),
        [word(HOSTILE, "checked"), word("a", "checked"), later.clone()]
    );
    assert!(store.delete_override(HOSTILE).await.expect(WORKS));
    assert!(!store.delete_override(HOSTILE).await.expect(WORKS));
    assert!(!store.delete_override("A").await.expect(WORKS));
    assert_eq!(store.overrides().await.expect(WORKS), [word("a", "checked"), later]);
}
