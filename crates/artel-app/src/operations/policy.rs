//! What an agent's policy says about tools, and who decided.

use artel_api::agents::{Decision, PolicyAnswer, PolicyQuery};
use artel_catalog::Catalog;
use artel_model::access::Principal;
use artel_model::agent::{Allowance, Policy, PolicyDocument, ToolUse, Verdict};
use artel_model::id::AgentId;
use artel_model::name::SkillName;

use super::owned::own_agent;
use crate::app::App;
use crate::error::OperationError;

/// Explains an agent's policy.
pub async fn explain(
    app: &App,
    caller: &Principal,
    id: AgentId,
    query: PolicyQuery,
) -> Result<PolicyAnswer, OperationError> {
    let record = own_agent(app, caller, id).await?.record;
    let shelf = app.shelves().shelf(record.viewer());
    let policy = &record.spec.policy;
    let tools = query.tools.as_deref().unwrap_or_default();
    let tools = tools.split(',').map(str::trim).filter(|tool| !tool.is_empty());
    let decisions = tools.map(|tool| Ok(decide(policy, &tool_use(shelf.catalog(), tool)?)));
    Ok(PolicyAnswer {
        decisions: decisions.collect::<Result<_, OperationError>>()?,
        policy: PolicyDocument::of(policy),
    })
}

fn decide(policy: &Policy, tool: &ToolUse) -> Decision {
    let allowed_by = |allowance: &Allowance<'_>| {
        let who = allowance.layer.origin.who_granted(allowance.grant);
        format!("allowed by {who} ({})", allowance.grant.pattern)
    };
    let (code, why) = match policy.check(tool.names()) {
        Verdict::Allowed(allowances) => (None, allowances.iter().map(allowed_by).collect()),
        Verdict::Forbidden { layer, grant, name } => {
            let alias = if name == tool.names()[0] { String::new() } else { format!(" as `{name}`") };
            let who = layer.origin.who_granted(grant);
            (Some("TOOL_FORBIDDEN"), vec![format!("forbidden{alias} by {who} ({})", grant.pattern)])
        }
        Verdict::NotAllowed(Some(layer)) => (Some("TOOL_NOT_ALLOWED"), vec![layer.origin.not_allowed()]),
        Verdict::NotAllowed(None) => (Some("TOOL_NOT_ALLOWED"), vec!["there is no policy".to_owned()]),
    };
    Decision { tool: tool.to_string(), allowed: code.is_none(), code: code.map(str::to_owned), why }
}

/// Reads the name of a tool: of a skill or its script, under all of its names; of anything else, as it is.
fn tool_use(catalog: &Catalog, text: &str) -> Result<ToolUse, OperationError> {
    let find = |name: &SkillName| catalog.registry().get(name, None).ok().map(AsRef::as_ref);
    if let Some(found) = ToolUse::resolve(text, find) {
        return Ok(found.tool);
    }
    ToolUse::named(text).map_err(|error| {
        OperationError::bad_request("invalid_query", format!("`{text}` is no tool: {error}"))
    })
}
