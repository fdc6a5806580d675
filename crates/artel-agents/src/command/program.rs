//! Which program an agent is: a known client or a command line of its own, found and checked before anything is made.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use artel_model::agent::{AgentSpec, CommandLine, Driver, SpawnError, SpawnErrorCode};
use camino::{Utf8Path, Utf8PathBuf};

use super::config::{CommandDriverConfig, OwnCommands};
use super::preset::{self, ANY, CLIENTS, Preset};
use super::template::{Filling, Place, Template};

/// A program that can be started.
pub(super) struct Program {
    /// The client, or what holds for any program.
    pub(super) preset: &'static Preset,
    /// Its file.
    pub(super) file: Utf8PathBuf,
    line: Line,
}

enum Line {
    /// The client's usual one.
    Usual { before: Template, after: Template },
    /// One of the agent's own, without the program.
    Own(Template),
}

impl Program {
    /// Finds the program of an agent, or says why there is none and what to do about it.
    pub(super) fn find(config: &CommandDriverConfig, spec: &AgentSpec) -> Result<Self, SpawnError> {
        let Driver::Command(CommandLine { client, command }) = &spec.driver else {
            return Err(invalid("the agent is no program"));
        };
        let preset = match client.as_deref() {
            None => &ANY,
            Some(name) => preset::find(name).ok_or_else(|| unknown_client(name))?,
        };
        let (word, line) = match command.split_first() {
            None if client.is_none() => {
                return Err(invalid("`command` is empty: name a `client` or a program"));
            }
            None => (preset.program, usual(preset, spec.model.is_some())),
            Some((word, words)) => (word.as_str(), own(config, preset, spec, words)?),
        };
        check_model(&line, spec)?;
        if is_misleading(config.work_root.as_str()) {
            let what =
                format!("programs cannot be told of the folder `{}`: choose another", config.work_root);
            return Err(SpawnError::new(SpawnErrorCode::DriverUnavailable, what));
        }
        let is_dashed = spec.task.as_deref().is_some_and(|task| task.starts_with('-'));
        if is_dashed && line.opens_with_task() {
            return Err(invalid(
                "the task begins with a dash and could be taken for an option: put `--` before `{task}`",
            ));
        }
        Ok(Self { preset, file: find_file(config, word)?, line })
    }

    /// Returns the arguments, with those about permissions where they are taken for options.
    pub(super) fn arguments(&self, filling: Filling<'_>, permissions: &[String]) -> Vec<String> {
        let (mut arguments, place, after) = match &self.line {
            Line::Usual { before, after } => {
                (before.fill(filling), before.options_end(), after.fill(filling))
            }
            Line::Own(template) => (template.fill(filling), template.options_end(), Vec::new()),
        };
        arguments.splice(place..place, permissions.iter().cloned());
        arguments.extend(after);
        arguments
    }

    /// Says whether the task goes to the standard input, because it stands nowhere else.
    pub(super) fn reads_task(&self) -> bool {
        !self.line.names(Place::Task)
    }
}

impl Line {
    fn names(&self, place: Place) -> bool {
        match self {
            Self::Usual { before, after } => before.names(place) || after.names(place),
            Self::Own(template) => template.names(place),
        }
    }

    fn opens_with_task(&self) -> bool {
        match self {
            Self::Usual { before, after } => before.opens_with_task() || after.opens_with_task(),
            Self::Own(template) => template.opens_with_task(),
        }
    }
}

fn usual(preset: &'static Preset, has_model: bool) -> Line {
    let template = |words: &[&str]| Template::parse(words).expect("presets name known places only");
    let model: &[&str] = if has_model { preset.model } else { &[] };
    Line::Usual { before: template(&[preset.before, model].concat()), after: template(preset.after) }
}

/// Refuses a model that is missing, or that a program could take for an option. The name may come from a record, too.
fn check_model(line: &Line, spec: &AgentSpec) -> Result<(), SpawnError> {
    match spec.model.as_deref() {
        None if line.names(Place::Model) => {
            Err(invalid("the command line names `{model}`: say which, in `model`"))
        }
        Some(model) if is_misleading(model) => Err(invalid(
            "`model`: the name begins with a dash or holds control characters, and could be taken for an option",
        )),
        None | Some(_) => Ok(()),
    }
}

/// Says whether a text could be something else than one value on a command line.
fn is_misleading(text: &str) -> bool {
    text.trim_start().starts_with('-') || text.contains(char::is_control)
}

fn own(
    config: &CommandDriverConfig,
    preset: &Preset,
    spec: &AgentSpec,
    words: &[String],
) -> Result<Line, SpawnError> {
    match config.own_commands {
        OwnCommands::Allowed => {}
        OwnCommands::Refused => {
            let what =
                "command lines of one's own are not allowed here: name a `client` only, or have them allowed";
            return Err(SpawnError::new(SpawnErrorCode::DriverUnavailable, what));
        }
    }
    let template = Template::parse(words).map_err(|error| invalid(&format!("`command`: {error}")))?;
    let filling = Filling {
        task: spec.task.as_deref().unwrap_or_default(),
        model: spec.model.as_deref().unwrap_or_default(),
        work: config.work_root.as_str(),
        skills: config.work_root.as_str(),
    };
    // What is filled in may be the rest of an option.
    let options = template.fill(filling).into_iter().take(template.options_end());
    let is_lifting = |word: &String| preset.lifting.iter().any(|option| is_option(word, option));
    if let Some(word) = words.iter().cloned().chain(options).find(is_lifting) {
        let client = preset.name;
        return Err(invalid(&format!("`{word}` could lift what `{client}` may not do: leave it out")));
    }
    Ok(Line::Own(template))
}

/// Says whether a word is an option, with or without its value: `--option`, `--option=value`, `-o`, `-ovalue`.
fn is_option(word: &str, option: &str) -> bool {
    match word.strip_prefix(option) {
        Some(rest) => rest.is_empty() || rest.starts_with('=') || !option.starts_with("--"),
        None => false,
    }
}

fn find_file(config: &CommandDriverConfig, word: &str) -> Result<Utf8PathBuf, SpawnError> {
    if word.is_empty() || word.contains(['{', '}', '\0']) {
        return Err(invalid(&format!(
            "`{word}` is no program: only its arguments can name `{{task}}` and others"
        )));
    }
    let unavailable = |what: String| SpawnError::new(SpawnErrorCode::DriverUnavailable, what);
    if word.contains('/') {
        let file = Utf8PathBuf::from(word);
        return match (file.is_absolute(), is_executable(&file)) {
            (false, _) => Err(invalid(&format!("`{word}`: write the whole path, or the name alone"))),
            (true, false) => {
                Err(unavailable(format!("`{word}` is no program that can be started: correct the path")))
            }
            (true, true) => Ok(file),
        };
    }
    let mut places = config.path.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(word));
    places.find(|file| is_executable(file)).ok_or_else(|| {
        let path: Vec<&str> = config.path.iter().map(|folder| folder.as_str()).collect();
        unavailable(format!(
            "there is no program `{word}` in {}: install it, or add its folder to PATH",
            if path.is_empty() { "an empty PATH".to_owned() } else { path.join(":") }
        ))
    })
}

fn is_executable(file: &Utf8Path) -> bool {
    fs::metadata(file).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

fn unknown_client(name: &str) -> SpawnError {
    let known = CLIENTS.map(|client| format!("`{client}`")).join(", ");
    invalid(&format!("`client`: artel does not know `{name}`: it knows {known}; or write its `command`"))
}

fn invalid(what: &str) -> SpawnError {
    SpawnError::new(SpawnErrorCode::InvalidRequest, what)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_recognised_with_their_values() {
        for word in ["--sandbox", "--sandbox=x", "-s", "-sx"] {
            assert!(["--sandbox", "-s"].iter().any(|option| is_option(word, option)), "{word}");
        }
        assert!(!is_option("--sandboxed", "--sandbox"));
        assert!(!is_option("s", "-s"));
    }

    #[test]
    fn a_model_that_could_be_an_option_is_refused_wherever_it_comes_from() {
        let line = usual(preset::find("claude").unwrap(), true);
        let fits = |model: &str| {
            let driver = json!({"driver": "command", "client": "claude", "command": []});
            let spec = json!({"max_children": 0, "driver": driver, "model": model, "policy": []});
            check_model(&line, &serde_json::from_value(spec).unwrap()).is_ok()
        };
        for model in ["-m", "--dangerously-skip-permissions", " --yes", "m\n--yes", "m\0", "\u{1b}[m"] {
            assert!(!fits(model), "{model:?}");
        }
        assert!(["m-1", "a/b:c"].iter().all(|model| fits(model)));
    }
}
