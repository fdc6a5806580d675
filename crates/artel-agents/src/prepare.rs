//! What an agent would run, made and checked before the agent exists.

use artel_engine::SkillShelf;
use artel_model::agent::{
    AgentSpec, CallOrigin, DenialCode, Driver, Policy, SpawnError, SpawnErrorCode, admit_command,
};
use artel_model::id::PlanId;
use artel_model::name::SkillName;
use artel_model::plan::{
    ChainRequest, Plan, PlanDocument, PlanProblem, SkillChoice, SkillRequest, chain_plan, resolve, skill_plan,
};
use artel_model::run::plan_denials;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::agents::Shared;

/// What an agent does first.
pub(crate) enum FirstWork {
    /// It runs a plan.
    Run(Box<Plan>),
    /// A planner makes plans for its task.
    Task,
    /// A model works.
    Llm,
    /// A program works.
    Command,
    /// Nothing, until somebody calls.
    Nothing,
}

impl Shared {
    /// Makes what an agent would do first, or says why it could not. A program is judged by the less trusted of where the
    /// agent and where this call come from.
    pub(crate) fn first_work(
        &self,
        spec: &AgentSpec,
        origin: CallOrigin,
    ) -> Result<FirstWork, Vec<SpawnError>> {
        let shelf = self.parts.shelves.shelf(spec.viewer.as_ref());
        match &spec.driver {
            Driver::Skill { skill, params, chain } => {
                let plan = if *chain {
                    let params = params_by_skill(params)?;
                    let request = ChainRequest { id: fresh_plan(), skill, params };
                    chain_plan(&request, shelf.catalog().registry(), &*shelf)
                } else {
                    let choice = SkillChoice { name: skill.clone(), version: None };
                    let params = params.clone();
                    skill_plan(
                        SkillRequest { id: fresh_plan(), skill: &choice, script: None, params },
                        &*shelf,
                    )
                };
                allowed(plan.map_err(|problems| refused(&problems))?, &spec.policy)
            }
            Driver::Plan { plan: Some(document) } => {
                allowed(plan_of(document, &shelf).map_err(|problems| refused(&problems))?, &spec.policy)
            }
            Driver::Plan { plan: None } => Ok(FirstWork::Task),
            Driver::Llm => match &self.parts.llm {
                Some(driver) => driver.check(spec).map(|()| FirstWork::Llm).map_err(|error| vec![error]),
                None => Err(unavailable("no model is configured", "`[llm]` in artel.toml names one")),
            },
            Driver::Command(line) => {
                admit_command(spec.origin.and(origin), line, &self.config.clients)
                    .map_err(|error| vec![error])?;
                match &self.parts.command {
                    Some(driver) => {
                        driver.check(spec).map(|()| FirstWork::Command).map_err(|error| vec![error])
                    }
                    None => {
                        Err(unavailable("programs of others cannot be started here", "there is no launcher"))
                    }
                }
            }
            Driver::External => Ok(FirstWork::Nothing),
        }
    }
}

pub(crate) fn fresh_plan() -> PlanId {
    PlanId(Uuid::new_v4())
}

fn plan_of(document: &Value, shelf: &SkillShelf) -> Result<Plan, Vec<PlanProblem>> {
    resolve(&PlanDocument::parse(document)?, shelf)
}

fn params_by_skill(
    params: &Map<String, Value>,
) -> Result<std::collections::BTreeMap<SkillName, Map<String, Value>>, Vec<SpawnError>> {
    let wrong = |name: &str| {
        let message = format!("`params`: with `chain` there is an object for each skill; `{name}` is none");
        vec![SpawnError::new(SpawnErrorCode::InvalidRequest, message)]
    };
    let one = |(name, value): (&String, &Value)| match (name.parse(), value) {
        (Ok(skill), Value::Object(params)) => Ok((skill, params.clone())),
        (Ok(_) | Err(_), _) => Err(wrong(name)),
    };
    params.iter().map(one).collect()
}

/// A plan with a step that its agent may not run is refused before the agent exists.
fn allowed(plan: Plan, policy: &Policy) -> Result<FirstWork, Vec<SpawnError>> {
    let denials = plan_denials(policy, &plan);
    if denials.is_empty() {
        return Ok(FirstWork::Run(Box::new(plan)));
    }
    let error = |denial: artel_model::run::StepDenial| {
        let code = match denial.code {
            DenialCode::ToolForbidden => SpawnErrorCode::ToolForbidden,
            DenialCode::ToolNotAllowed
            | DenialCode::UnknownAgent
            | DenialCode::InvalidState
            | DenialCode::InvalidParameters
            | DenialCode::WorkspaceError => SpawnErrorCode::ToolNotAllowed,
        };
        let message = format!("the agent may not call `{}`: {}", denial.tool, denial.why);
        SpawnError::new(code, message)
    };
    Err(denials.into_iter().map(error).collect())
}

pub(crate) fn refused(problems: &[PlanProblem]) -> Vec<SpawnError> {
    let error = |problem: &PlanProblem| {
        let place = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
        SpawnError::new(SpawnErrorCode::InvalidPlan, format!("{place}{}", problem.message))
    };
    problems.iter().map(error).collect()
}

fn unavailable(what: &str, hint: &str) -> Vec<SpawnError> {
    vec![SpawnError::new(SpawnErrorCode::DriverUnavailable, format!("{what}: {hint}"))]
}
