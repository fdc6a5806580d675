//! `artel doctor`.

use std::fmt::Display;
use std::os::unix::fs::PermissionsExt;

use artel_agents::AtLimit;
use artel_bus::BusConfig;
use artel_catalog::Keep;
use artel_engine::process::{Layer, probe};
use artel_engine::scanner::installed_version;
use artel_engine::{Clock, SandboxMode};
use artel_store_sqlite::MIGRATIONS;
use camino::Utf8Path;
use serde_json::{Value, json};

use super::context::Context;
use super::doctor_server::{remote_checks, remote_settings, server_settings};
use super::doctor_serving::serving_checks;
use super::doctor_users::user_checks;
use crate::config::{
    AgentSettings, BusChoice, ClientSettings, CommandsWord, Config, HomeWord, LlmSettings, NetworkWord,
    Origin, PlannerKind, PlannerSettings, SECOND_SCANNER, ScannerChoice, ScannerSettings, Setting,
    StoreChoice,
};
use crate::failure::Failure;
use crate::output::{Counts, Table, Tone};
use crate::runtime::{Reached, Store, reach_bus, wait_for};

/// One check of the machine.
pub(super) struct Check {
    pub(super) name: String,
    pub(super) state: State,
    pub(super) detail: String,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    Good,
    Odd,
    Bad,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Odd => "warning",
            Self::Bad => "error",
        }
    }
}

pub(crate) fn run(context: Context<'_>) -> Result<(), Failure> {
    let settings = settings(context);
    let checks = checks(context);
    if context.output.json {
        let settings: Vec<Value> = settings
            .iter()
            .map(|(name, value, origin)| json!({"name": name, "value": value, "origin": origin}))
            .collect();
        let checks: Vec<Value> = checks
            .iter()
            .map(|check| json!({"name": check.name, "state": check.state.as_str(), "detail": check.detail}))
            .collect();
        context.output.document(&json!({"settings": settings, "checks": checks}));
    } else {
        print(context, &settings, &checks);
    }
    if checks.iter().any(|check| check.state == State::Bad) { Err(Failure::reported()) } else { Ok(()) }
}

/// One setting: its name, its value, and where that comes from.
pub(super) type Row = (&'static str, String, String);

pub(super) fn row<T>(name: &'static str, setting: &Setting<T>, show: impl Fn(&T) -> String) -> Row {
    (name, show(&setting.value), setting.origin.to_string())
}

fn settings(context: Context<'_>) -> Vec<Row> {
    let config = context.config;
    let file = config.file.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    let file_origin = if config.file.is_some() { "found".to_owned() } else { Origin::Default.to_string() };
    let cap = |cap: &Option<usize>| cap.map_or_else(|| "all".to_owned(), |number| number.to_string());
    let mut rows = vec![
        ("configuration file", file, file_origin),
        row("skills_dirs", &config.skills_dirs, |dirs| join(dirs)),
        row("data", &config.data, ToString::to_string),
        row("max_skill_summaries_in_prompt", &config.prompt_skills_max, cap),
        row("skill_env", &config.skill_env, |names| join(names)),
        row("limits", &config.limits, |limits| {
            format!(
                "skill_files={} skill_bytes={} discovery_folders={} discovery_depth={}",
                limits.folder.files_max, limits.folder.bytes_max, limits.folders_max, limits.depth_max
            )
        }),
    ];
    rows.extend(remote_settings(config));
    rows.extend(running_settings(config));
    rows.extend(agent_settings(config));
    rows.extend(server_settings(config));
    rows
}

fn running_settings(config: &Config) -> Vec<Row> {
    let days = |days: &Option<u32>| days.map_or_else(|| "keep all".to_owned(), |days| days.to_string());
    vec![
        row("store", &config.store, ToString::to_string),
        row("sandbox", &config.sandbox, |mode| mode_word(*mode).to_owned()),
        row("sandbox_users", &config.sandbox_users, ToString::to_string),
        row("cgroup", &config.cgroup, ToString::to_string),
        row("retention_days", &config.retention_days, days),
        row("run", &config.run, |run| {
            format!(
                "deadline_ms={} grace_ms={} slots={} processes={} runs={}",
                run.deadline_ms, run.grace_ms, run.slots, run.processes, run.runs
            )
        }),
        row("sandbox_grants", &config.grants, |grants| {
            let lists = [
                ("network", join(&grants.network)),
                ("read", join(&grants.read)),
                ("write", join(&grants.write)),
                ("env", join(&grants.env)),
                ("path", join(&grants.path)),
                ("shared_data", join(&grants.shared_data)),
            ];
            let given: Vec<String> = lists
                .into_iter()
                .filter(|(_, list)| !list.is_empty())
                .map(|(name, list)| format!("{name}=[{list}]"))
                .collect();
            if given.is_empty() { "none".to_owned() } else { given.join(" ") }
        }),
        row("script_limits", &config.script_limits, |limits| {
            format!(
                "cpu_s={} memory_bytes={} open_files={} processes={} file_bytes={} folder_bytes={}",
                limits.cpu_s,
                limits.memory_bytes,
                limits.open_files,
                limits.processes,
                limits.file_bytes,
                limits.folder_bytes
            )
        }),
        row("planner", &config.planner, planner_words),
        row("scanner", &config.scanner, scanner_words),
    ]
}

fn agent_settings(config: &Config) -> Vec<Row> {
    vec![
        row("agents", &config.agents, agent_words),
        row("llm", &config.llm, llm_words),
        row("clients", &config.clients, client_words),
        row("bus", &config.bus, ToString::to_string),
        row("metrics", &config.metrics, |file| {
            file.as_ref().map_or_else(|| "nowhere".to_owned(), ToString::to_string)
        }),
        row("[telemetry]", &config.telemetry, |telemetry| match &telemetry.traces_url {
            Some(url) => {
                let (name, ratio) = (&telemetry.service_name, telemetry.sample_ratio);
                format!("{url} service_name={name} sample_ratio={ratio}")
            }
            None => "no traces".to_owned(),
        }),
    ]
}

fn agent_words(agents: &AgentSettings) -> String {
    let at_limit = match agents.at_limit {
        AtLimit::Reject => "reject".to_owned(),
        AtLimit::Queue { wait_ms } => format!("queue ({wait_ms} ms)"),
    };
    format!(
        "max_agents={} at_limit={at_limit} max_depth={} max_children={} timeout_ms={} allowed=[{}] forbidden=[{}]",
        agents.agents_max,
        agents.limits.depth,
        agents.limits.children,
        agents.work_ms,
        join(&agents.allowed),
        join(&agents.forbidden)
    )
}

fn llm_words(llm: &LlmSettings) -> String {
    let Some(model) = &llm.model else { return "none".to_owned() };
    let key = llm.api_key_env.as_ref().map(|name| format!(", key in ${name}")).unwrap_or_default();
    let url = llm.url.as_deref().unwrap_or("the usual address");
    let (turns, tokens, answer) = (llm.turns_max, llm.tokens_max, llm.answer_ms);
    format!("{model} at {url}{key}, turns={turns} tokens={tokens} timeout_ms={answer}")
}

fn client_words(clients: &ClientSettings) -> String {
    let home = match clients.home {
        HomeWord::Private => "private",
        HomeWord::Own => "own",
    };
    let commands = match clients.commands {
        CommandsWord::Any => "any",
        CommandsWord::Known => "known",
    };
    let (allowed, keep, pass) = (join(&clients.allowed), clients.keep, join(&clients.pass));
    let programs = join(&clients.programs);
    let user = clients.user.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    let network = match clients.network {
        NetworkWord::Preset => "preset",
        NetworkWord::None => "none",
    };
    format!(
        "allowed=[{allowed}] home={home} commands={commands} keep={keep} pass=[{pass}] programs=[{programs}] \
         user={user} network={network}"
    )
}

fn planner_words(planner: &PlannerSettings) -> String {
    let kind = planner.kind.as_str();
    match planner.kind {
        PlannerKind::Pattern => kind.to_owned(),
        PlannerKind::Command => format!("{kind}: {}", planner.command.join(" ")),
        PlannerKind::Llm => {
            let (model, url) = (planner.model.as_deref(), planner.url.as_deref());
            let key =
                planner.api_key_env.as_ref().map(|name| format!(", key in ${name}")).unwrap_or_default();
            format!("{kind}: {} at {}{key}", model.unwrap_or_default(), url.unwrap_or("the usual address"))
        }
    }
}

fn scanner_words(scanner: &ScannerSettings) -> String {
    let second = match &scanner.second {
        Some(second) => {
            let why = match second.chosen {
                ScannerChoice::Configured => "",
                ScannerChoice::Installed => ", because it is installed",
            };
            format!("{} (policy {}{why})", second.program, second.policy)
        }
        None => "none".to_owned(),
    };
    format!("gate={} fail_on={} second={second}", scanner.gate.as_str(), scanner.fail_on)
}

pub(super) fn mode_word(mode: SandboxMode) -> &'static str {
    match mode {
        SandboxMode::Enforce => "enforce",
        SandboxMode::BestEffort => "best-effort",
        SandboxMode::Off => "off",
    }
}

pub(super) fn join(items: &[impl Display]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn checks(context: Context<'_>) -> Vec<Check> {
    if context.config.remote.value.is_some() {
        // What would be run is run there.
        let mut checks = vec![data_folder(&context.config.data.value)];
        checks.extend(remote_checks(context));
        if checks.iter().all(|check| check.state != State::Bad) {
            checks.push(skills(context));
        }
        return checks;
    }
    let mut checks = vec![data_folder(&context.config.data.value), store(context), skills(context)];
    checks.extend(sandbox(context.config));
    checks.extend(user_checks(context.config));
    for (name, why) in [("sh", "scripts in shell"), ("python3", "scripts in Python")] {
        let (state, detail) = match context.config.environment.on_path(name) {
            Some(path) => (State::Good, path.into_string()),
            None => (State::Odd, format!("not found on PATH; {why} cannot run")),
        };
        checks.push(Check { name: name.to_owned(), state, detail });
    }
    checks.push(second_scanner(context));
    checks.extend(planner(context));
    checks.extend(llm(context));
    checks.extend(bus(context));
    checks.extend(serving_checks(context));
    checks
}

/// What the kernel can do to keep scripts apart from this machine, part by part.
fn sandbox(config: &Config) -> Vec<Check> {
    let mode = config.sandbox.value;
    let report = probe(&config.cgroup.value);
    let missing = report.missing();
    let state = |layer: Layer, active: bool| match (mode, active) {
        (_, true) => State::Good,
        // Few machines give artel a control group, and the watchdog does the same work.
        (_, false) if layer == Layer::Cgroup => State::Good,
        (SandboxMode::Enforce, false) if missing.contains(&layer) => State::Bad,
        (SandboxMode::Enforce | SandboxMode::BestEffort | SandboxMode::Off, false) => State::Odd,
    };
    let mut checks: Vec<Check> = report
        .layers()
        .into_iter()
        .map(|layer| Check {
            name: format!("sandbox: {}", layer.layer),
            state: state(layer.layer, layer.active),
            detail: layer.detail,
        })
        .collect();
    if mode == SandboxMode::Off {
        let detail = "switched off: scripts can do whatever you can".to_owned();
        checks.insert(0, Check { name: "sandbox".to_owned(), state: State::Odd, detail });
    }
    checks
}

fn store(context: Context<'_>) -> Check {
    let place = &context.config.store.value;
    let opened = wait_for(Store::open_existing(context.config));
    let (state, detail) = match (opened, place) {
        (Ok(Some(_)), StoreChoice::File(_)) => {
            (State::Good, format!("{place}, version {}", MIGRATIONS.len()))
        }
        (Ok(Some(_)), StoreChoice::Postgres(_)) => (State::Good, format!("{place} answers")),
        (Ok(None), _) => (State::Good, format!("{place} (made when it is needed)")),
        (Err(failure), _) => (State::Bad, failure.message),
    };
    Check { name: "store".to_owned(), state, detail }
}

/// Whether the second scanner is there, wanted or not.
fn second_scanner(context: Context<'_>) -> Check {
    let (wanted, environment) = (&context.config.scanner.value.second, &context.config.environment);
    let program = match wanted {
        Some(second) => Some(second.path(environment)).filter(|path| path.is_file()),
        None => environment.on_path(SECOND_SCANNER),
    };
    let told = program.map(|path| {
        let version = installed_version(&path).map(|version| format!(" {version}")).unwrap_or_default();
        format!("{path}{version}")
    });
    let (state, detail) = match (wanted, told) {
        (Some(second), Some(found)) => {
            let why = match second.chosen {
                ScannerChoice::Configured => "",
                ScannerChoice::Installed => {
                    "; used because it is installed, `[scanner] program = \"off\"` switches it off"
                }
            };
            (State::Good, format!("{found}, policy {}{why}", second.policy))
        }
        (Some(second), None) => {
            let missing = format!("`{}` is not found; skills stay unscanned", second.program);
            (State::Bad, missing)
        }
        (None, Some(found)) => (State::Good, format!("{found}, not used: `[scanner] program = \"off\"`")),
        (None, None) => (State::Good, "not installed, not used".to_owned()),
    };
    Check { name: SECOND_SCANNER.to_owned(), state, detail }
}

/// Whether what the planner needs is there; the one that needs nothing is not worth a line.
fn planner(context: Context<'_>) -> Option<Check> {
    let (settings, environment) = (&context.config.planner.value, &context.config.environment);
    let (state, detail) = match settings.kind {
        PlannerKind::Pattern => return None,
        PlannerKind::Command => {
            let program = settings.command.first().map(String::as_str).unwrap_or_default();
            let is_there = Utf8Path::new(program).is_file() || environment.on_path(program).is_some();
            let state = if is_there { State::Good } else { State::Bad };
            (state, if is_there { program.to_owned() } else { format!("there is no program `{program}`") })
        }
        PlannerKind::Llm => {
            match settings.api_key_env.as_deref().filter(|name| environment.get(name).is_none()) {
                Some(name) => (State::Bad, format!("${name} is not set")),
                None => (State::Good, planner_words(settings)),
            }
        }
    };
    Some(Check { name: "planner".to_owned(), state, detail })
}

/// Whether what the model for agents needs is there.
fn llm(context: Context<'_>) -> Option<Check> {
    let (settings, environment) = (&context.config.llm.value, &context.config.environment);
    settings.model.as_ref()?;
    let missing = settings.api_key_env.as_deref().filter(|name| environment.get(name).is_none());
    let (state, detail) = match missing {
        Some(name) => (State::Bad, format!("${name} is not set")),
        None => (State::Good, llm_words(settings)),
    };
    Some(Check { name: "llm".to_owned(), state, detail })
}

/// Whether the bus answers; the one within the process is not worth a line.
fn bus(context: Context<'_>) -> Option<Check> {
    let choice = &context.config.bus.value;
    if *choice == BusChoice::InProcess {
        return None;
    }
    let clock = Clock::system();
    let config = BusConfig::new(artel_bus::Clock::new(move || clock.now()));
    let (state, detail) = match wait_for(reach_bus(choice, config)) {
        Ok(Reached::Bus(_)) => (State::Good, format!("{choice} answers")),
        Ok(Reached::Away(why)) => (State::Bad, why),
        Err(failure) => (State::Bad, failure.message),
    };
    Some(Check { name: "bus".to_owned(), state, detail })
}

fn data_folder(path: &Utf8Path) -> Check {
    let (state, detail) = match path.metadata() {
        Ok(metadata) if !metadata.is_dir() => (State::Bad, format!("{path} is not a folder")),
        Ok(metadata) if metadata.permissions().readonly() => {
            (State::Bad, format!("{path} cannot be written"))
        }
        Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
            (State::Odd, format!("{path} can be read by others; `chmod 700 {path}` changes that"))
        }
        Ok(_) => (State::Good, path.to_string()),
        Err(_) => (State::Good, format!("{path} (made when it is needed)")),
    };
    Check { name: "data folder".to_owned(), state, detail }
}

fn skills(context: Context<'_>) -> Check {
    let (state, detail) = match context.catalog(Keep::Descriptions) {
        Err(failure) => (State::Bad, failure.message),
        Ok(catalog) => {
            let counts = Counts::of(&catalog.diagnostics());
            let roots = context.config.skills_dirs.value.iter().filter(|dir| dir.is_dir()).count();
            let state = if counts.errors > 0 { State::Odd } else { State::Good };
            let from = match context.config.remote.value {
                Some(_) => "the server".to_owned(),
                None => format!("{roots} folders and the binary"),
            };
            (state, format!("{} skills from {from}; {counts}", catalog.list().len()))
        }
    };
    Check { name: "skills".to_owned(), state, detail }
}

fn print(context: Context<'_>, settings: &[Row], checks: &[Check]) {
    let output = context.output;
    output.line(&output.paint("configuration", Tone::Strong));
    let mut table = Table::new(&[Tone::Plain, Tone::Accent, Tone::Faint, Tone::Plain]);
    for (name, value, origin) in settings {
        table.row([" ", name, origin, value]);
    }
    output.data(&table.render(output));
    output.line(&format!("\n{}", output.paint("checks", Tone::Strong)));
    let mut table = Table::new(&[Tone::Plain, Tone::Accent, Tone::Plain, Tone::Plain]);
    for check in checks {
        table.row([" ", &check.name, check.state.as_str(), &check.detail]);
    }
    output.data(&table.render(output));
}
