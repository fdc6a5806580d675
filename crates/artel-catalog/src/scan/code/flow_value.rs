//! Values that calls of Python and JavaScript give, computed from what they are given.

use std::rc::Rc;

use base64::Engine as _;

use super::form::{CallForm, Form};
use super::judge::Carrier;
use super::value::{Taint, Value};

/// A call with what is known of its parts.
pub(super) struct Known<'f> {
    pub(super) form: &'f CallForm,
    pub(super) name: String,
    /// What the function is a member of.
    pub(super) object: Value,
    pub(super) arguments: Vec<(Option<String>, Value)>,
    pub(super) line: u32,
}

impl Known<'_> {
    pub(super) fn first(&self) -> Value {
        self.arguments.first().map(|(_, value)| value.clone()).unwrap_or_default()
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find(|(known, _)| known.as_deref() == Some(name)).map(|(_, value)| value)
    }

    pub(super) fn at(&self, index: usize) -> Value {
        self.arguments.get(index).map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Returns what the call comes from, all in all.
    pub(super) fn all(&self) -> Value {
        let mut all = self.object.with_text(None);
        for (_, argument) in &self.arguments {
            all.absorb(argument);
        }
        all
    }
}

pub(super) fn method_name(callee: &Form) -> Option<&str> {
    if let Form::Member(_, name) = callee { Some(name) } else { None }
}

pub(super) fn carrier_of(name: Option<&str>, index: usize) -> Carrier {
    match name {
        Some("headers" | "auth" | "cookies" | "method" | "agent" | "Authorization") => Carrier::Header,
        Some("url" | "params") => Carrier::Url,
        None if index == 0 => Carrier::Url,
        _ => Carrier::Body,
    }
}

pub(super) fn environment(known: &Known<'_>) -> Value {
    let first = known.first();
    match first.text.as_deref() {
        Some(names) => {
            let values: Vec<Value> = names.split(' ').map(Value::variable).collect();
            if values.len() == 1 {
                values.into_iter().next().unwrap_or_default()
            } else {
                Value::join(&values, " ")
            }
        }
        None if known.arguments.is_empty() => Value::from(Taint::ENVIRONMENT),
        None => Value::default(),
    }
}

pub(super) fn characters(arguments: &[(Option<String>, Value)]) -> Value {
    let numbers: Vec<&Value> = arguments
        .iter()
        .flat_map(
            |(_, value)| if value.items.is_empty() { vec![value] } else { value.items.iter().collect() },
        )
        .collect();
    let character =
        |value: &&Value| value.constant().and_then(|text| text.parse::<u32>().ok()).and_then(char::from_u32);
    let text: Option<String> = numbers.iter().map(character).collect();
    let mut value = Value::join(arguments.iter().map(|(_, value)| value), "").with_text(text);
    value.taint |= Taint::DECODED;
    value
}

pub(super) fn same(known: &Known<'_>) -> Value {
    let is_method = matches!(known.form.callee, Form::Member(_, _))
        && (known.object.text.is_some()
            || known.object.name.as_deref().is_none_or(|name| name.ends_with(')')));
    let source = if is_method { &known.object } else { &known.first() };
    let reversed = known.name.ends_with("reverse") || known.name == "reversed";
    let text = source.text.clone().map(|text| if reversed { text.chars().rev().collect() } else { text });
    let mut value = known.all().with_text(text);
    value.items.clone_from(&source.items);
    if reversed {
        Rc::make_mut(&mut value.items).reverse();
    }
    value.name.clone_from(&source.name);
    if known.name == "pathlib.Path" {
        value.name = Some("pathlib.Path()".to_owned());
    }
    value
}

pub(super) fn from_base64(text: &str) -> Option<String> {
    let clean: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| {
            if c == '-' {
                '+'
            } else if c == '_' {
                '/'
            } else {
                c
            }
        })
        .collect();
    let engine = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    );
    String::from_utf8(engine.decode(clean).ok()?).ok()
}

/// Writes a value as one word of a shell.
pub(super) fn quote(value: &Value) -> String {
    match value.constant() {
        Some(text)
            if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_./:=@+,%~".contains(c)) =>
        {
            text.to_owned()
        }
        Some(text) => format!("'{}'", text.replace('\'', "'\\''")),
        None => value.shown(),
    }
}
