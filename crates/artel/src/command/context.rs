//! What every command needs: the configuration, the output, and the catalog.

use artel_api::client::{Client, ClientConfig};
use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions, Loaded, Switches};
use artel_model::name::SkillName;
use artel_model::registry::LookupError;
use artel_model::version::Version;

use crate::backend::offered_catalog;
use crate::config::{Config, Origin, RemoteSettings};
use crate::failure::{Failure, refused};
use crate::output::{Counts, Output, SourceCache};

/// The surroundings of a command.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) config: &'a Config,
    pub(crate) output: &'a Output,
}

impl Context<'_> {
    /// Returns a client of the server that the command works on; nothing when it works on the data folder.
    pub(crate) fn remote(&self) -> Result<Option<Client>, Failure> {
        self.config.remote.value.as_ref().map(|remote| self.client_of(remote)).transpose()
    }

    /// Refuses what only makes sense on a data folder, and says why.
    pub(crate) fn must_be_here(&self, command: &str, why: &str) -> Result<(), Failure> {
        match (&self.config.remote.value, &self.config.remote.origin) {
            (None, _) => Ok(()),
            (Some(_), origin) => Err(Failure::usage(format!(
                "`artel {command}` works on a data folder, not through a server ({origin})"
            ))
            .hint(why)),
        }
    }

    /// Returns a client of a server.
    pub(crate) fn client_of(&self, remote: &RemoteSettings) -> Result<Client, Failure> {
        let RemoteSettings { server, token } = remote.clone();
        Client::new(ClientConfig { server, token }).map_err(|error| refused(&error))
    }

    /// Loads the catalog that the command works on: that of the server, or the one that is here.
    pub(crate) fn catalog(&self, keep: Keep) -> Result<Catalog, Failure> {
        match &self.config.remote.value {
            Some(remote) => offered_catalog(*self, remote, keep),
            None => self.catalog_here(keep),
        }
    }

    /// Loads the catalog that is here, whatever server there is.
    pub(crate) fn catalog_here(&self, keep: Keep) -> Result<Catalog, Failure> {
        for missing in self.config.skills_dirs.value.iter().filter(|dir| !dir.is_dir()) {
            match &self.config.skills_dirs.origin {
                Origin::Default => {}
                Origin::Flag(_) => {
                    return Err(Failure::missing(format!("there is no folder `{missing}`")).hint(
                        "`--skills` names a folder that holds skills; `agent spawn --with` names skills",
                    ));
                }
                origin @ (Origin::File(_) | Origin::Environment(_)) => {
                    self.output.talk(&format!("there is no folder `{missing}` (from {origin})"));
                }
            }
        }
        load_catalog(self.config, keep)
    }

    /// Reads what an operator switched.
    pub(crate) fn switches(&self) -> Result<Switches, Failure> {
        Switches::read(&self.config.data.value).map_err(|error| Failure::unavailable(&error))
    }

    /// Says how much is wrong with the loaded skills, or all of it when asked to say more.
    pub(crate) fn talk_about(&self, catalog: &Catalog) {
        let diagnostics = catalog.diagnostics();
        let counts = Counts::of(&diagnostics);
        if counts == Counts::default() {
            return;
        }
        if self.output.verbose {
            let mut sources = SourceCache::default();
            for diagnostic in &diagnostics {
                self.output.complain(self.output.diagnostic(diagnostic, &mut sources).trim_end());
            }
        }
        let hint = if self.output.verbose { "" } else { "; `-v` shows them" };
        self.output.talk(&format!("{counts} while loading{hint}"));
    }
}

/// Loads the folders that the configuration names, and what is in the binary.
pub(crate) fn load_catalog(config: &Config, keep: Keep) -> Result<Catalog, Failure> {
    let switches = Switches::read(&config.data.value).map_err(|error| Failure::unavailable(&error))?;
    Ok(Catalog::load(&CatalogRequest {
        roots: config.skills_dirs.value.clone(),
        options: LoadOptions { keep, ..config.limits.value },
        disabled: switches.disabled,
        chosen: switches.chosen.into_iter().collect(),
    }))
}

/// Looks up a skill; a name that is nearly right is met with a suggestion.
pub(crate) fn find<'c>(
    catalog: &'c Catalog,
    name: &SkillName,
    version: Option<&Version>,
) -> Result<&'c Loaded, Failure> {
    catalog.find(name, version).map_err(|error| lookup_failure(catalog, &error))
}

/// Says why a skill was not found, and what to do.
pub(crate) fn lookup_failure(catalog: &Catalog, error: &LookupError) -> Failure {
    let failure = Failure::failed(error.to_string());
    match error {
        LookupError::Unknown(name) if broken(catalog, name).is_some() => {
            let place = broken(catalog, name).unwrap_or_default();
            Failure::failed(format!("skill `{name}` cannot be used"))
                .hint(format!("`artel skill validate {place}` says why"))
        }
        LookupError::Unknown(name) => match catalog.similar_names(name.as_str()).as_slice() {
            [] => failure.hint("`artel skill list` shows the skills there are"),
            names => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                failure.hint(format!("did you mean {}?", names.join(" or ")))
            }
        },
        LookupError::UnknownVersion { name, .. } => {
            let versions: Vec<String> = catalog
                .registry()
                .all()
                .filter(|skill| skill.name == *name)
                .map(|skill| skill.version.to_string())
                .collect();
            failure.hint(format!("there is {}", versions.join(", ")))
        }
        LookupError::Disabled(name) => failure.hint(format!("`artel skill enable {name}` switches it on")),
    }
}

/// Returns where a skill of that name lies that could not be loaded.
fn broken(catalog: &Catalog, name: &SkillName) -> Option<String> {
    let is_it = |entry: &&Loaded| {
        let own = entry.skill.as_ref().map(|skill| skill.name.as_str());
        let folder = entry.location.path().and_then(camino::Utf8Path::file_name);
        !entry.is_usable() && (own == Some(name.as_str()) || folder == Some(name.as_str()))
    };
    catalog.entries().iter().map(AsRef::as_ref).find(is_it).map(|entry| entry.location.to_string())
}
