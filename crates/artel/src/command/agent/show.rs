//! `artel agent show`.

use artel_model::agent::AgentDocument;
use artel_model::id::AgentId;
use artel_store::{LoggedAgentEvent, Revision};
use serde_json::{Value, json};

use super::event::words;
use super::{paper, policy};
use crate::cli::AgentShowArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::workshop::{Store, Teller, find_agent, wait_for};

/// Events that are read at once.
const EVENTS_PAGE: usize = 500;

pub(crate) fn show(context: Context<'_>, args: &AgentShowArgs) -> Result<(), Failure> {
    let output = context.output;
    let record = wait_for(async {
        let Teller { store, .. } = Teller::open(context).await?;
        let record = find_agent(&store, &args.which.agent).await?.record;
        if args.events {
            print_events(context, &store, record.agent_id).await?;
        }
        Ok(record)
    })?;
    if args.events {
        return Ok(());
    }
    let shown = AgentDocument::of(&record);
    let decided = policy::decide(context, &record.spec.policy, &args.tool)?;
    if output.json {
        let mut document = serde_json::to_value(&shown).expect("an agent is JSON");
        if !args.tool.is_empty() {
            document["decisions"] = decided.iter().map(policy::Judgement::document).collect();
        }
        output.document(&document);
        return Ok(());
    }
    output.data(&paper::sheet(context, &shown));
    output.line(&format!(
        "\n{}",
        output.paint("may call what every layer allows and none forbids", Tone::Strong)
    ));
    output.data(&paper::policy(context, &shown.policy));
    if !decided.is_empty() {
        let mut table = Table::new(&[Tone::Accent, Tone::Strong, Tone::Plain]);
        policy::judgements(&mut table, &decided);
        output.data(&format!("\n{}", table.render(output)));
    }
    Ok(())
}

async fn print_events(context: Context<'_>, store: &Store, id: AgentId) -> Result<(), Failure> {
    let output = context.output;
    let mut after = Revision(0);
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Accent, Tone::Plain]);
    loop {
        let page = store.agents.agent_events(id, after, EVENTS_PAGE).await;
        let page = page.map_err(|error| Failure::unavailable(&error))?;
        let Some(last) = page.last() else { break };
        after = last.revision;
        for logged in &page {
            if output.json {
                output.line(&document(logged).to_string());
                continue;
            }
            let (word, by, text) = words(&logged.event.event);
            table.row([logged.event.at.to_string(), word.to_owned(), by, text]);
        }
    }
    if !output.json {
        output.data(&table.render(output));
    }
    Ok(())
}

fn document(logged: &LoggedAgentEvent) -> Value {
    json!({"revision": logged.revision.0, "at": logged.event.at, "event": logged.event.event})
}
