//! `artel agent list`.

use artel_engine::{Clock, is_alive};
use artel_model::agent::{AgentDocument, AgentRecord};
use artel_store::{AgentFilter, AgentRow, OwnerId, Page};
use serde_json::{Value, json};

use crate::cli::AgentListArgs;
use crate::command::Context;
use crate::command::runs::{cannot_list, page_of, tell_next};
use crate::failure::Failure;
use crate::output::{Table, Tone, ago};
use crate::workshop::{Store, find_agent, wait_for};

pub(crate) fn list(context: Context<'_>, args: &AgentListArgs) -> Result<(), Failure> {
    let page = wait_for(async {
        let Some(store) = Store::open_existing(context.config).await? else {
            return Ok(Page { items: Vec::new(), next: None });
        };
        let parent = match &args.parent {
            Some(parent) => Some(find_agent(&store, parent).await?.record.agent_id),
            None => None,
        };
        let states = args.state.iter().map(|choice| choice.0).collect();
        let filter = AgentFilter { states, parent, ..AgentFilter::default() };
        store.agents.agents(&filter, &page_of(&args.page)).await.map_err(|error| cannot_list(&error))
    })?;
    let output = context.output;
    if output.json {
        let items: Vec<Value> = page.items.iter().map(|row| json!(AgentDocument::of(&row.record))).collect();
        output.document(&json!({"items": items, "next": page.next.map(|cursor| cursor.0)}));
        return Ok(());
    }
    let now = Clock::system().now();
    let mut table =
        Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain, Tone::Accent, Tone::Faint, Tone::Plain]);
    for AgentRow { record, .. } in &page.items {
        table.row([
            record.agent_id.to_string(),
            record.spec.name.clone().unwrap_or_else(|| "-".to_owned()),
            state(context, record),
            record.spec.driver.kind().as_str().to_owned(),
            ago(record.created_at, now),
            about(record),
        ]);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.as_ref(), "agent");
    Ok(())
}

/// Says where an agent stands; of one at work to whom nobody sees, that too.
fn state(context: Context<'_>, record: &AgentRecord) -> String {
    let word = record.state().as_str();
    if is_left_over(context, record) { format!("{word} (left over)") } else { word.to_owned() }
}

/// Says whether an agent is at work and nobody alive sees to it.
pub(super) fn is_left_over(context: Context<'_>, record: &AgentRecord) -> bool {
    let owner = record.standing.work().map(|work| OwnerId(work.owner.clone()));
    owner.is_some_and(|owner| !is_alive(&context.config.data.value, &owner))
}

/// Says what an agent is for.
fn about(record: &AgentRecord) -> String {
    let shown = AgentDocument::of(record);
    let skill = shown.assigned_skill.map(|skill| skill.to_string());
    let skills = || {
        let names: Vec<String> = shown.skills.iter().flatten().map(ToString::to_string).collect();
        names.join(", ")
    };
    shown.task.or(skill).unwrap_or_else(skills)
}
