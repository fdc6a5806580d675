//! Repositories at GitHub: one question for the commit, one for its archive.

use artel_catalog::hub::{GitReference, GithubRepository, Revision};
use camino::Utf8Path;
use reqwest::{StatusCode, Url};

use super::content::{look_into, read_repository_archive};
use super::error::HubError;
use super::fetcher::{Content, Fetch, HubFetcher};
use super::progress::HubProgress;
use super::web::{Ask, Budget};

/// Answers with the commit alone.
const SHA: &str = "application/vnd.github.sha";
const JSON: &str = "application/vnd.github+json";
const API_VERSION: (&str, &str) = ("x-github-api-version", "2022-11-28");
/// Bytes of a commit in an answer.
const COMMIT_BYTES_MAX: u64 = 200;

impl HubFetcher {
    pub(super) async fn github(
        &self,
        fetch: &Fetch<'_>,
        repository: &GithubRepository,
        folder: &Utf8Path,
    ) -> Result<Content, HubError> {
        let budget = Budget::new(self.config.download_bytes_max);
        let Some(commit) = self.github_commit(fetch, repository, &budget).await? else { return Ok(None) };
        if fetch.is_known(&commit) {
            return Ok(None);
        }
        let url = self.github_url(repository, ["tarball", commit.as_str()])?;
        let response = self.web.get(&github_ask(fetch, url, JSON)).await?;
        let file = folder.join("archive.tar.gz");
        self.web
            .download(response, &file, &budget, |bytes| fetch.tell(HubProgress::Fetching { bytes }))
            .await?;
        let gathered = read_repository_archive(file, fetch.request, self.config.limits).await?;
        Ok(Some(look_into(commit, fetch.request, gathered).await?))
    }

    /// Asks for the commit of the branch; nothing when it is the one that is known. GitHub takes a commit for the tag of
    /// an answer, and an answer that is not changed does not count against its limits.
    async fn github_commit(
        &self,
        fetch: &Fetch<'_>,
        repository: &GithubRepository,
        budget: &Budget,
    ) -> Result<Option<Revision>, HubError> {
        if let Some(commit) = fetch.request.reference.as_ref().and_then(GitReference::commit) {
            return Ok(Some(commit));
        }
        let reference = fetch.request.reference.as_ref().map_or("HEAD", |reference| reference.as_str());
        let parts = std::iter::once("commits").chain(reference.split('/'));
        let url = self.github_url(repository, parts)?;
        let known = fetch.known.map(ToString::to_string);
        let response = self.web.get(&Ask { known, ..github_ask(fetch, url, SHA) }).await?;
        if response.status() == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let bytes = self.web.read(response, COMMIT_BYTES_MAX, budget).await?;
        let text = String::from_utf8_lossy(&bytes);
        text.trim().parse().map(Some).map_err(|_| HubError::Answer("GitHub's API names no commit"))
    }

    fn github_url<'p>(
        &self,
        repository: &GithubRepository,
        parts: impl IntoIterator<Item = &'p str>,
    ) -> Result<Url, HubError> {
        let wrong = || HubError::Machine("the configured address of GitHub's API is no URL".to_owned());
        let mut url: Url = self.config.github_api.parse().map_err(|_| wrong())?;
        url.path_segments_mut()
            .map_err(|()| wrong())?
            .pop_if_empty()
            .extend(["repos", repository.owner(), repository.name()])
            .extend(parts);
        Ok(url)
    }
}

fn github_ask(fetch: &Fetch<'_>, url: Url, accept: &'static str) -> Ask {
    Ask { url, accept, known: None, token: fetch.token.cloned(), extra: Some(API_VERSION) }
}
