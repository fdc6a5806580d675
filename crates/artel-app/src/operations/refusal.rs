//! From the errors of the engine, agents and the post office to what a caller is told.

use artel_agents::{
    AgentsError, CallError, CommandRefused, ListenError, MailError, RequestError, SendError, SpawnFailed,
    StartRefused,
};
use artel_api::ErrorKind;
use artel_engine::{CommandError, DriveError, FollowError, SubmitError};
use artel_model::agent::{DenialCode, InvalidTransition, SpawnErrorCode, SpawnRefused};
use artel_model::plan::PlanProblem;
use serde_json::json;

use crate::catalog::{HubError, ImportFailed, SaveError};
use crate::error::OperationError;
use crate::idempotency;
use artel_catalog::shared::custom::DraftError;

/// What goes wrong here is the operator's to know, not the caller's.
fn unavailable(error: &(dyn std::error::Error + 'static)) -> OperationError {
    tracing::error!(error, "a request cannot be served");
    OperationError::unavailable("store_unavailable", "The store cannot be reached. Please try again later.")
        .because(error)
}

/// A plan that cannot be run.
pub(super) fn invalid_plan(problems: &[PlanProblem]) -> OperationError {
    let first = problems.first().map(|problem| match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("{path}: {}", problem.message),
    });
    let message = first.unwrap_or_else(|| "the plan cannot be run".to_owned());
    OperationError::unprocessable("invalid_plan", message).with_details(json!({"problems": problems}))
}

/// The server is being stopped: what is asked for may be asked of the next one.
pub fn draining() -> OperationError {
    OperationError::unavailable(
        "draining",
        "The server is being stopped and begins nothing more. Please try again later.",
    )
}

impl From<SubmitError> for OperationError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::KeyTaken { run, .. } => idempotency::conflict().with_details(json!({"run_id": run})),
            SubmitError::ProbeTaken(_) => OperationError::conflict("skill_unhealthy", error.to_string()),
            SubmitError::Closing => draining(),
            SubmitError::Store(error) => error.into(),
        }
    }
}

impl From<CommandError> for OperationError {
    fn from(error: CommandError) -> Self {
        let message = error.to_string();
        match error {
            CommandError::Unknown(_) => Self::not_found("run"),
            CommandError::Over(state) => {
                Self::conflict("run_over", message).with_details(json!({"state": state}))
            }
            CommandError::NotNow { state, .. } => {
                Self::conflict("invalid_state", message).with_details(json!({"state": state}))
            }
            CommandError::NotAwaiting { awaiting, .. } => {
                Self::conflict("not_awaiting_approval", message).with_details(json!({"awaiting": awaiting}))
            }
            CommandError::Drive(DriveError::Store(error)) => error.into(),
            CommandError::Drive(error) => unavailable(&error),
        }
    }
}

impl From<FollowError> for OperationError {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Unknown(_) => Self::not_found("run"),
            FollowError::Stopped(_) => Self::unavailable("run_stopped", error.to_string()),
            FollowError::Store(error) => error.into(),
        }
    }
}

impl From<AgentsError> for OperationError {
    fn from(error: AgentsError) -> Self {
        match error {
            AgentsError::Store(error) => error.into(),
            AgentsError::Contended(_) => Self::conflict("contended", error.to_string()),
            AgentsError::Submit(error) => error.into(),
        }
    }
}

/// Returns the kind of error that goes with the reason why an agent was not spawned.
fn spawn_kind(code: SpawnErrorCode) -> ErrorKind {
    match code {
        SpawnErrorCode::InvalidRequest
        | SpawnErrorCode::Set(_)
        | SpawnErrorCode::UnknownRole
        | SpawnErrorCode::UnknownParent
        | SpawnErrorCode::InvalidPlan
        | SpawnErrorCode::DriverUnavailable => ErrorKind::Unprocessable,
        SpawnErrorCode::ParentState
        | SpawnErrorCode::DepthLimit
        | SpawnErrorCode::ChildrenLimit
        | SpawnErrorCode::AgentsLimit => ErrorKind::Conflict,
        SpawnErrorCode::ToolForbidden | SpawnErrorCode::ToolNotAllowed | SpawnErrorCode::ClientNotAllowed => {
            ErrorKind::Forbidden
        }
    }
}

/// An agent that was not spawned: the first reason decides, all of them are told.
pub(super) fn not_spawned(refused: &SpawnRefused) -> OperationError {
    let first = refused.errors.first();
    let (kind, code) = first.map_or((ErrorKind::Unprocessable, "INVALID_REQUEST"), |error| {
        (spawn_kind(error.code), error.code.as_str())
    });
    OperationError::new(kind, code, refused.to_string()).with_details(json!(refused))
}

impl From<SpawnFailed> for OperationError {
    fn from(error: SpawnFailed) -> Self {
        match error {
            SpawnFailed::Refused(refused) => not_spawned(&refused),
            SpawnFailed::Failed(error) => error.into(),
        }
    }
}

fn wrong_state(transition: &InvalidTransition) -> OperationError {
    let details = json!({"state": transition.from.as_str(), "asked": transition.to.as_str()});
    OperationError::conflict("INVALID_STATE", transition.to_string()).with_details(details)
}

impl From<StartRefused> for OperationError {
    fn from(error: StartRefused) -> Self {
        match error {
            StartRefused::Unknown(_) => Self::not_found("agent"),
            StartRefused::Transition(transition) => wrong_state(&transition),
            StartRefused::Unfit(refused) => not_spawned(&refused),
            StartRefused::Failed(error) => error.into(),
        }
    }
}

impl From<CommandRefused> for OperationError {
    fn from(error: CommandRefused) -> Self {
        match error {
            CommandRefused::Unknown(_) => Self::not_found("agent"),
            CommandRefused::Transition(transition) => wrong_state(&transition),
            CommandRefused::Run(error) => error.into(),
            CommandRefused::Full(_) => Self::conflict("AGENTS_LIMIT", error.to_string()),
            CommandRefused::StillEnding(_) => Self::conflict("STILL_ENDING", error.to_string()),
            CommandRefused::Failed(error) => error.into(),
        }
    }
}

fn denial_kind(code: DenialCode) -> ErrorKind {
    match code {
        DenialCode::UnknownAgent => ErrorKind::NotFound,
        DenialCode::InvalidState => ErrorKind::Conflict,
        DenialCode::ToolForbidden | DenialCode::ToolNotAllowed | DenialCode::WorkspaceError => {
            ErrorKind::Forbidden
        }
        DenialCode::InvalidParameters => ErrorKind::Unprocessable,
    }
}

impl From<CallError> for OperationError {
    fn from(error: CallError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            CallError::Denied(denial) => {
                Self::new(denial_kind(denial.code), code, message).with_details(json!(denial))
            }
            CallError::UnknownTool { .. } | CallError::Invalid(_) => Self::unprocessable(code, message),
            CallError::Failed(_) => Self::new(ErrorKind::BadGateway, code, message),
            CallError::Transition(transition) => wrong_state(&transition),
            CallError::Agents(error) => error.into(),
        }
    }
}

impl From<SendError> for OperationError {
    fn from(error: SendError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            SendError::Invalid(problems) => {
                Self::unprocessable(code, message).with_details(json!({"problems": problems}))
            }
            SendError::UnknownSender(_) | SendError::UnknownAgent(_) => {
                Self::new(ErrorKind::NotFound, code, message)
            }
            SendError::SenderTerminated(_)
            | SendError::AgentTerminated(_)
            | SendError::NoSuchRequest(_)
            | SendError::MailboxFull(_) => Self::conflict(code, message),
            SendError::Store(error) => error.into(),
        }
    }
}

impl From<RequestError> for OperationError {
    fn from(error: RequestError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            RequestError::Send(error) => error.into(),
            RequestError::Deadlock { ring } => {
                Self::conflict(code, message).with_details(json!({"ring": ring}))
            }
            RequestError::Timeout(_) => Self::new(ErrorKind::GatewayTimeout, code, message),
            RequestError::Store(error) => error.into(),
        }
    }
}

impl From<MailError> for OperationError {
    fn from(error: MailError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            MailError::UnknownAgent(_) => Self::not_found("agent"),
            MailError::AgentTerminated(_) => Self::conflict(code, message),
            MailError::Store(error) => error.into(),
        }
    }
}

impl From<ListenError> for OperationError {
    fn from(error: ListenError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            ListenError::Replay(_) => Self::bad_request(code, message),
            ListenError::Store(error) => error.into(),
        }
    }
}

impl From<SaveError> for OperationError {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Draft(DraftError::Invalid(problems)) => {
                let details: Vec<_> = problems
                    .iter()
                    .map(|problem| json!({"pointer": problem.pointer, "message": problem.message}))
                    .collect();
                let message = problems
                    .first()
                    .map_or_else(|| "the skill is wrong".to_owned(), |first| first.message.clone());
                Self::unprocessable("invalid_skill", message).with_details(json!({"problems": details}))
            }
            SaveError::Draft(error @ DraftError::TooLarge { .. }) => {
                Self::new(ErrorKind::TooLarge, "too_large", error.to_string())
            }
            SaveError::Forbidden(message) => Self::forbidden(message),
            SaveError::Unknown => Self::not_found("skill"),
            SaveError::NoFile => Self::not_found("file"),
            error @ SaveError::Mismatch { .. } => {
                Self::new(ErrorKind::PreconditionFailed, "revision_conflict", error.to_string())
            }
            error @ SaveError::Conflict { .. } => Self::conflict("revision_conflict", error.to_string()),
            error @ SaveError::NameTaken(_) => Self::conflict("name_taken", error.to_string()),
            error @ SaveError::TooMany => Self::conflict("too_many_skills", error.to_string()),
            SaveError::Quota(exceeded) => exceeded.into(),
            SaveError::Store(error) => error.into(),
            error @ SaveError::NotServed(_) => Self::unavailable("skills_unavailable", error.to_string()),
        }
    }
}

impl From<HubError> for OperationError {
    fn from(error: HubError) -> Self {
        match error {
            HubError::Request(_) => Self::bad_request("invalid_location", error.to_string()),
            HubError::NotAllowed(_) => Self::bad_request("invalid_location", error.to_string())
                .with_details(json!({"setting": "hubs.hosts"})),
            HubError::Audience(_) => Self::bad_request("invalid_visibility", error.to_string()),
            HubError::SameLocation(_) => Self::conflict("same_location", error.to_string()),
            HubError::Unknown => Self::not_found("hub"),
            HubError::TooMany => Self::conflict("too_many_hubs", error.to_string()),
            HubError::Store(error) => error.into(),
            HubError::Refresh(error) => error.into(),
        }
    }
}

impl From<ImportFailed> for OperationError {
    fn from(failed: ImportFailed) -> Self {
        let message = failed.to_string();
        match failed {
            ImportFailed::Hub(error) => error.into(),
            ImportFailed::Save(error) => error.into(),
            ImportFailed::Token | ImportFailed::Folder => Self::forbidden(message),
            ImportFailed::Fetch(_) => Self::new(ErrorKind::BadGateway, "fetch_failed", message),
            ImportFailed::NoSkill => Self::unprocessable("no_such_skill", message),
            ImportFailed::Several(paths) => {
                Self::unprocessable("several_skills", message).with_details(json!({"paths": paths}))
            }
            ImportFailed::Unusable(_) => Self::unprocessable("invalid_skill", message),
        }
    }
}
