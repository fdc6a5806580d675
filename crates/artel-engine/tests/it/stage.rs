//! How the tests run a tool of `fixtures/tools`: a copy of its skill, an attempt in its sandbox, and how that went.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use artel_engine::process::{
    AttemptControl, AttemptEnd, AttemptHandle, AttemptRequest, EventSink, Launcher, Network, ProcessLimits,
    Profile, RunAs, Sandbox, SpawnRequest, Strictness, run_attempt,
};
use artel_engine::{AssetOrigin, AssetStore};
use artel_model::protocol::{Operation, ToolEvent, ToolRequest};
use artel_model::run::{AttemptOutcome, Retry};
use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::start::{launcher, limits};

/// One skill of the fixtures, copied, so that what it writes stays in the test's folder.
pub(crate) struct Stage {
    pub(crate) launcher: Launcher,
    root: TempDir,
    skill: String,
}

impl Stage {
    pub(crate) async fn new(skill: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let stage = Self { launcher: launcher().await, root, skill: skill.to_owned() };
        let from = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tools").join(skill);
        fs::create_dir_all(stage.path("skill/scripts")).unwrap();
        for entry in from.join("scripts").read_dir_utf8().unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), stage.path("skill/scripts").join(entry.file_name())).unwrap();
        }
        fs::create_dir(stage.path("skill/data")).unwrap();
        fs::create_dir(stage.path("home")).unwrap();
        fs::write(stage.path("home/secret.txt"), "secret").unwrap();
        stage
    }

    pub(crate) fn path(&self, relative: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.root.path()).unwrap().join(relative)
    }

    /// The file names of all scripts, sorted.
    pub(crate) fn scripts(&self) -> Vec<String> {
        let entries = self.path("skill/scripts").read_dir_utf8().unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().to_owned()).collect();
        names.sort();
        names
    }

    /// An attempt at a script, in a run folder of its own.
    pub(crate) fn request(&self, script: &str, input: Value) -> AttemptRequest {
        let run_folder = self.path("runs").join(script);
        fs::create_dir_all(&run_folder).unwrap();
        let data = self.path("skill/data");
        let writable = vec![run_folder.clone(), data.clone()];
        let variable = |name: &str, value: &Utf8Path| (name.to_owned(), value.to_string());
        let Value::Object(input) = input else { panic!("the input is an object") };
        AttemptRequest {
            spawn: SpawnRequest {
                program: self.path("skill/scripts").join(script),
                arguments: Vec::new(),
                cwd: run_folder.clone(),
                environment: vec![
                    ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
                    variable("HOME", &run_folder),
                    variable("ARTEL_DATA_DIR", &data),
                ],
                run_as: RunAs::Artel,
                sandbox: Sandbox::On(Profile {
                    read: Vec::new(),
                    execute: vec![self.path("skill")],
                    write: writable.clone(),
                    write_shared: Vec::new(),
                    network: Network::Denied,
                    strictness: Strictness::Enforce,
                }),
                limits: ProcessLimits { file_bytes: 1 << 30, folder_bytes: 1 << 30, ..limits() },
            },
            request: ToolRequest {
                request_id: "123e4567-e89b-42d3-a456-426614174000".parse().unwrap(),
                tool: format!("{}/{}", self.skill, script.split('.').next().unwrap()),
                operation: Operation::Run,
                input,
                config: Map::new(),
                state: Map::new(),
                dependencies: BTreeMap::new(),
            },
            origin: AssetOrigin { run_folder, writable },
            assets: AssetStore::new(self.path("assets")),
            grace_ms: 5000,
        }
    }

    pub(crate) async fn run(&self, request: AttemptRequest) -> (Vec<ToolEvent>, AttemptEnd) {
        let (_handle, control) = AttemptHandle::new();
        self.run_with(request, control).await
    }

    /// Runs an attempt to its end and returns all its events.
    pub(crate) async fn run_with(
        &self,
        request: AttemptRequest,
        control: AttemptControl,
    ) -> (Vec<ToolEvent>, AttemptEnd) {
        let mut all = All::default();
        let end = run_attempt(&self.launcher, request, control, &mut all).await;
        let mut events = all.0;
        events.extend(end.events.iter().cloned());
        (events, end)
    }

    /// Runs scripts one after the other, and shows how each went.
    pub(crate) async fn show(&self, scripts: &[&str]) -> String {
        let mut shown = String::new();
        for script in scripts {
            let (events, end) = self.run(self.request(script, json!({}))).await;
            writeln!(shown, "{script}: {} events, {}", events.len(), self.in_words(&end)).unwrap();
        }
        shown
    }

    pub(crate) fn in_words(&self, end: &AttemptEnd) -> String {
        let mut words = match &end.report.outcome {
            AttemptOutcome::Completed { output, patches, summary } => {
                let mut words = format!("completed {}", json!(output));
                for patch in patches {
                    write!(words, ", patch {}", json!(patch)).unwrap();
                }
                if let Some(summary) = summary {
                    write!(words, ", {summary:?}").unwrap();
                }
                words
            }
            AttemptOutcome::Failed { error, retry, .. } => {
                let again = match retry {
                    Retry::Useful => "may be retried",
                    Retry::Useless => "is not retried",
                    Retry::Interrupted => "is started again where that is safe",
                };
                format!("{:?}, {again}, exit code {:?}: {error}", error.kind, error.exit_code)
            }
        };
        if end.report.dropped_events > 0 {
            write!(words, ", {} dropped", end.report.dropped_events).unwrap();
        }
        for asset in &end.report.assets {
            write!(words, "\n  {} {} {} bytes {}", asset.asset_id, asset.media_type, asset.size, asset.hash)
                .unwrap();
        }
        words.replace(self.path("").as_str(), "ROOT/")
    }
}

/// Takes everything.
#[derive(Default)]
struct All(Vec<ToolEvent>);

#[async_trait]
impl EventSink for All {
    async fn take(&mut self, events: Vec<ToolEvent>) {
        self.0.extend(events);
    }
}
