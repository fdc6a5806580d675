//! `artel skill run`.

use std::collections::BTreeMap;
use std::io::Read;

use artel_api::runs::{ExecutionsQuery, RunRequest};
use artel_catalog::{Catalog, Keep};
use artel_model::id::PlanId;
use artel_model::limit::PARAMS_BYTES_MAX;
use artel_model::name::{LocalName, SkillName};
use artel_model::plan::{
    ChainRequest, PlanProblem, PlanProblemCode, SkillChoice, SkillRequest, chain_plan, skill_plan,
};
use artel_model::run::{ExecutionRecord, TraceEntry};
use artel_model::schema::Schema;
use artel_model::skill::Skill;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::context::{Context, find};
use super::parameters::{self, ParameterError};
use crate::backend::{Backend, Carried, NotBegun};
use crate::cli::SkillRunArgs;
use crate::failure::Failure;
use crate::output::{Shown, Tone, span};
use crate::runtime::{Shelf, wait_for};

/// Records that are read at once.
const RECORDS_PAGE: u32 = 1000;

pub(crate) fn run(context: Context<'_>, args: &SkillRunArgs) -> Result<(), Failure> {
    let shown = if args.how.watch { Shown::Steps } else { Shown::Said };
    let remote = context.remote()?;
    let catalog = if remote.is_some() { Some(context.catalog(Keep::Descriptions)?) } else { None };
    wait_for(async {
        let (backend, wanted) = match (remote, catalog) {
            (Some(client), Some(catalog)) => (Backend::Remote(client), Wanted::read(args, &catalog)?),
            (_, _) => {
                let shelf = Shelf::open(context, Keep::Descriptions).await?;
                let wanted = Wanted::read(args, shelf.catalog())?;
                wanted.check(context, args, &shelf)?;
                (Backend::open_to_work(context, shelf).await?, wanted)
            }
        };
        let carried = carry_out(context, args, &backend, wanted, shown).await?;
        let printed = print(context, args, &backend, &carried).await;
        backend.close().await;
        printed
    })
}

async fn carry_out(
    context: Context<'_>,
    args: &SkillRunArgs,
    backend: &Backend,
    wanted: Wanted,
    shown: Shown,
) -> Result<Carried, Failure> {
    let begin = async {
        let begun = backend.run_skill(wanted.request(args), args.how.key.as_deref()).await;
        begun.map_err(|error| match error {
            NotBegun::Problems(problems) => refuse(context, &problems),
            NotBegun::Failed(failure) => failure,
        })
    };
    backend.carry_out(context, begin, shown).await
}

/// What was typed, read by what the skill says about its parameters.
enum Wanted {
    Chain { skill: SkillName, params: BTreeMap<SkillName, Map<String, Value>> },
    Skill { skill: SkillName, params: Map<String, Value> },
}

impl Wanted {
    fn read(args: &SkillRunArgs, catalog: &Catalog) -> Result<Self, Failure> {
        let entry = find(catalog, &args.skill.name, args.skill.version.as_ref())?;
        let Some(skill) = entry.skill.as_deref() else { return Err(Failure::reported()) };
        let given = given(args.params.as_deref())?;
        if args.chain {
            let params = chain_parameters(catalog, given, &args.values)?;
            check_chain(catalog, skill, &params)?;
            return Ok(Self::Chain { skill: skill.name.clone(), params });
        }
        let schema = schema(skill, args.script.as_ref())?;
        let mut params = given;
        for value in &args.values {
            parameters::put(schema, &mut params, value).map_err(refused)?;
        }
        match parameters::missing(schema, &params, "") {
            Some(missing) => Err(refused(missing)),
            None => Ok(Self::Skill { skill: skill.name.clone(), params }),
        }
    }

    /// Looks for what is wrong before anything is opened or kept.
    fn check(&self, context: Context<'_>, args: &SkillRunArgs, shelf: &Shelf) -> Result<(), Failure> {
        let id = PlanId(Uuid::nil());
        let plan = match self {
            Self::Chain { skill, params } => {
                let request = ChainRequest { id, skill, params: params.clone() };
                chain_plan(&request, shelf.catalog().registry(), &*shelf.skills)
            }
            Self::Skill { skill, params } => {
                let choice = SkillChoice { name: skill.clone(), version: args.skill.version.clone() };
                let script = args.script.as_ref();
                skill_plan(
                    SkillRequest { id, skill: &choice, script, params: params.clone() },
                    &*shelf.skills,
                )
            }
        };
        plan.map(drop).map_err(|problems| refuse(context, &problems))
    }

    /// Says it to the application.
    fn request(self, args: &SkillRunArgs) -> RunRequest {
        let (chain, skill, version, script, params) = match self {
            Self::Chain { skill, params } => {
                let params = params.into_iter().map(|(name, params)| (name.to_string(), params.into()));
                (true, skill, None, None, params.collect())
            }
            Self::Skill { skill, params } => {
                (false, skill, args.skill.version.clone(), args.script.clone(), params)
            }
        };
        let timeout_ms = args.how.timeout;
        RunRequest { skill: Some(skill), version, script, params, chain, plan: None, timeout_ms }
    }
}

pub(super) fn refused(error: ParameterError) -> Failure {
    let failure = Failure::usage(error.message);
    match error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns the schema that the parameters are read by.
pub(super) fn schema<'s>(skill: &'s Skill, script: Option<&LocalName>) -> Result<&'s Schema, Failure> {
    let script = match (script, &skill.composite) {
        (Some(name), _) => Some(skill.script(name).ok_or_else(|| unknown_script(skill, name))?),
        (None, Some(_)) => None,
        (None, None) => skill.entrypoint.as_ref().and_then(|name| skill.script(name)),
    };
    let own = script.and_then(|script| script.parameters_schema.as_ref());
    Ok(own.unwrap_or(&skill.interface.parameters))
}

fn unknown_script(skill: &Skill, name: &LocalName) -> Failure {
    let names: Vec<&str> = skill.scripts.iter().map(|script| script.name.as_str()).collect();
    let hint = match parameters::meant(name.as_str(), names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if names.is_empty() => "it has no scripts".to_owned(),
        None => format!("there is: {}", names.join(", ")),
    };
    Failure::usage(format!("`{}` has no script `{name}`", skill.name)).hint(hint)
}

/// Says which skill of a chain lacks a parameter, and which parameters are of no skill of it.
pub(super) fn check_chain(
    catalog: &Catalog,
    skill: &Skill,
    params: &BTreeMap<SkillName, Map<String, Value>>,
) -> Result<(), Failure> {
    // Why a chain cannot be resolved is told when the plan is made.
    let Ok(chain) = catalog.registry().resolve_dependencies(&skill.name) else { return Ok(()) };
    let names: Vec<&str> = chain.iter().map(|link| link.name.as_str()).collect();
    if let Some(other) = params.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(Failure::usage(format!("`{other}` does not run in this chain"))
            .hint(format!("what runs is: {}", names.join(", "))));
    }
    let nothing = Map::new();
    for link in chain.iter().filter(|link| link.entrypoint.is_some() || link.composite.is_some()) {
        let given = params.get(&link.name).unwrap_or(&nothing);
        let Ok(schema) = schema(link, None) else { continue };
        if let Some(missing) = parameters::missing(schema, given, &format!("{}.", link.name)) {
            let message = format!("`{}`: {}", link.name, missing.message);
            return Err(refused(ParameterError { message, hint: missing.hint }));
        }
    }
    Ok(())
}

/// Reads `--params`.
pub(super) fn given(params: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let Some(params) = params else { return Ok(Map::new()) };
    let text = match params.strip_prefix('@') {
        Some(file) => read_file(file)?,
        None => params.to_owned(),
    };
    if text.len() > PARAMS_BYTES_MAX {
        return Err(Failure::usage(format!("the parameters have more than {PARAMS_BYTES_MAX} bytes")));
    }
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::usage("the parameters are no JSON object")
            .hint("write for example --params '{\"key\": 1}'")),
        Err(error) => Err(Failure::usage(format!("the parameters are no JSON: {error}"))
            .hint("write for example --params '{\"key\": 1}', or --params @FILE")),
    }
}

fn read_file(file: &str) -> Result<String, Failure> {
    let cannot =
        |error: std::io::Error| Failure::missing(format!("cannot read the parameters `{file}`: {error}"));
    let bytes_max = PARAMS_BYTES_MAX as u64 + 1;
    let mut text = String::new();
    match file {
        "-" => std::io::stdin().lock().take(bytes_max).read_to_string(&mut text).map_err(cannot)?,
        path => {
            let file = std::fs::File::open(path).map_err(cannot)?;
            file.take(bytes_max).read_to_string(&mut text).map_err(cannot)?
        }
    };
    Ok(text)
}

/// Sorts parameters by skill: `--params` has an object for each, values are `SKILL.KEY=VALUE`.
pub(super) fn chain_parameters(
    catalog: &Catalog,
    given: Map<String, Value>,
    values: &[String],
) -> Result<BTreeMap<SkillName, Map<String, Value>>, Failure> {
    let mut params: BTreeMap<SkillName, Map<String, Value>> = BTreeMap::new();
    for (name, value) in given {
        let Value::Object(value) = value else {
            return Err(Failure::usage(format!("the parameters of `{name}` are no JSON object")).hint(
                "with --chain there is an object for each skill: {\"navigate\": {\"location\": \"kitchen\"}}",
            ));
        };
        params.insert(skill_name(&name)?, value);
    }
    for text in values {
        let Some((name, value)) = text.split_once('.').filter(|(name, _)| !name.contains('=')) else {
            return Err(Failure::usage(format!("`{text}` does not say which skill it is for"))
                .hint("with --chain write SKILL.KEY=VALUE"));
        };
        let name = skill_name(name)?;
        let entry = find(catalog, &name, None)?;
        let Some(skill) = &entry.skill else { continue };
        parameters::put(schema(skill, None)?, params.entry(name).or_default(), value).map_err(refused)?;
    }
    Ok(params)
}

fn skill_name(text: &str) -> Result<SkillName, Failure> {
    text.parse().map_err(|error| Failure::usage(format!("`{text}` is no skill's name: {error}")))
}

/// Says why the skill cannot be run so. Bad parameters are wrong usage; everything else is a failure.
fn refuse(context: Context<'_>, problems: &[PlanProblem]) -> Failure {
    let is_usage = problems.iter().all(|problem| {
        let is_input = matches!(
            problem.code,
            PlanProblemCode::InvalidInput
                | PlanProblemCode::UnknownScript
                | PlanProblemCode::InvalidReference
                | PlanProblemCode::ReferenceNotADependency
                | PlanProblemCode::InputTooLarge
        );
        let is_of_no_link =
            problem.code == PlanProblemCode::UnknownSkill && problem.path.starts_with("/params");
        is_input || is_of_no_link
    });
    let kind = |message: &str| if is_usage { Failure::usage(message) } else { Failure::failed(message) };
    if context.output.json {
        context.output.document(&json!({"problems": problems}));
        return kind("");
    }
    let place = |problem: &PlanProblem| match problem.path.strip_prefix("/params") {
        Some("") | None => problem.message.clone(),
        Some(path) => format!("`{}`: {}", path.trim_start_matches('/').replace('/', "."), problem.message),
    };
    let lines: Vec<String> = problems.iter().map(place).collect();
    let failure = kind(&lines.join("; "));
    match problems.iter().find_map(|problem| problem.hint.clone()) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Prints what came of it: of a chain, what came of the skill that was asked for.
async fn print(
    context: Context<'_>,
    args: &SkillRunArgs,
    backend: &Backend,
    carried: &Carried,
) -> Result<(), Failure> {
    let (output, result) = (context.output, &carried.result);
    let steps = carried.run.plan().steps();
    let asked = steps.iter().rposition(|step| step.scope.is_none()).unwrap_or_default();
    let Some(entry) = result.execution_trace.get(asked) else { return Err(Failure::reported()) };
    if output.json {
        output.document(&record(backend, carried, asked, entry).await?);
        return if result.success { Ok(()) } else { Err(Failure::reported()) };
    }
    let name = &args.skill.name;
    let run = carried.run.id();
    if let (true, Some(out)) = (result.success, &entry.output) {
        output.fields(out);
        let took = span(result.total_execution_time_ms);
        output.remark("done:", Tone::Good, &format!("{name} in {took}, run {run}"));
        return Ok(());
    }
    // Of a chain or a composite, what failed first says more than what could not go on.
    let failed =
        result.execution_trace.iter().find(|entry| !entry.attempts.is_empty() && entry.error.is_some());
    let told = failed.unwrap_or(entry);
    let message = told.error.as_ref().map_or("it did not complete", |error| error.message.as_str());
    Err(Failure::failed(format!("`{}` failed: {message}", told.tool_id))
        .hint(format!("`artel run show {run}` shows everything about it")))
}

/// Returns the record of a step as JSON, its attempts with what was said in them.
async fn record(
    backend: &Backend,
    carried: &Carried,
    step: usize,
    entry: &TraceEntry,
) -> Result<Value, Failure> {
    let run = carried.run.id();
    let mut query =
        ExecutionsQuery { run: Some(run.0), limit: Some(RECORDS_PAGE), ..ExecutionsQuery::default() };
    let found: Option<ExecutionRecord> = loop {
        let records = backend.executions(query.clone()).await?;
        let is_it = |record: &ExecutionRecord| record.step_id == entry.tool_id;
        match (records.items.into_iter().find(is_it), records.next) {
            (None, Some(next)) => query.after = Some(next),
            (found, _) => break found,
        }
    };
    let mut document = match found {
        Some(record) => serde_json::to_value(record).expect("a record is JSON"),
        // It never began, so there is no record; what is known is told in the same shape.
        None => {
            let (skill, version, content_hash) = carried.run.skill(step);
            json!({
                "execution_id": null, "run_id": run, "step_id": entry.tool_id, "agent_id": null,
                "skill_name": skill, "skill_version": version, "content_hash": content_hash,
                "parameters": carried.run.plan().steps()[step].input, "result": null, "error": entry.error,
                "status": "cancelled", "started_at": null, "completed_at": null, "duration_ms": null,
                "retry_count": 0, "node": null, "attempts": [],
            })
        }
    };
    let attempts = document["attempts"].as_array_mut().into_iter().flatten();
    for (attempt, trace) in attempts.zip(&entry.attempts) {
        attempt["events"] = json!(trace.events);
    }
    Ok(document)
}
