//! `artel doctor`.

use std::fmt::Display;
use std::os::unix::fs::PermissionsExt;

use artel_catalog::Keep;
use camino::Utf8Path;
use serde_json::{Value, json};

use super::context::Context;
use crate::config::{Origin, Setting};
use crate::failure::Failure;
use crate::output::{Counts, Table, Tone};

/// One check of the machine.
struct Check {
    name: &'static str,
    state: State,
    detail: String,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum State {
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

fn settings(context: Context<'_>) -> Vec<(&'static str, String, String)> {
    fn row<T>(
        name: &'static str,
        setting: &Setting<T>,
        show: impl Fn(&T) -> String,
    ) -> (&'static str, String, String) {
        (name, show(&setting.value), setting.origin.to_string())
    }
    let config = context.config;
    let file = config.file.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    let file_origin = if config.file.is_some() { "found".to_owned() } else { Origin::Default.to_string() };
    let cap = |cap: &Option<usize>| cap.map_or_else(|| "all".to_owned(), |number| number.to_string());
    vec![
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
    ]
}

fn join(items: &[impl Display]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn checks(context: Context<'_>) -> Vec<Check> {
    let mut checks = vec![data_folder(&context.config.data.value), skills(context)];
    for (name, why) in [("sh", "scripts in shell"), ("python3", "scripts in Python")] {
        let (state, detail) = match on_path(context, name) {
            Some(path) => (State::Good, path),
            None => (State::Odd, format!("not found on PATH; {why} cannot run")),
        };
        checks.push(Check { name, state, detail });
    }
    checks
}

fn data_folder(path: &Utf8Path) -> Check {
    let (state, detail) = match path.metadata() {
        Ok(metadata) if !metadata.is_dir() => (State::Bad, format!("{path} is not a folder")),
        Ok(metadata) if metadata.permissions().readonly() => {
            (State::Bad, format!("{path} cannot be written"))
        }
        Ok(_) => (State::Good, path.to_string()),
        Err(_) => (State::Good, format!("{path} (made when it is needed)")),
    };
    Check { name: "data folder", state, detail }
}

fn skills(context: Context<'_>) -> Check {
    let (state, detail) = match context.catalog(Keep::Descriptions) {
        Err(failure) => (State::Bad, failure.message),
        Ok(catalog) => {
            let counts = Counts::of(&catalog.diagnostics());
            let roots = context.config.skills_dirs.value.iter().filter(|dir| dir.is_dir()).count();
            let state = if counts.errors > 0 { State::Odd } else { State::Good };
            (state, format!("{} skills from {roots} folders and the binary; {counts}", catalog.list().len()))
        }
    };
    Check { name: "skills", state, detail }
}

fn on_path(context: Context<'_>, program: &str) -> Option<String> {
    let path = context.config.environment.get("PATH")?;
    let candidates =
        path.split(':').filter(|dir| !dir.is_empty()).map(|dir| Utf8Path::new(dir).join(program));
    let is_executable = |path: &camino::Utf8PathBuf| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    candidates.into_iter().find(is_executable).map(camino::Utf8PathBuf::into_string)
}

fn print(context: Context<'_>, settings: &[(&'static str, String, String)], checks: &[Check]) {
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
        table.row([" ", check.name, check.state.as_str(), &check.detail]);
    }
    output.data(&table.render(output));
}
