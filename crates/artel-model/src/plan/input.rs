//! Fills references in an input from what has come out so far. Knows nothing of how runs keep it.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::check_input::child;
use super::json::json_bytes;
use super::resolved::{Plan, StepIndex};
use crate::id::StepId;
use crate::limit::PLAN_INPUT_BYTES_MAX;
use crate::reference::{Piece, Reference, is_plain, pieces};
use crate::schema::push_pointer;

/// Keys that an error names before it cuts the rest short.
const KEYS_MAX: usize = 20;

/// What references in an input can reach.
pub trait Scope {
    /// Says whether a step of that name can be referred to.
    fn has_step(&self, name: &str) -> bool;

    /// Returns what came out of a step; nothing when there is no such step.
    fn output(&self, step: &StepId) -> Option<StepOutput<'_>>;

    /// Returns what `${request.…}` means; nothing where there is no request.
    fn request(&self) -> Option<&Map<String, Value>>;
}

/// What came out of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepOutput<'a> {
    /// Its output.
    Output(&'a Map<String, Value>),
    /// Nothing: it did not complete, and need not. Every path below it is `null`.
    Null,
}

/// Why an input could not be filled, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FillError {
    /// JSON Pointer into the input.
    pub pointer: String,
    /// The composite whose input it is, when it is not the step's own.
    pub of: Option<StepId>,
    /// What is wrong there.
    pub problem: Box<FillProblem>,
}

/// What can be wrong with a reference once values are there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FillProblem {
    /// More than [`PLAN_INPUT_BYTES_MAX`] bytes.
    TooLarge,
    /// A text that is no reference.
    Unreadable {
        /// The text.
        text: String,
    },
    /// A step that is not there, or a request where there is none.
    Unknown {
        /// The reference.
        reference: Reference,
    },
    /// A path that leads nowhere.
    Missing {
        /// The reference.
        reference: Reference,
        /// How many parts of its path there are.
        depth: usize,
        /// What is there instead.
        found: FoundThere,
    },
}

/// What is where a path ends too early.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FoundThere {
    /// An object with these keys, the first ones, and how many more.
    Keys(Vec<String>, usize),
    /// A list of that many items.
    Items(usize),
    /// Something that nothing can be inside of.
    Scalar,
}

impl fmt::Display for FillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.of {
            Some(step) => write!(f, "`{}` of the input of `{step}`: ", self.pointer)?,
            None => write!(f, "`{}` of the input: ", self.pointer)?,
        }
        match &*self.problem {
            FillProblem::TooLarge => write!(f, "filled in, it has more than {PLAN_INPUT_BYTES_MAX} bytes"),
            FillProblem::Unreadable { text } => write!(f, "`{text}` is not a reference"),
            FillProblem::Unknown { reference } => write!(f, "`{reference}` names nothing there is"),
            FillProblem::Missing { reference, depth, found } => {
                let (Reference::Request { path } | Reference::Step { path, .. }) = reference;
                let part = path.get(*depth).map_or("", String::as_str);
                write!(f, "`{reference}`: there is no `{part}`, only {found}")
            }
        }
    }
}

impl fmt::Display for FoundThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keys(keys, _) if keys.is_empty() => f.write_str("an empty object"),
            Self::Keys(keys, 0) => write!(f, "{}", keys.join(", ")),
            Self::Keys(keys, more) => write!(f, "{} and {more} more", keys.join(", ")),
            Self::Items(0) => f.write_str("an empty list"),
            Self::Items(count) => write!(f, "a list of {count}"),
            Self::Scalar => f.write_str("a value that has no parts"),
        }
    }
}

impl std::error::Error for FillError {}

/// Fills every reference in `input`. A string that is one reference becomes its value; inside a longer string texts are
/// put as they are and other values as JSON. `$${` becomes `${`.
pub fn fill(input: &Map<String, Value>, scope: &dyn Scope) -> Result<Map<String, Value>, FillError> {
    let mut filling = Filling { scope, left: PLAN_INPUT_BYTES_MAX, pointer: String::new() };
    filling.object(input).map_err(|problem| FillError {
        pointer: filling.pointer,
        of: None,
        problem: Box::new(problem),
    })
}

/// Fills `input`, which is that of the step or of what stands in for it. `outputs` says what came out of a step that is
/// settled; nothing when it did not complete.
pub fn fill_step<'a>(
    plan: &Plan,
    step: StepIndex,
    input: &Map<String, Value>,
    outputs: &dyn Fn(StepIndex) -> Option<&'a Map<String, Value>>,
) -> Result<Map<String, Value>, FillError> {
    let composite = plan.steps()[step].scope;
    let request =
        match composite {
            None => None,
            Some(composite) => {
                let outer = &plan.steps()[composite];
                Some(fill_step(plan, composite, &outer.input, outputs).map_err(|error| FillError {
                    of: error.of.or_else(|| Some(outer.id.clone())),
                    ..error
                })?)
            }
        };
    fill(input, &StepScope { plan, composite, request, outputs })
}

/// What a step of a plan can reach: the steps beside it.
struct StepScope<'p, 'a> {
    plan: &'p Plan,
    composite: Option<StepIndex>,
    request: Option<Map<String, Value>>,
    outputs: &'p dyn Fn(StepIndex) -> Option<&'a Map<String, Value>>,
}

impl StepScope<'_, '_> {
    fn place(&self, name: &str) -> Option<StepIndex> {
        let id = match self.composite {
            Some(composite) => self.plan.steps()[composite].id.child(name).ok()?,
            None => name.parse().ok()?,
        };
        self.plan.index_of(&id).filter(|&place| self.plan.steps()[place].scope == self.composite)
    }
}

impl Scope for StepScope<'_, '_> {
    fn has_step(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    fn output(&self, step: &StepId) -> Option<StepOutput<'_>> {
        let place = self.place(step.as_str())?;
        Some((self.outputs)(place).map_or(StepOutput::Null, StepOutput::Output))
    }

    fn request(&self) -> Option<&Map<String, Value>> {
        self.request.as_ref()
    }
}

struct Filling<'s> {
    scope: &'s dyn Scope,
    /// Bytes that the result may still have.
    left: usize,
    /// Where we are; stays there when something is wrong.
    pointer: String,
}

impl<'s> Filling<'s> {
    fn object(&mut self, object: &Map<String, Value>) -> Result<Map<String, Value>, FillProblem> {
        let length = self.pointer.len();
        let mut filled = Map::new();
        for (key, value) in object {
            push_pointer(&mut self.pointer, key);
            self.spend(key.len() + 4)?;
            filled.insert(key.clone(), self.value(value)?);
            self.pointer.truncate(length);
        }
        Ok(filled)
    }

    fn value(&mut self, value: &Value) -> Result<Value, FillProblem> {
        match value {
            Value::Object(object) => self.object(object).map(Value::Object),
            Value::Array(items) => {
                let length = self.pointer.len();
                let mut filled = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    push_pointer(&mut self.pointer, &index.to_string());
                    self.spend(1)?;
                    filled.push(self.value(item)?);
                    self.pointer.truncate(length);
                }
                Ok(Value::Array(filled))
            }
            Value::String(text) if !is_plain(text) => self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => self.copy(value),
        }
    }

    fn text(&mut self, text: &str) -> Result<Value, FillProblem> {
        let pieces = pieces(text);
        if let [Piece::Reference(inside)] = pieces.as_slice() {
            let value = look_up(self.scope, inside)?;
            return match value {
                Target::Value(value) => self.copy(value),
                Target::Whole(object) => {
                    self.spend_json(object)?;
                    Ok(Value::Object(object.clone()))
                }
                Target::Null => Ok(Value::Null),
            };
        }
        let mut filled = String::new();
        for piece in pieces {
            let before = filled.len();
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Unclosed(text) => return Err(unreadable(text)),
                Piece::Reference(inside) => match look_up(self.scope, inside)? {
                    Target::Value(Value::String(text)) => {
                        self.check_room(text.len())?;
                        filled.push_str(text);
                    }
                    Target::Value(value) => self.push_json(&mut filled, value)?,
                    Target::Whole(object) => self.push_json(&mut filled, object)?,
                    Target::Null => filled.push_str("null"),
                },
            }
            self.spend(filled.len() - before)?;
        }
        Ok(Value::String(filled))
    }

    fn copy(&mut self, value: &Value) -> Result<Value, FillProblem> {
        self.spend_json(value)?;
        Ok(value.clone())
    }

    fn push_json(&self, text: &mut String, value: &impl Serialize) -> Result<(), FillProblem> {
        json_bytes(value, self.left).ok_or(FillProblem::TooLarge)?;
        text.push_str(&serde_json::to_string(value).map_err(|_| FillProblem::TooLarge)?);
        Ok(())
    }

    fn spend_json(&mut self, value: &impl Serialize) -> Result<(), FillProblem> {
        let bytes = json_bytes(value, self.left).ok_or(FillProblem::TooLarge)?;
        self.spend(bytes)
    }

    fn check_room(&self, bytes: usize) -> Result<(), FillProblem> {
        if bytes > self.left { Err(FillProblem::TooLarge) } else { Ok(()) }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), FillProblem> {
        self.check_room(bytes)?;
        self.left -= bytes;
        Ok(())
    }
}

/// What a reference stands for.
enum Target<'s> {
    Value(&'s Value),
    Whole(&'s Map<String, Value>),
    Null,
}

fn look_up<'s>(scope: &'s dyn Scope, inside: &str) -> Result<Target<'s>, FillProblem> {
    let is_step = |name: &str| scope.has_step(name);
    let Some(reference) = Reference::parse(inside, &is_step) else {
        return Err(unreadable(&format!("${{{inside}}}")));
    };
    let (root, path) = match &reference {
        Reference::Request { path } => (scope.request().map(StepOutput::Output), path),
        Reference::Step { step, path } => (scope.output(step), path),
    };
    let root = match root {
        None => return Err(FillProblem::Unknown { reference }),
        Some(StepOutput::Null) => return Ok(Target::Null),
        Some(StepOutput::Output(root)) => root,
    };
    let Some((first, rest)) = path.split_first() else { return Ok(Target::Whole(root)) };
    let missing = |depth, found| Err(FillProblem::Missing { reference: reference.clone(), depth, found });
    let Some(mut value) = root.get(first) else { return missing(0, keys(root)) };
    for (depth, part) in rest.iter().enumerate() {
        match child(value, part) {
            Some(inner) => value = inner,
            // Below what an optional step of a composite did not give there is nothing to miss.
            None if value.is_null() => return Ok(Target::Null),
            None => return missing(depth + 1, found_there(value)),
        }
    }
    Ok(Target::Value(value))
}

fn found_there(value: &Value) -> FoundThere {
    match value {
        Value::Object(object) => keys(object),
        Value::Array(items) => FoundThere::Items(items.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => FoundThere::Scalar,
    }
}

fn keys(object: &Map<String, Value>) -> FoundThere {
    let shown: Vec<String> = object.keys().take(KEYS_MAX).map(|key| key.chars().take(64).collect()).collect();
    let more = object.len() - shown.len();
    FoundThere::Keys(shown, more)
}

fn unreadable(text: &str) -> FillProblem {
    FillProblem::Unreadable { text: text.chars().take(60).collect() }
}
