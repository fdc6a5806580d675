//! The trail of a skill, as far as it is the caller's to see: an administrator sees what is about everybody, others what is
//! about themselves and about the files. What is private to somebody else is seen by neither.

use artel_api::Paged;
use artel_api::trail::{TrailItem, TrailQuery};
use artel_catalog::shared::EntryId;
use artel_model::access::Principal;

use super::page::{page_request, paged};
use super::skills::served;
use crate::app::App;
use crate::error::OperationError;
use crate::trail::{TrailQuestion, read_trail};

/// Returns a page of the trail of a skill.
pub async fn skill_trail(
    app: &App,
    caller: &Principal,
    id: &str,
    query: TrailQuery,
) -> Result<Paged<TrailItem>, OperationError> {
    let (_, view) = served(app, caller)?;
    let unknown = || OperationError::not_found("skill");
    let id: EntryId = id.parse().map_err(|_| unknown())?;
    let entry = view.get(&id).ok_or_else(unknown)?.entry;
    let question = TrailQuestion {
        skill_id: entry.id.to_string(),
        name: entry.name.clone(),
        content_hash: entry.content_hash.clone(),
        about: (!caller.is_admin()).then(|| caller.viewer.user.clone()),
        reader: Some(caller.viewer.user.clone()),
    };
    trail_of(app, &question, query).await
}

/// Returns a page of the trail that a question is about.
pub async fn trail_of(
    app: &App,
    question: &TrailQuestion,
    query: TrailQuery,
) -> Result<Paged<TrailItem>, OperationError> {
    let page = read_trail(app.stores(), question, &page_request(query.after, query.limit)?).await?;
    Ok(paged(page, |item| item))
}
