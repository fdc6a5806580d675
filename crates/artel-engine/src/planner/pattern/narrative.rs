//! What is said about a plan, and instead of one. Pure.

use serde_json::Value;

use super::compose::{Composition, Near, Step};
use super::property::properties;
use super::target::ranked_offers;
use crate::planner::offer::SkillOffer;
use crate::quote::quote;

/// Skills that are named when nothing fits.
const SKILLS_SHOWN_MAX: usize = 5;
/// Characters of a request that are quoted.
const REQUEST_CHARS_MAX: usize = 200;
/// Characters of a value or a clause that are quoted.
const VALUE_CHARS_MAX: usize = 60;
/// Characters of a description that are quoted.
const DESCRIPTION_CHARS_MAX: usize = 120;

/// Says what a plan does, and which part of the request it leaves out.
pub(super) fn told(composition: &Composition<'_>) -> String {
    let steps: Vec<String> = composition.steps.iter().map(step).collect();
    let mut text = format!("{}.", steps.join(", then "));
    for unread in &composition.unread {
        text.push_str(&format!(" Left out, because no skill fits: `{}`.", quote(unread, VALUE_CHARS_MAX)));
    }
    if let Some(near) = &composition.near {
        text.push_str(&almost(near));
    }
    text
}

/// Says that nothing fits, what almost did, and which skills there are.
pub(super) fn nothing_fits(text: &str, composition: &Composition<'_>, offers: &[&SkillOffer]) -> String {
    let mut said = match quote(text, REQUEST_CHARS_MAX) {
        empty if empty.is_empty() => "The request is empty.".to_owned(),
        request => format!("No skill fits the request `{request}`."),
    };
    if let Some(near) = &composition.near {
        said.push_str(&almost(near));
    }
    let runnable = offers.iter().copied().filter(|offer| offer.is_runnable());
    let shown = ranked_offers(runnable, text);
    if shown.is_empty() {
        said.push_str(" There is no skill that could be run.");
        return said;
    }
    said.push_str(" Skills that could be run are:");
    for offer in shown.iter().take(SKILLS_SHOWN_MAX) {
        said.push_str(&format!("\n- {}: {}", offer.name, quote(&offer.description, DESCRIPTION_CHARS_MAX)));
    }
    let more = shown.len().saturating_sub(SKILLS_SHOWN_MAX);
    if more > 0 {
        said.push_str(&format!("\nand {more} more."));
    }
    said.push_str("\n`artel skill list` shows all of them.");
    said
}

fn step(step: &Step<'_>) -> String {
    let values = step.input.iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                value.to_string()
            }
        };
        format!("{name}: {}", quote(&value, VALUE_CHARS_MAX))
    });
    let values: Vec<String> = values.collect();
    let script = step.target.script.map(|script| format!(" {script}")).unwrap_or_default();
    let name = &step.target.offer.name;
    if values.is_empty() {
        format!("{name}{script}")
    } else {
        format!("{name}{script} ({})", values.join(", "))
    }
}

fn almost(near: &Near<'_>) -> String {
    let offer = near.target.offer;
    let Some(name) = near.missing.first() else { return String::new() };
    let all = properties(near.target.schema.document());
    let about =
        all.iter().find(|property| property.name == *name).map_or("", |property| property.description);
    match about {
        "" => format!(" `{}` comes near, but its `{name}` is not said.", offer.name),
        about => {
            let about = quote(about, DESCRIPTION_CHARS_MAX);
            format!(" `{}` comes near, but its `{name}` is not said. ({about})", offer.name)
        }
    }
}
