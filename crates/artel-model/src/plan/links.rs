//! Who waits for whom in a plan: duplicate ids, unknown and circular dependencies, references to what is not waited
//! for. Linear in tools and dependencies. Knows nothing of skills.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::problem::{PlanProblem, PlanProblemCode, Problems, did_you_mean, meant};
use crate::graph::{Cycle, Graph};
use crate::id::StepId;
use crate::reference::{Reference, references_in};

/// Tools of a ring that its message names before it cuts the rest short.
const RING_NAMES_MAX: usize = 50;

/// A tool as far as others are concerned.
pub(super) struct Tool<'a> {
    pub(super) id: &'a StepId,
    /// JSON Pointer to its object.
    pub(super) path: String,
    /// JSON Pointer to its input.
    pub(super) input_path: String,
    pub(super) input: &'a Map<String, Value>,
    pub(super) dependencies: &'a [StepId],
}

/// Returns the tools that each tool needs, without repetitions. `unread` are ids of tools about which nothing else is
/// known.
pub(super) fn link(tools: &[Tool<'_>], unread: &[StepId], problems: &mut Problems) -> Vec<Vec<usize>> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(tools.len());
    for (place, tool) in tools.iter().enumerate() {
        if let Some(first) = places.get(tool.id.as_str()) {
            let message = format!("`{}` is the id of {} already", tool.id, tools[*first].path);
            let path = format!("{}/toolId", tool.path);
            problems.push(PlanProblem::new(path, PlanProblemCode::DuplicateToolId, message));
        } else {
            places.insert(tool.id.as_str(), place);
        }
    }
    let unread: HashSet<&str> = unread.iter().map(StepId::as_str).collect();
    let mut links = Links { tools, places, unread, problems };
    let needs = links.needs();
    links.report_cycles(&needs);
    links.report_references(&needs);
    needs
}

struct Links<'a, 'p> {
    tools: &'a [Tool<'a>],
    /// Where the tool of each id is; nobody walks through this map, so its order does not matter.
    places: HashMap<&'a str, usize>,
    unread: HashSet<&'a str>,
    problems: &'p mut Problems,
}

impl Links<'_, '_> {
    fn needs(&mut self) -> Vec<Vec<usize>> {
        // By whom each tool was needed last, so that what is said twice counts once.
        let mut needed_by = vec![usize::MAX; self.tools.len()];
        let mut needs = vec![Vec::new(); self.tools.len()];
        for (place, tool) in self.tools.iter().enumerate() {
            for (entry, dependency) in tool.dependencies.iter().enumerate() {
                let path = || format!("{}/dependencies/{entry}", tool.path);
                match self.places.get(dependency.as_str()) {
                    Some(_) if dependency == tool.id => {
                        let message = format!("`{dependency}` waits for itself");
                        self.problems.push(PlanProblem::new(
                            path(),
                            PlanProblemCode::SelfDependency,
                            message,
                        ));
                    }
                    Some(&other) if needed_by[other] != place => {
                        needed_by[other] = place;
                        needs[place].push(other);
                    }
                    Some(_) => {}
                    None if self.unread.contains(dependency.as_str()) => {}
                    None => self.report_unknown(path(), dependency),
                }
            }
        }
        needs
    }

    fn report_unknown(&mut self, path: String, dependency: &StepId) {
        let message = format!("there is no tool `{dependency}` in this plan");
        let mut problem = PlanProblem::new(path, PlanProblemCode::UnknownDependency, message);
        problem.hint = self.similar(dependency);
        self.problems.push(problem);
    }

    fn similar(&self, id: &StepId) -> Option<String> {
        if !self.problems.wants_hints() {
            return None;
        }
        did_you_mean(meant(id.as_str(), self.tools.iter().map(|tool| tool.id.as_str())))
    }

    fn report_cycles(&mut self, needs: &[Vec<usize>]) {
        let mut graph = Graph::new(needs.len());
        for (place, others) in needs.iter().enumerate() {
            others.iter().for_each(|&other| graph.add(place, other));
        }
        for Cycle(ring) in graph.cycles() {
            let first = &self.tools[ring[0]];
            let next = self.tools[ring[1]].id;
            let entry = first.dependencies.iter().position(|dependency| dependency == next).unwrap_or(0);
            let names: Vec<&str> = ring.iter().map(|&place| self.tools[place].id.as_str()).collect();
            let problem = PlanProblem::new(
                format!("{}/dependencies/{entry}", first.path),
                PlanProblemCode::Cycle,
                format!("tools wait for each other: {}", closed_path(&names)),
            );
            self.problems.push(problem.hint("remove one of these dependencies"));
        }
    }

    fn report_references(&mut self, needs: &[Vec<usize>]) {
        let mut reach = None;
        for (place, tool) in self.tools.iter().enumerate() {
            let is_step = |name: &str| self.places.contains_key(name) || self.unread.contains(name);
            let (mut references, mut errors) = (Vec::new(), Vec::new());
            for (key, value) in tool.input {
                let mut path = tool.input_path.clone();
                crate::schema::push_pointer(&mut path, key);
                let (found, unread) = references_in(value, &is_step);
                references
                    .extend(found.into_iter().map(|(at, reference)| (format!("{path}{at}"), reference)));
                errors
                    .extend(unread.into_iter().map(|error| (format!("{path}{}", error.pointer), error.text)));
            }
            for (path, text) in errors {
                let message = format!("`{text}` is not a reference");
                let hint = "write `${toolId.output.path}`, or `$${` for a plain `${`";
                self.problems
                    .push(PlanProblem::new(path, PlanProblemCode::InvalidReference, message).hint(hint));
            }
            for (path, reference) in references {
                self.report_reference((place, path), &reference, needs, &mut reach);
            }
        }
    }

    fn report_reference(
        &mut self,
        (place, path): (usize, String),
        reference: &Reference,
        needs: &[Vec<usize>],
        reach: &mut Option<Reach>,
    ) {
        let Reference::Step { step, .. } = reference else {
            let message = format!("`{reference}`: a plan has no request");
            let hint = "write the value itself, or `${toolId.output.path}`";
            self.problems.push(PlanProblem::new(path, PlanProblemCode::InvalidReference, message).hint(hint));
            return;
        };
        let Some(&other) = self.places.get(step.as_str()) else {
            if !self.unread.contains(step.as_str()) {
                let message = format!("`{reference}` names no tool of this plan");
                let mut problem = PlanProblem::new(path, PlanProblemCode::InvalidReference, message);
                problem.hint = self.similar(step);
                self.problems.push(problem);
            }
            return;
        };
        let message = if other == place {
            format!("`{reference}` names the tool itself")
        } else if reach.get_or_insert_with(|| Reach::of(needs)).may_reach(place, other) {
            return;
        } else {
            format!("`{reference}` names a tool that `{}` does not wait for", self.tools[place].id)
        };
        let mut problem = PlanProblem::new(path, PlanProblemCode::ReferenceNotADependency, message);
        if other != place {
            problem.hint = Some(format!("add `{step}` to its `dependencies`"));
        }
        self.problems.push(problem);
    }
}

/// Writes a closed path as `a → b → a`.
fn closed_path(names: &[&str]) -> String {
    const ARROW: &str = " \u{2192} ";
    if names.len() <= RING_NAMES_MAX {
        return names.join(ARROW);
    }
    let (shown, left_out) = (&names[..RING_NAMES_MAX - 1], names.len() - RING_NAMES_MAX);
    format!("{}{ARROW}({left_out} more){ARROW}{}", shown.join(ARROW), names[0])
}

/// What each tool waits for, directly or through others: a row of bits for each.
struct Reach {
    words: usize,
    bits: Vec<u64>,
    /// Tools that are in a ring, or wait for one; those are reported as such.
    is_unclear: Vec<bool>,
}

impl Reach {
    fn of(needs: &[Vec<usize>]) -> Self {
        let words = needs.len().div_ceil(64);
        let mut reach =
            Self { words, bits: vec![0; words * needs.len()], is_unclear: vec![true; needs.len()] };
        for place in order(needs) {
            reach.is_unclear[place] = false;
            for &other in &needs[place] {
                for word in 0..words {
                    reach.bits[place * words + word] |= reach.bits[other * words + word];
                }
                reach.bits[place * words + other / 64] |= 1 << (other % 64);
            }
        }
        reach
    }

    fn may_reach(&self, place: usize, other: usize) -> bool {
        self.is_unclear[place] || self.bits[place * self.words + other / 64] & (1 << (other % 64)) != 0
    }
}

/// Returns the tools that are behind no ring, each after what it needs.
fn order(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut waits_for: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut dependents = vec![Vec::new(); needs.len()];
    for (place, others) in needs.iter().enumerate() {
        others.iter().for_each(|&other| dependents[other].push(place));
    }
    let mut order: Vec<usize> = (0..needs.len()).filter(|&place| waits_for[place] == 0).collect();
    let mut next = 0;
    while let Some(&place) = order.get(next) {
        next += 1;
        for &dependent in &dependents[place] {
            waits_for[dependent] -= 1;
            if waits_for[dependent] == 0 {
                order.push(dependent);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Tools as `id < needed needed = input`.
    #[track_caller]
    fn check(tools: &[&str], expected: &[&str]) {
        let parts: Vec<(StepId, Vec<StepId>, Map<String, Value>)> = tools
            .iter()
            .map(|text| {
                let (head, input) = text.split_once(" = ").unwrap_or((text, ""));
                let (id, needs) = head.split_once(" <").unwrap_or((head, ""));
                let needs = needs.split_whitespace().map(|need| need.parse().unwrap()).collect();
                (id.parse().unwrap(), needs, Map::from_iter([("x".to_owned(), json!(input))]))
            })
            .collect();
        let tools: Vec<Tool<'_>> = parts
            .iter()
            .enumerate()
            .map(|(place, (id, dependencies, input))| Tool {
                id,
                path: format!("/{place}"),
                input_path: format!("/{place}/input"),
                input,
                dependencies,
            })
            .collect();
        let mut problems = Problems::default();
        link(&tools, &["unread".parse().unwrap()], &mut problems);
        let told = problems.or(()).err().unwrap_or_default();
        let texts: Vec<String> = told.iter().map(|problem| format!("{} {problem}", problem.code)).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_is_not_there_or_twice_is_told() {
        check(&["a", "b < a a unread = ${unread.output.x}"], &[]);
        check(
            &["a", "a", "b < x b", "c < a = ${zz.output}"],
            &[
                "duplicate_tool_id /1/toolId: `a` is the id of /0 already",
                "unknown_dependency /2/dependencies/0: there is no tool `x` in this plan",
                "self_dependency /2/dependencies/1: `b` waits for itself",
                "invalid_reference /3/input/x: `${zz.output}` names no tool of this plan",
            ],
        );
    }

    #[test]
    fn every_ring_is_told_as_a_closed_path() {
        check(
            &["a < b", "b < a", "c < d a", "d < e", "e < d"],
            &[
                "cycle /0/dependencies/0: tools wait for each other: a \u{2192} b \u{2192} a",
                "cycle /3/dependencies/0: tools wait for each other: d \u{2192} e \u{2192} d",
            ],
        );
        let long: Vec<String> = (0..100).map(|at| format!("{at} < {}", (at + 1) % 100)).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let arrow = " \u{2192} ";
        let names: Vec<String> = (0..49).map(|at| at.to_string()).collect();
        let message = format!(
            "cycle /0/dependencies/0: tools wait for each other: {}{arrow}(51 more){arrow}0",
            names.join(arrow)
        );
        check(&long, &[&message]);
    }

    #[test]
    fn references_reach_what_is_waited_for_also_through_others() {
        check(&["a", "b < a", "c < b = ${a.output.x} ${b.output}"], &[]);
        check(
            &["a", "b", "c < b = ${a.output.x} ${c.output}", "d = ${request.x} ${x}"],
            &[
                "reference_not_a_dependency /2/input/x: `${a.output.x}` names a tool that `c` does not wait for",
                "reference_not_a_dependency /2/input/x: `${c.output}` names the tool itself",
                "invalid_reference /3/input/x: `${x}` is not a reference",
                "invalid_reference /3/input/x: `${request.x}`: a plan has no request",
            ],
        );
        check(
            &["a < b", "b < a", "c < b = ${d.output}", "d", "e = ${d.output}"],
            &[
                "cycle /0/dependencies/0: tools wait for each other: a \u{2192} b \u{2192} a",
                "reference_not_a_dependency /4/input/x: `${d.output}` names a tool that `e` does not wait for",
            ],
        );
    }

    #[test]
    fn a_dense_plan_takes_no_time_to_speak_of() {
        let names: Vec<StepId> = (0..500).map(|at| at.to_string().parse().unwrap()).collect();
        let input = Map::from_iter([("x".to_owned(), json!("${0.output.y}"))]);
        let nothing = Map::new();
        let tools: Vec<Tool<'_>> = (0..names.len())
            .map(|at| Tool {
                id: &names[at],
                path: String::new(),
                input_path: String::new(),
                input: if at == 0 { &nothing } else { &input },
                dependencies: if at < 2 { &names[..at] } else { &names[1..at] },
            })
            .collect();
        let mut problems = Problems::default();
        let needs = link(&tools, &[], &mut problems);
        assert!(problems.or(()).is_ok());
        assert_eq!(needs[499].len(), 498);
    }
}
