//! The OpenAPI 3.1 document, made from the endpoints.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::endpoint::{Answer, Body, Endpoint, Needs, Payload};
use crate::error::ErrorBody;
use crate::header;

/// Where shared schemas are in the document.
pub(crate) const SCHEMAS: &str = "/components/schemas";
/// The group of older names of paths: they answer, but whoever writes something should not use them.
const ALIASES: &str = "aliases";

/// Makes the document that describes the endpoints.
pub fn openapi(endpoints: &[Endpoint], version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = SCHEMAS.into();
        settings.meta_schema = None;
    });
    let mut generator = SchemaGenerator::new(settings);
    let error = generator.subschema_for::<ErrorBody>();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for endpoint in endpoints {
        let path = endpoint.path.replace("{*", "{");
        let operation = operation(endpoint, &error, &mut generator);
        paths.entry(path).or_default().insert(endpoint.method.as_str().to_owned(), operation);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "artel",
            "version": version,
            "description": "Skills for AI agents, and putting them to work.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"key": []}],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": shared_responses(&error),
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The administrator's token, a token of the identity provider, or an API key.",
                },
                "key": {"type": "apiKey", "in": "header", "name": "X-Artel-Key", "description": "An API key."},
            },
        },
    });
    tighten(&mut document);
    show_examples(&mut document);
    document
}

/// What a server answered once, by the names of shared schemas.
const EXAMPLES: &str = include_str!("examples.json");

/// Adds examples to the shared schemas that have none.
fn show_examples(document: &mut Value) {
    let examples: Map<String, Value> = serde_json::from_str(EXAMPLES).expect("the examples are JSON");
    let Some(schemas) = document.pointer_mut(SCHEMAS).and_then(Value::as_object_mut) else { return };
    for (name, example) in examples {
        if let Some(schema) = schemas.get_mut(&name).and_then(Value::as_object_mut) {
            schema.entry("examples").or_insert_with(|| json!([example]));
        }
    }
}

/// Says what generated schemas leave open: a list of constants is an `enum`, and an integer ends where its type does.
fn tighten(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(tighten);
            constants_as_enum(object);
            end_of_integer(object);
            // A field that may be left out says so already.
            object.retain(|name, value| name != "default" || !value.is_null());
        }
        Value::Array(list) => list.iter_mut().for_each(tighten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Makes `enum` of `oneOf` with constants; what each means becomes part of the description.
fn constants_as_enum(object: &mut Map<String, Value>) {
    let Some(choices) = object.get("oneOf").and_then(Value::as_array) else { return };
    let (mut words, mut meanings) = (Vec::new(), Vec::new());
    for choice in choices {
        if choice["type"] != "string" {
            return;
        }
        let of_choice: Vec<&Value> = match (choice.get("const"), choice["enum"].as_array()) {
            (Some(word), _) => vec![word],
            (None, Some(list)) => list.iter().collect(),
            (None, None) => return,
        };
        if let (Some(meaning), [word]) = (choice["description"].as_str(), &of_choice[..]) {
            meanings.push(format!("`{}`: {meaning}", word.as_str().unwrap_or_default()));
        }
        words.extend(of_choice.into_iter().cloned());
    }
    let about = object.get("description").and_then(Value::as_str).map(str::to_owned);
    let about: Vec<String> = about.into_iter().chain(meanings).collect();
    object.remove("oneOf");
    object.insert("type".to_owned(), json!("string"));
    object.insert("enum".to_owned(), json!(words));
    if !about.is_empty() {
        object.insert("description".to_owned(), json!(about.join("\n")));
    }
}

fn end_of_integer(object: &mut Map<String, Value>) {
    let max = match object.get("format").and_then(Value::as_str) {
        Some("uint8") => u64::from(u8::MAX),
        Some("uint16") => u64::from(u16::MAX),
        Some("uint32") => u64::from(u32::MAX),
        Some("uint" | "uint64") => u64::MAX,
        _ => return,
    };
    object.entry("maximum").or_insert_with(|| json!(max));
}

fn operation(endpoint: &Endpoint, error: &Schema, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": endpoint.id,
        "tags": [endpoint.group],
        "summary": endpoint.summary,
        "parameters": parameters(endpoint, generator),
        "responses": responses(endpoint, error, generator),
    });
    if endpoint.needs == Needs::Nothing {
        operation["security"] = json!([]);
    }
    if endpoint.group == ALIASES {
        operation["deprecated"] = json!(true);
    }
    if let Needs::Scope(scope) | Needs::Person(scope) = endpoint.needs {
        operation["x-scope"] = json!(scope);
    }
    let (payloads, required) = match endpoint.body {
        Body::None => return operation,
        Body::Required(payloads) => (payloads, true),
        Body::Optional(payloads) => (payloads, false),
    };
    operation["requestBody"] = json!({"required": required, "content": content(payloads, generator)});
    operation
}

fn parameters(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters: Vec<Value> = path_names(endpoint.path)
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    for name in endpoint.headers {
        parameters.push(json!({"name": name, "in": "header", "schema": header::schema(name)}));
    }
    if let Some(query) = endpoint.query {
        parameters.extend(query_parameters(query, generator));
    }
    parameters
}

/// Returns the names in the parts of a path.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*'))
}

/// Every property of a query's shape is a parameter of its own.
fn query_parameters(query: crate::endpoint::Shape, generator: &mut SchemaGenerator) -> Vec<Value> {
    let schema = query(generator);
    let schema = match schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        // A query is nobody else's shape: it is taken apart, so it need not be among the shared ones.
        Some(name) => generator.definitions_mut().remove(name).unwrap_or_default(),
        None => schema.to_value(),
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, schema)| {
            let mut parameter = json!({"name": name, "in": "query", "schema": without_nothing(schema)});
            parameter["required"] = json!(required.contains(&name.as_str()));
            if let Some(text) = schema.get("description") {
                parameter["description"] = text.clone();
            }
            parameter
        })
        .collect()
}

/// A parameter that is not there is left out: a query has no word for nothing.
fn without_nothing(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["type"] != "null");
        if let [only] = &choices[..] {
            schema = only.clone();
        }
    }
    let Some(object) = schema.as_object_mut() else { return schema };
    object.remove("description");
    object.retain(|name, value| name != "default" || !value.is_null());
    let types = object.get("type").and_then(Value::as_array).cloned().unwrap_or_default();
    let only = types.into_iter().filter(|one| one != "null").take(2).collect::<Vec<_>>();
    if let [only] = &only[..] {
        object.insert("type".to_owned(), only.clone());
    }
    schema
}

fn responses(endpoint: &Endpoint, error: &Schema, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut responses = Map::new();
    for Answer { status, meaning, payloads } in endpoint.answers {
        let mut response = json!({"description": meaning});
        if !payloads.is_empty() {
            response["content"] = content(payloads, generator);
        } else if *status >= 400 {
            response["content"] = json!({"application/json": {"schema": error}});
        }
        responses.insert(status.to_string(), response);
    }
    for status in common_errors(endpoint) {
        let shared = json!({"$ref": format!("#/components/responses/{status}")});
        responses.entry(status).or_insert(shared);
    }
    responses
}

/// The errors that many endpoints have: their statuses and what they mean.
const ERRORS: &[(&str, &str)] = &[
    ("400", "Something in the request cannot be understood."),
    ("401", "The credential is missing or not accepted."),
    ("403", "The credential is not enough; the message says what is needed."),
    ("413", "The body is too large."),
    ("415", "The body is of a type that is not understood."),
    ("422", "The body does not say what is needed; `details` lists every problem."),
    ("429", "Too many requests; `Retry-After` says when to come back."),
    ("503", "What the answer needs cannot be reached."),
];

fn shared_responses(error: &Schema) -> Map<String, Value> {
    let response =
        |meaning: &str| json!({"description": meaning, "content": {"application/json": {"schema": error}}});
    ERRORS.iter().map(|(status, meaning)| ((*status).to_owned(), response(meaning))).collect()
}

/// The errors that an endpoint has because of what it needs and takes.
fn common_errors(endpoint: &Endpoint) -> Vec<&'static str> {
    let mut errors = vec!["400", "429", "503"];
    match endpoint.needs {
        Needs::Nothing => {}
        Needs::Credential => errors.push("401"),
        Needs::Scope(_) | Needs::AdminOr(_) | Needs::Metrics | Needs::Person(_) => {
            errors.extend(["401", "403"]);
        }
    }
    if !matches!(endpoint.body, Body::None) {
        errors.extend(["413", "415", "422"]);
    }
    errors
}

fn content(payloads: &[Payload], generator: &mut SchemaGenerator) -> Value {
    let mut content = Map::new();
    for payload in payloads {
        let (media, schema) = match payload {
            Payload::Json(shape) => ("application/json", json!({"schema": shape(generator)})),
            Payload::Other(media) => (*media, json!({})),
            Payload::Events(shape) => ("text/event-stream", json!({"x-event": shape(generator)})),
        };
        content.insert(media.to_owned(), schema);
    }
    Value::Object(content)
}

#[cfg(test)]
mod tests {
    use artel_model::access::Scope;
    use schemars::JsonSchema;
    use serde::Serialize;

    use super::*;
    use crate::endpoint::{Method, shape};

    #[derive(JsonSchema, Serialize)]
    struct Query {
        /// Words.
        q: Option<String>,
        page: u32,
    }

    #[derive(JsonSchema, Serialize)]
    struct Thing {
        name: String,
    }

    fn endpoint() -> Endpoint {
        Endpoint {
            method: Method::Post,
            path: "/api/things/{id}/files/{*path}",
            id: "makeThing",
            group: "things",
            summary: "Makes a thing.",
            needs: Needs::Scope(Scope::CatalogWrite),
            query: Some(shape::<Query>),
            headers: &["If-Match"],
            body: Body::Required(&[Payload::Json(shape::<Thing>)]),
            answers: &[
                Answer { status: 201, meaning: "Made.", payloads: &[Payload::Json(shape::<Thing>)] },
                Answer { status: 409, meaning: "There is one.", payloads: &[] },
            ],
        }
    }

    #[test]
    fn an_endpoint_becomes_an_operation() {
        let document = openapi(&[endpoint()], "1.2.3");
        let operation = &document["paths"]["/api/things/{id}/files/{path}"]["post"];
        let names: Vec<&str> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["id", "path", "If-Match", "page", "q"]);
        let words = &operation["parameters"][4];
        assert_eq!((&words["schema"], &words["description"]), (&json!({"type": "string"}), &json!("Words.")));
        let statuses: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
        assert_eq!(statuses, ["201", "400", "401", "403", "409", "413", "415", "422", "429", "503"]);
        let made = &operation["responses"]["201"]["content"]["application/json"]["schema"];
        assert_eq!(made["$ref"], "#/components/schemas/Thing");
        assert_eq!(operation["x-scope"], "catalog:write");
        assert!(document["components"]["schemas"]["Thing"]["properties"]["name"].is_object());
        assert!(document["components"]["schemas"]["Query"].is_null());
    }

    #[test]
    fn what_needs_nothing_says_so() {
        let open = Endpoint { needs: Needs::Nothing, body: Body::None, ..endpoint() };
        let document = openapi(&[open], "1");
        let operation = &document["paths"]["/api/things/{id}/files/{path}"]["post"];
        assert_eq!(operation["security"], json!([]));
        assert!(operation["responses"]["401"].is_null());
        assert!(operation["requestBody"].is_null());
    }
}
