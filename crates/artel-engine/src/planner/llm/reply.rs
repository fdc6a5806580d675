//! What a model wrote becomes a plan document, or a list of what is wrong with it. Pure.

use artel_model::plan::PlanDocument;
use serde_json::Value;

use crate::planner::ask::PlanningRequest;
use crate::planner::error::told;
use crate::planner::stamp::stamped;

/// Reads a reply: a JSON object, perhaps between words or in a code block, that is a plan which could be run.
pub(super) fn read(text: &str, ask: &PlanningRequest) -> Result<PlanDocument, Vec<String>> {
    let plan = object_in(text)?;
    let document = stamped(plan, ask).map_err(|error| error.feedback())?;
    let problems = ask.check.problems(&document);
    if problems.is_empty() { Ok(document) } else { Err(told(&problems)) }
}

/// Finds the JSON object in a text. Some models put it into another one, as `plan`.
fn object_in(text: &str) -> Result<Value, Vec<String>> {
    let Some(start) = text.find('{') else {
        return Err(vec!["the answer holds no JSON object".to_owned()]);
    };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(vec![format!("the answer is no JSON: {error}")]),
        None => return Err(vec!["the answer holds no JSON object".to_owned()]),
    };
    match value.get("plan") {
        Some(plan) if value.as_object().is_some_and(|outer| outer.len() == 1) => Ok(plan.clone()),
        Some(_) | None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_wherever_it_stands() {
        let check = |text: &str, expected: &str| {
            let found = object_in(text).map_or_else(|errors| errors.join("; "), |value| value.to_string());
            assert_eq!(found, expected, "{text:?}");
        };
        check(r#"{"tools":[]}"#, r#"{"tools":[]}"#);
        check("```json\n{\"tools\":[]}\n```", r#"{"tools":[]}"#);
        check("Here it is: {\"plan\": {\"tools\":[]}} - enjoy!", r#"{"tools":[]}"#);
        check("I cannot.", "the answer holds no JSON object");
        check("", "the answer holds no JSON object");
        check("{\"tools\": [", "the answer is no JSON: EOF while parsing a list at line 1 column 11");
    }
}
