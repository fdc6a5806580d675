//! `artel agent list`.

use std::collections::BTreeSet;

use artel_api::Paged;
use artel_api::agents::AgentsQuery;
use artel_engine::Clock;
use artel_model::agent::AgentDocument;

use crate::backend::Backend;
use crate::cli::AgentListArgs;
use crate::command::Context;
use crate::command::runs::{comma_separated, page_of, tell_next};
use crate::failure::Failure;
use crate::output::{Table, Tone, ago};
use crate::runtime::wait_for;

pub(crate) fn list(context: Context<'_>, args: &AgentListArgs) -> Result<(), Failure> {
    let (page, left_over) = wait_for(async {
        let Some(backend) = Backend::open_if_any(context).await? else {
            return Ok((Paged { items: Vec::new(), next: None }, BTreeSet::new()));
        };
        let parent = match &args.parent {
            Some(parent) => Some(backend.find_agent(parent).await?.agent_id.0),
            None => None,
        };
        let (after, limit) = page_of(&args.page);
        let state = comma_separated(args.state.iter().map(|choice| choice.0.as_str()));
        let query = AgentsQuery { state, parent, after, limit, ..AgentsQuery::default() };
        let page = backend.list_agents(query).await?;
        // Data says where agents stand; whether a process drives them is for people.
        let left_over =
            if context.output.json { BTreeSet::new() } else { backend.left_over_agents().await? };
        Ok((page, left_over))
    })?;
    let output = context.output;
    if output.json {
        output.document(&page);
        return Ok(());
    }
    let now = Clock::system().now();
    let mut table =
        Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain, Tone::Accent, Tone::Faint, Tone::Plain]);
    for agent in &page.items {
        let word = agent.state.as_str();
        let is_left_over = left_over.contains(&agent.agent_id);
        table.row([
            agent.agent_id.to_string(),
            agent.name.clone().unwrap_or_else(|| "-".to_owned()),
            if is_left_over { format!("{word} (left over)") } else { word.to_owned() },
            agent.driver.as_str().to_owned(),
            ago(agent.created_at, now),
            about(agent),
        ]);
    }
    output.data(&table.render(output));
    tell_next(context, page.items.len(), page.next.as_deref(), "agent");
    Ok(())
}

/// Says what an agent is for.
fn about(agent: &AgentDocument) -> String {
    let skill = agent.assigned_skill.as_ref().map(ToString::to_string);
    let skills = || {
        let names: Vec<String> = agent.skills.iter().flatten().map(ToString::to_string).collect();
        names.join(", ")
    };
    agent.task.clone().or(skill).unwrap_or_else(skills)
}
