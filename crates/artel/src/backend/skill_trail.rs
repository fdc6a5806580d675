//! The trail of a skill.

use artel_api::Paged;
use artel_api::client::ApiPath;
use artel_api::trail::{TrailItem, TrailQuery};
use artel_app::{TrailQuestion, operations};
use artel_model::name::SkillName;

use super::error::BackendError;
use super::open::Backend;

/// A skill whose trail is asked for.
pub(crate) struct Trailed {
    /// Its id in the catalog.
    pub(crate) skill_id: String,
    /// Its name.
    pub(crate) name: SkillName,
    /// The hash of its files.
    pub(crate) content_hash: String,
}

impl Backend {
    /// Returns a page of the trail of a skill, the latest first.
    pub(crate) async fn skill_trail(
        &self,
        skill: Trailed,
        query: TrailQuery,
    ) -> Result<Paged<TrailItem>, BackendError> {
        let Trailed { skill_id, name, content_hash } = skill;
        match self {
            Self::Local(local) => {
                let question = TrailQuestion { skill_id, name, content_hash, about: None, reader: None };
                Ok(operations::trail_of(&local.app, &question, query).await?)
            }
            Self::Remote(client) => {
                Ok(client.ask(&ApiPath::new("/api/skills").name(&skill_id).then("trail"), &query).await?)
            }
        }
    }
}
