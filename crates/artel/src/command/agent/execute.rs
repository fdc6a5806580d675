//! `artel agent execute`.

use artel_agents::CallError;
use artel_catalog::{Catalog, Keep};
use artel_engine::Command;
use artel_model::agent::DenialCode;
use artel_model::id::AgentId;
use artel_model::schema::Schema;
use serde_json::{Map, Value, json};

use super::request::pairs;
use crate::cli::ExecuteArgs;
use crate::command::Context;
use crate::command::parameters;
use crate::command::skill_run::{given, refused, schema};
use crate::failure::{Failure, chain};
use crate::output::Tone;
use crate::workshop::{Agency, Interrupts, Shelf, Workshop, cause, find_agent, person, wait_for};

pub(crate) fn execute(context: Context<'_>, args: &ExecuteArgs) -> Result<(), Failure> {
    let (agent, called) = wait_for(async {
        let shelf = Shelf::open(context, Keep::Descriptions).await?;
        let params = params(args, shelf.catalog())?;
        let workshop = Workshop::open(context, shelf).await?;
        let agent = find_agent(&workshop.store, &args.which.agent).await?.record.agent_id;
        let agency = Agency::open(context, &workshop).await?;
        let mut interrupts = Interrupts::listen()?;
        let mut calling =
            std::pin::pin!(agency.agents.execute(agent, &args.operation, params, cause(context)));
        let called = loop {
            tokio::select! {
                called = &mut calling => break called,
                () = interrupts.next() => cancel(context, &workshop, agent).await?,
            }
        };
        workshop.close().await;
        Ok((agent, called))
    })?;
    print(context, args, agent, called)
}

/// Ends the call, and with it the wait; the agent stays.
async fn cancel(context: Context<'_>, workshop: &Workshop, agent: AgentId) -> Result<(), Failure> {
    context.output.talk("cancelling the call");
    let row = workshop.store.agents.agent(agent).await.map_err(|error| Failure::unavailable(&error))?;
    let work = row.as_ref().and_then(|row| row.record.standing.work());
    if let Some(run) = work.and_then(|work| work.run_id) {
        // That the run is over already is as good.
        let _ = workshop.engine.command(run, &Command::Cancel, person(&context.config.environment)).await;
    }
    Ok(())
}

/// Reads the parameters; those of a skill as its schema says.
fn params(args: &ExecuteArgs, catalog: &Catalog) -> Result<Map<String, Value>, Failure> {
    let mut params = given(args.params.as_deref())?;
    match tool_schema(catalog, &args.operation) {
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

fn print(
    context: Context<'_>,
    args: &ExecuteArgs,
    agent: AgentId,
    called: Result<Map<String, Value>, CallError>,
) -> Result<(), Failure> {
    let (output, operation) = (context.output, &args.operation);
    let error = match called {
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
        let told = json!({"code": error.code(), "message": chain(&error)});
        output.document(
            &json!({"agent_id": agent, "operation": operation, "ok": false, "output": null, "error": told}),
        );
    }
    Err(failure(context, &error))
}

/// What cannot be called so is wrong usage, what may not be called or fails is a failure.
fn failure(context: Context<'_>, error: &CallError) -> Failure {
    let message =
        if context.output.json { String::new() } else { format!("{}: {}", error.code(), chain(error)) };
    match error {
        CallError::Invalid(_) => Failure::usage(message),
        CallError::Denied(denial) if denial.code == DenialCode::InvalidParameters => Failure::usage(message),
        CallError::Denied(_)
        | CallError::UnknownTool { .. }
        | CallError::Failed(_)
        | CallError::Transition(_) => Failure::failed(message),
        CallError::Agents(_) => Failure::missing(message),
    }
}
