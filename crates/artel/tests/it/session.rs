//! A terminal session in a temporary folder.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use artel_engine::DataFolders;
use artel_model::data_scope::SkillOrigin;
use camino::{Utf8Path, Utf8PathBuf};

/// A folder of its own, with nothing of the real environment.
pub(crate) struct Session {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
    /// What artel is started by, with artel's own command line after it.
    starter: Vec<String>,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new(), starter: Vec::new() }
    }

    /// Sets an environment variable for the commands that follow.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Has another program start artel in the commands that follow.
    pub(crate) fn start_by(&mut self, starter: &[&str]) {
        self.starter = starter.iter().map(|word| (*word).to_owned()).collect();
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    /// Writes a file below the folder, at a fixed time.
    pub(crate) fn write(&self, path: &str, content: &str) -> Utf8PathBuf {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        let written_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(written_at).unwrap();
        path
    }

    /// Makes the folder of the data that the scripts of a skill see in runs of this session, and returns it.
    pub(crate) fn data_of(&self, skill: &str) -> Utf8PathBuf {
        let origin = SkillOrigin::default_source(&skill.parse().unwrap());
        let folder = DataFolders::new(&self.path().join(".artel")).of_owner(&origin, None);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Runs artel and returns what a person sees: both streams and the exit code.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let show = |name: &str, bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).replace(self.path().as_str(), "[folder]");
            if text.is_empty() { String::new() } else { format!("--- {name}\n{text}") }
        };
        let code = output.status.code().unwrap();
        format!("exit {code}\n{}{}", show("stdout", &output.stdout), show("stderr", &output.stderr))
    }

    /// Runs artel with `--json` and returns the document.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let output = self.output(&arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{arguments:?}: {error}\n{}", String::from_utf8_lossy(&output.stdout))
        })
    }

    /// Makes a link below the folder.
    pub(crate) fn link(&self, target: &str, path: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Returns the command, ready to run in the folder.
    #[expect(clippy::disallowed_methods, reason = "the test runs the program it tests")]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let own = Path::new(env!("CARGO_BIN_EXE_artel"));
        let mut command = match self.starter.split_first() {
            None => Command::new(own),
            Some((starter, words)) => {
                let mut command = Command::new(starter);
                command.args(words).arg(own);
                command
            }
        };
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .envs(self.variables.iter().cloned());
        command
    }
}

/// Copies a folder of the repository to a place below the session's folder, with everything in it.
impl Session {
    pub(crate) fn copy(&self, from: &str, to: &str) {
        let from = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(from);
        copy(&from, &self.path().join(to));
    }
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir_utf8().unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Replaces what differs from run to run: ids by `[id]`, moments by `[when]`, how long things took by `[time]`. How wide
/// a column is does not matter.
pub(crate) fn steady(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", steady_line(line))).collect()
}

fn steady_line(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let words: Vec<&str> = line.trim_start().split(' ').collect();
    let mut out: Vec<String> = Vec::new();
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
        let unit = words.get(index + 1).map(|unit| unit.trim_end_matches([',', ':'])).unwrap_or_default();
        if is_number && matches!(unit, "ms" | "s") {
            out.push(words[index + 1].replacen(unit, "[time]", 1));
            index += 2;
        } else {
            out.push(steady_word(word));
            index += 1;
        }
    }
    let mut line = out.join(" ");
    while line.contains("   ") {
        line = line.replace("   ", "  ");
    }
    format!("{}{line}", " ".repeat(indent))
}

fn steady_word(word: &str) -> String {
    let bare = word.trim_matches(|c: char| matches!(c, '`' | ',' | ':' | '(' | ')'));
    let is_id = bare.len() == 36 && bare.matches('-').count() == 4;
    let is_moment = bare.len() == 24 && bare.ends_with('Z') && bare.as_bytes()[10] == b'T';
    match (is_id, is_moment) {
        (true, _) => word.replace(bare, "[id]"),
        (false, true) => word.replace(bare, "[when]"),
        (false, false) => word.to_owned(),
    }
}
