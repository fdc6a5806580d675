//! Looks whether what belongs to the shared catalog is sound: everything can be read, and content is what its hash says.

use artel_model::catalog::{AuditEntry, FindingRecord, Override, TrailEntry, VerdictRecord};
use artel_model::id::CustomSkillId;
use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::check::unreadable_rows;
use crate::custom::change;
use crate::hub::{HUB_COLUMNS, hub};
use crate::key::{KEY_COLUMNS, api_key};
use crate::row::{parsed, unreadable};

/// Tells what is wrong, a sentence each. A store that was not brought up to date has nothing of it.
pub(crate) fn problems(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    if !connection.table_exists(None, "catalog_generation")? {
        return Ok(Vec::new());
    }
    let hubs = format!("SELECT {HUB_COLUMNS}, 'hub ' || lower(hex(id)) FROM hubs");
    let keys = format!("SELECT {KEY_COLUMNS}, 'key ' || id FROM api_keys");
    let changes = "SELECT key, revision, at, by_user, document, 'skill ' || lower(hex(skill)) || ' at revision ' || revision \
                   FROM custom_skill_changes";
    let verdicts = "SELECT document, 'verdict in row ' || key FROM verdicts";
    let findings = "SELECT document, 'finding in row ' || key FROM findings";
    let overrides = "SELECT document, 'override of ' || content_hash FROM overrides";
    let audit = "SELECT document, 'entry ' || place || ' of the audit log' FROM audit";
    let trail = "SELECT document, 'entry ' || lower(hex(id)) || ' of a trail' FROM trail";
    let blobs = "SELECT hash, content, 'content in row ' || key FROM blobs";
    let nobody = CustomSkillId(Uuid::nil());
    let mut problems = unreadable_rows(connection, &hubs, |row| hub(row).map(drop))?;
    problems.extend(unreadable_rows(connection, &keys, |row| api_key(row).map(drop))?);
    problems.extend(unreadable_rows(connection, changes, |row| change(row, nobody).map(drop))?);
    problems.extend(unreadable_rows(connection, verdicts, |row| parsed::<VerdictRecord>(row, 0).map(drop))?);
    problems.extend(unreadable_rows(connection, findings, |row| parsed::<FindingRecord>(row, 0).map(drop))?);
    problems.extend(unreadable_rows(connection, overrides, |row| parsed::<Override>(row, 0).map(drop))?);
    problems.extend(unreadable_rows(connection, audit, |row| parsed::<AuditEntry>(row, 0).map(drop))?);
    if connection.table_exists(None, "trail")? {
        problems.extend(unreadable_rows(connection, trail, |row| parsed::<TrailEntry>(row, 0).map(drop))?);
    }
    problems.extend(unreadable_rows(connection, blobs, same_as_its_hash)?);
    Ok(problems)
}

fn same_as_its_hash(row: &Row<'_>) -> rusqlite::Result<()> {
    let hash: [u8; 32] = row.get(0)?;
    let content = row.get_ref(1)?.as_blob()?;
    let is_same = <[u8; 32]>::from(Sha256::digest(content)) == hash;
    if is_same { Ok(()) } else { Err(unreadable(1, "it is not what its hash says")) }
}
