//! Which step is drawn below which. A graph is no tree, so a step hangs below the last one that everything it waits for
//! has in common, and what it waits for is written beside it.

use std::collections::{BTreeMap, BTreeSet};

use artel_model::plan::{Plan, StepIndex, Work};

/// Levels that are drawn; what would be deeper stays on the last one.
const LEVELS_MAX: usize = 6;

/// A step as it is drawn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Branch {
    pub(super) step: StepIndex,
    /// The lines that lead to it.
    pub(super) prefix: String,
    /// Its name, without that of the composite it is drawn in.
    pub(super) name: String,
    /// What it waits for, where the lines do not say that.
    pub(super) after: Vec<String>,
}

/// Says where every step is drawn, from top to bottom.
pub(super) fn draw(plan: &Plan) -> Vec<Branch> {
    let tree = Tree::of(plan);
    let mut branches = Vec::with_capacity(plan.steps().len());
    tree.add(plan, None, "", &mut branches);
    branches
}

/// Where every step hangs.
struct Tree {
    /// What a step waits for, among the steps of its own composite, without what those wait for themselves.
    waits: Vec<Vec<StepIndex>>,
    parent: Vec<Option<StepIndex>>,
    children: BTreeMap<Option<StepIndex>, Vec<StepIndex>>,
}

impl Tree {
    fn of(plan: &Plan) -> Self {
        let waits = nearest(plan, &lifted(plan));
        let count = plan.steps().len();
        let mut tree = Self { waits, parent: vec![None; count], children: BTreeMap::new() };
        let mut levels = vec![0; count];
        let mut scopes = vec![None];
        while let Some(scope) = scopes.pop() {
            for step in members(plan, scope) {
                let mut parent = tree.common(step, scope, &levels);
                // Below a composite are its own steps; who waits for it stands beside it.
                let is_no_place = |parent: StepIndex| levels[parent] >= LEVELS_MAX || gathers(plan, parent);
                while parent != scope && parent.is_some_and(is_no_place) {
                    parent = parent.and_then(|parent| tree.parent[parent]);
                }
                levels[step] = parent.map_or(0, |parent| levels[parent] + 1);
                tree.parent[step] = parent;
                tree.children.entry(parent).or_default().push(step);
                scopes.push(Some(step));
            }
        }
        tree
    }

    /// Returns the last step that lies on every way to this one, or else its composite.
    fn common(&self, step: StepIndex, scope: Option<StepIndex>, levels: &[usize]) -> Option<StepIndex> {
        let meet = |mut a: StepIndex, mut b: StepIndex| {
            while a != b {
                if levels[a] < levels[b] {
                    (a, b) = (b, a);
                }
                a = self.parent[a].filter(|parent| Some(*parent) != scope)?;
            }
            Some(a)
        };
        let mut waits = self.waits[step].iter().copied();
        let first = waits.next();
        first.and_then(|first| waits.try_fold(first, meet)).or(scope)
    }

    fn add(&self, plan: &Plan, parent: Option<StepIndex>, indent: &str, branches: &mut Vec<Branch>) {
        let children = self.children.get(&parent).map(Vec::as_slice).unwrap_or_default();
        for (index, &step) in children.iter().enumerate() {
            let (corner, below) = match (parent, index + 1 == children.len()) {
                (None, _) => ("", ""),
                (Some(_), false) => ("\u{251c}\u{2500} ", "\u{2502}  "),
                (Some(_), true) => ("\u{2514}\u{2500} ", "   "),
            };
            let is_said_by_lines = self.waits[step].iter().eq(parent.iter());
            let after = self.waits[step].iter().filter(|_| !is_said_by_lines).map(|&step| name(plan, step));
            branches.push(Branch {
                step,
                prefix: format!("{indent}{corner}"),
                name: name(plan, step),
                after: after.collect(),
            });
            self.add(plan, Some(step), &format!("{indent}{below}"), branches);
        }
    }
}

/// Says whether a step is a composite.
pub(super) fn gathers(plan: &Plan, step: StepIndex) -> bool {
    match plan.steps()[step].work {
        Work::Gather { .. } => true,
        Work::Script(_) => false,
    }
}

fn name(plan: &Plan, step: StepIndex) -> String {
    let step = &plan.steps()[step];
    let scope = step.scope.map_or("", |scope| plan.steps()[scope].id.as_str());
    let own = step.id.as_str().strip_prefix(scope).and_then(|rest| rest.strip_prefix('/'));
    own.filter(|_| step.scope.is_some()).unwrap_or(step.id.as_str()).to_owned()
}

/// Returns the steps of a composite, or those that belong to none, in the order in which they can run.
fn members(plan: &Plan, scope: Option<StepIndex>) -> Vec<StepIndex> {
    plan.order().iter().copied().filter(|&step| plan.steps()[step].scope == scope).collect()
}

/// Returns what every step waits for, each wait lifted to where both belong to the same composite.
fn lifted(plan: &Plan) -> Vec<BTreeSet<StepIndex>> {
    let mut waits = vec![BTreeSet::new(); plan.steps().len()];
    for (index, step) in plan.steps().iter().enumerate() {
        for need in &step.needs {
            let pair = scopes(plan, index)
                .into_iter()
                .flat_map(|a| scopes(plan, need.step).into_iter().map(move |b| (a, b)))
                .find(|(a, b)| plan.steps()[*a].scope == plan.steps()[*b].scope);
            if let Some((waiting, awaited)) = pair.filter(|(a, b)| a != b) {
                waits[waiting].insert(awaited);
            }
        }
    }
    waits
}

/// Returns a step and the composites around it.
fn scopes(plan: &Plan, step: StepIndex) -> Vec<StepIndex> {
    std::iter::successors(Some(step), |step| plan.steps()[*step].scope).collect()
}

/// Leaves out what is waited for by something else that is waited for.
fn nearest(plan: &Plan, waits: &[BTreeSet<StepIndex>]) -> Vec<Vec<StepIndex>> {
    let mut before: Vec<BTreeSet<StepIndex>> = vec![BTreeSet::new(); waits.len()];
    for &step in plan.order() {
        let further: BTreeSet<StepIndex> =
            waits[step].iter().flat_map(|wait| before[*wait].iter().copied()).collect();
        before[step] = &further | &waits[step];
    }
    let nearest = |wants: &BTreeSet<StepIndex>| {
        let implied: BTreeSet<StepIndex> =
            wants.iter().flat_map(|wait| before[*wait].iter().copied()).collect();
        wants.difference(&implied).copied().collect()
    };
    waits.iter().map(nearest).collect()
}
