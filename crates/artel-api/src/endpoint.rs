//! What an endpoint is, as data: the router, the check of who may call it, the OpenAPI document and the tests of every
//! route are made from the same description.

use artel_model::access::Scope;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

/// Makes the schema of a type.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// Makes the schema of `T`; the [`Shape`] of a payload is `shape::<T>`.
pub fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What is done to the thing that a path names.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Method {
    /// Read.
    Get,
    /// Made, or something is started.
    Post,
    /// Replaced.
    Put,
    /// Changed in part.
    Patch,
    /// Removed.
    Delete,
}

impl Method {
    /// Returns the word for it, as OpenAPI writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// Who may call an endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Needs {
    /// Anybody, without a credential.
    Nothing,
    /// Anybody with a credential, whatever it is for.
    Credential,
    /// Whoever has a credential for this.
    Scope(Scope),
    /// An administrator; the text is what everybody else is told.
    AdminOr(&'static str),
    /// An administrator, or whoever has the token for the numbers about the process.
    Metrics,
    /// A person, not an API key: whoever could make keys with a key could never be locked out.
    Person(Scope),
}

/// What travels in one direction.
#[derive(Clone, Copy, Debug)]
pub enum Payload {
    /// JSON of that shape.
    Json(Shape),
    /// Something else: its media type.
    Other(&'static str),
    /// Server-sent events, each with JSON of that shape.
    Events(Shape),
}

/// What an endpoint takes.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Nothing.
    None,
    /// One of these, and one must be there.
    Required(&'static [Payload]),
    /// One of these, or nothing.
    Optional(&'static [Payload]),
}

/// One way in which an endpoint answers.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// What it means.
    pub meaning: &'static str,
    /// What comes with it: nothing, or one of several.
    pub payloads: &'static [Payload],
}

/// One endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// What is done.
    pub method: Method,
    /// To what: the path, with `{names}` for its parts. A last part `{*name}` holds slashes.
    pub path: &'static str,
    /// Its name in generated clients.
    pub id: &'static str,
    /// What it belongs to.
    pub group: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Who may call it.
    pub needs: Needs,
    /// The shape of its query, whose properties are parameters.
    pub query: Option<Shape>,
    /// Headers it looks at, beside those of every request.
    pub headers: &'static [&'static str],
    /// What it takes.
    pub body: Body,
    /// How it answers, beside the errors that every endpoint with the same needs has.
    pub answers: &'static [Answer],
}

impl Endpoint {
    /// Returns the names of the parameters that its query may have, in the order of the alphabet.
    pub fn query_names(&self) -> Vec<String> {
        let Some(query) = self.query else { return Vec::new() };
        let mut generator = SchemaGenerator::default();
        let schema = query(&mut generator);
        let named = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
        let schema = match named {
            Some(name) => generator.definitions().get(name).cloned().unwrap_or_default(),
            None => schema.to_value(),
        };
        let properties = schema["properties"].as_object();
        properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect()
    }
}
