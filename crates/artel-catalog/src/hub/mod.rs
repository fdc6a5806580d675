//! Hubs: where they are, which of their files are taken, how archives and indexes are read, and what is published.
//!
//! Knows nothing of networks and programs: fetching is the engine's.

mod archive;
mod census;
mod fetched;
mod host;
mod index;
mod limits;
mod location;
#[cfg(test)]
mod location_tests;
mod message;
mod notes;
mod path;
mod preview;
mod public;
mod published;
mod reference;
mod selection;
mod site;

pub use archive::{ArchiveError, ArchiveFormat, ArchiveTop, read_archive};
pub use census::{Census, EntryKind, TooManyEntries};
pub use fetched::{Fetched, SkillFolder};
pub use host::{Host, HostPattern, HostRules, NoHost, NoHostPattern, Reach};
pub use index::{INDEX_PATH, IndexProblem, IndexedKind, IndexedSkill, SkillIndex};
pub use limits::HubLimits;
pub use location::{
    GitRemote, GithubRepository, HubLocation, LocationProblem, SshPlace, WebPlace, WebScheme,
};
pub use message::harmless;
pub use notes::SkippedSkill;
pub use path::PathProblem;
pub(crate) use path::check_path;
pub use preview::{CrawlPreview, SkillPreview};
pub use public::{PublicFile, PublicSkill, write_index};
pub use published::{PublishError, Published, PublishedSkill, publish, published_content, read_published};
pub use reference::{
    CREDENTIALS_PREFIX, CredentialsRef, GitReference, IncludePath, NoCredentialsRef, NoReference, NoRevision,
    Revision,
};
pub use selection::{Gathered, Selection};
pub use site::SiteSkills;
