//! Hands that run scripts: each attempt a process in a sandbox, with a folder of its own.

use std::sync::Arc;

use artel_catalog::{Loaded, personal_settings_path, read_config, read_personal_settings};
use artel_model::data_scope::{DataRequest, DataScope, SkillOrigin, data_folder, sharing};
use artel_model::id::RunId;
use artel_model::plan::{ScriptTarget, Work};
use artel_model::protocol::{StopReason, ToolEvent, ToolRequest};
use artel_model::quota::{Quota, QuotaExceeded};
use artel_model::run::{AttemptOutcome, AttemptReport, ErrorKind, Fault, Retry, StepError, StepSignal};
use artel_model::schema::{Quote, Schema, Violation};
use artel_model::setting::{EffectiveConfig, EnvAllowList};
use artel_model::skill::{Script, Skill, SkillPin};
use artel_model::user_range::UserRange;
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use crate::asset::{AssetOrigin, AssetStore};
use crate::attempt_folder::{AttemptFolder, AttemptFolders};
use crate::data_folders::{DataFolder, DataFolderError, DataFolders};
use crate::error_text::error_text;
use crate::hands::{Assignment, AttemptControl, Hands, Reports};
use crate::process::{
    self, AttemptEnd, AttemptHandle, AttemptRequest, ClosedFiles, EnvironmentFacts, EventSink, Launcher,
    Network, ProcessLimits, Profile, RunAs, Sandbox, SpawnRequest, Strictness, environment, run_attempt,
};
use crate::sandbox_users::{SandboxUsers, all_executable};
use crate::shelf::SkillShelf;
use crate::shelves::Shelves;

/// Violations of a schema that a message lists.
const VIOLATIONS_SHOWN: usize = 10;
/// Characters of a value that a message shows.
const VALUE_CHARS_MAX: usize = 1000;

/// How scripts are run.
#[derive(Clone, Debug)]
pub struct ScriptRules {
    /// Whether there is a sandbox.
    pub sandbox: SandboxMode,
    /// The users that scripts run as, each data folder as one of its own. artel's own when absent, or without the sandbox.
    pub users: Option<UserRange>,
    /// How much a script may use.
    pub limits: ProcessLimits,
    /// What skills may have of what they ask for.
    pub grants: Grants,
    /// Milliseconds between SIGTERM and SIGKILL.
    pub grace_ms: u64,
    /// Bytes that skills may keep for each user; the local owner is not counted.
    pub data_bytes_max: u64,
    /// artel's data folder, where settings of skills without a folder are kept.
    pub data: Utf8PathBuf,
    /// Where attempts have their folders.
    pub work_folder: Utf8PathBuf,
    /// Folders with programs that the operator adds to `PATH`.
    pub path: Vec<Utf8PathBuf>,
    /// Which environment variables settings may name.
    pub settings_env: EnvAllowList,
    /// artel's own environment.
    pub environment: Arc<dyn OwnEnvironment>,
}

/// artel's own environment, of which scripts see only what is granted.
pub trait OwnEnvironment: Send + Sync + std::fmt::Debug {
    /// Returns a variable.
    fn variable(&self, name: &str) -> Option<String>;
}

/// Whether scripts run in a sandbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SandboxMode {
    /// They do, or they do not run.
    Enforce,
    /// They do, as far as this machine can.
    BestEffort,
    /// They do not.
    Off,
}

/// What skills may have of what they ask for beyond the usual.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// Names of skills that may use the network; `*` stands for anything.
    pub network: Vec<artel_model::tool::Glob>,
    /// Folders below which skills may read.
    pub read: Vec<Utf8PathBuf>,
    /// Folders below which skills may write.
    pub write: Vec<Utf8PathBuf>,
    /// Environment variables that skills may see; `*` stands for anything.
    pub env: Vec<artel_model::tool::Glob>,
    /// Ids of skills that may share their data with every caller; a bare name means one of the operator's own.
    pub shared_data: Vec<String>,
}

/// Hands that run scripts.
#[derive(Clone)]
pub struct ScriptHands {
    shared: Arc<Shared>,
}

/// What is left of an attempt.
struct Done {
    end: AttemptEnd,
    /// Where its script ran, if it came that far.
    folder: Option<AttemptFolder>,
}

struct Shared {
    launcher: Launcher,
    folders: AttemptFolders,
    shelves: Arc<dyn Shelves>,
    assets: AssetStore,
    rules: ScriptRules,
    data_folders: DataFolders,
}

impl ScriptHands {
    /// Makes hands that find skills on the shelves that are there when an attempt begins.
    pub fn new(
        launcher: Launcher,
        shelves: Arc<dyn Shelves>,
        assets: AssetStore,
        rules: ScriptRules,
    ) -> Self {
        let folders = AttemptFolders::new(rules.work_folder.clone());
        let users = rules.users.filter(|_| rules.sandbox != SandboxMode::Off);
        let users = users.map(|range| SandboxUsers::new(range, &rules.data));
        let data_folders = DataFolders::new(&rules.data).with_users(users);
        Self { shared: Arc::new(Shared { launcher, folders, shelves, assets, rules, data_folders }) }
    }

    /// Waits until the folders of all attempts are cleared away whose end was reported.
    pub async fn tidied(&self) {
        self.shared.folders.cleared().await;
    }
}

impl Hands for ScriptHands {
    fn begin(&self, assignment: Assignment, reports: Reports) -> Box<dyn AttemptControl> {
        let (handle, control) = AttemptHandle::new();
        let shared = self.shared.clone();
        let (timeout_ms, grace_ms) = (assignment.timeout_ms, shared.rules.grace_ms);
        tokio::spawn(async move {
            let mut sink = ReportSink(reports.clone());
            let Done { end, folder } = shared.attempt(assignment, control, &mut sink).await;
            let _room = shared.folders.room().await;
            reports.ended(end.events, end.report).await;
            // What comes next does not wait for it.
            if let Some(folder) = folder {
                shared.folders.clear_away(folder).await;
            }
        });
        Box::new(ScriptControl { handle, timeout_ms, grace_ms })
    }

    fn run_over(&self, run: RunId) {
        if let Err(error) = self.shared.data_folders.forget_run(run) {
            tracing::warn!(%run, %error, "the data that steps of a run shared is left behind");
        }
    }
}

struct ScriptControl {
    handle: AttemptHandle,
    timeout_ms: u64,
    grace_ms: u64,
}

impl AttemptControl for ScriptControl {
    fn signal(&self, signal: StepSignal) {
        match signal {
            StepSignal::TimeOut => {
                self.handle.terminate(StopReason::Timeout { after_ms: self.timeout_ms }, self.grace_ms);
            }
            StepSignal::Terminate => self.handle.terminate(StopReason::Cancelled, self.grace_ms),
            StepSignal::Stop => self.handle.pause(),
            StepSignal::Continue => self.handle.resume(),
        }
    }
}

struct ReportSink(Reports);

#[async_trait]
impl EventSink for ReportSink {
    async fn take(&mut self, events: Vec<ToolEvent>) {
        self.0.emitted(events).await;
    }
}

/// What is known about a script before it is started.
struct Prepared {
    spawn: SpawnRequest,
    origin: AssetOrigin,
    config: Map<String, Value>,
    folder: AttemptFolder,
}

/// Why a script is not started.
struct Unprepared {
    message: String,
    fault: Fault,
}

fn elsewhere(message: String) -> Unprepared {
    Unprepared { message, fault: Fault::Elsewhere }
}

fn of_the_skill(message: String) -> Unprepared {
    Unprepared { message, fault: Fault::Skill }
}

impl Shared {
    async fn attempt(
        &self,
        assignment: Assignment,
        control: process::AttemptControl,
        sink: &mut dyn EventSink,
    ) -> Done {
        let target = match &assignment.work {
            Work::Script(target) => target.clone(),
            Work::Gather { skill, version, content_hash, .. } => {
                let pin = SkillPin { name: skill.clone(), version: version.clone() };
                return ended(self.gather(assignment.gathered, &pin, content_hash));
            }
        };
        let input = match assignment.input.clone() {
            Ok(input) => input,
            Err(error) => {
                let (retry, fault) = (Retry::Useless, Fault::Elsewhere);
                return ended(AttemptOutcome::Failed { error, retry, fault });
            }
        };
        let pin = SkillPin { name: target.skill.clone(), version: target.version.clone() };
        let shelf = match self.shelf(&pin, &target.content_hash) {
            Ok(shelf) => shelf,
            Err(error) => return ended(failed(error, Retry::Useless, Fault::Elsewhere)),
        };
        let found = match find(&shelf, &target) {
            Ok(found) => found,
            Err(error) => return ended(failed(error, Retry::Useless, Fault::Elsewhere)),
        };
        if let Err(error) = check_input(&found, &input) {
            return ended(failed(error, Retry::Useless, Fault::Elsewhere));
        }
        let prepared = match self.prepare(&shelf, &found, &assignment) {
            Ok(prepared) => prepared,
            Err(Unprepared { message, fault }) => {
                let error = StepError::new(ErrorKind::SpawnFailed, message);
                return ended(AttemptOutcome::Failed { error, retry: Retry::Useful, fault });
            }
        };
        let request = AttemptRequest {
            spawn: prepared.spawn,
            request: ToolRequest {
                request_id: assignment.plan,
                tool: format!("{}/{}", target.skill, target.script),
                operation: artel_model::protocol::Operation::Run,
                input,
                config: prepared.config,
                state: assignment.state,
                dependencies: assignment.dependencies,
            },
            origin: prepared.origin,
            assets: self.assets.clone(),
            grace_ms: self.rules.grace_ms,
        };
        let mut end = run_attempt(&self.launcher, request, control, sink).await;
        let returns = found.script.returns_schema.as_ref().or(found.skill.interface.returns.as_ref());
        if let AttemptOutcome::Completed { output, patches, summary } = end.report.outcome {
            end.report.outcome = checked(output, patches, summary, returns);
        }
        Done { end, folder: Some(prepared.folder) }
    }

    /// Returns a shelf with exactly the files that the plan was made with.
    fn shelf(&self, skill: &SkillPin, content_hash: &str) -> Result<Arc<SkillShelf>, String> {
        let changed =
            || format!("skill `{skill}` was changed or removed after the plan was made: plan again");
        self.shelves.holding(skill, content_hash).ok_or_else(changed)
    }

    /// Makes the result of a composite, which has to keep what the composite promised when the plan was made.
    fn gather(&self, output: Map<String, Value>, skill: &SkillPin, content_hash: &str) -> AttemptOutcome {
        let shelf = match self.shelf(skill, content_hash) {
            Ok(shelf) => shelf,
            Err(error) => return failed(error, Retry::Useless, Fault::Elsewhere),
        };
        let entry = shelf.entry(&skill.name, &skill.version);
        let composite = entry.and_then(|entry| entry.skill.as_deref());
        let returns = composite.and_then(|composite| composite.interface.returns.as_ref());
        checked(output, Vec::new(), None, returns)
    }

    fn prepare(
        &self,
        shelf: &SkillShelf,
        found: &Found<'_>,
        assignment: &Assignment,
    ) -> Result<Prepared, Unprepared> {
        let home = shelf.home(found.entry).map_err(|error| elsewhere(error_text(&error)))?;
        let program = script_file(&home, found.script)?;
        let DataFolder { path: data_folder, user } = self.data_folder(found, &home, assignment)?;
        let config = self.config(found, assignment).map_err(elsewhere)?;
        let folder = self.folders.take(&found.skill.name, user).map_err(|error| {
            elsewhere(format!("cannot make a folder in `{}`: {error}", self.rules.work_folder))
        })?;
        let run_folder = folder.path().to_owned();
        let facts = EnvironmentFacts {
            run: assignment.run,
            step: &assignment.step,
            attempt: assignment.attempt,
            skill: &found.skill.name,
            run_folder: &run_folder,
            data_folder: &data_folder,
            path: &self.rules.path,
            asked: &found.skill.sandbox.env,
            trace_parent: assignment.trace_parent,
        };
        let granted = |name: &str| self.rules.grants.env.iter().any(|pattern| pattern.matches(name));
        let spawn = SpawnRequest {
            program,
            arguments: Vec::new(),
            cwd: run_folder.clone(),
            environment: environment(&facts, granted, |name| self.rules.environment.variable(name)),
            run_as: user.map_or(RunAs::Artel, |user| self.run_as(user, found, &home)),
            sandbox: self.sandbox(found.skill, &home, &run_folder, &data_folder),
            limits: self.rules.limits,
        };
        let shared = granted_folders(&found.skill.sandbox.write, &self.rules.grants.write);
        let writable = [run_folder.clone(), data_folder].into_iter().chain(shared).collect();
        let origin = AssetOrigin { run_folder, writable };
        Ok(Prepared { spawn, origin, config, folder })
    }

    /// Makes the folder in which the skill keeps what should last, as far as the owner of the run shares it.
    fn data_folder(
        &self,
        found: &Found<'_>,
        home: &Utf8Path,
        assignment: &Assignment,
    ) -> Result<DataFolder, Unprepared> {
        let origin = &found.origin();
        let place = data_folder(&DataRequest {
            origin,
            scope: found.skill.data_scope,
            owner: assignment.owner.as_ref(),
            run: assignment.run,
            sharing: sharing(origin, &self.rules.grants.shared_data),
        });
        let place = place.map_err(|refusal| elsewhere(refusal.to_string()))?;
        self.room_for_data(found.skill.data_scope, &place, assignment)
            .map_err(|exceeded| elsewhere(exceeded.to_string()))?;
        let opened = self.data_folders.take_over_old(home, origin);
        opened.and_then(|()| self.data_folders.open(&place)).map_err(|error| match &error {
            DataFolderError::NotAFolder(_) => of_the_skill(error_text(&error)),
            DataFolderError::Make { .. } | DataFolderError::Move { .. } | DataFolderError::User { .. } => {
                elsewhere(error_text(&error))
            }
        })
    }

    /// Returns how a script runs as a user of its own.
    fn run_as(&self, user: u32, found: &Found<'_>, home: &Utf8Path) -> RunAs {
        let has_grant = !granted_folders(&found.skill.sandbox.write, &self.rules.grants.write).is_empty();
        let programs = found.entry.files.iter().filter(|file| file.is_executable);
        let programs = programs.map(|file| home.join(file.path.as_str()));
        let closed_files = if has_grant || !all_executable(programs, home, &self.rules.data) {
            ClosedFiles::Use
        } else {
            ClosedFiles::Read
        };
        RunAs::User { user, group: user, closed_files }
    }

    /// Says whether there is room for more data. A script that is running may go over it by what one attempt may write.
    fn room_for_data(
        &self,
        scope: DataScope,
        place: &Utf8Path,
        assignment: &Assignment,
    ) -> Result<(), QuotaExceeded> {
        let Some(owner) = &assignment.owner else { return Ok(()) };
        let limit = self.rules.data_bytes_max;
        let used = match scope {
            // It goes when the run ends.
            DataScope::Run => return Ok(()),
            DataScope::Principal => self.data_folders.bytes_of_owner(owner, limit),
            DataScope::Team | DataScope::Shared => self.data_folders.bytes_at(place, limit),
        };
        match used < limit {
            true => Ok(()),
            false => Err(QuotaExceeded { quota: Quota::DataBytes, used, limit }),
        }
    }

    /// Returns the settings that the script gets: the operator's, and over them those of the owner of the run.
    fn config(&self, found: &Found<'_>, assignment: &Assignment) -> Result<Map<String, Value>, String> {
        let unread = |error| format!("the skill's settings cannot be read: {}", error_text(&error));
        let mut stored = read_config(found.entry, &self.rules.data).map_err(unread)?;
        let Some(schema) = &found.entry.config_schema else {
            return Ok(EffectiveConfig::unchecked(stored).reveal().clone());
        };
        if let Some(owner) = &assignment.owner {
            let path = personal_settings_path(&self.rules.data, &found.origin(), &owner.user);
            stored = schema.overlay(&stored, &read_personal_settings(&path).map_err(unread)?);
        }
        let variable = |name: &str| self.rules.environment.variable(name);
        let resolved = schema.resolve(&stored, &self.rules.settings_env, variable).map_err(|problems| {
            let list: Vec<String> =
                problems.iter().map(|problem| format!("`{}`: {}", problem.field, problem.message)).collect();
            format!("the skill's settings cannot be used: {}", list.join("; "))
        })?;
        Ok(resolved.reveal().clone())
    }

    fn sandbox(&self, skill: &Skill, home: &Utf8Path, run_folder: &Utf8Path, data: &Utf8Path) -> Sandbox {
        let strictness = match self.rules.sandbox {
            SandboxMode::Off => return Sandbox::Off,
            SandboxMode::Enforce => Strictness::Enforce,
            SandboxMode::BestEffort => Strictness::BestEffort,
        };
        let grants = &self.rules.grants;
        let is_granted = grants.network.iter().any(|pattern| pattern.matches(skill.name.as_str()));
        Sandbox::On(Profile {
            read: granted_folders(&skill.sandbox.read, &grants.read),
            execute: vec![home.to_owned()],
            write: vec![run_folder.to_owned(), data.to_owned()],
            write_shared: granted_folders(&skill.sandbox.write, &grants.write),
            network: if skill.sandbox.network && is_granted { Network::Allowed } else { Network::Denied },
            strictness,
        })
    }
}

/// A script that was found.
struct Found<'s> {
    entry: &'s Loaded,
    skill: &'s Skill,
    script: &'s Script,
    origin: Option<&'s SkillOrigin>,
}

impl Found<'_> {
    /// Returns which skill of which source it is.
    fn origin(&self) -> SkillOrigin {
        let own = || SkillOrigin::default_source(&self.skill.name);
        self.origin.cloned().unwrap_or_else(own)
    }
}

/// Finds the very script that the plan was made with.
fn find<'s>(shelf: &'s SkillShelf, target: &'s ScriptTarget) -> Result<Found<'s>, String> {
    let ScriptTarget { skill, version, script, origin, .. } = target;
    let entry = shelf.entry(skill, version);
    let entry = entry.ok_or_else(|| format!("skill `{skill}@{version}` is not there any more"))?;
    let found = entry.skill.as_deref().and_then(|skill| Some((skill, skill.script(script)?)));
    let (skill, script) =
        found.ok_or_else(|| format!("skill `{skill}@{version}` has no script `{script}`"))?;
    // The shelf may be of a viewer who sees the same files from another source: the plan knows which source was meant.
    let origin = origin.as_ref().or_else(|| shelf.origin(skill));
    Ok(Found { entry, skill, script, origin })
}

/// Returns the file of a script. Whatever links there are on the way, it must lie in the skill's folder.
fn script_file(home: &Utf8Path, script: &Script) -> Result<Utf8PathBuf, Unprepared> {
    let written = home.join(&script.path);
    let file = written
        .canonicalize_utf8()
        .map_err(|error| of_the_skill(format!("cannot find the script `{written}`: {error}")))?;
    if file.starts_with(home) {
        Ok(file)
    } else {
        Err(of_the_skill(format!("the script `{written}` leads out of its skill's folder")))
    }
}

/// Returns the folders a skill asks for that lie below one that is granted.
fn granted_folders(asked: &[String], granted: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    let real = |folder: &str| Utf8Path::new(folder).canonicalize_utf8().ok();
    let granted: Vec<Utf8PathBuf> = granted.iter().filter_map(|folder| real(folder.as_str())).collect();
    let is_granted = |folder: &Utf8PathBuf| granted.iter().any(|granted| folder.starts_with(granted));
    asked.iter().filter_map(|folder| real(folder)).filter(is_granted).collect()
}

fn check_input(found: &Found<'_>, input: &Map<String, Value>) -> Result<(), String> {
    let schema = found.script.parameters_schema.as_ref().unwrap_or(&found.skill.interface.parameters);
    let violations = schema.violations(&Value::Object(input.clone()), Quote::Values);
    if violations.is_empty() {
        return Ok(());
    }
    Err(format!("the input does not fit the parameters of the skill: {}", listed(&violations)))
}

/// A result that does not fit what the skill promises is a failure that shows both.
fn checked(
    output: Map<String, Value>,
    patches: Vec<Map<String, Value>>,
    summary: Option<String>,
    returns: Option<&Schema>,
) -> AttemptOutcome {
    let output = Value::Object(output);
    let violations = returns.map(|schema| schema.violations(&output, Quote::Values)).unwrap_or_default();
    let Value::Object(output) = output else { unreachable!("it was made as an object") };
    if violations.is_empty() {
        return AttemptOutcome::Completed { output, patches, summary };
    }
    let schema = returns.map(|schema| cut(&schema.document().to_string())).unwrap_or_default();
    let message = format!(
        "the result does not fit what the skill promises: {}; the result: {}; the promise: {schema}",
        listed(&violations),
        cut(&Value::Object(output).to_string()),
    );
    failed(message, Retry::Useful, Fault::Skill)
}

fn listed(violations: &[Violation]) -> String {
    let one = |violation: &Violation| match violation.path.as_str() {
        "" => violation.message.clone(),
        path => format!("`{path}`: {}", violation.message),
    };
    let shown: Vec<String> = violations.iter().take(VIOLATIONS_SHOWN).map(one).collect();
    match violations.len().saturating_sub(VIOLATIONS_SHOWN) {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn failed(message: String, retry: Retry, fault: Fault) -> AttemptOutcome {
    AttemptOutcome::Failed { error: StepError::new(ErrorKind::ToolExecutionFailed, message), retry, fault }
}

fn ended(outcome: AttemptOutcome) -> Done {
    let report = AttemptReport { outcome, assets: Vec::new(), stderr: String::new(), dropped_events: 0 };
    Done { end: AttemptEnd { events: Vec::new(), report }, folder: None }
}
