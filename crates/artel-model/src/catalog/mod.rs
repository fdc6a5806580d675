//! The shared catalog: who sees which skill, hubs, keys, skills that people save, verdicts, trails, and the audit log.
//!
//! Knows nothing of folders, repositories, stores or requests.

mod audit;
mod custom;
mod hub;
mod hub_visibility;
mod key;
mod scan;
mod trail;
mod view;
mod visibility;

pub use audit::{AuditAction, AuditEntry};
pub use custom::{CustomFile, CustomSkill, SkillChange};
pub use hub::{CREDENTIALS_PREFIX, Hub, HubKind, HubStatus, UnknownHubKind};
pub use hub_visibility::{HubVisibility, HubVisibilityError, PathRule};
pub use key::ApiKey;
pub use scan::{
    FindingRecord, Gate, Override, ScanStatus, Served, Severity, UnknownGate, UnknownSeverity, VerdictRecord,
};
pub use trail::{ActivatedBy, OfferedBy, TrailEntry, TrailEvent, TrailKind};
pub use view::{Listed, view};
pub use visibility::{SourceKind, UnknownSource, Visibility, VisibilityError};
