//! `artel agent execute`.

use artel_api::agents::{Operation, OperationAnswer};
use artel_catalog::{Catalog, Keep};
use artel_engine::Command;
use artel_model::agent::DenialCode;
use artel_model::id::AgentId;
use artel_model::schema::Schema;
use serde_json::{Map, Value, json};

use super::request::pairs;
use crate::backend::{Backend, BackendError};
use crate::cli::ExecuteArgs;
use crate::command::Context;
use crate::command::parameters;
use crate::command::skill_run::{given, refused, schema};
use crate::failure::Failure;
use crate::output::Tone;
use crate::runtime::{Interrupts, Shelf, wait_for};

pub(crate) fn execute(context: Context<'_>, args: &ExecuteArgs) -> Result<(), Failure> {
    let remote = context.remote()?;
    let catalog = match remote.is_some() && !args.values.is_empty() {
        true => Some(context.catalog(Keep::Descriptions)?),
        false => None,
    };
    let (agent, called) = wait_for(async {
        let (backend, params) = match remote {
            Some(client) => (Backend::Remote(client), params(args, catalog.as_ref())?),
            None => {
                let shelf = Shelf::open(context, Keep::Descriptions).await?;
                let params = params(args, Some(shelf.catalog()))?;
                (Backend::open_to_work(context, shelf).await?, params)
            }
        };
        let called = call(context, args, &backend, params).await?;
        backend.close().await;
        Ok(called)
    })?;
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

async fn call(
    context: Context<'_>,
    args: &ExecuteArgs,
    backend: &Backend,
    params: Map<String, Value>,
) -> Result<(AgentId, Called), Failure> {
    let agent = backend.find_agent(&args.which.agent).await?.agent_id;
    let mut interrupts = Interrupts::listen()?;
    let operation = Operation { operation: args.operation.clone(), params };
    let mut calling = std::pin::pin!(backend.execute(agent, operation));
    let answer = loop {
        tokio::select! {
            answer = &mut calling => break answer,
            () = interrupts.next() => cancel(context, backend, agent).await?,
        }
    };
    match answer {
        Ok(OperationAnswer { output: Some(output), .. }) => Ok((agent, Ok(output))),
        Ok(OperationAnswer { error, .. }) => {
            let (code, message) = error.map(|error| (error.code, error.message)).unwrap_or_default();
            Ok((agent, Err(NotCalled { code, message, kind: Failure::failed })))
        }
        Err(error) => Ok((agent, Err(not_called(error)?))),
    }
}

/// Reads a refusal: the codes of calls are in capitals. What cannot be called so is wrong usage, what may not be called is a
/// failure.
fn not_called(error: BackendError) -> Result<NotCalled, Failure> {
    let Some(code) = error.code().filter(|code| !code.contains(char::is_lowercase)) else {
        return Err(error.into());
    };
    let kind: fn(String) -> Failure =
        if code == DenialCode::InvalidParameters.as_str() { Failure::usage } else { Failure::failed };
    Ok(NotCalled { code: code.to_owned(), message: error.message(), kind })
}

/// Ends the call, and with it the wait; the agent stays.
async fn cancel(context: Context<'_>, backend: &Backend, agent: AgentId) -> Result<(), Failure> {
    context.output.talk("cancelling the call");
    if let Some(run) = backend.agent(agent).await?.and_then(|agent| agent.run_id) {
        // That the run is over already is as good.
        let _ = backend.command_run(run, &Command::Cancel).await;
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
