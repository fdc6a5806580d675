//! Reads a plan document field by field, so that everything that is wrong is told at once. Knows the shape only.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::document::{PlanDocument, RetryPolicy, SkillChoice, ToolInvocation};
use super::json::{is_too_deep, json_bytes, parse_json};
use super::problem::{PlanProblem, PlanProblemCode, Problems, did_you_mean, meant};
use super::resolved::PlanMetadata;
use crate::id::{PlanId, StepId, StepIdError};
use crate::limit::{MERGE_DEPTH_MAX, PLAN_INPUT_BYTES_MAX, PLAN_RETRIES_MAX, PLAN_TOOLS_MAX, TIMEOUT_S_MAX};
use crate::schema::push_pointer;

const PLAN_KEYS: &[&str] = &["requestId", "narrative", "tools", "parallel", "disabledSkills", "metadata"];
const METADATA_KEYS: &[&str] = &["generationAttempt", "parentPlanId"];
const TOOL_KEYS: &[&str] = &[
    "toolId",
    "toolPath",
    "skill",
    "script",
    "input",
    "dependencies",
    "required",
    "async",
    "retryPolicy",
    "timeoutMs",
];
const RETRY_KEYS: &[&str] = &["maxRetries", "backoffMs"];

/// What could be read of a document, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Reading {
    /// The document without the tools that could not be read. A plan only when there are no problems.
    pub(super) document: PlanDocument,
    /// Where in the document each of the tools stands.
    pub(super) places: Vec<usize>,
    /// The ids of tools that could not be read; others may still refer to them.
    pub(super) unread: Vec<StepId>,
    pub(super) problems: Problems,
}

impl Reading {
    pub(super) fn of_text(text: &str) -> Self {
        let mut problems = Problems::default();
        match parse_json(text, &mut problems) {
            Some(value) => Self::of(&value, problems),
            None => Self::nothing(problems),
        }
    }

    pub(super) fn of_value(value: &Value) -> Self {
        Self::of(value, Problems::default())
    }

    pub(super) fn into_document(self) -> Result<PlanDocument, Vec<PlanProblem>> {
        self.problems.or(self.document)
    }

    fn nothing(problems: Problems) -> Self {
        let document = PlanDocument {
            request_id: PlanId(uuid::Uuid::nil()),
            narrative: None,
            tools: Vec::new(),
            parallel: false,
            disabled_skills: Vec::new(),
            metadata: PlanMetadata::first(),
        };
        Self { document, places: Vec::new(), unread: Vec::new(), problems }
    }

    fn of(value: &Value, problems: Problems) -> Self {
        let mut reader = Reader { problems };
        let Value::Object(plan) = value else {
            reader.report(
                "",
                PlanProblemCode::WrongType,
                format!("a plan is an object, not {}", kind(value)),
            );
            return Self::nothing(reader.problems);
        };
        if is_too_deep(value) {
            let message = format!("values are nested deeper than {MERGE_DEPTH_MAX} levels");
            reader.report("", PlanProblemCode::TooDeep, message);
            return Self::nothing(reader.problems);
        }
        reader.check_keys(plan, "", PLAN_KEYS);
        let request_id = match reader.required_text(plan, "", "requestId") {
            Some(text) => reader.plan_id("/requestId", text),
            None => None,
        };
        let mut reading = Self::nothing(Problems::default());
        reading.document.request_id = request_id.unwrap_or(PlanId(uuid::Uuid::nil()));
        reading.document.narrative = reader.text(plan, "", "narrative").map(str::to_owned);
        reading.document.parallel = reader.boolean(plan, "", "parallel").unwrap_or(false);
        let disabled = reader.texts(plan, "", "disabledSkills");
        reading.document.disabled_skills = disabled
            .into_iter()
            .filter_map(|(path, text)| reader.parsed(&path, text, "a skill's name"))
            .collect();
        reading.document.metadata = reader.metadata(plan);
        reader.read_tools(plan, &mut reading);
        reading.problems = reader.problems;
        reading
    }
}

struct Reader {
    problems: Problems,
}

impl Reader {
    fn report(&mut self, path: &str, code: PlanProblemCode, message: String) {
        self.problems.push(PlanProblem::new(path, code, message));
    }

    fn read_tools(&mut self, plan: &Map<String, Value>, reading: &mut Reading) {
        let tools = match plan.get("tools") {
            Some(Value::Array(tools)) => tools,
            Some(other) => return self.wrong_type("/tools", "a list", other),
            None => return self.missing("", "tools"),
        };
        if tools.len() > PLAN_TOOLS_MAX {
            let message = format!("the plan has {} tools, at most {PLAN_TOOLS_MAX} are allowed", tools.len());
            return self.report("/tools", PlanProblemCode::TooManyTools, message);
        }
        for (place, tool) in tools.iter().enumerate() {
            let path = format!("/tools/{place}");
            let Value::Object(tool) = tool else {
                self.wrong_type(&path, "an object", tool);
                continue;
            };
            let id = self.tool_id(tool, &path);
            let read = self.tool(tool, &path, id.clone());
            match read {
                Some(tool) => {
                    reading.document.tools.push(tool);
                    reading.places.push(place);
                }
                None => reading.unread.extend(id),
            }
        }
    }

    /// Reads every field of a tool, so that all that is wrong is told. The tool takes part in further checks when what
    /// they need could be read.
    fn tool(&mut self, tool: &Map<String, Value>, path: &str, id: Option<StepId>) -> Option<ToolInvocation> {
        self.check_keys(tool, path, TOOL_KEYS);
        let before = self.problems.count();
        let (tool_path, skill) = self.target(tool, path);
        let script = match self.text(tool, path, "script") {
            Some(text) => self.parsed(&format!("{path}/script"), text, "a script's name"),
            None => None,
        };
        let input = self.input(tool, path);
        let dependencies = self.texts(tool, path, "dependencies");
        let dependencies =
            dependencies.into_iter().filter_map(|(path, text)| self.step_id(&path, text)).collect();
        let is_readable = self.problems.count() == before;
        let required = self.boolean(tool, path, "required").unwrap_or(true);
        let r#async = self.boolean(tool, path, "async").unwrap_or(false);
        let retry_policy = self.retry_policy(tool, path);
        let timeout_ms = self.integer(tool, path, "timeoutMs", 1, 1000 * TIMEOUT_S_MAX);
        let id = id.filter(|_| is_readable)?;
        Some(ToolInvocation {
            tool_id: id,
            tool_path,
            skill,
            script,
            input,
            dependencies,
            required,
            r#async,
            retry_policy,
            timeout_ms,
        })
    }

    fn tool_id(&mut self, tool: &Map<String, Value>, path: &str) -> Option<StepId> {
        let text = self.required_text(tool, path, "toolId")?;
        self.step_id(&format!("{path}/toolId"), text)
    }

    fn step_id(&mut self, path: &str, text: &str) -> Option<StepId> {
        let error = match text.parse() {
            Ok(id) => return Some(id),
            Err(error) => error,
        };
        let code = match error {
            StepIdError::Empty => PlanProblemCode::EmptyToolId,
            StepIdError::TooLong | StepIdError::Character(_) => PlanProblemCode::InvalidValue,
        };
        self.report(path, code, error.to_string());
        None
    }

    /// What runs: `toolPath`, or `skill` and perhaps `script`.
    fn target(&mut self, tool: &Map<String, Value>, path: &str) -> (Option<String>, Option<SkillChoice>) {
        let names = |key: &str| tool.get(key).is_some_and(|value| !value.is_null());
        let hint = "a tool is either a `toolPath`, or a `skill` and perhaps its `script`";
        let problem = match (names("toolPath"), names("skill"), names("script")) {
            (false, false, _) => {
                Some((PlanProblemCode::MissingField, "neither `toolPath` nor `skill` says what runs"))
            }
            (true, true, _) => {
                Some((PlanProblemCode::ConflictingFields, "`toolPath` and `skill` both say what runs"))
            }
            (true, false, true) => {
                Some((PlanProblemCode::ConflictingFields, "`script` belongs to `skill`, not to `toolPath`"))
            }
            (true, false, false) | (false, true, _) => None,
        };
        if let Some((code, message)) = problem {
            self.problems.push(PlanProblem::new(path, code, message).hint(hint));
        }
        let tool_path = self.text(tool, path, "toolPath").map(str::to_owned);
        if tool_path.as_deref() == Some("") {
            self.report(
                &format!("{path}/toolPath"),
                PlanProblemCode::InvalidValue,
                "the path is empty".to_owned(),
            );
        }
        let skill = match self.text(tool, path, "skill") {
            Some(text) => match text.parse() {
                Ok(choice) => Some(choice),
                Err(error) => {
                    let error: super::document::SkillChoiceError = error;
                    self.report(&format!("{path}/skill"), PlanProblemCode::InvalidValue, error.to_string());
                    None
                }
            },
            None => None,
        };
        (tool_path, skill)
    }

    fn input(&mut self, tool: &Map<String, Value>, path: &str) -> Map<String, Value> {
        let path = format!("{path}/input");
        match tool.get("input") {
            None => Map::new(),
            Some(Value::Object(input)) => {
                if json_bytes(input, PLAN_INPUT_BYTES_MAX).is_none() {
                    let message = format!("the input has more than {PLAN_INPUT_BYTES_MAX} bytes");
                    self.report(&path, PlanProblemCode::InputTooLarge, message);
                }
                input.clone()
            }
            Some(other) => {
                self.wrong_type(&path, "an object", other);
                Map::new()
            }
        }
    }

    fn retry_policy(&mut self, tool: &Map<String, Value>, path: &str) -> RetryPolicy {
        let mut policy = RetryPolicy::default();
        let Some(object) = self.object(tool, path, "retryPolicy") else { return policy };
        let path = format!("{path}/retryPolicy");
        self.check_keys(object, &path, RETRY_KEYS);
        let retries = self.integer(object, &path, "maxRetries", 0, u64::from(PLAN_RETRIES_MAX));
        if let Some(retries) = retries.and_then(|retries| u32::try_from(retries).ok()) {
            policy.max_retries = retries;
        }
        if let Some(backoff_ms) = self.integer(object, &path, "backoffMs", 0, u64::MAX) {
            policy.backoff_ms = backoff_ms;
        }
        policy
    }

    fn metadata(&mut self, plan: &Map<String, Value>) -> PlanMetadata {
        let mut metadata = PlanMetadata::first();
        let Some(object) = self.object(plan, "", "metadata") else { return metadata };
        self.check_keys(object, "/metadata", METADATA_KEYS);
        match self.integer(object, "/metadata", "generationAttempt", 1, u64::from(u32::MAX)) {
            Some(attempt) => metadata.generation_attempt = u32::try_from(attempt).unwrap_or(u32::MAX),
            None if object.get("generationAttempt").is_none_or(Value::is_null) => {
                self.missing("/metadata", "generationAttempt");
            }
            None => {}
        }
        if let Some(text) = self.text(object, "/metadata", "parentPlanId") {
            metadata.parent_plan_id = self.plan_id("/metadata/parentPlanId", text);
        }
        metadata
    }

    fn check_keys(&mut self, object: &Map<String, Value>, path: &str, known: &[&str]) {
        for key in object.keys().filter(|key| !key.starts_with('$') && !known.contains(&key.as_str())) {
            let mut at = path.to_owned();
            push_pointer(&mut at, key);
            let shown: String = key.chars().take(100).collect();
            let meant = did_you_mean(meant(key, known.iter().copied()));
            let mut problem = PlanProblem::new(
                at,
                PlanProblemCode::UnknownKey,
                format!("there is no field `{shown}` here"),
            );
            problem.hint = Some(meant.unwrap_or_else(|| format!("fields are: {}", known.join(", "))));
            self.problems.push(problem);
        }
    }

    fn object<'a>(
        &mut self,
        from: &'a Map<String, Value>,
        path: &str,
        key: &str,
    ) -> Option<&'a Map<String, Value>> {
        let value = from.get(key).filter(|value| !value.is_null())?;
        let object = value.as_object();
        if object.is_none() {
            self.wrong_type(&format!("{path}/{key}"), "an object", value);
        }
        object
    }

    fn required_text<'a>(&mut self, from: &'a Map<String, Value>, path: &str, key: &str) -> Option<&'a str> {
        match from.get(key) {
            None => {
                self.missing(path, key);
                None
            }
            Some(Value::String(text)) => Some(text),
            Some(other) => {
                self.wrong_type(&format!("{path}/{key}"), "a text", other);
                None
            }
        }
    }

    fn text<'a>(&mut self, from: &'a Map<String, Value>, path: &str, key: &str) -> Option<&'a str> {
        if from.get(key)?.is_null() { None } else { self.required_text(from, path, key) }
    }

    fn texts<'a>(&mut self, from: &'a Map<String, Value>, path: &str, key: &str) -> Vec<(String, &'a str)> {
        let items = match from.get(key) {
            None => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(other) => {
                self.wrong_type(&format!("{path}/{key}"), "a list", other);
                return Vec::new();
            }
        };
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}/{key}/{index}");
            match item.as_str() {
                Some(text) => texts.push((path, text)),
                None => self.wrong_type(&path, "a text", item),
            }
        }
        texts
    }

    fn boolean(&mut self, from: &Map<String, Value>, path: &str, key: &str) -> Option<bool> {
        let value = from.get(key)?;
        let boolean = value.as_bool();
        if boolean.is_none() {
            self.wrong_type(&format!("{path}/{key}"), "true or false", value);
        }
        boolean
    }

    fn integer(
        &mut self,
        from: &Map<String, Value>,
        path: &str,
        key: &str,
        min: u64,
        max: u64,
    ) -> Option<u64> {
        let value = from.get(key).filter(|value| !value.is_null())?;
        let path = format!("{path}/{key}");
        if !value.is_number() {
            self.wrong_type(&path, "a whole number", value);
            return None;
        }
        match whole(value) {
            Some(number) if (min..=max).contains(&number) => Some(number),
            Some(_) | None => {
                let range =
                    if max == u64::MAX { format!("from {min} on") } else { format!("from {min} to {max}") };
                let message = format!("must be a whole number {range}, not {value}");
                self.report(&path, PlanProblemCode::OutOfRange, message);
                None
            }
        }
    }

    fn plan_id(&mut self, path: &str, text: &str) -> Option<PlanId> {
        let id = text.parse().ok();
        if id.is_none() {
            let shown: String = text.chars().take(100).collect();
            self.report(path, PlanProblemCode::InvalidValue, format!("`{shown}` is not a UUID"));
        }
        id
    }

    fn parsed<T: FromStr<Err: ToString>>(&mut self, path: &str, text: &str, what: &str) -> Option<T> {
        text.parse()
            .map_err(|error: T::Err| {
                let shown: String = text.chars().take(100).collect();
                let message = format!("`{shown}` is not {what}: {}", error.to_string());
                self.report(path, PlanProblemCode::InvalidValue, message);
            })
            .ok()
    }

    fn missing(&mut self, path: &str, key: &str) {
        self.report(path, PlanProblemCode::MissingField, format!("`{key}` is missing"));
    }

    fn wrong_type(&mut self, path: &str, wanted: &str, found: &Value) {
        let message = format!("must be {wanted}, not {}", kind(found));
        self.report(path, PlanProblemCode::WrongType, message);
    }
}

/// A number without a fraction, also when it is written as `3.0`.
fn whole(value: &Value) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let float = |number: f64| number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number);
    value.as_u64().or_else(|| value.as_f64().filter(|number| float(*number)).map(|number| number as u64))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
