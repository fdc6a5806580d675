//! Random changes of the catalog, made in a store and in memory: the answers are the same.

use std::sync::Arc;

use artel_model::catalog::{ApiKey, AuditAction, CustomSkill, Hub, HubStatus, Severity};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::catalog_sample::{
    SharedCatalog, all_pages, api_key, audit_entry, custom_id, custom_skill, file, finding, hub_id, new_hub,
    saved_again, verdict, word,
};
use super::sample::{WORKS, at, owner_of, user};
use crate::audit::AuditFilter;
use crate::memory::MemoryStore;
use crate::scan::FindingFilter;

const CASES: u32 = 24;
const OPERATIONS_MAX: usize = 24;
const ENGINES: &[&str] = &["own", "llm"];

/// Something that can be done; small numbers make it meet what was done before.
#[derive(Clone, Debug)]
enum Operation {
    CreateSkill { number: u128, millis: i64, skills_max: u64, files: Vec<u8> },
    UpdateSkill { number: u128, expected: u64, files: Vec<u8> },
    DeleteSkill { number: u128, expected: Option<u64> },
    CreateHub { number: u128, location: u128, hubs_max: u64 },
    UpdateHub { number: u128, location: u128, is_enabled: bool },
    SetStatus { number: u128, skills: u64 },
    DeleteHub { number: u128 },
    CreateKey { number: u8, owner: bool, millis: i64, lasts_ms: Option<i64>, keys_max: u64 },
    RevokeKey { number: u8, millis: i64 },
    TouchKey { number: u8, millis: i64 },
    Scan { hash: u8, engine: usize, findings: Vec<(u128, Severity, i64)> },
    Findings { severity_min: Option<Severity>, hash: Option<u8>, limit: usize },
    Override { hash: u8, reason: u8 },
    DeleteOverride { hash: u8 },
    Audit { number: u128, millis: i64, action: AuditAction },
    ListAudit { action: Option<AuditAction>, owner: u128, from: Option<i64>, limit: usize },
    Generation { hash: u8 },
    FirstToken { hash: u8 },
}

fn number() -> impl Strategy<Value = u128> {
    1_u128..6
}

fn moment() -> impl Strategy<Value = i64> {
    -2_i64..6
}

fn severity() -> impl Strategy<Value = Severity> {
    proptest::sample::select(&Severity::ALL[..])
}

fn action() -> impl Strategy<Value = AuditAction> {
    proptest::sample::select(&AuditAction::ALL[..3])
}

fn of_skills_and_hubs() -> impl Strategy<Value = Operation> {
    let files = || proptest::collection::vec(0_u8..3, 0..4);
    let expected = || 1_u64..4;
    prop_oneof![
        3 => (number(), moment(), 1_u64..5, files()).prop_map(|(number, millis, skills_max, files)| {
            Operation::CreateSkill { number, millis, skills_max, files }
        }),
        4 => (number(), expected(), files())
            .prop_map(|(number, expected, files)| Operation::UpdateSkill { number, expected, files }),
        1 => (number(), proptest::option::of(expected()))
            .prop_map(|(number, expected)| Operation::DeleteSkill { number, expected }),
        3 => (number(), number(), 1_u64..5)
            .prop_map(|(number, location, hubs_max)| Operation::CreateHub { number, location, hubs_max }),
        2 => (number(), number(), any::<bool>())
            .prop_map(|(number, location, is_enabled)| Operation::UpdateHub { number, location, is_enabled }),
        1 => (number(), 0_u64..9).prop_map(|(number, skills)| Operation::SetStatus { number, skills }),
        1 => number().prop_map(|number| Operation::DeleteHub { number }),
    ]
}

fn of_keys_and_scans() -> impl Strategy<Value = Operation> {
    let findings = proptest::collection::vec((number(), severity(), moment()), 0..3);
    let (key, hash) = (|| 0_u8..6, || 0_u8..3);
    let lasts_ms = proptest::option::of(0_i64..4);
    prop_oneof![
        3 => (key(), any::<bool>(), moment(), lasts_ms, 1_u64..4).prop_map(
            |(number, owner, millis, lasts_ms, keys_max)| {
                Operation::CreateKey { number, owner, millis, lasts_ms, keys_max }
            }
        ),
        1 => (key(), moment()).prop_map(|(number, millis)| Operation::RevokeKey { number, millis }),
        1 => (key(), moment()).prop_map(|(number, millis)| Operation::TouchKey { number, millis }),
        3 => (hash(), 0..ENGINES.len(), findings)
            .prop_map(|(hash, engine, findings)| Operation::Scan { hash, engine, findings }),
        2 => (proptest::option::of(severity()), proptest::option::of(hash()), 1_usize..4).prop_map(
            |(severity_min, hash, limit)| Operation::Findings { severity_min, hash, limit }
        ),
        1 => (hash(), hash()).prop_map(|(hash, reason)| Operation::Override { hash, reason }),
        1 => hash().prop_map(|hash| Operation::DeleteOverride { hash }),
        2 => (0_u128..12, moment(), action())
            .prop_map(|(number, millis, action)| Operation::Audit { number, millis, action }),
        1 => (proptest::option::of(action()), 0_u128..6, proptest::option::of(moment()), 1_usize..4).prop_map(
            |(action, owner, from, limit)| Operation::ListAudit { action, owner, from, limit }
        ),
        1 => hash().prop_map(|hash| Operation::Generation { hash }),
        1 => hash().prop_map(|hash| Operation::FirstToken { hash }),
    ]
}

/// Whatever is done in whatever order, the answers are those of the store in memory. All cases share one store and one
/// memory, as they are given the same.
pub async fn random_changes_of_the_catalog_are_made_as_in_memory(store: SharedCatalog) {
    let memory: SharedCatalog = Arc::new(MemoryStore::new());
    let handle = tokio::runtime::Handle::current();
    let config = Config { cases: CASES, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    tokio::task::block_in_place(|| {
        let operation = prop_oneof![of_skills_and_hubs(), of_keys_and_scans()];
        let operations = proptest::collection::vec(operation, 1..OPERATIONS_MAX);
        let outcome = TestRunner::new(config).run(&operations, |operations| {
            for operation in operations {
                let expected = handle.block_on(answer(&memory, operation.clone()));
                let actual = handle.block_on(answer(&store, operation.clone()));
                prop_assert_eq!(actual, expected, "{:?}", operation);
            }
            prop_assert_eq!(handle.block_on(everything(&store)), handle.block_on(everything(&memory)));
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{failure}");
        }
    });
}

/// Does what is asked and returns all that can be said about the answer, but for cursors, which are a store's own.
async fn answer(store: &SharedCatalog, operation: Operation) -> String {
    let key_id = |number: u8| format!("key {number}");
    let hash_of = |hash: u8| format!("hash {hash}");
    match operation {
        Operation::CreateSkill { number, millis, skills_max, files } => {
            let skill = with_files(custom_skill(number, millis), &files);
            format!("{:?}", store.create_skill(&skill, skills_max).await)
        }
        Operation::UpdateSkill { number, expected, files } => {
            let skill = with_files(saved_again(number, expected + 1, 7), &files);
            format!("{:?}", store.update_skill(expected, &skill).await)
        }
        Operation::DeleteSkill { number, expected } => {
            format!("{:?}", store.delete_skill(custom_id(number), expected, &user("eve"), at(8)).await)
        }
        Operation::CreateHub { number, location, hubs_max } => {
            let hub = Hub { id: hub_id(number), ..new_hub(location) };
            // What positions are given to those that are refused is the store's own.
            format!("{:?}", store.create_hub(&hub, hubs_max).await.map(|kept| kept.map(drop)))
        }
        Operation::UpdateHub { number, location, is_enabled } => {
            let hub = Hub { id: hub_id(number), is_enabled, ..new_hub(location) };
            format!("{:?}", store.update_hub(&hub).await)
        }
        Operation::SetStatus { number, skills } => {
            let status = HubStatus { skills_count: skills, ..HubStatus::default() };
            format!("{:?}", store.set_hub_status(hub_id(number), &status).await)
        }
        Operation::DeleteHub { number } => format!("{:?}", store.delete_hub(hub_id(number)).await),
        Operation::CreateKey { number, owner, millis, lasts_ms, keys_max } => {
            let key = api_key(&key_id(number), if owner { "ann" } else { "bob" }, millis);
            let expires_at = lasts_ms.map(|lasts_ms| at(millis + lasts_ms));
            format!("{:?}", store.create_key(&ApiKey { expires_at, ..key }, keys_max).await)
        }
        Operation::RevokeKey { number, millis } => {
            format!("{:?}", store.revoke_key(&key_id(number), at(millis)).await)
        }
        Operation::TouchKey { number, millis } => {
            format!("{:?}", store.touch_key(&key_id(number), at(millis)).await)
        }
        Operation::Scan { hash, engine, findings } => scan(store, hash, ENGINES[engine], findings).await,
        Operation::Findings { severity_min, hash, limit } => {
            let content_revision = hash.map(hash_of);
            let filter = FindingFilter { severity_min, content_revision, ..FindingFilter::default() };
            format!("{:?}", all_pages(limit, async |page| store.findings(&filter, &page).await).await)
        }
        Operation::Override { hash, reason } => {
            format!("{:?}", store.set_override(&word(&hash_of(hash), &hash_of(reason))).await)
        }
        Operation::DeleteOverride { hash } => format!("{:?}", store.delete_override(&hash_of(hash)).await),
        Operation::Audit { number, millis, action } => {
            let by = owner_of(number).map_or("root".to_owned(), String::from);
            format!("{:?}", store.add_audit(&audit_entry(number, millis, &by, action)).await)
        }
        Operation::ListAudit { action, owner, from, limit } => {
            let (user, from) = (owner_of(owner), from.map(at));
            let filter = AuditFilter { action, user, from, ..AuditFilter::default() };
            format!("{:?}", all_pages(limit, async |page| store.audit(&filter, &page).await).await)
        }
        Operation::Generation { hash } => format!("{:?}", store.generation_of(&hash_of(hash)).await),
        Operation::FirstToken { hash } => format!("{:?}", store.first_admin_token_hash(&hash_of(hash)).await),
    }
}

fn with_files(skill: CustomSkill, files: &[u8]) -> CustomSkill {
    let file = |(place, content): (usize, &u8)| file(&format!("file {place}"), &[*content; 50]);
    CustomSkill { files: files.iter().enumerate().map(file).collect(), ..skill }
}

/// A finding belongs to one verdict, so its id says which.
async fn scan(store: &SharedCatalog, hash: u8, engine: &str, findings: Vec<(u128, Severity, i64)>) -> String {
    let content_hash = format!("hash {hash}");
    let own = u128::from(hash) * 1000 + if engine == ENGINES[0] { 0 } else { 100 };
    let made = findings.into_iter().enumerate().map(|(place, (number, severity, millis))| {
        finding(own + number * 10 + place as u128, &content_hash, severity, millis)
    });
    let verdict = verdict(&content_hash, engine, 10, made.collect());
    format!("{:?}", store.set_verdict(&verdict).await)
}

/// Returns all that is kept.
async fn everything(store: &SharedCatalog) -> String {
    let mut all = Vec::new();
    for number in 1..6 {
        all.push(format!("{:?}", store.custom_skill(custom_id(number)).await.expect(WORKS)));
        let history = all_pages(2, async |page| store.skill_history(custom_id(number), &page).await).await;
        all.push(format!("{history:?}"));
    }
    all.push(format!("{:?}", store.custom_skills().await.expect(WORKS)));
    let hubs = store.hubs().await.expect(WORKS).into_iter();
    all.extend(hubs.map(|hub| format!("{:?}", Hub { position: 0, ..hub })));
    all.push(format!("{:?}", all_pages(3, async |page| store.keys(None, &page).await).await));
    for hash in 0..3 {
        all.push(format!("{:?}", store.verdicts(&format!("hash {hash}")).await.expect(WORKS)));
    }
    all.push(format!("{:?}", store.all_verdicts().await.expect(WORKS)));
    all.push(format!("{:?}", store.overrides().await.expect(WORKS)));
    let log = all_pages(3, async |page| store.audit(&AuditFilter::default(), &page).await).await;
    all.push(format!("{log:?}"));
    all.push(format!("{:?}", store.generation().await.expect(WORKS)));
    all.push(format!("{:?}", store.admin_token_hash().await.expect(WORKS)));
    all.join("\n")
}
