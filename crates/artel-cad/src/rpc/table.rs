//! The methods as data: name, what it does, schema of the parameters, an example, and the function. Everything that is
//! said about the methods elsewhere is made from this table.

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::clock::Stopwatch;
use crate::entity::WorkspaceId;
use crate::error::{CadError, CadResult, Code, bad_params};
use crate::limit::KEY_BYTES_MAX;
use crate::operation::{self, Call, Session};

/// Whether a method changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Reads,
    Writes,
}

type Run = Box<dyn Fn(&mut Session, &Call<'_>, Value) -> CadResult<Value>>;

/// One method.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) access: Access,
    /// The parameters of the example, as JSON.
    pub(crate) example: &'static str,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Value,
    run: Run,
}

impl Method {
    /// Describes a method; its parameters are read and described by their type.
    pub(crate) fn new<P: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        access: Access,
        summary: &'static str,
        example: &'static str,
        run: fn(&mut Session, &Call<'_>, P) -> CadResult<Value>,
    ) -> Self {
        let schema = |generator: &mut SchemaGenerator| generator.subschema_for::<P>().to_value();
        let run = move |session: &mut Session, call: &Call<'_>, params: Value| {
            let params =
                serde_json::from_value(params).map_err(|error| explain::<P>(name, &error.to_string()))?;
            run(session, call, params)
        };
        Self { name, summary, access, example, schema, run: Box::new(run) }
    }
}

/// Says what is wrong with parameters, and which there are.
fn explain<P: JsonSchema>(method: &str, error: &str) -> CadError {
    let schema = SchemaGenerator::default().into_root_schema_for::<P>().to_value();
    let names = |key: &str| -> Vec<String> {
        match &schema[key] {
            Value::Object(map) => map.keys().cloned().collect(),
            Value::Array(list) => list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    };
    let required = names("required");
    let optional: Vec<String> =
        names("properties").into_iter().filter(|name| !required.contains(name)).collect();
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let error =
        error.strip_prefix("invalid type: ").map_or_else(|| error.to_owned(), |rest| format!("found {rest}"));
    bad_params(format!("{method}: {error}")).hint(format!(
        "it needs {}; it may have {}",
        list(&required),
        list(&optional)
    ))
}

/// All methods.
pub struct Table {
    methods: Vec<Method>,
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}

impl Table {
    /// Lists the methods by name.
    pub fn new() -> Self {
        let mut methods = operation::methods();
        methods.sort_by_key(|method| method.name);
        Self { methods }
    }

    pub(crate) fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// Calls a method by its name with parameters as they were sent.
    pub fn call(&self, session: &mut Session, name: &str, params: Value) -> CadResult<Value> {
        let watch = Stopwatch::start();
        if name == "rpc.discover" {
            return Ok(super::discover::document(self));
        }
        let method = self.find(name)?;
        let Value::Object(params) = params else {
            return Err(bad_params(format!("{name} takes its parameters by name")).hint("send an object"));
        };
        let common = Common::take(method, params)?;
        let call = common.call(method.name, watch);
        let result = match session.earlier_answer(&call) {
            Ok(Some(earlier)) => Ok(earlier),
            Ok(None) => (method.run)(session, &call, Value::Object(common.params.clone())),
            Err(error) => Err(error),
        };
        // Calls that write are counted in the transaction that writes.
        if method.access == Access::Reads || result.is_err() {
            session.count(&call, result.is_ok());
        }
        result
    }

    /// `entity.create.point` is another spelling of `entity.create_point`.
    fn find(&self, name: &str) -> CadResult<&Method> {
        let plain = name.replacen("create.", "create_", 1);
        if let Some(method) = self.methods.iter().find(|method| method.name == plain) {
            return Ok(method);
        }
        let family = name.split('.').next().unwrap_or_default();
        let alike: Vec<&str> = self
            .methods
            .iter()
            .map(|method| method.name)
            .filter(|other| other.split('.').next() == Some(family))
            .collect();
        let shown: String = name.chars().take(100).collect();
        Err(CadError::new(Code::MethodNotFound, format!("there is no method `{shown}`")).hint(
            if alike.is_empty() {
                "rpc.discover lists all methods".to_owned()
            } else {
                format!("there are {}", alike.join(", "))
            },
        ))
    }
}

/// What every method can be given beside its own parameters.
struct Common {
    workspace: WorkspaceId,
    agent: String,
    key: Option<String>,
    fingerprint: [u8; 32],
    params: Map<String, Value>,
}

impl Common {
    fn take(method: &Method, mut params: Map<String, Value>) -> CadResult<Self> {
        let fingerprint = operation::fingerprint(method.name, &params);
        let mut text = |name: &str| match params.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(bad_params(format!("{}: `{name}` must be a string", method.name))),
        };
        let workspace = text("workspace_id")?.unwrap_or_else(|| "main".to_owned()).parse::<WorkspaceId>()?;
        let agent = text("agent_id")?.unwrap_or_else(|| workspace.to_string());
        let key = text("idempotency_key")?;
        if agent.len() > KEY_BYTES_MAX
            || key.as_ref().is_some_and(|key| key.is_empty() || key.len() > KEY_BYTES_MAX)
        {
            let message = format!("`agent_id` and `idempotency_key` have 1 to {KEY_BYTES_MAX} bytes");
            return Err(bad_params(message));
        }
        if key.is_some() && method.access == Access::Reads {
            return Err(bad_params(format!("{} writes nothing; leave `idempotency_key` out", method.name)));
        }
        Ok(Self { workspace, agent, key, fingerprint, params })
    }

    fn call<'a>(&'a self, method: &'a str, watch: Stopwatch) -> Call<'a> {
        Call {
            workspace: &self.workspace,
            agent: &self.agent,
            key: self.key.as_deref().map(|key| (key, self.fingerprint)),
            method,
            watch,
        }
    }
}

/// The schemas of what every method can be given.
pub(crate) fn common_schemas(access: Access) -> Map<String, Value> {
    let mut schemas = Map::new();
    schemas.insert(
        "workspace_id".to_owned(),
        json!({"type": "string", "default": "main", "description": "The workspace to work in."}),
    );
    schemas.insert(
        "agent_id".to_owned(),
        json!({"type": "string", "description": "Who calls, for agent.metrics; the workspace's name when left out."}),
    );
    if access == Access::Writes {
        let about = "A repeated call with the same key changes nothing and is answered as the first.";
        schemas.insert("idempotency_key".to_owned(), json!({"type": "string", "description": about}));
    }
    schemas
}
