//! Composite skills: steps that run other skills, and what happens when one of them fails.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::graph::{Cycle, Graph};
use crate::name::{LocalName, SkillName};
use crate::reference::{Reference, references_in};

/// The steps of a composite skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    /// The steps, in the order they were written.
    pub steps: Vec<Step>,
    /// What happens when a step fails.
    pub on_failure: ErrorPolicy,
}

/// One step of a composite skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its name within the composite; results are kept by it.
    pub id: LocalName,
    /// The skill it runs.
    pub skill: SkillName,
    /// The script of that skill; its entrypoint when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<LocalName>,
    /// The input, which may hold references.
    pub input: Map<String, Value>,
    /// The steps it waits for; the one before it when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<LocalName>>,
    /// Whether its failure fails the whole.
    pub required: bool,
    /// Whether a person must approve it first.
    pub approval: bool,
}

/// What a composite does when a step fails.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorPolicy {
    /// It fails.
    Abort,
    /// It tries the step again.
    Retry {
        /// How often, after the first try.
        max_retries: u32,
    },
    /// It goes on with something else.
    Fallback {
        /// How often the step is tried again before that.
        max_retries: u32,
        /// What it goes on with.
        fallback: Fallback,
    },
}

/// What stands in for a failed step.
#[derive(Clone, Debug, PartialEq)]
pub enum Fallback {
    /// The results so far.
    Partial,
    /// Another skill.
    Skill {
        /// The skill.
        skill: SkillName,
        /// Its script; the entrypoint when absent.
        script: Option<LocalName>,
        /// Its input.
        input: Map<String, Value>,
    },
}

/// What is wrong with the steps of a composite, by the index of the step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StepProblem {
    /// An id that an earlier step has.
    DuplicateId {
        /// The later step.
        step: usize,
    },
    /// `depends_on` names no step of this composite.
    UnknownDependency {
        /// The step.
        step: usize,
        /// Which entry of its `depends_on`.
        entry: usize,
        /// What it names.
        name: LocalName,
    },
    /// A reference in the input that cannot be read, or that names a step this one does not wait for.
    Reference {
        /// The step.
        step: usize,
        /// JSON Pointer into its input.
        pointer: String,
        /// What is wrong.
        message: String,
    },
    /// Steps that wait for each other; the first is repeated at the end.
    Cycle {
        /// The ring.
        ring: Vec<LocalName>,
        /// The index of its first step.
        step: usize,
    },
}

impl Composite {
    /// Returns everything that is wrong with the steps themselves, in the order of the steps.
    pub fn problems(&self) -> Vec<StepProblem> {
        let mut problems = Vec::new();
        for (step, current) in self.steps.iter().enumerate() {
            if self.steps[..step].iter().any(|earlier| earlier.id == current.id) {
                problems.push(StepProblem::DuplicateId { step });
            }
            for (entry, name) in current.depends_on.iter().flatten().enumerate() {
                if self.index_of(name).is_none() {
                    problems.push(StepProblem::UnknownDependency { step, entry, name: name.clone() });
                }
            }
        }
        let graph = self.graph();
        for Cycle(ring) in graph.cycles() {
            let names = ring.iter().map(|&step| self.steps[step].id.clone()).collect();
            problems.push(StepProblem::Cycle { ring: names, step: ring[0] });
        }
        for step in 0..self.steps.len() {
            self.reference_problems(step, &graph, &mut problems);
        }
        problems
    }

    /// Returns the indexes of the steps in an order in which they can run.
    pub fn order(&self) -> Result<Vec<usize>, Cycle> {
        self.graph().order()
    }

    fn reference_problems(&self, step: usize, graph: &Graph, problems: &mut Vec<StepProblem>) {
        let is_step = |name: &str| self.steps.iter().any(|step| step.id.as_str() == name);
        let (references, errors) = references_in(&Value::Object(self.steps[step].input.clone()), &is_step);
        for error in errors {
            let message = error.to_string();
            problems.push(StepProblem::Reference { step, pointer: error.pointer, message });
        }
        // Steps in a ring are reported as such; what they wait for is everything.
        let waits_for = graph.order_of(step).unwrap_or_else(|_| (0..self.steps.len()).collect());
        for (pointer, reference) in references {
            let Reference::Step { step: name, .. } = &reference else { continue };
            let named = self.steps.iter().position(|step| step.id.as_str() == name.as_str());
            let message = match named {
                None => format!("`{reference}` names no step of this skill"),
                Some(other) if other == step => format!("`{reference}` names the step itself"),
                Some(other) if !waits_for.contains(&other) => {
                    format!("`{reference}` names a step that this one does not depend on")
                }
                Some(_) => continue,
            };
            problems.push(StepProblem::Reference { step, pointer, message });
        }
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new(self.steps.len());
        for (step, current) in self.steps.iter().enumerate() {
            match &current.depends_on {
                Some(names) => names
                    .iter()
                    .filter_map(|name| self.index_of(name))
                    .for_each(|other| graph.add(step, other)),
                None if step > 0 => graph.add(step, step - 1),
                None => {}
            }
        }
        graph
    }

    fn index_of(&self, name: &LocalName) -> Option<usize> {
        self.steps.iter().position(|step| step.id == *name)
    }

    /// Returns the skills that the steps and the fallback run, in order, with repetitions.
    pub fn skills(&self) -> impl Iterator<Item = &SkillName> {
        let fallback = match &self.on_failure {
            ErrorPolicy::Fallback { fallback: Fallback::Skill { skill, .. }, .. } => Some(skill),
            ErrorPolicy::Abort
            | ErrorPolicy::Retry { .. }
            | ErrorPolicy::Fallback { fallback: Fallback::Partial, .. } => None,
        };
        self.steps.iter().map(|step| &step.skill).chain(fallback)
    }
}

impl Serialize for ErrorPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = match self {
            Self::Abort => serde_json::json!({"on_failure": "abort"}),
            Self::Retry { max_retries } => {
                serde_json::json!({"on_failure": "retry", "max_retries": max_retries})
            }
            Self::Fallback { max_retries, fallback } => serde_json::json!({
                "on_failure": "fallback",
                "max_retries": max_retries,
                "fallback": match fallback {
                    Fallback::Partial => Value::from("partial"),
                    Fallback::Skill { skill, script, input } => {
                        serde_json::json!({"skill": skill, "script": script, "input": input})
                    }
                },
            }),
        };
        document.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Steps as `id`, `id < a b` (depends on a and b), `id = ${…}` (its input).
    fn composite(steps: &[&str]) -> Composite {
        let step = |text: &&str| {
            let (head, input) = text.split_once(" = ").unwrap_or((text, ""));
            let (id, depends_on) = match head.split_once(" <") {
                Some((id, names)) => {
                    (id, Some(names.split_whitespace().map(|name| name.parse().unwrap()).collect()))
                }
                None => (head, None),
            };
            Step {
                id: id.parse().unwrap(),
                skill: "demo".parse().unwrap(),
                script: None,
                input: Map::from_iter([("x".to_owned(), json!(input))]),
                depends_on,
                required: true,
                approval: false,
            }
        };
        Composite { steps: steps.iter().map(step).collect(), on_failure: ErrorPolicy::Abort }
    }

    #[test]
    fn steps_run_in_order_unless_they_say_otherwise() {
        assert_eq!(composite(&["a", "b", "c"]).order(), Ok(vec![0, 1, 2]));
        assert_eq!(composite(&["a < b", "b <", "c <"]).order(), Ok(vec![1, 0, 2]));
    }

    #[test]
    fn references_reach_what_a_step_waits_for() {
        assert_eq!(composite(&["a", "b", "c = ${a.output.x} ${request.y}"]).problems(), []);
        let problems =
            composite(&["a", "b < = ${a.output}", "c = ${c.output}", "d = ${e.output}"]).problems();
        let message = |problem: &StepProblem| match problem {
            StepProblem::Reference { step, message, .. } => Some(format!("{step}: {message}")),
            StepProblem::DuplicateId { .. }
            | StepProblem::UnknownDependency { .. }
            | StepProblem::Cycle { .. } => None,
        };
        let messages: Vec<_> = problems.iter().filter_map(message).collect();
        assert_eq!(
            messages,
            [
                "1: `${a.output}` names a step that this one does not depend on",
                "2: `${c.output}` names the step itself",
                "3: `${e.output}` names no step of this skill",
            ]
        );
    }

    #[test]
    fn duplicates_unknown_names_and_rings_are_all_reported() {
        let problems = composite(&["a < b", "b < a", "b <", "c < x"]).problems();
        assert_eq!(
            problems,
            [
                StepProblem::DuplicateId { step: 2 },
                StepProblem::UnknownDependency { step: 3, entry: 0, name: "x".parse().unwrap() },
                StepProblem::Cycle {
                    ring: ["a", "b", "a"].map(|name| name.parse().unwrap()).to_vec(),
                    step: 0
                },
            ]
        );
    }
}
