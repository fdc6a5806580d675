//! What somebody wants to spawn, as the document that every way of spawning reads.

use std::io::Read;

use artel_catalog::Catalog;
use artel_model::limit::{PARAMS_BYTES_MAX, PLAN_BYTES_MAX};
use artel_model::skill::Skill;
use serde_json::{Map, Value};

use crate::cli::SpawnArgs;
use crate::command::context::find;
use crate::command::parameters;
use crate::command::skill_run::{chain_parameters, check_chain, given, refused, schema};
use crate::failure::Failure;

/// Says whether the skills must be known to read what was typed: parameters are read as a skill's schema says.
pub(super) fn has_parameters(args: &SpawnArgs) -> bool {
    args.skill.is_some() && (args.params.is_some() || !args.values.is_empty())
}

/// Makes the document; what flags say counts more than what `--request` says. The parent is not in it.
pub(super) fn document(args: &SpawnArgs, catalog: Option<&Catalog>) -> Result<Map<String, Value>, Failure> {
    let mut document = match &args.request {
        Some(request) => object(request, "the request", PLAN_BYTES_MAX)?,
        None => Map::new(),
    };
    let texts = [
        ("task", &args.task),
        ("driver", &args.driver),
        ("client", &args.client),
        ("label", &args.label),
        ("role", &args.role),
        ("model", &args.model),
        ("thinking", &args.thinking),
    ];
    for (name, text) in texts {
        put(&mut document, name, text.clone().map(Value::from));
    }
    put(&mut document, "timeout", args.timeout.map(Value::from));
    put(&mut document, "max_children", args.max_children.map(Value::from));
    put(&mut document, "command", args.command.clone().map(Value::from));
    put(&mut document, "skills", args.with.clone().map(Value::from));
    if args.no_skills {
        document.insert("skills".to_owned(), Value::Array(Vec::new()));
    }
    if let Some(file) = &args.plan {
        let plan = object(&format!("@{file}"), "the plan", PLAN_BYTES_MAX)?;
        document.insert("plan".to_owned(), Value::Object(plan));
    }
    if !args.meta.is_empty() {
        document.insert("metadata".to_owned(), Value::Object(pairs(&args.meta)?));
    }
    put_skill(&mut document, args, catalog)?;
    Ok(document)
}

fn put(document: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        document.insert(name.to_owned(), value);
    }
}

/// The parameters of a skill that exists are read as its schema says; what else is wrong is told when it is spawned.
fn put_skill(
    document: &mut Map<String, Value>,
    args: &SpawnArgs,
    catalog: Option<&Catalog>,
) -> Result<(), Failure> {
    let Some(name) = &args.skill else { return Ok(()) };
    document.insert("skill".to_owned(), name.to_string().into());
    if args.chain {
        document.insert("chain".to_owned(), true.into());
    }
    let Some(catalog) = catalog.filter(|_| has_parameters(args)) else { return Ok(()) };
    let entry = find(catalog, name, None)?;
    let Some(skill) = entry.skill.as_deref() else { return Ok(()) };
    let given = given(args.params.as_deref())?;
    let params = if args.chain {
        let params = chain_parameters(catalog, given, &args.values)?;
        check_chain(catalog, skill, &params)?;
        params.into_iter().map(|(name, params)| (name.to_string(), Value::Object(params))).collect()
    } else {
        typed(skill, given, &args.values)?
    };
    document.insert("params".to_owned(), Value::Object(params));
    Ok(())
}

fn typed(
    skill: &Skill,
    mut params: Map<String, Value>,
    values: &[String],
) -> Result<Map<String, Value>, Failure> {
    let schema = schema(skill, None)?;
    for value in values {
        parameters::put(schema, &mut params, value).map_err(refused)?;
    }
    Ok(params)
}

/// Reads `KEY=VALUE` pairs of which no schema is known: JSON where it is JSON, text otherwise.
pub(super) fn pairs(values: &[String]) -> Result<Map<String, Value>, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            Ok((key.to_owned(), value))
        }
        Some(_) | None => {
            Err(Failure::usage(format!("`{text}` is not KEY=VALUE")).hint("write for example area=kitchen"))
        }
    };
    values.iter().map(pair).collect()
}

/// Reads what a message says: one JSON object, a file with one, or pairs.
pub(in crate::command) fn payload_of(words: &[String]) -> Result<Map<String, Value>, Failure> {
    match words {
        [one] if one.starts_with(['{', '@']) => object(one, "the payload", PARAMS_BYTES_MAX),
        words => pairs(words),
    }
}

/// Reads a JSON object, or the file behind an `@`.
fn object(text: &str, what: &str, bytes_max: usize) -> Result<Map<String, Value>, Failure> {
    let text = match text.strip_prefix('@') {
        Some(file) => read_file(file, what, bytes_max)?,
        None => text.to_owned(),
    };
    if text.len() > bytes_max {
        return Err(Failure::usage(format!("{what} has more than {bytes_max} bytes")));
    }
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => {
            Err(Failure::usage(format!("{what} is no JSON object")).hint("write for example '{\"key\": 1}'"))
        }
        Err(error) => Err(Failure::usage(format!("{what} is no JSON: {error}"))
            .hint("write for example '{\"key\": 1}', or @FILE")),
    }
}

fn read_file(file: &str, what: &str, bytes_max: usize) -> Result<String, Failure> {
    let cannot = |error: std::io::Error| Failure::missing(format!("cannot read {what} `{file}`: {error}"));
    // One byte more than is allowed is enough to be refused.
    let bytes_max = bytes_max as u64 + 1;
    let mut text = String::new();
    match file {
        "-" => std::io::stdin().lock().take(bytes_max).read_to_string(&mut text).map_err(cannot)?,
        path => {
            let file = std::fs::File::open(path).map_err(cannot)?;
            file.take(bytes_max).read_to_string(&mut text).map_err(cannot)?
        }
    };
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pairs_are_json_where_they_can_be() {
        let read = |values: &[&str]| pairs(&values.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            Value::Object(read(&["a=1", "b=x y", "c=[1]", "d="]).unwrap()),
            json!({"a": 1, "b": "x y", "c": [1], "d": ""})
        );
        assert_eq!(read(&["a"]).unwrap_err().exit_code(), 2);
        assert_eq!(read(&["=1"]).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn one_object_or_pairs_are_a_payload() {
        let read = |words: &[&str]| payload_of(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(Value::Object(read(&["{\"a\": 1}"]).unwrap()), json!({"a": 1}));
        assert_eq!(Value::Object(read(&[]).unwrap()), json!({}));
        assert_eq!(read(&["{"]).unwrap_err().exit_code(), 2);
        assert_eq!(read(&["@/nowhere"]).unwrap_err().exit_code(), 3);
    }
}
