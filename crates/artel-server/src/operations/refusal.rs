//! From the errors of the engine, agents and the post office to what a caller is told.

use artel_agents::{
    AgentsError, CallError, CommandRefused, ListenError, MailError, RequestError, SendError, SpawnFailed,
    StartRefused,
};
use artel_engine::{CommandError, DriveError, FollowError, SubmitError};
use artel_model::agent::{DenialCode, InvalidTransition, SpawnErrorCode, SpawnRefused};
use artel_model::plan::PlanProblem;
use axum::http::StatusCode;
use serde_json::json;

use crate::error::ApiError;
use crate::idempotency;

/// What goes wrong here is the operator's to know, not the caller's.
fn unavailable(error: &(dyn std::error::Error + 'static)) -> ApiError {
    tracing::error!(error, "a request cannot be served");
    ApiError::unavailable("store_unavailable", "The store cannot be reached. Please try again later.")
}

/// A plan that cannot be run.
pub(super) fn invalid_plan(problems: &[PlanProblem]) -> ApiError {
    let first = problems.first().map(|problem| match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("{path}: {}", problem.message),
    });
    let message = first.unwrap_or_else(|| "the plan cannot be run".to_owned());
    ApiError::unprocessable("invalid_plan", message).with_details(json!({"problems": problems}))
}

/// The server is being stopped: what is asked for may be asked of the next one.
pub(crate) fn draining() -> ApiError {
    ApiError::unavailable(
        "draining",
        "The server is being stopped and begins nothing more. Please try again later.",
    )
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::KeyTaken { run, .. } => idempotency::conflict().with_details(json!({"run_id": run})),
            SubmitError::ProbeTaken(_) => ApiError::conflict("skill_unhealthy", error.to_string()),
            SubmitError::Closing => draining(),
            SubmitError::Store(error) => error.into(),
        }
    }
}

impl From<CommandError> for ApiError {
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

impl From<FollowError> for ApiError {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Unknown(_) => Self::not_found("run"),
            FollowError::Stopped(_) => Self::unavailable("run_stopped", error.to_string()),
            FollowError::Store(error) => error.into(),
        }
    }
}

impl From<AgentsError> for ApiError {
    fn from(error: AgentsError) -> Self {
        match error {
            AgentsError::Store(error) => error.into(),
            AgentsError::Contended(_) => Self::conflict("contended", error.to_string()),
            AgentsError::Submit(error) => error.into(),
        }
    }
}

/// Returns the status that goes with the reason why an agent was not spawned.
fn spawn_status(code: SpawnErrorCode) -> StatusCode {
    match code {
        SpawnErrorCode::InvalidRequest
        | SpawnErrorCode::Set(_)
        | SpawnErrorCode::UnknownRole
        | SpawnErrorCode::UnknownParent
        | SpawnErrorCode::InvalidPlan
        | SpawnErrorCode::DriverUnavailable => StatusCode::UNPROCESSABLE_ENTITY,
        SpawnErrorCode::ParentState
        | SpawnErrorCode::DepthLimit
        | SpawnErrorCode::ChildrenLimit
        | SpawnErrorCode::AgentsLimit => StatusCode::CONFLICT,
        SpawnErrorCode::ToolForbidden | SpawnErrorCode::ToolNotAllowed | SpawnErrorCode::ClientNotAllowed => {
            StatusCode::FORBIDDEN
        }
    }
}

/// An agent that was not spawned: the first reason decides, all of them are told.
pub(super) fn not_spawned(refused: &SpawnRefused) -> ApiError {
    let first = refused.errors.first();
    let (status, code) = first.map_or((StatusCode::UNPROCESSABLE_ENTITY, "INVALID_REQUEST"), |error| {
        (spawn_status(error.code), error.code.as_str())
    });
    ApiError::new(status, code, refused.to_string()).with_details(json!(refused))
}

impl From<SpawnFailed> for ApiError {
    fn from(error: SpawnFailed) -> Self {
        match error {
            SpawnFailed::Refused(refused) => not_spawned(&refused),
            SpawnFailed::Failed(error) => error.into(),
        }
    }
}

fn wrong_state(transition: &InvalidTransition) -> ApiError {
    let details = json!({"state": transition.from.as_str(), "asked": transition.to.as_str()});
    ApiError::conflict("INVALID_STATE", transition.to_string()).with_details(details)
}

impl From<StartRefused> for ApiError {
    fn from(error: StartRefused) -> Self {
        match error {
            StartRefused::Unknown(_) => Self::not_found("agent"),
            StartRefused::Transition(transition) => wrong_state(&transition),
            StartRefused::Unfit(refused) => not_spawned(&refused),
            StartRefused::Failed(error) => error.into(),
        }
    }
}

impl From<CommandRefused> for ApiError {
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

fn denial_status(code: DenialCode) -> StatusCode {
    match code {
        DenialCode::UnknownAgent => StatusCode::NOT_FOUND,
        DenialCode::InvalidState => StatusCode::CONFLICT,
        DenialCode::ToolForbidden | DenialCode::ToolNotAllowed | DenialCode::WorkspaceError => {
            StatusCode::FORBIDDEN
        }
        DenialCode::InvalidParameters => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            CallError::Denied(denial) => {
                Self::new(denial_status(denial.code), code, message).with_details(json!(denial))
            }
            CallError::UnknownTool { .. } | CallError::Invalid(_) => Self::unprocessable(code, message),
            CallError::Failed(_) => Self::new(StatusCode::BAD_GATEWAY, code, message),
            CallError::Transition(transition) => wrong_state(&transition),
            CallError::Agents(error) => error.into(),
        }
    }
}

impl From<SendError> for ApiError {
    fn from(error: SendError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            SendError::Invalid(problems) => {
                Self::unprocessable(code, message).with_details(json!({"problems": problems}))
            }
            SendError::UnknownSender(_) | SendError::UnknownAgent(_) => {
                Self::new(StatusCode::NOT_FOUND, code, message)
            }
            SendError::SenderTerminated(_)
            | SendError::AgentTerminated(_)
            | SendError::NoSuchRequest(_)
            | SendError::MailboxFull(_) => Self::conflict(code, message),
            SendError::Store(error) => error.into(),
        }
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            RequestError::Send(error) => error.into(),
            RequestError::Deadlock { ring } => {
                Self::conflict(code, message).with_details(json!({"ring": ring}))
            }
            RequestError::Timeout(_) => Self::new(StatusCode::GATEWAY_TIMEOUT, code, message),
            RequestError::Store(error) => error.into(),
        }
    }
}

impl From<MailError> for ApiError {
    fn from(error: MailError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            MailError::UnknownAgent(_) => Self::not_found("agent"),
            MailError::AgentTerminated(_) => Self::conflict(code, message),
            MailError::Store(error) => error.into(),
        }
    }
}

impl From<ListenError> for ApiError {
    fn from(error: ListenError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            ListenError::Replay(_) => Self::bad_request(code, message),
            ListenError::Store(error) => error.into(),
        }
    }
}
