//! The trail of a skill, here or at a server.

use artel_api::Paged;
use artel_api::client::ApiPath;
use artel_api::trail::{TrailItem, TrailQuery};
use artel_app::{TrailQuestion, read_trail};
use artel_model::name::SkillName;
use artel_store::{Page, PageRequest};

use super::page::{cannot_list, not_listed, page_of, query_of};
use crate::command::Context;
use crate::failure::Failure;
use crate::workshop::{Store, stores, wait_for};

/// A skill whose trail is asked for.
pub(crate) struct Trailed {
    /// Its id in the catalog.
    pub(crate) skill_id: String,
    /// Its name.
    pub(crate) name: SkillName,
    /// The hash of its files.
    pub(crate) content_hash: String,
}

/// Returns a page of the trail, the latest first; nothing where nothing was ever kept.
pub(crate) fn skill_trail(
    context: Context<'_>,
    skill: Trailed,
    page: &PageRequest,
) -> Result<Page<TrailItem>, Failure> {
    wait_for(async {
        if let Some(client) = context.remote()? {
            let path = ApiPath::new("/api/skills").name(&skill.skill_id).then("trail");
            let (after, limit) = query_of(page);
            let found: Result<Paged<TrailItem>, _> = client.ask(&path, &TrailQuery { after, limit }).await;
            return Ok(page_of(found.map_err(|error| not_listed(&error))?, |item| item));
        }
        let Some(store) = Store::open_existing(context.config).await? else {
            return Ok(Page { items: Vec::new(), next: None });
        };
        let Trailed { skill_id, name, content_hash } = skill;
        let question = TrailQuestion { skill_id, name, content_hash, about: None, reader: None };
        read_trail(&stores(&store), &question, page).await.map_err(|error| cannot_list(&error))
    })
}
