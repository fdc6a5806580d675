//! The audit log, and the number of the catalog.

use std::collections::BTreeSet;

use artel_model::access::KnownTeams;
use artel_model::catalog::{AuditAction, Hub, HubStatus};
use tokio::task::JoinSet;

use super::catalog_sample::{
    HOSTILE, MANY, SharedCatalog, all_pages, api_key, audit_entry, custom_id, custom_skill, hub_id, new_hub,
    saved_again, verdict, word,
};
use super::catalog_trail::trail_entry;
use super::sample::{WORKS, at, user};
use crate::audit::AuditFilter;
use crate::page::{Cursor, PageRequest};
use crate::scan::FindingFilter;
use crate::{AuditStore, GenerationStore, HubStore, KeyStore, StoreError};

async fn numbers(store: &SharedCatalog, filter: &AuditFilter, limit: usize) -> Vec<u128> {
    let found = all_pages(limit, async |page| store.audit(filter, &page).await).await;
    found.into_iter().map(|entry| entry.id.as_u128()).collect()
}

/// Entries of every kind come back whole; one that is added twice is one.
pub async fn an_audit_entry_is_kept_once(store: SharedCatalog) {
    let mut added = Vec::new();
    for (number, action) in (1..).zip(AuditAction::ALL) {
        let entry = audit_entry(number, 10, "Böb <bob@example.org>", action);
        store.add_audit(&entry).await.expect(WORKS);
        added.insert(0, entry);
    }
    added[0].from = None;
    added[0].id = uuid::Uuid::from_u128(99);
    added[0].subject = HOSTILE.to_owned();
    store.add_audit(&added[0]).await.expect(WORKS);
    store.add_audit(&added[0]).await.expect(WORKS);
    let all = all_pages(5, async |page| store.audit(&AuditFilter::default(), &page).await).await;
    assert_eq!(all.len(), AuditAction::ALL.len() + 1);
    assert_eq!(all[0], added[0]);
    assert_eq!(all[2..], added[1..]);
    let odd = AuditFilter { subject: Some(HOSTILE.to_owned()), ..AuditFilter::default() };
    assert_eq!(numbers(&store, &odd, 9).await, [99]);
}

/// Entries are found by every filter, the last first, and pages of any size agree.
pub async fn audit_entries_are_found_by_every_filter(store: SharedCatalog) {
    let (made, revoked) = (AuditAction::KeyCreated, AuditAction::KeyRevoked);
    let entries = [
        (9, 20, "ann", made),
        (2, 30, "bob", revoked),
        (5, 20, "ann", revoked),
        (4, 10, "bob", made),
        (7, 20, "bob", made),
    ];
    for (number, millis, by, action) in entries {
        store.add_audit(&audit_entry(number, millis, by, action)).await.expect(WORKS);
    }
    let all = AuditFilter::default();
    let cases: Vec<(AuditFilter, Vec<u128>)> = vec![
        (all.clone(), vec![2, 7, 5, 9, 4]),
        (AuditFilter { action: Some(made), ..all.clone() }, vec![7, 9, 4]),
        (AuditFilter { action: Some(AuditAction::HubDeleted), ..all.clone() }, vec![]),
        (AuditFilter { user: Some(user("ann")), ..all.clone() }, vec![5, 9]),
        (AuditFilter { user: Some(user("Ann")), ..all.clone() }, vec![]),
        (AuditFilter { subject: Some("subject 0".to_owned()), ..all.clone() }, vec![2, 4]),
        (AuditFilter { from: Some(at(20)), ..all.clone() }, vec![2, 7, 5, 9]),
        (AuditFilter { before: Some(at(20)), ..all.clone() }, vec![4]),
        (
            AuditFilter {
                action: Some(made),
                user: Some(user("bob")),
                subject: Some("subject 1".to_owned()),
                from: Some(at(20)),
                before: Some(at(21)),
            },
            vec![7],
        ),
    ];
    for (filter, expected) in cases {
        for limit in [1, 2, 100] {
            assert_eq!(numbers(&store, &filter, limit).await, expected, "{filter:?}");
        }
    }
}

/// The number grows when the content is another one, and only then.
pub async fn the_generation_grows_with_the_content(store: SharedCatalog) {
    assert_eq!(store.generation().await.expect(WORKS), None);
    for (hash, expected) in [("a", 1), ("a", 1), ("b", 2), (HOSTILE, 3), (HOSTILE, 3), ("a", 4)] {
        assert_eq!(store.generation_of(hash).await.expect(WORKS), expected, "{hash}");
        assert_eq!(store.generation().await.expect(WORKS), Some((expected, hash.to_owned())));
    }
}

/// Nodes that publish the same content at once agree about its number.
pub async fn generations_are_shared(store: SharedCatalog) {
    for round in 1..=5 {
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let store = store.clone();
            let hash = format!("hash {round}");
            tasks.spawn(async move { store.generation_of(&hash).await.expect(WORKS) });
        }
        let answers = tasks.join_all().await;
        assert_eq!(answers, vec![round; 8]);
    }
    let mut tasks = JoinSet::new();
    for number in 0..10 {
        let store = store.clone();
        let hash = format!("other {number}");
        tasks.spawn(async move { store.generation_of(&hash).await.expect(WORKS) });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_unstable();
    assert_eq!(answers, (6..=15).collect::<Vec<_>>());
}

/// A cursor that no list gave out is the caller's mistake, and said to be.
pub async fn a_foreign_cursor_of_the_catalog_is_refused(store: SharedCatalog) {
    for text in ["", "zzz", "1.2.3", "' OR 1=1 --", "\u{0}"] {
        let page = PageRequest { after: Some(Cursor(text.to_owned())), limit: 3 };
        let refused = |error: Option<StoreError>| matches!(error, Some(StoreError::UnknownCursor { .. }));
        assert!(refused(store.skill_history(custom_id(1), &page).await.err()), "{text}");
        assert!(refused(store.keys(None, &page).await.err()), "{text}");
        assert!(refused(store.findings(&FindingFilter::default(), &page).await.err()), "{text}");
        assert!(refused(store.audit(&AuditFilter::default(), &page).await.err()), "{text}");
    }
}

/// Whatever is written to the catalog changes the version, so that other nodes look.
pub async fn every_write_of_the_catalog_changes_the_version(store: SharedCatalog) {
    let mut before = store.version().await.expect(WORKS);
    let mut moved = async |what: &str| {
        let version = store.version().await.expect(WORKS);
        assert_ne!(version, before, "{what}");
        before = version;
    };
    store.create_skill(&custom_skill(1, 10), MANY).await.expect(WORKS).expect("there is room");
    moved("create_skill").await;
    store.update_skill(1, &saved_again(1, 2, 20)).await.expect(WORKS).expect("it is the last");
    moved("update_skill").await;
    store.delete_skill(custom_id(1), None, &user("ann"), at(30)).await.expect(WORKS).expect("it is there");
    moved("delete_skill").await;
    HubStore::create_hub(&*store, &new_hub(1), MANY).await.expect(WORKS).expect("there is room");
    moved("create_hub").await;
    let other = Hub { is_enabled: false, ..new_hub(1) };
    store.update_hub(&other).await.expect(WORKS).expect("it is there");
    moved("update_hub").await;
    let status = HubStatus { skills_count: 7, ..HubStatus::default() };
    store.set_hub_status(hub_id(1), &status).await.expect(WORKS);
    moved("set_hub_status").await;
    store.delete_hub(hub_id(1)).await.expect(WORKS);
    moved("delete_hub").await;
    store.create_key(&api_key("one", "ann", 10), MANY).await.expect(WORKS);
    moved("create_key").await;
    KeyStore::revoke_key(&*store, "one", at(20)).await.expect(WORKS);
    moved("revoke_key").await;
    store.touch_key("one", at(20)).await.expect(WORKS);
    moved("touch_key").await;
    store.first_admin_token_hash("hash").await.expect(WORKS);
    moved("first_admin_token_hash").await;
    store.set_admin_token_hash("other").await.expect(WORKS);
    moved("set_admin_token_hash").await;
    let known = KnownTeams { teams: BTreeSet::new(), at: at(20) };
    store.remember_teams(&user("ann"), &known).await.expect(WORKS);
    moved("remember_teams").await;
    store.set_verdict(&verdict("one", "own", 10, Vec::new())).await.expect(WORKS);
    moved("set_verdict").await;
    store.set_override(&word("one", "checked")).await.expect(WORKS);
    moved("set_override").await;
    store.delete_override("one").await.expect(WORKS);
    moved("delete_override").await;
    AuditStore::add_audit(&*store, &audit_entry(1, 10, "ann", AuditAction::KeyCreated)).await.expect(WORKS);
    moved("add_audit").await;
    store.add_trail(&[trail_entry(1, 10, "one", Some("ann"))]).await.expect(WORKS);
    moved("add_trail").await;
    store.prune_trail(at(20), 0).await.expect(WORKS);
    moved("prune_trail").await;
    GenerationStore::generation_of(&*store, "hash").await.expect(WORKS);
    moved("generation_of").await;
    store.sync().await.expect(WORKS);
}
