//! What a child of an agent with some skills could call: its own rules within those of everyone above it.

use artel_catalog::Catalog;
use artel_model::agent::{Layer, Policy, PolicyDocument};
use artel_model::policy::ComposedSkill;
use serde_json::{Value, json};

use super::agent::{Judgement, judge, judgements, known_tools, rules, tool_use};
use super::context::Context;
use crate::backend::Backend;
use crate::cli::AgentRef;
use crate::failure::Failure;
use crate::output::{Table, Tone};
use crate::runtime::wait_for;

/// What a child could call.
pub(super) struct Child {
    parent: String,
    policy: Policy,
    may_call: Vec<String>,
    decided: Vec<Judgement>,
}

impl Child {
    /// Looks what a child of an agent could call, and decides about calls.
    pub(super) fn of(
        context: Context<'_>,
        parent: &AgentRef,
        composed: &ComposedSkill,
        catalog: &Catalog,
        tools: &[String],
    ) -> Result<Self, Failure> {
        let (parent, above) = wait_for(async {
            let backend = Backend::open(context).await?;
            let parent = backend.find_agent(parent).await?.agent_id;
            Ok((parent, backend.agent_policy(parent).await?))
        })?;
        let policy = Policy::attenuate(Some((parent, &above)), vec![Layer::given(composed, None)]);
        let decide = |text: &String| Ok(judge(&policy, &tool_use(catalog, text)?));
        let decided = tools.iter().map(decide).collect::<Result<_, Failure>>()?;
        let may_call = known_tools(catalog, &policy);
        Ok(Self { parent: parent.to_string(), policy, may_call, decided })
    }

    /// Shows it as data.
    pub(super) fn document(&self) -> Value {
        let (allowed, forbidden) = rules(&self.policy);
        let mut document = json!({
            "parent": self.parent, "allowed_tools": allowed, "forbidden_tools": forbidden,
            "may_call": self.may_call, "policy": PolicyDocument::of(&self.policy),
        });
        if !self.decided.is_empty() {
            document["decisions"] = self.decided.iter().map(Judgement::document).collect();
        }
        document
    }

    /// Shows it to people.
    pub(super) fn text(&self, context: Context<'_>) -> String {
        let mut table = Table::new(&[Tone::Accent, Tone::Strong, Tone::Faint]);
        table.row(["child of", &self.parent, ""]);
        let (allowed, forbidden) = rules(&self.policy);
        for (word, patterns) in [("allows", &allowed), ("forbids", &forbidden)] {
            for pattern in patterns {
                table.row([word, pattern, ""]);
            }
        }
        if allowed.is_empty() {
            table.row(["allows", "nothing", ""]);
        }
        for tool in &self.may_call {
            table.row(["may call", tool, ""]);
        }
        judgements(&mut table, &self.decided);
        table.render(context.output)
    }
}
