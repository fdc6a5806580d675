//! A small world of skills that plans in tests can use, and short ways to write plans.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::composite::{Composite, ErrorPolicy, Fallback, Step};
use crate::health::Health;
use crate::name::{LocalName, SkillName};
use crate::plan::{Plan, PlanProblem, SkillLookup, SkillView, ToolPath, Work, resolve_value};
use crate::registry::{Availability, Registry};
use crate::schema::Schema;
use crate::skill::{Script, Skill};
use crate::version::Version;

pub(super) const PLAN_ID: &str = "8f14e45f-ceea-4e7a-9b1c-2d3e4f5a6b7c";

/// Skills by name and version, and how they stand.
pub(super) struct World {
    skills: BTreeMap<(SkillName, Version), Skill>,
    disabled: Vec<&'static str>,
    unhealthy: Vec<&'static str>,
}

impl World {
    pub(super) fn new(skills: Vec<Skill>) -> Self {
        let keyed = skills.into_iter().map(|skill| ((skill.name.clone(), skill.version.clone()), skill));
        Self { skills: keyed.collect(), disabled: vec!["off"], unhealthy: vec!["broken"] }
    }

    /// Skills that do what their names say.
    pub(super) fn usual() -> Self {
        let mut move_to = script("move", &["run"]);
        move_to.interface.parameters = Schema::parse(json!({
            "type": "object",
            "properties": {
                "location": {"type": "string"},
                "speed": {"type": "number", "maximum": 5, "default": 1},
            },
            "required": ["location"],
            "additionalProperties": false,
        }))
        .unwrap();
        move_to.attempts.max_retries = 2;
        move_to.attempts.backoff_ms = 50;
        move_to.attempts.timeout_s = 7;
        let mut detect = script("detect", &["run", "quick"]);
        detect.scripts[1].timeout = Some(2);
        detect.scripts[1].parameters_schema = Some(Schema::parse(json!({"required": ["area"]})).unwrap());
        detect.attempts.idempotent = true;
        let mut many = script("many", &["one", "two"]);
        many.entrypoint = None;
        let mut locked = script("locked", &["run"]);
        locked.scripts[0].is_executable = false;
        let newer = Skill { version: Version::new(2, 0, 0), ..script("detect", &["run"]) };
        Self::new(vec![
            move_to,
            detect,
            newer,
            many,
            locked,
            script("grasp", &["run"]),
            script("off", &["run"]),
            script("broken", &["run"]),
            bare("advice"),
        ])
    }

    pub(super) fn with(mut self, skill: Skill) -> Self {
        self.skills.insert((skill.name.clone(), skill.version.clone()), skill);
        self
    }

    pub(super) fn registry(&self) -> Registry {
        let skills: Vec<_> = self.skills.values().cloned().map(std::sync::Arc::new).collect();
        let mut registry = Registry::of(&skills);
        for name in &self.disabled {
            let _ = registry.set_availability(&name.parse().unwrap(), Availability::Disabled);
        }
        registry
    }
}

impl SkillLookup for World {
    fn skill(&self, name: &SkillName, version: Option<&Version>) -> Option<SkillView<'_>> {
        let fits =
            |skill: &&Skill| skill.name == *name && version.is_none_or(|version| skill.version == *version);
        let skill = self.skills.values().rfind(fits)?;
        let is_among = |names: &[&str]| names.contains(&name.as_str());
        Some(SkillView {
            sharing: crate::data_scope::Sharing::NotGranted,
            origin: None,
            skill,
            content_hash: "sha256:0",
            folder: "skills",
            health: if is_among(&self.unhealthy) { Health::PermanentFailure } else { Health::NEW },
            availability: if is_among(&self.disabled) {
                Availability::Disabled
            } else {
                Availability::Enabled
            },
        })
    }

    fn tool_path(&self, path: &str) -> ToolPath {
        let Some((name, file)) = path.strip_prefix("skills/").and_then(|rest| rest.split_once('/')) else {
            return ToolPath::Outside;
        };
        let Some(view) = name.parse().ok().and_then(|name| self.skill(&name, None)) else {
            return ToolPath::Missing;
        };
        match view.skill.scripts.iter().find(|script| script.path == file) {
            Some(script) if !script.is_executable => ToolPath::NotExecutable,
            Some(script) => ToolPath::Script { skill: view.skill.pin(), script: script.name.clone() },
            None => ToolPath::NotAScript,
        }
    }

    fn similar(&self, name: &SkillName) -> Vec<SkillName> {
        let is_near = |skill: &&Skill| skill.name.as_str()[..1] == name.as_str()[..1];
        self.skills.values().find(is_near).map(|skill| skill.name.clone()).into_iter().collect()
    }
}

/// A skill that only holds instructions.
pub(super) fn bare(name: &str) -> Skill {
    Skill::new(name.parse().unwrap(), Version::new(1, 0, 0), "Does it.".to_owned())
}

/// A skill with scripts, the first of which is its entrypoint.
pub(super) fn script(name: &str, scripts: &[&str]) -> Skill {
    let script = |script: &&str| Script {
        name: script.parse().unwrap(),
        path: format!("{script}.sh").into(),
        is_executable: true,
        description: None,
        parameters_schema: None,
        returns_schema: None,
        timeout: None,
    };
    let mut skill = bare(name);
    skill.scripts = scripts.iter().map(script).collect();
    skill.entrypoint = Some(scripts[0].parse().unwrap());
    skill
}

/// A composite of steps written as `id: skill < needed needed ? ! = {json}`; `?` is optional, `!` asks first.
pub(super) fn composite(name: &str, steps: &[&str], on_failure: ErrorPolicy) -> Skill {
    let mut skill = bare(name);
    skill.composite = Some(Composite { steps: steps.iter().map(|text| step(text)).collect(), on_failure });
    skill
}

fn step(text: &str) -> Step {
    let (head, input) = text.split_once(" = ").unwrap_or((text, "{}"));
    let (id, rest) = head.split_once(": ").unwrap();
    let (rest, required) = rest.split_once(" ?").map_or((rest, true), |(rest, _)| (rest, false));
    let (rest, approval) = rest.split_once(" !").map_or((rest, false), |(rest, _)| (rest, true));
    let (skill, depends_on) = match rest.split_once(" <") {
        Some((skill, names)) => {
            (skill, Some(names.split_whitespace().map(|name| name.parse().unwrap()).collect()))
        }
        None => (rest, None),
    };
    let Value::Object(input) = serde_json::from_str(input).unwrap() else { panic!("{text}") };
    let (skill, script) =
        skill.split_once('/').map_or((skill, None), |(skill, script)| (skill, Some(script)));
    Step {
        id: id.parse().unwrap(),
        skill: skill.parse().unwrap(),
        script: script.map(|script| script.parse::<LocalName>().unwrap()),
        input,
        depends_on,
        required,
        approval,
    }
}

pub(super) fn fallback(max_retries: u32, skill: &str, input: Value) -> ErrorPolicy {
    let fallback = Fallback::Skill { skill: skill.parse().unwrap(), script: None, input: object(input) };
    ErrorPolicy::Fallback { max_retries, fallback }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value} is no object") };
    object
}

/// A plan document with these tools.
pub(super) fn document(tools: Value) -> Value {
    json!({"requestId": PLAN_ID, "tools": tools})
}

pub(super) fn resolved(tools: Value, world: &World) -> Plan {
    resolve_value(&document(tools), world).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// Problems as `code path: message`.
pub(super) fn texts(problems: &[PlanProblem]) -> Vec<String> {
    problems.iter().map(|problem| format!("{} {problem}", problem.code)).collect()
}

#[track_caller]
pub(super) fn refused(value: &Value, world: &World, expected: &[&str]) {
    let problems = resolve_value(value, world).err().unwrap_or_default();
    assert_eq!(texts(&problems), expected);
}

/// Steps as `id skill/script < needed, name=needed`; what is seen stands with its name.
pub(super) fn shape(plan: &Plan) -> Vec<String> {
    let line = |step: &crate::plan::PlanStep| {
        let work = match &step.work {
            Work::Script(target) => format!("{}/{}", target.skill, target.script),
            Work::Gather { skill, .. } => format!("[{skill}]"),
        };
        let needs = step.needs.iter().map(|need| {
            let id = &plan.steps()[need.step].id;
            need.shown_as.as_ref().map_or_else(|| id.to_string(), |name| format!("{name}={id}"))
        });
        let needs: Vec<String> = needs.collect();
        if needs.is_empty() {
            format!("{} {work}", step.id)
        } else {
            format!("{} {work} < {}", step.id, needs.join(", "))
        }
    };
    plan.steps().iter().map(line).collect()
}
