//! Skills, hubs, keys, verdicts and entries, made as short as the cases need them.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_model::access::Scope;
use artel_model::catalog::{
    ApiKey, AuditAction, AuditEntry, CustomFile, CustomSkill, FindingRecord, Hub, HubKind, HubStatus,
    HubVisibility, Override, PathRule, Severity, SourceKind, VerdictRecord, Visibility,
};
use artel_model::id::{CustomSkillId, HubId};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::sample::{at, user};
use crate::page::{Page, PageRequest};
use crate::{
    AuditStore, CustomSkillStore, GenerationStore, HubStore, KeyStore, PersonStore, RunStore, ScanStore,
    StoreError, TrailStore,
};

/// A store of everything that belongs to the shared catalog.
pub trait AnyCatalogStore:
    RunStore
    + CustomSkillStore
    + HubStore
    + KeyStore
    + PersonStore
    + ScanStore
    + AuditStore
    + TrailStore
    + GenerationStore
{
}

impl<T> AnyCatalogStore for T where
    T: RunStore
        + CustomSkillStore
        + HubStore
        + KeyStore
        + PersonStore
        + ScanStore
        + AuditStore
        + TrailStore
        + GenerationStore
{
}

/// A store of the catalog that a case may share with the tasks it starts.
pub(super) type SharedCatalog = Arc<dyn AnyCatalogStore>;

/// How many skills, hubs and keys there may be where a case is not about that.
pub(super) const MANY: u64 = 10_000;

/// Text that breaks what is put together from text.
pub(super) const HOSTILE: &str = "'; DROP TABLE hubs; --\u{0}\"\\ \u{1f600}\u{202e}\n%_*";

/// Returns the id of a saved skill.
pub fn custom_id(number: u128) -> CustomSkillId {
    CustomSkillId(Uuid::from_u128(number))
}

/// Returns the id of a hub.
pub fn hub_id(number: u128) -> HubId {
    HubId(Uuid::from_u128(number))
}

/// Returns a skill as it is saved first, at `millis`, with a file.
pub fn custom_skill(number: u128, millis: i64) -> CustomSkill {
    CustomSkill {
        id: custom_id(number),
        name: format!("skill-{}", number % 1000).parse().expect("a skill's name"),
        title: Some(HOSTILE.to_owned()),
        description: "What it is for.".to_owned(),
        content: format!("# Skill {number}\n{HOSTILE}"),
        metadata: Map::from_iter([("text".to_owned(), Value::from(HOSTILE))]),
        visibility: Visibility::Global,
        files: vec![file("scripts/run.sh", b"#!/bin/sh\n")],
        owner_user_id: user("ann"),
        revision: 1,
        created_at: at(millis),
        updated_at: at(millis),
        updated_by: user("ann"),
        content_hash: format!("hash {number}"),
    }
}

/// Returns a skill as it is saved again, at `millis`, with other content.
pub(super) fn saved_again(number: u128, revision: u64, millis: i64) -> CustomSkill {
    CustomSkill {
        content: format!("revision {revision}"),
        content_hash: format!("hash {number} of revision {revision}"),
        revision,
        updated_at: at(millis),
        updated_by: user("bob"),
        ..custom_skill(number, 10)
    }
}

/// Returns a file.
pub(super) fn file(path: &str, content: &[u8]) -> CustomFile {
    CustomFile { path: path.to_owned(), content: content.to_vec(), is_executable: content.starts_with(b"#!") }
}

/// Returns a hub that was never fetched, with a location of its own.
pub fn new_hub(number: u128) -> Hub {
    Hub {
        id: hub_id(number),
        kind: HubKind::Git,
        location: format!("https://example.org/{number}.git"),
        reference: Some("main".to_owned()),
        include_paths: vec!["skills".to_owned(), HOSTILE.to_owned()],
        is_enabled: true,
        credentials_ref: Some("TOKEN".to_owned()),
        visibility: HubVisibility {
            whole: Visibility::Global,
            paths: vec![PathRule {
                path: "skills/ann".to_owned(),
                visibility: Visibility::Personal { owner_user_id: user("ann") },
            }],
        },
        position: 0,
        created_at: at(10),
        updated_at: at(10),
        created_by: user("ann"),
        status: HubStatus::default(),
    }
}

/// Returns a good key of somebody, made at `millis`.
pub fn api_key(key_id: &str, owner: &str, millis: i64) -> ApiKey {
    ApiKey {
        key_id: key_id.to_owned(),
        key_hash: format!("$argon2id${key_id}"),
        label: HOSTILE.to_owned(),
        owner_user_id: user(owner),
        team_ids: BTreeSet::from(["red".parse().expect("a team"), "blue".parse().expect("a team")]),
        scopes: BTreeSet::from([Scope::CatalogRead, Scope::RunsWrite]),
        created_at: at(millis),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

/// Returns what an engine said of some files at `millis`.
pub fn verdict(content_hash: &str, engine: &str, millis: i64, findings: Vec<FindingRecord>) -> VerdictRecord {
    VerdictRecord {
        content_hash: content_hash.to_owned(),
        engine: engine.to_owned(),
        engine_version: "rules 1".to_owned(),
        worst: findings.iter().map(|finding| finding.severity).max(),
        is_complete: findings.is_empty(),
        gaps: vec![HOSTILE.to_owned()],
        findings,
        scanned_at: at(millis),
    }
}

/// Returns a finding of the engine `own`, made at `millis`.
pub fn finding(number: u128, content_hash: &str, severity: Severity, millis: i64) -> FindingRecord {
    FindingRecord {
        id: Uuid::from_u128(number),
        source_type: SourceKind::AgentSkills,
        source_id: Some("one".to_owned()),
        skill_id: "agent_skills:one".to_owned(),
        content_revision: content_hash.to_owned(),
        severity,
        rule_id: "shell-pipe".to_owned(),
        path: Some("scripts/run.sh".to_owned()),
        line: Some(3),
        message: HOSTILE.to_owned(),
        remediation: None,
        engine: "own".to_owned(),
        created_at: at(millis),
    }
}

/// Returns an administrator's word about some files.
pub(super) fn word(content_hash: &str, reason: &str) -> Override {
    Override { content_hash: content_hash.to_owned(), reason: reason.to_owned(), by: user("root"), at: at(5) }
}

/// Returns an entry of the audit log.
pub fn audit_entry(number: u128, millis: i64, by: &str, action: AuditAction) -> AuditEntry {
    AuditEntry {
        id: Uuid::from_u128(number),
        at: at(millis),
        user: user(by),
        credential: "key abc".to_owned(),
        from: Some("127.0.0.1".to_owned()),
        action,
        subject: format!("subject {}", number % 2),
        summary: HOSTILE.to_owned(),
    }
}

/// Reads a list to its end in pages of `limit`.
pub(super) async fn all_pages<T>(
    limit: usize,
    page: impl AsyncFn(PageRequest) -> Result<Page<T>, StoreError>,
) -> Vec<T> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let read = page(PageRequest { after, limit }).await.expect(super::sample::WORKS);
        assert!(read.items.len() <= limit, "a page is not longer than it may be");
        found.extend(read.items);
        match read.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}
