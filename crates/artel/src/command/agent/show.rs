//! `artel agent show`.

use artel_model::id::AgentId;
use artel_store::{LoggedAgentEvent, Revision};
use serde_json::{Value, json};

use super::event::words;
use super::{policy, render};
use crate::backend::Backend;
use crate::cli::AgentShowArgs;
use crate::command::Context;
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::runtime::wait_for;

pub(crate) fn show(context: Context<'_>, args: &AgentShowArgs) -> Result<(), Failure> {
    let output = context.output;
    let found = wait_for(async {
        let backend = Backend::open(context).await?;
        let shown = backend.find_agent(&args.which.agent).await?;
        if args.events {
            print_events(context, &backend, shown.agent_id).await?;
            return Ok(None);
        }
        let policy =
            if args.tool.is_empty() { None } else { Some(backend.agent_policy(shown.agent_id).await?) };
        Ok(Some((shown, policy)))
    })?;
    let Some((shown, policy)) = found else { return Ok(()) };
    let decided = match &policy {
        Some(policy) => policy::decide(context, policy, &args.tool)?,
        None => Vec::new(),
    };
    if output.json {
        let mut document = serde_json::to_value(&shown).expect("an agent is JSON");
        if !args.tool.is_empty() {
            document["decisions"] = decided.iter().map(policy::Judgement::document).collect();
        }
        output.document(&document);
        return Ok(());
    }
    output.data(&render::sheet(context, &shown));
    output.line(&format!(
        "\n{}",
        output.paint("may call what every layer allows and none forbids", Tone::Strong)
    ));
    output.data(&render::policy(context, &shown.policy));
    if !decided.is_empty() {
        let mut table = Table::new(&[Tone::Accent, Tone::Strong, Tone::Plain]);
        policy::judgements(&mut table, &decided);
        output.data(&format!("\n{}", table.render(output)));
    }
    Ok(())
}

async fn print_events(context: Context<'_>, backend: &Backend, id: AgentId) -> Result<(), Failure> {
    let output = context.output;
    let mut after = Revision(0);
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Accent, Tone::Plain]);
    loop {
        let page = backend.agent_log(id, after).await?;
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
