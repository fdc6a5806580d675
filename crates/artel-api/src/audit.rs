//! The audit log: which entries are asked for. The entries themselves are documents of the model.

use artel_model::access::UserId;
use artel_model::catalog::AuditAction;
use artel_model::limit::API_PAGE_ITEMS_MAX;
use artel_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shapes;

/// Which entries a list holds; everything that is not said fits.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// What was done.
    #[serde(default)]
    pub action: Option<AuditAction>,
    /// By whom.
    #[serde(default)]
    pub user: Option<UserId>,
    /// To what.
    #[serde(default)]
    pub subject: Option<String>,
    /// At this time or later.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Before this time.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// Where the page begins: the `next` of the page before.
    #[serde(default)]
    #[schemars(schema_with = "shapes::cursor")]
    pub after: Option<String>,
    /// Entries on a page.
    #[serde(default)]
    #[schemars(range(min = 1, max = API_PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}
