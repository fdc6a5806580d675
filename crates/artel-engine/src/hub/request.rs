//! What to fetch, parsed from what is kept of a hub, and what comes of it.

use artel_catalog::hub::{
    CredentialsRef, Fetched, GitReference, HubLocation, IncludePath, LocationProblem, NoCredentialsRef,
    NoReference, PathProblem,
};
use artel_model::catalog::{Hub, HubKind};
use artel_model::limit::HUB_INCLUDE_PATHS_MAX;
use thiserror::Error;

use super::fetcher::takes_token;

/// What to fetch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HubRequest {
    /// Where the hub is.
    pub location: HubLocation,
    /// A branch, a tag or a commit; nothing for the usual branch.
    pub reference: Option<GitReference>,
    /// Folders to look in; none for all.
    pub include_paths: Vec<IncludePath>,
    /// The variable with the hub's token.
    pub credentials: Option<CredentialsRef>,
}

/// What came of a fetch.
#[derive(Clone, Debug)]
pub enum HubOutcome {
    /// The hub still has the content that is known.
    Unchanged,
    /// Its content.
    Fetched(Fetched),
}

/// Why a hub cannot be asked for.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum HubRequestProblem {
    /// Its location.
    #[error(transparent)]
    Location(#[from] LocationProblem),
    /// Its branch, tag or commit.
    #[error(transparent)]
    Reference(#[from] NoReference),
    /// A site has no branches.
    #[error("a site has no branches; leave `ref` out")]
    NoBranches,
    /// Too many folders to look in.
    #[error("`include_paths` has more than {HUB_INCLUDE_PATHS_MAX} entries")]
    TooManyPaths,
    /// A folder to look in.
    #[error("entry {number} of `include_paths` cannot be used: {problem}")]
    Path {
        /// Which one, from 0.
        number: usize,
        /// Why.
        problem: PathProblem,
    },
    /// The variable with its token.
    #[error(transparent)]
    Credentials(#[from] NoCredentialsRef),
    /// ssh has keys, not tokens.
    #[error("tokens are for https; leave `credentials_ref` out where ssh or a file URL is used")]
    TokenNotUsed,
}

impl HubRequest {
    /// Parses what somebody says of a hub.
    pub fn parse(
        kind: HubKind,
        location: &str,
        reference: Option<&str>,
        include_paths: &[String],
        credentials_ref: Option<&str>,
    ) -> Result<Self, HubRequestProblem> {
        let location = HubLocation::parse(kind, location)?;
        let reference = reference.map(str::parse).transpose()?;
        if include_paths.len() > HUB_INCLUDE_PATHS_MAX {
            return Err(HubRequestProblem::TooManyPaths);
        }
        let path = |(number, text): (usize, &String)| {
            text.parse().map_err(|problem| HubRequestProblem::Path { number, problem })
        };
        let include_paths: Vec<IncludePath> =
            include_paths.iter().enumerate().map(path).collect::<Result<_, _>>()?;
        let credentials = credentials_ref.map(str::parse).transpose()?;
        match &location {
            HubLocation::WellKnown(_) if reference.is_some() => Err(HubRequestProblem::NoBranches),
            HubLocation::Git(remote) if credentials.is_some() && !takes_token(remote) => {
                Err(HubRequestProblem::TokenNotUsed)
            }
            HubLocation::Github(_) | HubLocation::Git(_) | HubLocation::WellKnown(_) => {
                Ok(Self { location, reference, include_paths, credentials })
            }
        }
    }

    /// Parses what is kept of a hub.
    pub fn of(hub: &Hub) -> Result<Self, HubRequestProblem> {
        let (reference, credentials) = (hub.reference.as_deref(), hub.credentials_ref.as_deref());
        Self::parse(hub.kind, &hub.location, reference, &hub.include_paths, credentials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_is_parsed_as_a_whole() {
        let parse = |kind, location: &str, reference, paths: &[&str], credentials| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            HubRequest::parse(kind, location, reference, &paths, credentials)
        };
        let token = Some("ARTEL_HUB_TOKEN_A");
        let hub = parse(HubKind::Github, "a/b", Some("main"), &["skills/"], token).unwrap();
        assert_eq!(hub.include_paths[0].path(), "skills");
        let problem = |kind, location: &str, reference, paths: &[&str], credentials| {
            parse(kind, location, reference, paths, credentials).unwrap_err()
        };
        use HubRequestProblem as P;
        assert!(matches!(problem(HubKind::Github, "a", None, &[], None), P::Location(_)));
        assert!(matches!(problem(HubKind::Github, "a/b", Some("-x"), &[], None), P::Reference(_)));
        assert!(matches!(
            problem(HubKind::Github, "a/b", None, &["a", "../b"], None),
            P::Path { number: 1, .. }
        ));
        assert!(matches!(problem(HubKind::Github, "a/b", None, &["a"; 101], None), P::TooManyPaths));
        assert!(matches!(problem(HubKind::Github, "a/b", None, &[], Some("TOKEN")), P::Credentials(_)));
        assert!(matches!(problem(HubKind::Git, "git@h.example:a", None, &[], token), P::TokenNotUsed));
        assert!(matches!(
            problem(HubKind::WellKnown, "https://a.example", Some("x"), &[], None),
            P::NoBranches
        ));
    }
}
