//! `artel agent execute`.

use artel_agents::CallError;
use artel_api::agents::{Operation, OperationAnswer};
use artel_api::client::{ApiPath, Client, ClientError};
use artel_catalog::{Catalog, Keep};
use artel_engine::Command;
use artel_model::agent::{AgentDocument, DenialCode};
use artel_model::id::AgentId;
use artel_model::schema::Schema;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::request::pairs;
use crate::cli::ExecuteArgs;
use crate::command::Context;
use crate::command::parameters;
use crate::command::skill_run::{given, refused, schema};
use crate::desk::{AgentRoll, RunDesk};
use crate::failure::{self, Failure, chain};
use crate::output::Tone;
use crate::workshop::{Agency, BusAway, Interrupts, Shelf, Workshop, cause, person, wait_for};

pub(crate) fn execute(context: Context<'_>, args: &ExecuteArgs) -> Result<(), Failure> {
    let (agent, called) = match context.remote()? {
        None => wait_for(execute_here(context, args))?,
        Some(client) => {
            let is_typed = !args.values.is_empty();
            let catalog = if is_typed { Some(context.catalog(Keep::Descriptions)?) } else { None };
            let params = params(args, catalog.as_ref())?;
            wait_for(execute_there(context, args, &client, params))?
        }
    };
    print(context, args, agent, called)
}

/// What came of a call.
type Called = Result<Map<String, Value>, NotCalled>;

/// Why a call came to nothing.
struct NotCalled {
    code: String,
    message: String,
    kind: fn(String) -> Failure,
}

async fn execute_here(context: Context<'_>, args: &ExecuteArgs) -> Result<(AgentId, Called), Failure> {
    let shelf = Shelf::open(context, Keep::Descriptions).await?;
    let params = params(args, Some(shelf.catalog()))?;
    let workshop = Workshop::open(context, shelf).await?;
    let agent = AgentRoll::Here(&workshop.store).find(&args.which.agent).await?.agent_id;
    let agency = Agency::open(context, &workshop, BusAway::StandIn).await?;
    let mut interrupts = Interrupts::listen()?;
    let mut calling = std::pin::pin!(agency.agents.execute(agent, &args.operation, params, cause(context)));
    let called = loop {
        tokio::select! {
            called = &mut calling => break called,
            () = interrupts.next() => cancel(context, &workshop, agent).await?,
        }
    };
    workshop.close().await;
    Ok((agent, called.map_err(|error| not_called(&error))))
}

async fn execute_there(
    context: Context<'_>,
    args: &ExecuteArgs,
    client: &Client,
    params: Map<String, Value>,
) -> Result<(AgentId, Called), Failure> {
    let agent = AgentRoll::There(client).find(&args.which.agent).await?.agent_id;
    let mut interrupts = Interrupts::listen()?;
    let path = ApiPath::new("/api/agents").name(agent).then("execute");
    let operation = Operation { operation: args.operation.clone(), params };
    let key = Uuid::new_v4().to_string();
    let mut calling = std::pin::pin!(client.post::<OperationAnswer>(&path, &operation, Some(&key)));
    let answer = loop {
        tokio::select! {
            answer = &mut calling => break answer,
            () = interrupts.next() => cancel_there(context, client, agent).await?,
        }
    };
    match answer {
        Ok(OperationAnswer { output: Some(output), .. }) => Ok((agent, Ok(output))),
        Ok(OperationAnswer { error, .. }) => {
            let (code, message) = error.map(|error| (error.code, error.message)).unwrap_or_default();
            Ok((agent, Err(NotCalled { code, message, kind: Failure::failed })))
        }
        Err(error) => Ok((agent, Err(told(&error).ok_or_else(|| failure::refused(&error))?))),
    }
}

/// Reads the refusal of a server: the codes of calls are in capitals.
fn told(error: &ClientError) -> Option<NotCalled> {
    let code = error.code().filter(|code| !code.contains(char::is_lowercase))?;
    let kind: fn(String) -> Failure =
        if code == DenialCode::InvalidParameters.as_str() { Failure::usage } else { Failure::failed };
    Some(NotCalled { code: code.to_owned(), message: chain(error), kind })
}

/// Ends the call at the server, and with it the wait; the agent stays.
async fn cancel_there(context: Context<'_>, client: &Client, agent: AgentId) -> Result<(), Failure> {
    context.output.talk(CANCELLING);
    let path = ApiPath::new("/api/agents").name(agent);
    let agent: AgentDocument = client.get(&path).await.map_err(|error| failure::refused(&error))?;
    if let Some(run) = agent.run_id {
        // That the run is over already is as good.
        let _ = RunDesk::There(client.clone()).tell(run, &Command::Cancel).await;
    }
    Ok(())
}

/// What is said when a call is ended.
const CANCELLING: &str = "cancelling the call";

/// Ends the call, and with it the wait; the agent stays.
async fn cancel(context: Context<'_>, workshop: &Workshop, agent: AgentId) -> Result<(), Failure> {
    context.output.talk(CANCELLING);
    let row = workshop.store.agents.agent(agent).await.map_err(|error| Failure::unavailable(&error))?;
    let work = row.as_ref().and_then(|row| row.record.standing.work());
    if let Some(run) = work.and_then(|work| work.run_id) {
        // That the run is over already is as good.
        let _ = workshop.engine.command(run, &Command::Cancel, person(&context.config.environment)).await;
    }
    Ok(())
}

/// Reads the parameters; those of a skill as its schema says.
fn params(args: &ExecuteArgs, catalog: Option<&Catalog>) -> Result<Map<String, Value>, Failure> {
    let mut params = given(args.params.as_deref())?;
    match catalog.and_then(|catalog| tool_schema(catalog, &args.operation)) {
        Some(schema) => {
            for value in &args.values {
                parameters::put(&schema, &mut params, value).map_err(refused)?;
            }
        }
        None => params.extend(pairs(&args.values)?),
    }
    Ok(params)
}

fn tool_schema(catalog: &Catalog, tool: &str) -> Option<Schema> {
    let (skill, script) = tool.split_once('/').map_or((tool, None), |(skill, script)| (skill, Some(script)));
    let skill = catalog.registry().get(&skill.parse().ok()?, None).ok()?;
    let script = match script {
        Some(script) => Some(script.parse().ok()?),
        None => None,
    };
    schema(skill, script.as_ref()).ok().cloned()
}

fn print(context: Context<'_>, args: &ExecuteArgs, agent: AgentId, called: Called) -> Result<(), Failure> {
    let (output, operation) = (context.output, &args.operation);
    let NotCalled { code, message, kind } = match called {
        Ok(out) => {
            if output.json {
                let document = json!({"agent_id": agent, "operation": operation, "ok": true, "output": out, "error": null});
                output.document(&document);
            } else {
                output.fields(&out);
                output.remark("done:", Tone::Good, &format!("{operation} for agent {agent}"));
            }
            return Ok(());
        }
        Err(error) => error,
    };
    if output.json {
        let told = json!({"code": code, "message": message});
        output.document(
            &json!({"agent_id": agent, "operation": operation, "ok": false, "output": null, "error": told}),
        );
        return Err(kind(String::new()));
    }
    Err(kind(format!("{code}: {message}")))
}

/// What cannot be called so is wrong usage, what may not be called or fails is a failure.
fn not_called(error: &CallError) -> NotCalled {
    let kind: fn(String) -> Failure = match error {
        CallError::Invalid(_) => Failure::usage,
        CallError::Denied(denial) if denial.code == DenialCode::InvalidParameters => Failure::usage,
        CallError::Denied(_)
        | CallError::UnknownTool { .. }
        | CallError::Failed(_)
        | CallError::Transition(_) => Failure::failed,
        CallError::Agents(_) => Failure::missing,
    };
    NotCalled { code: error.code().to_owned(), message: chain(error), kind }
}
