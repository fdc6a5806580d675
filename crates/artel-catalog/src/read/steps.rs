//! Steps of a composite skill, and what it does when one fails.

use artel_model::composite::{Composite, ErrorPolicy, Fallback, Step, StepProblem};
use artel_model::diagnostic::{Code, Position};
use artel_model::limit;
use artel_model::name::{LocalName, SkillName};
use serde_json::{Map, Value};

use super::draft::At;
use super::reader::{Field, Fields, Reader, Spelling};
use crate::document::Part;

/// What a step or a fallback runs.
struct Target {
    skill: SkillName,
    position: Position,
    script: Option<LocalName>,
    input: Map<String, Value>,
}

/// Reads the steps, each with the place of its skill. A composite whose steps cannot all be read must not run.
pub(super) fn read_steps<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<Vec<At<Step>>> {
    reader.in_full(Code::StepInvalid, |reader| read_all_steps(reader, field))
}

fn read_all_steps<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<Vec<At<Step>>> {
    let (mut steps, mut pointers) = (Vec::new(), Vec::new());
    for entry in reader.list(field)? {
        let Value::Object(object) = entry.value else {
            let message = "each of the `steps` must be an object".to_owned();
            reader.report(Code::StepInvalid, &entry.pointer, Part::Value, message, None);
            continue;
        };
        let mut fields = reader.fields(object, &entry.pointer, Spelling::SnakeOrCamel);
        if let Some(step) = read_step(reader, &entry, &mut fields) {
            steps.push(step);
            pointers.push(entry.pointer);
        }
        let hint = "a step has `id`, `skill`, `script`, `input`, `depends_on`, `required`, `approval`";
        reader.report_unknown(fields, hint);
    }
    report_problems(reader, &steps, &pointers);
    Some(steps)
}

/// Reports what is wrong between the steps; `pointers` lead to them.
fn report_problems(reader: &mut Reader<'_>, steps: &[At<Step>], pointers: &[String]) {
    let steps = steps.iter().map(|step| step.value.clone()).collect();
    let composite = Composite { steps, on_failure: ErrorPolicy::Abort };
    for problem in composite.problems() {
        let (code, pointer, message) = match problem {
            StepProblem::DuplicateId { step } => {
                let message = format!("there is a step `{}` already", composite.steps[step].id);
                (Code::StepDuplicate, format!("{}/id", pointers[step]), message)
            }
            StepProblem::UnknownDependency { step, entry, name } => {
                let message = format!("`depends_on` names `{name}`, which is no step of this skill");
                (Code::StepReference, format!("{}/depends_on/{entry}", pointers[step]), message)
            }
            StepProblem::Reference { step, pointer, message } => {
                (Code::StepReference, format!("{}/input{pointer}", pointers[step]), message)
            }
            StepProblem::Cycle { ring, step } => {
                let names: Vec<&str> = ring.iter().map(LocalName::as_str).collect();
                let entry =
                    composite.steps[step].depends_on.iter().flatten().position(|name| *name == ring[1]);
                let pointer = format!("{}/depends_on/{}", pointers[step], entry.unwrap_or(0));
                (Code::StepCycle, pointer, format!("steps wait for each other: {}", names.join(" \u{2192} ")))
            }
        };
        reader.report(code, &pointer, Part::Value, message, None);
    }
}

fn read_step<'a>(reader: &mut Reader<'a>, entry: &Field<'a>, fields: &mut Fields<'a>) -> Option<At<Step>> {
    let id = fields.take("id");
    let depends_on = read_depends_on(reader, fields.take("depends_on"));
    let required = reader.boolean(fields.take("required")).unwrap_or(true);
    let approval = reader.boolean(fields.take("approval")).unwrap_or(false);
    let target = read_target(reader, entry, fields);
    let id = match id {
        Some(id) => reader.local_name(&id),
        None => {
            let message = "a step needs an `id`".to_owned();
            reader.report(Code::StepInvalid, &entry.pointer, Part::Value, message, None);
            None
        }
    };
    let Target { skill, position, script, input } = target?;
    let value = Step { id: id?, skill, script, input, depends_on, required, approval };
    Some(At { value, position })
}

fn read_target<'a>(reader: &mut Reader<'a>, entry: &Field<'a>, fields: &mut Fields<'a>) -> Option<Target> {
    let script = fields.take("script").and_then(|field| reader.local_name(&field));
    let input = fields.take("input").and_then(|field| reader.object(&field).cloned()).unwrap_or_default();
    let Some(field) = fields.take("skill") else {
        let message = "a `skill` to run is missing".to_owned();
        reader.report(Code::StepInvalid, &entry.pointer, Part::Value, message, None);
        return None;
    };
    let text = reader.required_text(&field)?;
    match text.parse() {
        Ok(skill) => Some(Target { skill, position: reader.place(&field), script, input }),
        Err(error) => {
            let error: artel_model::name::NameError = error;
            let message = format!("`{text}` is not a skill's name: {error}");
            reader.report(Code::StepInvalid, &field.pointer, Part::Value, message, None);
            None
        }
    }
}

fn read_depends_on<'a>(reader: &mut Reader<'a>, field: Option<Field<'a>>) -> Option<Vec<LocalName>> {
    let entries = reader.list(field)?;
    Some(entries.iter().filter_map(|entry| reader.local_name(entry)).collect())
}

/// An error policy, and where its fallback names a skill.
pub(super) struct WrittenPolicy {
    pub(super) value: ErrorPolicy,
    pub(super) fallback_position: Option<Position>,
}

/// Reads `{on_failure: abort|retry|fallback, max_retries, fallback: {skill…}|"partial"}`. A skill must not go on after
/// a failure in another way than its author wrote.
pub(super) fn read_error_policy<'a>(
    reader: &mut Reader<'a>,
    field: Option<Field<'a>>,
) -> Option<WrittenPolicy> {
    let field = field?;
    reader.in_full(Code::StepInvalid, |reader| read_policy(reader, &field))
}

fn read_policy<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Option<WrittenPolicy> {
    let object = reader.object(field)?;
    let mut fields = reader.fields(object, &field.pointer, Spelling::SnakeOrCamel);
    let on_failure = fields.take("on_failure");
    let max_retries = reader.integer(fields.take("max_retries"), 0, limit::RETRIES_MAX).unwrap_or(0);
    let fallback = fields.take("fallback").and_then(|field| read_fallback(reader, &field));
    reader.report_unknown(fields, "an error policy has `on_failure`, `max_retries` and `fallback`");
    let Some(on_failure) = on_failure else {
        reader.report_missing("on_failure", &field.pointer);
        return None;
    };
    let (fallback, fallback_position) = fallback.unwrap_or((Fallback::Partial, None));
    let value = match on_failure.value.as_str() {
        Some("abort") => ErrorPolicy::Abort,
        Some("retry") => ErrorPolicy::Retry { max_retries },
        Some("fallback") => ErrorPolicy::Fallback { max_retries, fallback },
        Some(_) | None => {
            let message = format!("`on_failure` is `abort`, `retry` or `fallback`, not {}", on_failure.value);
            reader.report(Code::FieldValue, &on_failure.pointer, Part::Value, message, None);
            return None;
        }
    };
    Some(WrittenPolicy { value, fallback_position })
}

fn read_fallback<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Option<(Fallback, Option<Position>)> {
    if field.value.as_str() == Some("partial") {
        return Some((Fallback::Partial, None));
    }
    let Value::Object(object) = field.value else {
        reader.wrong_type(field, "\"partial\" or an object with `skill`");
        return None;
    };
    let mut fields = reader.fields(object, &field.pointer, Spelling::SnakeOrCamel);
    let target = read_target(reader, field, &mut fields);
    reader.report_unknown(fields, "a fallback has `skill`, `script` and `input`");
    let Target { skill, position, script, input } = target?;
    Some((Fallback::Skill { skill, script, input }, Some(position)))
}
