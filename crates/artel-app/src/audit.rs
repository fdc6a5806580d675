//! The audit log: whoever changes something writes it down here, before the caller is told that it is done.

use std::net::IpAddr;

use artel_model::access::Principal;
use artel_model::catalog::{AuditAction, AuditEntry};
use artel_model::time::Timestamp;
use artel_store::{AuditStore, StoreError};
use uuid::Uuid;

/// Characters of a subject or a summary that are kept.
const AUDIT_TEXT_CHARS_MAX: usize = 500;

/// Writes down who did what, to what, and from where. The summary is for people, and must hold nothing secret.
pub async fn audit(
    store: &dyn AuditStore,
    now: Timestamp,
    principal: &Principal,
    address: Option<IpAddr>,
    action: AuditAction,
    subject: impl Into<String>,
    summary: impl Into<String>,
) -> Result<(), StoreError> {
    let entry = AuditEntry {
        id: Uuid::now_v7(),
        at: now,
        user: principal.viewer.user.clone(),
        credential: principal.credential.shown(),
        from: address.map(|address| address.to_string()),
        action,
        subject: shortened(subject.into()),
        summary: shortened(summary.into()),
    };
    store.add_audit(&entry).await
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(AUDIT_TEXT_CHARS_MAX) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}
