//! Reading the audit log.

use artel_api::Paged;
use artel_api::audit::AuditQuery;
use artel_model::catalog::AuditEntry;
use artel_store::AuditFilter;

use super::page::{page_request, paged};
use crate::app::App;
use crate::error::OperationError;

/// Returns entries of the audit log, the last first. It is an administrator's to read; the route sees to that.
pub async fn list_audit(app: &App, query: AuditQuery) -> Result<Paged<AuditEntry>, OperationError> {
    let page = page_request(query.after, query.limit)?;
    let filter = AuditFilter {
        action: query.action,
        user: query.user,
        subject: query.subject,
        from: query.since,
        before: query.until,
    };
    let found = app.stores().audit.audit(&filter, &page).await?;
    Ok(paged(found, std::convert::identity))
}
