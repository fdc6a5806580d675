//! What a hub would give, for somebody who thinks of registering it.

use serde::{Deserialize, Serialize};

use super::fetched::{Fetched, SkillFolder};
use super::path::shown_folder;
use crate::source::FileTree as _;

/// What a crawl found.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CrawlPreview {
    /// The folders of the skills, by path; the hub itself is `.`.
    pub paths: Vec<String>,
    /// The skills, by path.
    pub skills_preview: Vec<SkillPreview>,
    /// What was left out and why, harmless to show.
    pub warnings: Vec<String>,
    /// Why there is nothing, harmless to show.
    pub error: Option<String>,
}

/// A skill of a hub in a few words.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SkillPreview {
    /// Its folder; the hub itself is `.`.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How many files it has beside the one that describes it.
    pub ancillary_file_count: usize,
}

impl CrawlPreview {
    /// Describes what was fetched.
    pub fn of(fetched: &Fetched) -> Self {
        let skills_preview: Vec<SkillPreview> = fetched.folders.iter().map(preview).collect();
        let paths = skills_preview.iter().map(|skill| skill.path.clone()).collect();
        Self { paths, skills_preview, warnings: fetched.notes(), error: None }
    }

    /// Says why nothing was fetched.
    pub fn failed(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

fn preview(folder: &SkillFolder) -> SkillPreview {
    SkillPreview {
        path: shown_folder(&folder.path),
        name: folder.name.to_string(),
        description: folder.description.clone(),
        ancillary_file_count: folder.tree.listing().files.len().saturating_sub(1),
    }
}
