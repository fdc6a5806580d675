//! One parameter of a skill, as its schema and its description tell about it. Knows nothing of requests.

use serde_json::Value;

/// Values that a description may list.
const LISTED_MAX: usize = 100;
/// Words of one listed value.
const LISTED_WORDS_MAX: usize = 3;

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Property<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) schema: &'a Value,
    /// The words of its name: `object_id` is `object` and `id`.
    pub(super) words: Vec<String>,
    pub(super) takes: Takes,
    /// What it may be: the values of an `enum`, or those that its description lists.
    pub(super) known: Vec<Value>,
    /// What it looks like, in its description or its schema.
    pub(super) examples: Vec<String>,
    pub(super) role: Role,
}

/// The types of values that a parameter takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Takes {
    pub(super) text: bool,
    pub(super) number: bool,
    pub(super) boolean: bool,
    pub(super) list: bool,
}

/// What a parameter is in a sentence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    Place,
    Source,
    Destination,
    Thing,
    Person,
    Topic,
    Reason,
    Amount,
    Key,
    Value,
    Other,
}

const ROLES: &[(Role, &[&str])] = &[
    (Role::Source, &["from", "source", "origin", "src"]),
    (Role::Destination, &["to", "destination", "dest", "recipient", "target"]),
    (Role::Place, &["location", "place", "area", "room", "where", "city", "address", "region", "site"]),
    (Role::Reason, &["reason", "why", "cause"]),
    (Role::Person, &["subject", "who", "person", "user", "author", "owner", "whose", "agent"]),
    (Role::Topic, &["topic", "query", "question", "search", "about", "term", "words"]),
    (Role::Amount, &["amount", "delta", "count", "number", "by"]),
    (Role::Key, &["key", "name", "label", "title"]),
    (Role::Value, &["value", "content", "text", "message", "body", "note", "fact"]),
    (Role::Thing, &["object", "item", "thing", "what", "product", "expression"]),
];

impl Role {
    /// Returns the words that come before such a value.
    pub(super) fn cues(self) -> &'static [&'static str] {
        match self {
            Self::Place => &["in", "to", "at", "into", "from", "inside", "towards", "toward", "near"],
            Self::Source => &["from"],
            Self::Destination => &["to", "into", "towards", "toward"],
            Self::Thing => &[],
            Self::Person => &["about", "of", "for", "to"],
            Self::Topic => &["about", "for", "on", "of"],
            Self::Reason => &["because", "since", "for"],
            Self::Amount => &["by"],
            Self::Key => &["as", "under", "called", "named"],
            Self::Value => &["that"],
            Self::Other => &[],
        }
    }

    /// Returns whether such a value is a piece of language that goes on to the end of its clause.
    pub(super) fn is_long(self) -> bool {
        match self {
            Self::Topic | Self::Reason | Self::Value => true,
            Self::Place
            | Self::Source
            | Self::Destination
            | Self::Thing
            | Self::Person
            | Self::Amount
            | Self::Key
            | Self::Other => false,
        }
    }

    /// Returns whether its cues say enough for a value that nobody has to give.
    pub(super) fn has_telling_cues(self) -> bool {
        match self {
            Self::Place | Self::Source | Self::Destination | Self::Reason => true,
            Self::Thing
            | Self::Person
            | Self::Topic
            | Self::Amount
            | Self::Key
            | Self::Value
            | Self::Other => false,
        }
    }
}

impl<'a> Property<'a> {
    pub(super) fn new(name: &'a str, schema: &'a Value) -> Self {
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let words = parts(name);
        let known = match schema.get("enum").and_then(Value::as_array) {
            Some(values) => values.clone(),
            None => listed(description).into_iter().map(Value::from).collect(),
        };
        Self {
            role: role(&words, description),
            takes: takes(schema),
            examples: examples(schema, description),
            name,
            description,
            schema,
            words,
            known,
        }
    }

    /// Returns the description without the values that it lists, which are no words about the skill.
    pub(super) fn about(&self) -> &'a str {
        let is_listed = self.schema.get("enum").is_none() && !self.known.is_empty();
        match self.description.split_once(':') {
            Some((head, _)) if is_listed => head,
            Some(_) | None => self.description,
        }
    }
}

/// Returns the properties of a schema of an object.
pub(super) fn properties(schema: &Value) -> Vec<Property<'_>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, schema)| Property::new(name, schema)).collect()
}

/// Returns the words of a name in lower case: `objectId`, `object_id` and `object-id` are all two.
pub(super) fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (was_lower && c.is_uppercase());
        if starts && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn takes(schema: &Value) -> Takes {
    let one = |name: &str| Takes {
        text: name == "string",
        number: matches!(name, "number" | "integer"),
        boolean: name == "boolean",
        list: name == "array",
    };
    let any = |names: &mut dyn Iterator<Item = &str>| {
        names.map(one).fold(one(""), |all, next| Takes {
            text: all.text || next.text,
            number: all.number || next.number,
            boolean: all.boolean || next.boolean,
            list: all.list || next.list,
        })
    };
    match (schema.get("type"), schema.get("enum")) {
        (Some(Value::String(name)), _) => one(name),
        (Some(Value::Array(names)), _) => any(&mut names.iter().filter_map(Value::as_str)),
        (_, Some(_)) => one(""),
        _ => one("string"),
    }
}

/// The name says more than the description, and in a name the last word: `target_location` is a place.
fn role(words: &[String], description: &str) -> Role {
    let role_of = |word: &str| ROLES.iter().find(|(_, words)| words.contains(&word)).map(|(role, _)| *role);
    let named = words.iter().rev().find_map(|word| role_of(word));
    let first = description.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    named.or_else(|| role_of(&first?.to_lowercase())).unwrap_or(Role::Other)
}

/// Returns the values of a description such as `Where to go: dock, hallway or kitchen.`
fn listed(description: &str) -> Vec<String> {
    let Some((_, list)) = description.split_once(':') else { return Vec::new() };
    let list = list.split(['.', ';']).next().unwrap_or_default();
    let items = list.split(", ").flat_map(|item| item.split(" or ")).flat_map(|item| item.split(" and "));
    let clean = |item: &str| {
        let item = item.trim().trim_start_matches("or ").trim_start_matches("and ");
        item.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    };
    let items: Vec<String> = items.map(clean).filter(|item| !item.is_empty()).take(LISTED_MAX + 1).collect();
    let is_value = |item: &String| item.split_whitespace().count() <= LISTED_WORDS_MAX;
    let is_list = (2..=LISTED_MAX).contains(&items.len()) && items.iter().all(is_value);
    if is_list { items } else { Vec::new() }
}

fn examples(schema: &Value, description: &str) -> Vec<String> {
    let written = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    let mut examples: Vec<String> = written.filter_map(Value::as_str).map(str::to_owned).collect();
    for start in ["for example ", "e.g. ", "such as "] {
        let Some(at) = description.find(start) else { continue };
        let rest = &description[at + start.len()..];
        let end = rest.find([',', ':', ';']).unwrap_or(rest.len());
        let example = rest[..end].split(". ").next().unwrap_or_default();
        let example = example.trim_matches(|c: char| c == '.' || c == '`' || c == '"' || c.is_whitespace());
        if !example.is_empty() {
            examples.push(example.to_owned());
        }
    }
    examples
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn descriptions_list_values_and_examples() {
        let list = |text: &str| listed(text).join("|");
        assert_eq!(
            list("Where to go: dock, hallway, kitchen or living-room."),
            "dock|hallway|kitchen|living-room"
        );
        assert_eq!(list("Where: a, b, or c. Without it, here."), "a|b|c");
        assert_eq!(list("The exact key."), "");
        assert_eq!(list("What to roll, for example 2d6+3: 1 to 100 dice of 2 sides, at most 20 terms."), "");
        assert_eq!(list("Note: important."), "");
        let example = |text: &str| examples(&json!({}), text).join("|");
        assert_eq!(example("What to roll, for example 2d6+3: 1 to 100 dice."), "2d6+3");
        assert_eq!(example("Who, for example a tired detective."), "a tired detective");
        assert_eq!(example("Nothing."), "");
    }

    #[test]
    fn names_and_descriptions_say_what_a_parameter_is() {
        let role = |name: &str, description: &str| role(&parts(name), description);
        assert_eq!(role("location", ""), Role::Place);
        assert_eq!(role("targetLocation", ""), Role::Place);
        assert_eq!(role("x", "Where to look"), Role::Place);
        assert_eq!(role("object_id", "What to take"), Role::Thing);
        assert_eq!(role("delta", "By how much"), Role::Amount);
        assert_eq!(role("x", ""), Role::Other);
        assert_eq!(parts("objectID_and-more2"), ["object", "id", "and", "more2"]);
        assert!(parts("--").is_empty());
    }
}
