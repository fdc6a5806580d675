//! Taking a skill over from a repository: fetched as hubs are, within the same limits and by the same rules of where one may
//! go, and saved as somebody's own.

use artel_catalog::hub::SkillFolder;
use artel_catalog::shared::custom::{CustomDraft, ImportError, ImportedSkill};
use artel_engine::hub::HubOutcome;
use artel_model::access::Principal;

use super::custom::{SaveError, Saved};
use super::hubs::{HubError, Hubs, NewHub};

/// Paths that are named when there are several skills.
const PATHS_TOLD_MAX: usize = 100;

/// What somebody wants to take over.
#[derive(Clone, Debug)]
pub struct RepositoryImport {
    /// Where it is.
    pub from: NewHub,
    /// The skill's folder there; nothing when there is one skill only.
    pub path: Option<String>,
    /// The word for who sees it.
    pub visibility: String,
    /// The teams that see it.
    pub team_ids: Vec<String>,
}

/// Why a skill was not taken over; nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum ImportFailed {
    /// Where it should be is wrong or not allowed.
    #[error(transparent)]
    Hub(#[from] HubError),
    /// The tokens of hubs are the operator's.
    #[error("Only administrators can use the tokens of hubs.")]
    Token,
    /// Folders of the server are the operator's.
    #[error("Only administrators can take skills from folders of the server.")]
    Folder,
    /// It cannot be fetched; harmless to show.
    #[error("{0}")]
    Fetch(String),
    /// There is none.
    #[error("there is no usable skill at this place")]
    NoSkill,
    /// There are several, in these folders.
    #[error("there are several skills; `path` says which one")]
    Several(Vec<String>),
    /// It cannot be taken over.
    #[error("the skill cannot be taken over: {0}")]
    Unusable(ImportError),
    /// It cannot be saved.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl Hubs {
    /// Fetches a skill and saves a copy of it for the caller.
    pub async fn import(&self, caller: &Principal, wish: RepositoryImport) -> Result<Saved, ImportFailed> {
        if wish.from.credentials_ref.is_some() && !caller.is_admin() {
            return Err(ImportFailed::Token);
        }
        // Decided before anything is looked at: whether a folder exists is not the caller's to know.
        if self.is_folder(&wish.from)? && !caller.is_admin() {
            return Err(ImportFailed::Folder);
        }
        let fetched = match self.look(&wish.from).await? {
            Ok(HubOutcome::Fetched(fetched)) => fetched,
            Ok(HubOutcome::Unchanged) => return Err(ImportFailed::NoSkill),
            Err(failure) => return Err(ImportFailed::Fetch(failure.message)),
        };
        let folder = chosen(fetched.folders, wish.path.as_deref())?;
        let ImportedSkill { draft, warnings } =
            ImportedSkill::of(&folder.tree).map_err(ImportFailed::Unusable)?;
        let draft = CustomDraft { visibility: wish.visibility, team_ids: wish.team_ids, ..draft };
        let mut saved = self.catalogs().create(caller, draft).await?;
        saved.warnings.extend(warnings);
        Ok(saved)
    }
}

/// Returns the skill of that folder, or the only one there is.
fn chosen(mut folders: Vec<SkillFolder>, path: Option<&str>) -> Result<SkillFolder, ImportFailed> {
    let exact = path.map(|path| path.trim_matches('/'));
    match exact.and_then(|path| folders.iter().position(|folder| folder.path == path)) {
        Some(place) => Ok(folders.swap_remove(place)),
        // A folder around one skill means that one.
        None => only(folders),
    }
}

fn only(mut folders: Vec<SkillFolder>) -> Result<SkillFolder, ImportFailed> {
    match folders.len() {
        0 => Err(ImportFailed::NoSkill),
        1 => Ok(folders.swap_remove(0)),
        _ => {
            let paths = folders.into_iter().map(|folder| folder.path.into_string());
            Err(ImportFailed::Several(paths.take(PATHS_TOLD_MAX).collect()))
        }
    }
}
