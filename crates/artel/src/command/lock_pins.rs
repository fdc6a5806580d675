//! The skills that a lock file is about, pinned as they are.

use std::collections::BTreeMap;

use artel_catalog::lock::{LockFile, LockScope, LockedFile, LockedSkill, Origin, PinError, Used, pin, used};
use artel_catalog::{Catalog, FolderLimits, Loaded, Location, whole_tree};
use artel_model::catalog::SourceKind;
use artel_model::limit::LOCK_SKILLS_MAX;
use artel_model::skill::SkillPin;
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use super::context::Context;
use crate::failure::{Failure, chain};
use crate::output::Tone;

/// Pins every skill of the catalog that is meant by `scope`; `file` is the lock file that locations are told from.
pub(super) fn present(
    context: Context<'_>,
    catalog: &Catalog,
    scope: LockScope,
    file: &Utf8Path,
) -> Result<LockFile, Failure> {
    let Used { skills, problems, .. } = used(catalog, &scope);
    for problem in &problems {
        context.output.remark("warning", Tone::Warning, problem);
    }
    if skills.len() > LOCK_SKILLS_MAX {
        return Err(Failure::usage(format!("there are {} skills to lock", skills.len()))
            .hint(format!("a lock file holds at most {LOCK_SKILLS_MAX}; name those that the project uses")));
    }
    let limits = context.config.limits.value.folder;
    let home = Home::of(context, file);
    let pinned: Result<BTreeMap<SkillPin, LockedSkill>, Failure> = skills
        .into_par_iter()
        .map(|(id, entry)| match pin_entry(limits, &home, entry) {
            Ok(skill) => Ok((id, skill)),
            Err(error) => Err(Failure::missing(format!("cannot pin `{id}`: {}", chain(&error)))),
        })
        .collect();
    Ok(LockFile { scope, skills: pinned? })
}

fn pin_entry(limits: FolderLimits, home: &Home, entry: &Loaded) -> Result<LockedSkill, PinError> {
    let tree = whole_tree(&entry.location, limits).map_err(PinError::Read)?;
    let skill = entry.skill.as_deref().ok_or_else(|| PinError::Unseen("it cannot be used".to_owned()))?;
    let Some(offer) = &entry.offer else {
        return pin(skill, home.origin(&entry.location), tree.as_ref());
    };
    let origin = Origin { source: offer.id.source(), location: offer.id.to_string(), revision: None };
    let mut locked = pin(skill, origin, tree.as_ref())?;
    // Settings stay with the server, but belong to what is locked.
    for file in offer.files.iter().filter(|file| offer.stays(file)) {
        let pinned = LockedFile { hash: file.hash, is_executable: file.is_executable };
        locked.files.insert(file.path.to_string(), pinned);
    }
    Ok(locked)
}

/// From where locations are told, so that a lock file says the same on another machine.
struct Home {
    project: Option<Utf8PathBuf>,
    user: Option<Utf8PathBuf>,
}

impl Home {
    fn of(context: Context<'_>, file: &Utf8Path) -> Self {
        let folder = file.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        let user = context.config.environment.get("HOME").map(Utf8Path::new);
        Self {
            project: folder.canonicalize_utf8().ok(),
            user: user.and_then(|user| user.canonicalize_utf8().ok()),
        }
    }

    fn origin(&self, location: &Location) -> Origin {
        let (location, revision) = match location {
            Location::Folder(path) | Location::RegistryFile { path, .. } => (self.told(path), None),
            Location::BuiltIn(_) => ("built-in".to_owned(), Some(env!("CARGO_PKG_VERSION").to_owned())),
        };
        Origin { source: SourceKind::Default, location, revision }
    }

    /// Tells a path from the project's folder, else from the user's, else as it is.
    fn told(&self, path: &Utf8Path) -> String {
        let real = path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
        let below = |folder: &Option<Utf8PathBuf>| Some(real.strip_prefix(folder.as_ref()?).ok()?.to_owned());
        match (below(&self.project), below(&self.user)) {
            (Some(inside), _) if inside.as_str().is_empty() => ".".to_owned(),
            (Some(inside), _) => inside.into_string(),
            (None, Some(inside)) => format!("~/{inside}"),
            (None, None) => real.into_string(),
        }
    }
}
