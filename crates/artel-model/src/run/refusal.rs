//! What a run's agent may not call is not started: every step passes the gate, whatever plan it stands in.

use super::machine::Run;
use super::report::{ErrorKind, StepError};
use super::step::Settled;
use crate::agent::{DenialCode, Policy, ToolUse, admit_tool};
use crate::id::StepId;
use crate::plan::{Plan, ScriptTarget, StepIndex, Work};

/// A step of a plan that an agent may not run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StepDenial {
    /// The step.
    pub step: StepId,
    /// The tool that is refused: the step's own, or that of a composite it belongs to.
    pub tool: ToolUse,
    /// What kind of refusal.
    pub code: DenialCode,
    /// Who decided.
    pub why: String,
}

/// Returns the steps of a plan that a policy does not let run, in the order they were written.
pub fn plan_denials(policy: &Policy, plan: &Plan) -> Vec<StepDenial> {
    (0..plan.steps().len()).filter_map(|step| denial(policy, plan, step, None)).collect()
}

/// A step is refused when its own tool is, or that of any composite around it.
fn denial(policy: &Policy, plan: &Plan, step: StepIndex, own: Option<&ScriptTarget>) -> Option<StepDenial> {
    let around = std::iter::successors(plan.steps()[step].scope, |&scope| plan.steps()[scope].scope);
    let tools = around.map(|scope| tool(&plan.steps()[scope].work));
    let own = own.map_or_else(|| tool(&plan.steps()[step].work), script);
    std::iter::once(own).chain(tools).find_map(|tool| {
        let (code, why) = admit_tool(policy, &tool).err()?;
        Some(StepDenial { step: plan.steps()[step].id.clone(), tool, code, why })
    })
}

fn tool(work: &Work) -> ToolUse {
    match work {
        Work::Script(target) => script(target),
        Work::Gather { skill, .. } => ToolUse::skill(skill),
    }
}

fn script(target: &ScriptTarget) -> ToolUse {
    ToolUse::script(&target.skill, &target.script, target.is_entrypoint)
}

impl Run {
    /// Returns how a step ends that its agent may not run.
    pub(super) fn refusal(&self, step: StepIndex) -> Option<Settled> {
        let policy = self.submission.policy.as_ref()?;
        let denial = denial(policy, self.plan(), step, self.script(step))?;
        let agent = self.submission.agent.map(|agent| format!("agent {agent}"));
        let who = agent.as_deref().unwrap_or("whoever asked for this run");
        let message =
            format!("{}: {who} may not call `{}`: {}", denial.code.as_str(), denial.tool, denial.why);
        Some(Settled::Failed(StepError::new(ErrorKind::PolicyDenied, message)))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::agent::Layer;
    use crate::id::{AgentId, RunId};
    use crate::plan::Concurrency::Parallel;
    use crate::run::testing::{Story, at, plan, submission};
    use crate::run::{RunEvent, StampedEvent, StepView, Submission};
    use crate::tool::ToolPattern;

    fn policy(allowed: &[&str], forbidden: &[&str]) -> Policy {
        let patterns =
            |texts: &[&str]| -> Vec<ToolPattern> { texts.iter().map(|text| text.parse().unwrap()).collect() };
        Policy::attenuate(None, vec![Layer::configured(&patterns(allowed), &patterns(forbidden))])
    }

    fn story(text: &str, policy: Policy) -> Story {
        let agent = Some(AgentId(Uuid::nil()));
        let submission = Submission { policy: Some(policy), agent, ..submission(plan(text, Parallel), 9) };
        let first = StampedEvent { at: at(0), event: RunEvent::Submitted(Box::new(submission.clone())) };
        let (run, _) = Run::begin(RunId(Uuid::nil()), submission, at(0));
        Story { run, log: vec![first], now: 0, actions: Vec::new() }
    }

    /// Tells a story with a policy; what was launched and how it ended must be as expected, also when it is told again.
    #[track_caller]
    fn check(text: &str, policy: Policy, words: &str, launched: &[&str], shown: &str) -> Story {
        let mut story = story(text, policy);
        for word in words.split_whitespace() {
            story.tell(word);
        }
        let launches: Vec<&str> =
            story.actions.iter().filter_map(|action| action.strip_prefix("launch ")).collect();
        assert_eq!(launches, launched);
        assert_eq!(story.shown(), shown);
        let again = Run::replay(RunId(Uuid::nil()), &story.log).unwrap();
        assert_eq!(again.state(), story.run.state());
        story
    }

    #[test]
    fn a_forbidden_tool_of_a_plan_is_not_started() {
        let story = check(
            "a; b; c <- b",
            policy(&["*"], &["b/run"]),
            "go a. go",
            &["a#1"],
            "failed: a completed, b failed, c skipped",
        );
        let StepView::Settled(Settled::Failed(error)) = story.run.step(1) else { panic!("b failed") };
        assert_eq!(error.kind, ErrorKind::PolicyDenied);
        let expected = format!(
            "TOOL_FORBIDDEN: agent {} may not call `b/run`: the configured default forbids it (`b/run`)",
            Uuid::nil()
        );
        assert_eq!(error.message, expected);
    }

    #[test]
    fn what_is_not_allowed_is_not_tried_again() {
        check("a+", policy(&[], &[]), "go +5000 go", &[], "failed: a failed");
        check("a+", Policy::default(), "go", &[], "failed: a failed");
        check("a+", policy(&["a/run"], &["A/RUN"]), "go", &[], "failed: a failed");
    }

    #[test]
    fn a_composite_does_not_hide_its_steps() {
        let text = "c@ <- c/a c/b; c/a; c/b";
        let inner_refused = policy(&["*"], &["b/run"]);
        check(text, inner_refused, "go c/a. go", &["c/a#1"], "failed: c failed, c/a completed, c/b failed");
        let only_the_whole = policy(&["c"], &[]);
        check(text, only_the_whole, "go", &[], "failed: c failed, c/a failed, c/b skipped");
    }

    #[test]
    fn the_steps_of_a_refused_composite_do_not_start() {
        let text = "c@ <- c/d; c/d@ <- c/d/a; c/d/a; a";
        let refused = [policy(&["*"], &["c"]), policy(&["*"], &["d"]), policy(&["a/run", "d"], &[])];
        for policy in refused {
            let shown = "failed: c failed, c/d failed, c/d/a failed, a completed";
            check(text, policy, "go a. go", &["a#1"], shown);
        }
    }

    #[test]
    fn a_fallback_passes_the_gate_too() {
        let story = check("a~", policy(&["*"], &["fallback/*"]), "go ax go", &["a#1"], "failed: a failed");
        let StepView::Settled(Settled::Failed(error)) = story.run.step(0) else { panic!("a failed") };
        assert!(error.message.contains("may not call `fallback/run`"), "{}", error.message);
        let instead = policy(&["*"], &["a/run"]);
        check("a~", instead, "go a.", &["a#2"], "succeeded: a completed");
        check("a~", policy(&["a/run"], &[]), "go ax go", &["a#1"], "failed: a failed");
    }

    #[test]
    fn an_approval_lifts_nothing() {
        check("a^", policy(&["*"], &["a/run"]), "a^ go", &[], "failed: a failed");
    }

    #[test]
    fn a_plan_tells_before_it_runs_what_is_refused() {
        let plan = plan("a; c@ <- c/b; c/b; z", Parallel);
        let denials = plan_denials(&policy(&["a/run", "b/run", "z/run"], &["z/*"]), &plan);
        let told: Vec<(String, String, &str)> = denials
            .iter()
            .map(|denial| (denial.step.to_string(), denial.tool.to_string(), denial.code.as_str()))
            .collect();
        let row = |step: &str, tool: &str, code| (step.to_owned(), tool.to_owned(), code);
        let expected = [
            row("c", "c", "TOOL_NOT_ALLOWED"),
            row("c/b", "c", "TOOL_NOT_ALLOWED"),
            row("z", "z/run", "TOOL_FORBIDDEN"),
        ];
        assert_eq!(told, expected);
        assert_eq!(plan_denials(&policy(&["*"], &[]), &plan), []);
    }
}
