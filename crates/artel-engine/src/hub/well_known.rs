//! Sites that publish an index of skills: the index first, then what it leads to, a few at a time.

use std::collections::BTreeMap;

use artel_catalog::hub::{INDEX_PATH, IndexedSkill, SiteSkills, SkillIndex, WebPlace};
use artel_model::limit::{HUB_INDEX_BYTES_MAX, SKILL_BYTES_MAX};
use reqwest::{StatusCode, Url};
use tokio::task::JoinSet;

use super::content::blocking;
use super::error::HubError;
use super::fetcher::{Content, Fetch, HubFetcher};
use super::progress::HubProgress;
use super::token::HubToken;
use super::web::{Ask, Budget, Web};

/// Questions to a site at once.
const AT_ONCE: usize = 6;

/// What came of the questions, by the number of the skill.
type Answers = BTreeMap<usize, Result<Vec<u8>, String>>;

impl HubFetcher {
    pub(super) async fn well_known(&self, fetch: &Fetch<'_>, place: &WebPlace) -> Result<Content, HubError> {
        let budget = Budget::new(self.config.download_bytes_max);
        let url: Url = format!("{place}{INDEX_PATH}")
            .parse()
            .map_err(|_| HubError::Answer("the site's address is no URL"))?;
        let response = self.web.get(&ask(url.clone(), fetch.token.cloned())).await?;
        if response.status() == StatusCode::NOT_MODIFIED {
            return Err(HubError::Answer("it says that the index has not changed, which nobody asked"));
        }
        // Addresses in the index are relative to where it was found in the end.
        let base = response.url().clone();
        let index = SkillIndex::parse(&self.web.read(response, HUB_INDEX_BYTES_MAX, &budget).await?)?;
        if fetch.is_known(&index.revision()) {
            return Ok(None);
        }
        let answers = self.artifacts(fetch, &index, &Origin { site: url, base }, &budget).await?;
        let limits = self.config.limits;
        let root_name = fetch.request.location.root_name();
        let include = fetch.request.include_paths.clone();
        let fetched = blocking(move || {
            let mut skills = SiteSkills::new(&index, limits);
            for (number, answer) in answers {
                let Some(skill) = index.skills.get(number) else { continue };
                match answer {
                    Ok(bytes) => skills.add(skill, bytes),
                    Err(reason) => skills.miss(skill, &reason),
                }
            }
            let mut fetched = skills.finish(root_name);
            let is_included =
                |path: &camino::Utf8Path| include.is_empty() || include.iter().any(|i| i.holds(path));
            fetched.folders.retain(|folder| is_included(&folder.path));
            fetched
        });
        Ok(Some(fetched.await?))
    }

    /// Fetches what the index leads to. A skill that is not to be had is missed; a site that cannot be reached fails as a
    /// whole, so that what was published of it before stays.
    async fn artifacts(
        &self,
        fetch: &Fetch<'_>,
        index: &SkillIndex,
        origin: &Origin,
        budget: &Budget,
    ) -> Result<Answers, HubError> {
        let total = index.skills.len();
        let mut waiting = index.skills.iter().enumerate();
        let mut under_way = JoinSet::new();
        let mut answers = Answers::new();
        fetch.tell(HubProgress::Reading { done: 0, total });
        loop {
            for (number, skill) in waiting.by_ref().take(AT_ONCE - under_way.len()) {
                let question = origin.ask(skill, fetch.token);
                let (web, budget) = (self.web.clone(), budget.clone());
                under_way.spawn(async move { (number, artifact(&web, question, &budget).await) });
            }
            let Some(joined) = under_way.join_next().await else { return Ok(answers) };
            let (number, answer) = joined.map_err(|error| HubError::Machine(error.to_string()))?;
            answers.insert(number, missed(answer)?);
            fetch.tell(HubProgress::Reading { done: answers.len(), total });
        }
    }
}

/// Where a site is, and where its index was found.
struct Origin {
    site: Url,
    base: Url,
}

impl Origin {
    /// Makes the question for a skill. The token is for the site itself.
    fn ask(&self, skill: &IndexedSkill, token: Option<&HubToken>) -> Result<Ask, HubError> {
        let url =
            self.base.join(&skill.url).map_err(|_| HubError::NotFound("its address is no URL".to_owned()))?;
        let is_site = url.origin() == self.site.origin();
        Ok(ask(url, token.filter(|_| is_site).cloned()))
    }
}

fn ask(url: Url, token: Option<HubToken>) -> Ask {
    Ask { url, accept: "*/*", known: None, token, extra: None }
}

async fn artifact(web: &Web, question: Result<Ask, HubError>, budget: &Budget) -> Result<Vec<u8>, HubError> {
    let response = web.get(&question?).await?;
    web.read(response, SKILL_BYTES_MAX, budget).await
}

/// Tells a skill that is not to be had from a site that cannot be reached.
fn missed(answer: Result<Vec<u8>, HubError>) -> Result<Result<Vec<u8>, String>, HubError> {
    match answer {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(
            error @ (HubError::NotFound(_)
            | HubError::Refused(_)
            | HubError::HostNotAllowed(_)
            | HubError::AddressNotAllowed { .. }
            | HubError::TooLarge { .. }
            | HubError::Redirects(_)),
        ) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}
