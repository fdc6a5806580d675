//! What somebody wants to spawn, read from JSON with every problem told at once. Nothing that is not understood is ever
//! taken for "no restriction".

use serde_json::{Map, Value};

use super::role::RoleName;
use super::spawn::{SpawnError, SpawnErrorCode};
use super::spec::{CommandLine, DriverKind, Thinking};
use crate::id::AgentId;
use crate::limit::{
    AGENT_CHILDREN_MAX, AGENT_METADATA_BYTES_MAX, AGENT_METADATA_KEYS_MAX, AGENT_NAME_CHARS_MAX,
    AGENT_TASK_BYTES_MAX, AGENT_WORD_BYTES_MAX, COMMAND_WORDS_MAX, PARAMS_BYTES_MAX, PLAN_BYTES_MAX,
    TIMEOUT_S_MAX,
};
use crate::name::SkillName;
use crate::number::whole;

/// What somebody wants to spawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpawnRequest {
    /// What it is for.
    pub task: Option<String>,
    /// The skills it gets; nothing for the default, none for an agent that may do nothing.
    pub skills: Option<Vec<String>>,
    /// The skill it runs.
    pub skill: Option<SkillName>,
    /// The parameters of that skill.
    pub params: Map<String, Value>,
    /// Whether everything that the skill depends on runs first.
    pub chain: bool,
    /// The plan it runs.
    pub plan: Option<Value>,
    /// The program it is.
    pub command: Option<CommandLine>,
    /// Its role in a team.
    pub role: Option<RoleName>,
    /// The workspace it works in.
    pub workspace_id: Option<String>,
    /// What people call it.
    pub name: Option<String>,
    /// The model it should use.
    pub model: Option<String>,
    /// How long the model should think.
    pub thinking: Option<Thinking>,
    /// Who spawns it.
    pub parent: Option<AgentId>,
    /// What makes it act; what follows from the rest when absent.
    pub driver: Option<DriverKind>,
    /// Seconds that one piece of its work may take.
    pub timeout_s: Option<u64>,
    /// What somebody wants to remember about it.
    pub metadata: Map<String, Value>,
    /// How many living children it may have.
    pub max_children: Option<u32>,
}

const FIELDS: &[&str] = &[
    "task",
    "skills",
    "skill",
    "params",
    "chain",
    "plan",
    "command",
    "client",
    "role",
    "workspace_id",
    "label",
    "name",
    "model",
    "thinking",
    "parent",
    "driver",
    "timeout",
    "metadata",
    "max_children",
];
impl SpawnRequest {
    /// Reads a request.
    pub fn read(document: &Map<String, Value>) -> Result<Self, Vec<SpawnError>> {
        let mut reader = Reader { document, errors: Vec::new() };
        for name in document.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
            reader.errors.push(SpawnError::invalid(name, "there is no such field"));
        }
        let request = Self {
            task: reader.text("task", AGENT_TASK_BYTES_MAX),
            skills: reader.texts("skills", usize::MAX),
            skill: reader.parsed("skill", "the name of a skill"),
            params: reader.params(),
            chain: reader.flag("chain"),
            plan: reader.plan(),
            command: reader.command(),
            role: reader.parsed("role", "the name of a role"),
            workspace_id: reader.text("workspace_id", AGENT_WORD_BYTES_MAX),
            name: reader.name(),
            model: reader.model(),
            thinking: reader.word("thinking", Thinking::ALL, Thinking::as_str),
            parent: reader.parsed("parent", "the id of an agent"),
            driver: reader.word("driver", DriverKind::ALL, DriverKind::as_str),
            timeout_s: reader.number("timeout", 1, TIMEOUT_S_MAX),
            metadata: reader.metadata(),
            max_children: reader
                .number("max_children", 0, AGENT_CHILDREN_MAX.into())
                .and_then(|number| u32::try_from(number).ok()),
        };
        if reader.value("skill").is_none() {
            let idle = [("params", !request.params.is_empty()), ("chain", request.chain)];
            for (name, _) in idle.into_iter().filter(|(_, is_given)| *is_given) {
                reader
                    .errors
                    .push(SpawnError::invalid(name, "it goes with `skill`, the name of the skill to run"));
            }
        }
        if reader.errors.is_empty() { Ok(request) } else { Err(reader.errors) }
    }
}

struct Reader<'a> {
    document: &'a Map<String, Value>,
    errors: Vec<SpawnError>,
}

impl<'a> Reader<'a> {
    /// `null` is as good as nothing, but for `skills`: there it would be mistaken for "no restriction".
    fn value(&self, name: &str) -> Option<&'a Value> {
        self.document.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&mut self, name: &str, wish: impl AsRef<str>) {
        self.errors.push(SpawnError::invalid(name, &format!("it is {}", wish.as_ref())));
    }

    fn text(&mut self, name: &str, max: usize) -> Option<String> {
        let text = self.value(name)?.as_str().filter(|text| !text.trim().is_empty() && text.len() <= max);
        if text.is_none() {
            self.wrong(name, format!("a text that is not empty, of at most {max} bytes"));
        }
        text.map(str::to_owned)
    }

    fn texts(&mut self, name: &str, max: usize) -> Option<Vec<String>> {
        let value = self.document.get(name)?;
        let texts: Option<Vec<String>> = value
            .as_array()
            .filter(|items| items.len() <= max)
            .and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        if texts.is_none() {
            self.wrong(name, "a list of texts");
        }
        texts
    }

    fn parsed<T: std::str::FromStr>(&mut self, name: &str, wish: &str) -> Option<T> {
        let parsed = self.value(name)?.as_str().and_then(|text| text.parse().ok());
        if parsed.is_none() {
            self.wrong(name, wish);
        }
        parsed
    }

    fn object(&mut self, name: &str) -> Map<String, Value> {
        match self.value(name) {
            None => Map::new(),
            Some(Value::Object(object)) => object.clone(),
            Some(_) => {
                self.wrong(name, "a JSON object");
                Map::new()
            }
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        match self.value(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.wrong(name, "true or false");
                false
            }
        }
    }

    fn word<T: Copy>(&mut self, name: &str, all: &[T], as_str: impl Fn(T) -> &'static str) -> Option<T> {
        let value = self.value(name)?;
        let found = value.as_str().and_then(|text| all.iter().copied().find(|one| as_str(*one) == text));
        if found.is_none() {
            let words: Vec<&str> = all.iter().map(|one| as_str(*one)).collect();
            self.wrong(name, format!("one of {}", words.join(", ")));
        }
        found
    }

    fn number(&mut self, name: &str, min: u64, max: u64) -> Option<u64> {
        let number =
            self.value(name)?.as_number().and_then(whole).filter(|number| (min..=max).contains(number));
        if number.is_none() {
            self.wrong(name, format!("a whole number from {min} to {max}"));
        }
        number
    }

    /// `label` and `name` are the same.
    fn name(&mut self) -> Option<String> {
        let field = match (self.value("name"), self.value("label")) {
            (Some(_), Some(_)) => {
                self.errors
                    .push(SpawnError::invalid("label", "it is another name of `name`: give one of them"));
                return None;
            }
            (Some(_), None) => "name",
            (None, _) => "label",
        };
        let fits = |name: &&str| {
            let chars = name.chars().count();
            !name.trim().is_empty() && chars <= AGENT_NAME_CHARS_MAX && !name.chars().any(char::is_control)
        };
        let name = self.value(field)?.as_str().filter(fits);
        if name.is_none() {
            self.wrong(field, format!("a text of 1 to {AGENT_NAME_CHARS_MAX} printable characters"));
        }
        name.map(str::to_owned)
    }

    /// A model's name may come to stand on a command line, where it must not be taken for an option.
    fn model(&mut self) -> Option<String> {
        let model = self.text("model", AGENT_WORD_BYTES_MAX)?;
        let fits = !model.trim_start().starts_with('-') && !model.contains(char::is_control);
        if !fits {
            self.wrong("model", "a name of printable characters that does not begin with a dash");
        }
        fits.then_some(model)
    }

    fn params(&mut self) -> Map<String, Value> {
        let params = self.object("params");
        if json_bytes(&params) > PARAMS_BYTES_MAX {
            self.wrong("params", format!("an object of at most {PARAMS_BYTES_MAX} bytes"));
        }
        params
    }

    fn plan(&mut self) -> Option<Value> {
        let plan = self.value("plan")?;
        let fits = plan.as_object().is_some_and(|object| json_bytes(object) <= PLAN_BYTES_MAX);
        if !fits {
            self.wrong("plan", format!("an object of at most {PLAN_BYTES_MAX} bytes"));
        }
        fits.then(|| plan.clone())
    }

    fn command(&mut self) -> Option<CommandLine> {
        let client = self.text("client", AGENT_WORD_BYTES_MAX);
        let command =
            if self.value("command").is_some() { self.texts("command", COMMAND_WORDS_MAX) } else { None };
        if client.is_none() && command.is_none() {
            return None;
        }
        Some(CommandLine { client, command: command.unwrap_or_default() })
    }

    fn metadata(&mut self) -> Map<String, Value> {
        let metadata = self.object("metadata");
        if metadata.len() > AGENT_METADATA_KEYS_MAX || json_bytes(&metadata) > AGENT_METADATA_BYTES_MAX {
            self.wrong(
                "metadata",
                format!(
                    "an object of at most {AGENT_METADATA_KEYS_MAX} keys and {AGENT_METADATA_BYTES_MAX} bytes"
                ),
            );
        }
        metadata
    }
}

fn json_bytes(object: &Map<String, Value>) -> usize {
    serde_json::to_vec(object).expect("an object is JSON").len()
}

impl SpawnError {
    /// Makes the error of a field.
    pub(super) fn invalid(field: &str, message: &str) -> Self {
        Self { code: SpawnErrorCode::InvalidRequest, message: format!("`{field}`: {message}"), skill: None }
    }
}
