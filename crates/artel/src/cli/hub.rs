//! What can be typed about hubs.

use std::str::FromStr;

use artel_catalog::hub::HubLocation;
use artel_model::catalog::HubKind;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum HubCommand {
    /// Look at the skills that a hub would give, without saving anything
    #[command(
        after_help = "Examples:\n  artel hub crawl anthropics/skills\n  artel hub crawl https://git.example.org/skills.git --ref v2 --path tools\n  artel hub crawl https://example.org --type well-known --json"
    )]
    Crawl(HubPlaceArgs),
    /// Register a hub and fetch its skills
    #[command(
        after_help = "Examples:\n  artel hub add anthropics/skills\n  artel hub add https://git.example.org/skills.git --credentials-ref ARTEL_HUB_TOKEN_EXAMPLE\n  artel hub add our/skills --visibility team --team red --path-visibility shared=global\n\nA hub's token is never kept: `--credentials-ref` names the variable that holds it wherever hubs are fetched.\n`[hubs]` in artel.toml says where hubs may be."
    )]
    Add(HubAddArgs),
    /// List hubs, in the order in which they were registered: the earlier wins by name
    #[command(visible_alias = "ls", after_help = "Examples:\n  artel hub list\n  artel hub list --json")]
    List,
    /// Fetch a hub again, or all that are switched on
    #[command(after_help = "Examples:\n  artel hub refresh\n  artel hub refresh anthropics/skills")]
    Refresh {
        /// The hub: its id, the beginning of it, or its location [default: all]
        hub: Option<String>,
    },
    /// Change where a hub is looked into, with what, and who sees its skills; what is not named stays
    #[command(
        after_help = "Examples:\n  artel hub change anthropics/skills --ref v2\n  artel hub change anthropics/skills --path tools --path writing\n  artel hub change our/skills --visibility team --team red\n\nAn empty `--ref`, `--path` or `--credentials-ref` takes back what was set."
    )]
    Change(HubChangeArgs),
    /// Put the skills of a hub into the catalog again
    #[command(after_help = "Example:\n  artel hub enable anthropics/skills")]
    Enable {
        /// The hub: its id, the beginning of it, or its location
        hub: String,
    },
    /// Take the skills of a hub out of the catalog, and keep the hub
    #[command(after_help = "Example:\n  artel hub disable anthropics/skills")]
    Disable {
        /// The hub: its id, the beginning of it, or its location
        hub: String,
    },
    /// Remove a hub and its skills
    #[command(visible_alias = "rm", after_help = "Example:\n  artel hub remove anthropics/skills")]
    Remove {
        /// The hub: its id, the beginning of it, or its location
        hub: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct HubChangeArgs {
    /// The hub: its id, the beginning of it, or its location
    pub(crate) hub: String,
    /// A branch, a tag or a commit; empty for the usual branch
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// A folder to look in, instead of all so far (repeatable); empty for all
    #[arg(long = "path", value_name = "FOLDER")]
    pub(crate) paths: Option<Vec<String>>,
    /// The name of the environment variable that holds its token; empty for none
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) credentials_ref: Option<String>,
    /// Who sees its skills: global, team or personal
    #[arg(long, value_name = "WHO")]
    pub(crate) visibility: Option<String>,
    /// A team that sees its skills, instead of all so far (repeatable)
    #[arg(long = "team", value_name = "TEAM")]
    pub(crate) teams: Vec<String>,
    /// The person who sees its skills; with `--visibility personal`
    #[arg(long, value_name = "USER")]
    pub(crate) owner: Option<String>,
    /// Who sees the skills in a folder, instead of all such rules so far (repeatable), such as `shared=global`
    #[arg(long = "path-visibility", value_name = "FOLDER=WHO")]
    pub(crate) path_visibility: Option<Vec<PathVisibility>>,
}

#[derive(Debug, Args)]
pub(crate) struct HubAddArgs {
    #[command(flatten)]
    pub(crate) place: HubPlaceArgs,
    /// Who sees its skills: global, team or personal
    #[arg(long, value_name = "WHO", default_value = "global")]
    pub(crate) visibility: String,
    /// A team that sees its skills (repeatable); with `--visibility team`
    #[arg(long = "team", value_name = "TEAM")]
    pub(crate) teams: Vec<String>,
    /// The person who sees its skills; with `--visibility personal` [default: who registers it]
    #[arg(long, value_name = "USER")]
    pub(crate) owner: Option<String>,
    /// Who sees the skills in a folder (repeatable), such as `shared=global` or `tools=team:red,blue`
    #[arg(long = "path-visibility", value_name = "FOLDER=WHO")]
    pub(crate) path_visibility: Vec<PathVisibility>,
}

/// Who sees the skills in a folder, as it is typed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PathVisibility {
    pub(crate) path: String,
    pub(crate) visibility: String,
    /// Teams, or the person.
    pub(crate) names: Vec<String>,
}

impl FromStr for PathVisibility {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, who) = text.rsplit_once('=').ok_or("write it as FOLDER=WHO, such as `shared=global`")?;
        let (visibility, names) = who.split_once(':').unwrap_or((who, ""));
        let names = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Ok(Self { path: path.to_owned(), visibility: visibility.to_owned(), names })
    }
}

#[derive(Debug, Args)]
pub(crate) struct HubPlaceArgs {
    /// Where it is: owner/repository, or a URL
    pub(crate) location: String,
    /// What kind of place it is: github, git or well-known [default: what the location looks like]
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<HubKind>,
    /// A branch, a tag or a commit [default: the usual branch]
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// A folder to look in (repeatable) [default: all]
    #[arg(long = "path", value_name = "FOLDER")]
    pub(crate) paths: Vec<String>,
    /// The name of the environment variable that holds its token
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) credentials_ref: Option<String>,
}

impl HubPlaceArgs {
    /// Returns what kind of place it is: what was said, or else what the location looks like.
    pub(crate) fn kind(&self) -> Option<HubKind> {
        self.kind.or_else(|| looks_like(self.location.trim()))
    }
}

fn looks_like(location: &str) -> Option<HubKind> {
    if HubLocation::parse(HubKind::Github, location).is_ok() {
        return Some(HubKind::Github);
    }
    let lower = location.to_ascii_lowercase();
    let is_git = match lower.split_once("://") {
        Some(("ssh" | "file", _)) => true,
        Some(_) => lower.ends_with(".git"),
        // The short way to write a repository behind ssh: `git@host:path`.
        None => lower.contains(':'),
    };
    is_git.then_some(HubKind::Git)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_hub_is_seen_from_its_location() {
        for (location, kind) in [
            ("anthropics/skills", Some(HubKind::Github)),
            ("https://github.com/anthropics/skills", Some(HubKind::Github)),
            ("https://github.com/anthropics/skills.git", Some(HubKind::Github)),
            ("https://git.example.org/skills.git", Some(HubKind::Git)),
            ("git@example.org:team/skills", Some(HubKind::Git)),
            ("ssh://git@example.org/skills", Some(HubKind::Git)),
            ("file:///srv/skills", Some(HubKind::Git)),
            ("https://example.org", None),
            ("skills", None),
            ("./skills", None),
        ] {
            assert_eq!(looks_like(location), kind, "{location}");
        }
    }
}
