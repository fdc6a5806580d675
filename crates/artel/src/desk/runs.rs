//! Runs: found, listed, followed, told something.

use artel_api::Paged;
use artel_api::client::{ApiPath, Client, ClientError};
use artel_api::runs::{RunStatus, RunsQuery, Word};
use artel_engine::{Command, CommandError};
use artel_model::id::RunId;
use artel_model::run::{ResultDocument, Run, RunSummary};
use artel_store::{LoggedEvent, Page, PageRequest, Revision, RunFilter, RunRow};

use super::log::{log_page, run_event};
use super::page::{cannot_list, not_listed, page_of, query_of};
use super::story::Story;
use super::trail::{Trail, stopped};
use crate::cli::RunPrefix;
use crate::command::Context;
use crate::failure::{Failure, refused};
use crate::workshop::{Teller, Workshop, failed_for_good, person};

/// Runs that are looked at together when one is searched by the beginning of its id.
const RUNS_PAGE: usize = 1000;
/// Events of a log that are read at once.
const EVENTS_PAGE: usize = 1000;
/// Ids that are shown when several begin alike.
const ALIKE_SHOWN: usize = 5;

/// Where one asks about runs.
pub(crate) enum RunDesk<'a> {
    Here(Context<'a>, Teller),
    There(Client),
}

/// A run, and whether somebody sees to it.
pub(crate) struct FoundRun {
    pub(crate) summary: RunSummary,
    /// Whether somebody alive drives it; nobody drives a run that is over.
    pub(crate) is_driven: bool,
}

impl FoundRun {
    fn of(teller: &Teller, row: RunRow) -> Self {
        let is_driven =
            !row.summary.state.is_final() && row.owner.as_ref().is_some_and(|owner| (teller.is_alive)(owner));
        Self { summary: row.summary, is_driven }
    }

    fn told(status: RunStatus) -> Self {
        let is_driven = status.driven;
        Self { summary: status.summary(), is_driven }
    }

    /// Says whether it goes no further by itself.
    pub(crate) fn is_left_over(&self) -> bool {
        !self.summary.state.is_final() && !self.is_driven
    }
}

impl<'a> RunDesk<'a> {
    /// Goes to the desk. That nothing was ever run here is told.
    pub(crate) async fn open(context: Context<'a>) -> Result<Self, Failure> {
        match context.remote()? {
            Some(client) => Ok(Self::There(client)),
            None => Ok(Self::Here(context, Teller::open(context).await?)),
        }
    }

    /// Goes to the desk; there is none where nothing was ever run.
    pub(crate) async fn open_if_any(context: Context<'a>) -> Result<Option<Self>, Failure> {
        match context.remote()? {
            Some(client) => Ok(Some(Self::There(client))),
            None => Ok(Teller::open_if_any(context).await?.map(|teller| Self::Here(context, teller))),
        }
    }

    /// Goes to the desk of a workshop.
    pub(crate) fn of(context: Context<'a>, workshop: &Workshop) -> Self {
        let (engine, store) = (workshop.engine.clone(), workshop.store.clone());
        let teller = Teller { engine, store, is_alive: workshop.owners() };
        Self::Here(context, teller)
    }

    /// Returns a run.
    pub(crate) async fn run(&self, id: RunId) -> Result<Option<FoundRun>, Failure> {
        match self {
            Self::Here(_, teller) => {
                let row = teller.store.runs.run(id).await.map_err(|error| Failure::unavailable(&error))?;
                Ok(row.map(|row| FoundRun::of(teller, row)))
            }
            Self::There(client) => match client.get(&path(id).then("status")).await {
                Ok(status) => Ok(Some(FoundRun::told(status))),
                Err(error) if error.status() == Some(404) => Ok(None),
                Err(error) => Err(refused(&error)),
            },
        }
    }

    /// Lists runs, the latest first.
    pub(crate) async fn list(
        &self,
        filter: &RunFilter,
        page: &PageRequest,
    ) -> Result<Page<FoundRun>, Failure> {
        match self {
            Self::Here(_, teller) => {
                let runs = teller.store.runs.runs(filter, page).await.map_err(|error| cannot_list(&error))?;
                let items = runs.items.into_iter().map(|row| FoundRun::of(teller, row)).collect();
                Ok(Page { items, next: runs.next })
            }
            Self::There(client) => {
                let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
                let (after, limit) = query_of(page);
                let query = RunsQuery {
                    state: (!states.is_empty()).then(|| states.join(",")),
                    since: filter.created_from,
                    until: filter.created_before,
                    owner: None,
                    after,
                    limit,
                };
                let runs: Result<Paged<RunStatus>, _> = client.ask(&ApiPath::new("/api/runs"), &query).await;
                Ok(page_of(runs.map_err(|error| not_listed(&error))?, FoundRun::told))
            }
        }
    }

    /// Finds the run whose id begins so.
    pub(crate) async fn find(&self, prefix: &RunPrefix) -> Result<FoundRun, Failure> {
        if let Ok(id) = prefix.digits().parse::<RunId>()
            && let Some(found) = self.run(id).await?
        {
            return Ok(found);
        }
        let mut found: Vec<FoundRun> = Vec::new();
        let mut page = PageRequest { after: None, limit: RUNS_PAGE };
        loop {
            let runs = self.list(&RunFilter::default(), &page).await?;
            let begins =
                |run: &FoundRun| run.summary.run_id.0.simple().to_string().starts_with(prefix.digits());
            found.extend(runs.items.into_iter().filter(begins));
            match runs.next {
                Some(next) => page.after = Some(next),
                None => return one_of(found, prefix),
            }
        }
    }

    /// Reads a part of a run's log; nothing at its end.
    pub(crate) async fn log(&self, run: RunId, after: Revision) -> Result<Vec<LoggedEvent>, Failure> {
        match self {
            Self::Here(_, teller) => {
                let events = teller.store.runs.events(run, after, EVENTS_PAGE).await;
                events.map_err(|error| Failure::unavailable(&error))
            }
            Self::There(client) => {
                let lines = log_page(client, &path(run).then("log"), after).await?;
                lines.into_iter().map(run_event).collect()
            }
        }
    }

    /// Reads the whole log of a run.
    pub(crate) async fn story(&self, run: RunId) -> Result<Story, Failure> {
        let mut story = Story::new(run);
        let mut after = Revision(0);
        loop {
            let page = self.log(run, after).await?;
            let Some(last) = page.last() else { return Ok(story) };
            after = last.revision;
            page.iter().for_each(|logged| story.note(&logged.event));
        }
    }

    /// Follows a run from its beginning.
    pub(crate) async fn trail(&self, run: RunId) -> Result<Trail, Failure> {
        match self {
            Self::Here(_, teller) => Ok(Trail::Here(run, Box::new(teller.engine.follow(run, Revision(0))))),
            Self::There(client) => Trail::there(client, run).await,
        }
    }

    /// Waits until a run is over, and reads its log.
    pub(crate) async fn wait(&self, run: RunId) -> Result<Story, Failure> {
        match self {
            Self::Here(_, teller) => {
                teller.engine.wait(run).await.map_err(|error| stopped(run, &error))?;
                self.story(run).await
            }
            Self::There(_) => {
                let (mut story, mut trail) = (Story::new(run), self.trail(run).await?);
                loop {
                    let batch = trail.next().await?;
                    if batch.is_empty() {
                        return Ok(story);
                    }
                    batch.iter().for_each(|logged| story.note(&logged.event));
                }
            }
        }
    }

    /// Makes the result document of a run whose log was read.
    pub(crate) async fn result(&self, story: Story) -> Result<(Run, ResultDocument), Failure> {
        match self {
            Self::Here(_, teller) => story.result(&failed_for_good(&teller.store).await?),
            Self::There(client) => {
                // Only who knows how well skills do can say whether another plan might succeed.
                let result = client.get(&path(story.id())).await.map_err(|error| refused(&error))?;
                Ok((story.into_run()?, result))
            }
        }
    }

    /// Tells a run something.
    pub(crate) async fn tell(&self, run: RunId, command: &Command) -> Result<RunSummary, CommandRefused> {
        match self {
            Self::Here(context, teller) => {
                let by = person(&context.config.environment);
                teller.engine.command(run, command, by).await.map_err(|error| CommandRefused::here(&error))
            }
            Self::There(client) => {
                let told = match command {
                    Command::Cancel => client.tell(&path(run).then("cancel")).await,
                    Command::Pause => client.tell(&path(run).then("pause")).await,
                    Command::Resume => client.tell(&path(run).then("resume")).await,
                    Command::Approve { step, note } => {
                        client.post(&path(run).then("approve"), &word(step.as_ref(), note), None).await
                    }
                    Command::Reject { step, note } => {
                        client.post(&path(run).then("reject"), &word(step.as_ref(), note), None).await
                    }
                };
                told.map_err(|error| CommandRefused::there(&error))
            }
        }
    }
}

/// Why a run was not told something.
pub(crate) enum CommandRefused {
    /// It is over.
    Over(Failure),
    /// Everything else.
    Other(Failure),
}

impl CommandRefused {
    fn here(error: &CommandError) -> Self {
        match error {
            CommandError::Over(_) => Self::Over(Failure::failed(error.to_string())),
            CommandError::NotAwaiting { awaiting, .. } if !awaiting.is_empty() => {
                Self::Other(which_step(Failure::failed(error.to_string())))
            }
            CommandError::Unknown(_) | CommandError::NotNow { .. } | CommandError::NotAwaiting { .. } => {
                Self::Other(Failure::failed(error.to_string()))
            }
            CommandError::Drive(_) => Self::Other(Failure::unavailable(error)),
        }
    }

    fn there(error: &ClientError) -> Self {
        let details = error.details().map(|details| &details["awaiting"]);
        let are_several =
            details.and_then(serde_json::Value::as_array).is_some_and(|steps| !steps.is_empty());
        match error.code() {
            Some("run_over") => Self::Over(refused(error)),
            Some("not_awaiting_approval") if are_several => Self::Other(which_step(refused(error))),
            Some(_) | None => Self::Other(refused(error)),
        }
    }

    /// Returns what is told.
    pub(crate) fn failure(self) -> Failure {
        match self {
            Self::Over(failure) | Self::Other(failure) => failure,
        }
    }
}

fn which_step(failure: Failure) -> Failure {
    failure.hint("`--step` names the step")
}

fn word(step: Option<&artel_model::id::StepId>, note: &Option<String>) -> Word {
    Word { step: step.map(ToString::to_string), note: note.clone() }
}

/// Returns the path of a run.
pub(super) fn path(run: RunId) -> ApiPath {
    ApiPath::new("/api/runs").name(run)
}

fn one_of(mut found: Vec<FoundRun>, prefix: &RunPrefix) -> Result<FoundRun, Failure> {
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::failed(format!("there is no run whose id begins with `{}`", prefix.digits()))
            .hint("`artel run list` shows the runs there are")),
        count => {
            let ids: Vec<String> =
                found.iter().take(ALIKE_SHOWN).map(|run| run.summary.run_id.to_string()).collect();
            Err(Failure::failed(format!("the ids of {count} runs begin with `{}`", prefix.digits()))
                .hint(format!("give more of the id: {}", ids.join(", "))))
        }
    }
}
