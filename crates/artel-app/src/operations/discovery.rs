//! What the server publishes to everybody: the skills that every caller sees, when the operator allows it. It is packed once
//! for every state of the catalog, however often it is fetched.

use std::sync::Arc;

use artel_catalog::hub::{PublicFile, PublicSkill, write_index};
use artel_catalog::shared::{Entry, View};
use artel_catalog::{file_hash, holds_settings};
use artel_model::access::Viewer;
use artel_model::catalog::{ScanStatus, Visibility};
use artel_model::limit::{HUB_INDEX_SKILLS_MAX, PUBLISHED_BYTES_MAX};
use bytes::Bytes;
use tokio::sync::Mutex;

use crate::app::App;
use crate::error::OperationError;

/// What was published last. Whoever holds it packs what is next, and the others wait for it.
#[derive(Default)]
pub struct Publishing(Mutex<Option<(String, Arc<Publication>)>>);

/// What is published.
pub struct Publication {
    /// The index.
    pub index: Bytes,
    /// By name: the last part of the address, and what is there.
    skills: Vec<(String, &'static str, Bytes)>,
}

impl Publication {
    /// Returns what is at the address of a skill.
    pub fn file(&self, name: &str, file_name: &str) -> Option<Bytes> {
        let place = self.skills.binary_search_by(|(known, ..)| known.as_str().cmp(name)).ok()?;
        let (_, known, bytes) = &self.skills[place];
        (*known == file_name).then(|| bytes.clone())
    }
}

/// Returns what is published; nothing is when nobody allowed it.
pub async fn publication(app: &App) -> Result<Arc<Publication>, OperationError> {
    if !app.publishes_skills() {
        return Err(OperationError::not_found("page"));
    }
    let anybody = Viewer { user: "-".parse().expect("a constant name is valid"), teams: Default::default() };
    let view = app.catalogs().view(&anybody).ok_or_else(|| {
        OperationError::unavailable(
            "skills_unavailable",
            "Skills are temporarily unavailable. Please try again later.",
        )
    })?;
    let mut last = app.publishing().0.lock().await;
    if let Some((_, publication)) = last.as_ref().filter(|(etag, _)| etag == view.etag()) {
        return Ok(Arc::clone(publication));
    }
    let etag = view.etag().to_owned();
    let packed = tokio::task::spawn_blocking(move || pack(&view));
    let packed = packed.await.map_err(|_| OperationError::internal("packing the published skills failed"))?;
    let publication = Arc::new(
        packed.map_err(|_| OperationError::internal("the index of published skills cannot be written"))?,
    );
    *last = Some((etag, Arc::clone(&publication)));
    Ok(publication)
}

fn pack(view: &View) -> serde_json::Result<Publication> {
    let mut entries: Vec<&Entry> = view.entries().filter(|entry| is_public(entry)).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let mut bytes_left = PUBLISHED_BYTES_MAX;
    let (mut skills, mut left_out) = (Vec::new(), 0_usize);
    for entry in entries {
        let Some(skill) = packed(entry) else { continue };
        if skills.len() == HUB_INDEX_SKILLS_MAX || skill.bytes.len() > bytes_left {
            left_out += 1;
            continue;
        }
        bytes_left -= skill.bytes.len();
        skills.push(skill);
    }
    if left_out > 0 {
        tracing::warn!(left_out, published = skills.len(), "not all skills fit into what is published");
    }
    let index = write_index(&skills)?.into();
    let place = |skill: PublicSkill| (skill.name.to_string(), skill.file_name(), skill.bytes.into());
    Ok(Publication { index, skills: skills.into_iter().map(place).collect() })
}

/// A badge cannot travel with a file, so that what is flagged stays here.
fn is_public(entry: &Entry) -> bool {
    entry.visibility == Visibility::Global && entry.scan.status != ScanStatus::Flagged
}

/// Packs exactly the files that were scanned, without anybody's settings; a file that changed since hides its skill.
fn packed(entry: &Entry) -> Option<PublicSkill> {
    let tree = entry.loaded.location.tree()?;
    let listed = entry.loaded.files.iter().filter(|file| !holds_settings(&entry.loaded, file));
    let mut files = Vec::new();
    for file in listed {
        let sealed = entry.file(file.path.as_str())?;
        let content = tree.read(&sealed.path, sealed.size.max(1)).ok()?;
        if file_hash(&content) != sealed.hash {
            return None;
        }
        files.push(PublicFile { path: sealed.path.clone(), content, is_executable: sealed.is_executable });
    }
    let packed = PublicSkill::pack(entry.name.clone(), entry.description.clone(), files);
    packed
        .inspect_err(|error| tracing::warn!(skill = %entry.name, %error, "a skill cannot be packed"))
        .ok()?
}
