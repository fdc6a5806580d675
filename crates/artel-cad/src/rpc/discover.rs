//! `rpc.discover`: the OpenRPC document of all methods, made from the table.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::table::{Access, Table, common_schemas};
use crate::error::Code;

/// Returns the document.
pub(crate) fn document(table: &Table) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = settings.into_generator();
    let methods: Vec<Value> = table
        .methods()
        .iter()
        .map(|method| {
            let reference = (method.schema)(&mut generator);
            let schema = resolved(&generator.definitions().clone(), &reference);
            let writes = method.access == Access::Writes;
            json!({
                "name": method.name,
                "summary": method.summary,
                "paramStructure": "by-name",
                "params": params(&schema, method.access),
                "result": {"name": "result", "schema": {"type": "object"}},
                "x-writes": writes,
                "examples": [{
                    "name": "example",
                    "params": example_params(method.example),
                }]
            })
        })
        .collect();
    let errors: Map<String, Value> = Code::ALL
        .iter()
        .map(|code| {
            let (number, name) = code.number_and_name();
            (name.to_owned(), json!({"code": number, "message": name}))
        })
        .collect();
    json!({
        "openrpc": "1.3.2",
        "info": {"title": "artel-cad", "version": env!("CARGO_PKG_VERSION")},
        "methods": methods,
        "components": {"schemas": generator.definitions(), "errors": errors}
    })
}

/// Follows a reference into the definitions.
fn resolved(definitions: &Map<String, Value>, schema: &Value) -> Value {
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    name.and_then(|name| definitions.get(name)).unwrap_or(schema).clone()
}

fn params(schema: &Value, access: Access) -> Vec<Value> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for (name, schema) in common_schemas(access) {
        properties.entry(name).or_insert(schema);
    }
    let mut params: Vec<Value> = properties
        .into_iter()
        .map(|(name, schema)| {
            let is_required = required.contains(&name.as_str());
            json!({"name": name, "required": is_required, "schema": schema})
        })
        .collect();
    params.sort_by_key(|param| param["required"] != json!(true));
    params
}

fn example_params(example: &str) -> Vec<Value> {
    let example: Map<String, Value> = serde_json::from_str(example).unwrap_or_default();
    example.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}
