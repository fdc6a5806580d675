//! What a model's last answer must be: any text, or what the agent's skills promise. Pure.

use artel_model::agent::AgentSpec;
use artel_model::name::SkillName;
use artel_model::schema::{Quote, Schema};
use serde_json::{Map, Value, json};

use crate::outcome::RESULT;

/// Violations that a model is told of.
const PROBLEMS_MAX: usize = 20;

/// What the agent's skills promise: the schemas of their outputs.
#[derive(Debug)]
pub(super) struct Promise {
    outputs: Vec<(SkillName, Schema)>,
}

impl Promise {
    pub(super) fn of(spec: &AgentSpec) -> Self {
        let output = |contract: &artel_model::agent::SkillContract| {
            let schema = Schema::parse(contract.output_schema.clone()?).ok()?;
            Some((contract.skill.clone(), schema))
        };
        Self { outputs: spec.contracts.iter().filter_map(output).collect() }
    }

    /// Returns the schema of the last answer; nothing when it may be any text.
    pub(super) fn schema(&self) -> Option<Value> {
        match self.outputs.as_slice() {
            [] => None,
            [(_, schema)] => Some(schema.document().clone()),
            several => {
                let names: Vec<&str> = several.iter().map(|(skill, _)| skill.as_str()).collect();
                let properties: Map<String, Value> = several
                    .iter()
                    .map(|(skill, schema)| (skill.to_string(), schema.document().clone()))
                    .collect();
                Some(json!({"type": "object", "properties": properties, "required": names}))
            }
        }
    }

    /// Makes the agent's results of the last answer, or says what is wrong with it.
    pub(super) fn results(&self, text: &str) -> Result<Map<String, Value>, Vec<String>> {
        let mut results = Map::new();
        match self.outputs.as_slice() {
            [] => {
                results.insert(RESULT.to_owned(), json!({ "text": text }));
            }
            [(skill, schema)] => {
                let value = value_in(text)?;
                check(skill, schema, &value)?;
                results.insert(RESULT.to_owned(), value);
            }
            several => {
                let value = value_in(text)?;
                for (skill, schema) in several {
                    let missing = || vec![format!("there is nothing for `{skill}`")];
                    let own = value.get(skill.as_str()).ok_or_else(missing)?;
                    check(skill, schema, own)?;
                    results.insert(skill.to_string(), own.clone());
                }
                results.insert(RESULT.to_owned(), value);
            }
        }
        Ok(results)
    }
}

fn check(skill: &SkillName, schema: &Schema, value: &Value) -> Result<(), Vec<String>> {
    let violations = schema.violations(value, Quote::Values);
    let told = violations.into_iter().take(PROBLEMS_MAX).map(|violation| {
        let place = if violation.path.is_empty() { String::new() } else { format!("`{}`: ", violation.path) };
        format!("it is not what `{skill}` promises: {place}{}", violation.message)
    });
    let problems: Vec<String> = told.collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Finds the JSON in an answer: all of it, or the first object between words or in a code block.
fn value_in(text: &str) -> Result<Value, Vec<String>> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let none = || vec!["it is no JSON".to_owned()];
    let start = text.find('{').ok_or_else(none)?;
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(vec![format!("it is no JSON: {error}")]),
        None => Err(none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(skills: &[&str]) -> Promise {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let output = |name: &&str| (name.parse().unwrap(), Schema::parse(schema.clone()).unwrap());
        Promise { outputs: skills.iter().map(output).collect() }
    }

    #[track_caller]
    fn check(skills: &[&str], text: &str, expected: &str) {
        let results = promise(skills).results(text);
        let shown =
            results.map_or_else(|problems| problems.join("; "), |results| Value::Object(results).to_string());
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn an_answer_is_a_text_or_what_is_promised() {
        check(&[], "Done.", r#"{"result":{"text":"Done."}}"#);
        check(&["count"], r#"{"n": 3}"#, r#"{"result":{"n":3}}"#);
        check(&["count"], "Here:\n```json\n{\"n\": 3}\n```", r#"{"result":{"n":3}}"#);
        check(&["count"], "Three.", "it is no JSON");
        check(&["count"], r#"{"n": }"#, "it is no JSON: expected value at line 1 column 7");
        check(&["count"], "[3]", "it is not what `count` promises: [3] is not of type \"object\"");
        check(
            &["count"],
            r#"{"n": "3"}"#,
            "it is not what `count` promises: `/n`: \"3\" is not of type \"integer\"",
        );
        let both = r#"{"one": {"n": 1}, "two": {"n": 2}}"#;
        check(
            &["one", "two"],
            both,
            r#"{"one":{"n":1},"result":{"one":{"n":1},"two":{"n":2}},"two":{"n":2}}"#,
        );
        check(&["one", "two"], r#"{"one": {"n": 1}}"#, "there is nothing for `two`");
    }

    #[test]
    fn several_promises_are_one_schema() {
        assert_eq!(promise(&[]).schema(), None);
        let schema = promise(&["one", "two"]).schema().unwrap();
        assert_eq!(schema["required"], json!(["one", "two"]));
        assert_eq!(schema["properties"]["two"]["required"], json!(["n"]));
    }
}
