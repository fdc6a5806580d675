//! How the tests run plans: skills in a folder, an engine on a store in memory, and real processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};
use artel_engine::{
    AssetStore, Clock, DataFolders, Engine, EngineConfig, Grants, OneShelf, OwnEnvironment, SandboxMode,
    ScriptHands, ScriptRules, SkillShelf,
};
use artel_model::data_scope::SkillOrigin;
use artel_model::id::RunId;
use artel_model::plan::resolve_text;
use artel_model::run::{Deadlines, Submission, SubmissionKind};
use artel_model::setting::EnvAllowList;
use artel_store::{ExecutionFilter, ExecutionStore as _, MemoryStore, OwnerId, PageRequest};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::start::{launcher, limits};

/// An engine with skills of its own.
pub(crate) struct Workplace {
    pub(crate) engine: Engine,
    pub(crate) hands: ScriptHands,
    pub(crate) store: Arc<MemoryStore>,
    shelf: Arc<SkillShelf>,
    shelves: Arc<OneShelf>,
    root: TempDir,
}

#[derive(Debug)]
struct NoVariables;

impl OwnEnvironment for NoVariables {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

impl Workplace {
    /// Makes the folder of the data that the scripts of a skill see in runs of the local owner, and returns it.
    pub(crate) fn data_of(&self, skill: &str) -> Utf8PathBuf {
        let origin = SkillOrigin::default_source(&skill.parse().unwrap());
        let folder = DataFolders::new(&self.path("data")).of_owner(&origin, None);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Makes a skill with one script each, of a name and the script's text.
    pub(crate) async fn new(skills: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(root.path().canonicalize().unwrap()).unwrap();
        for folder in ["skills", "data", "work"] {
            fs::create_dir(base.join(folder)).unwrap();
        }
        for (name, script) in skills {
            write_skill(&base.join("skills").join(name), name, script);
        }
        let shelf = Arc::new(shelf(&base, "skills"));
        let shelves = Arc::new(OneShelf::new(shelf.clone()));
        let assets = AssetStore::new(base.join("assets"));
        let hands = ScriptHands::new(launcher().await, shelves.clone(), assets, rules(&base));
        let store = Arc::new(MemoryStore::default());
        let engine = Engine::start(engine_config(), store.clone(), Arc::new(hands.clone()), Clock::system());
        Self { engine, hands, store, shelf, shelves, root }
    }

    /// Puts the skills of another folder on the shelf; there are none if there is no such folder.
    pub(crate) fn put_on_shelf(&self, folder: &str) {
        self.shelves.replace(Arc::new(shelf(&self.path(""), folder)));
    }

    pub(crate) fn path(&self, relative: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.root.path()).unwrap().join(relative)
    }

    /// Makes all files below a folder an hour old.
    pub(crate) fn make_old(&self, folder: &str) {
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir_utf8().unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.into_path());
                } else {
                    let file = fs::File::open(entry.path()).unwrap();
                    let modified = file.metadata().unwrap().modified().unwrap();
                    file.set_modified(modified - std::time::Duration::from_secs(3600)).unwrap();
                }
            }
        }
    }

    /// Makes of tools what the engine is asked for.
    pub(crate) fn submission(&self, tools: Value) -> Submission {
        self.submission_with_id("123e4567-e89b-42d3-a456-426614174000", tools)
    }

    pub(crate) fn submission_with_id(&self, id: &str, tools: Value) -> Submission {
        let plan = json!({"requestId": id, "tools": tools});
        Submission {
            kind: SubmissionKind::Plan,
            plan: resolve_text(&plan.to_string(), &*self.shelf).unwrap(),
            state: Map::new(),
            deadlines: Deadlines { run_ms: 60_000 },
            slots: 2,
            agent: None,
            policy: None,
            viewer: None,
            trace_parent: None,
        }
    }

    pub(crate) async fn begin(&self, tools: Value) -> RunId {
        self.engine.submit(self.submission(tools), None).await.unwrap().run()
    }

    /// Runs tools to the end of the plan, and says how each went.
    pub(crate) async fn run(&self, tools: Value) -> Vec<String> {
        let run = self.begin(tools).await;
        self.ended(run).await
    }

    /// Waits for the end of a run, and says how each step that was tried went, in the order of their names.
    pub(crate) async fn ended(&self, run: RunId) -> Vec<String> {
        self.engine.wait(run).await.unwrap();
        let page = PageRequest { after: None, limit: 100 };
        let records = self.store.executions(&ExecutionFilter::default(), &page).await.unwrap().items;
        let line = |record: &artel_model::run::ExecutionRecord| {
            let error = record.error.as_ref().map(|error| format!(" {:?}: {error}", error.kind));
            format!("{} {}{}", record.step_id, record.status.as_str(), error.unwrap_or_default())
        };
        let mut lines: Vec<String> = records.iter().filter(|record| record.run_id == run).map(line).collect();
        lines.sort();
        lines
    }
}

fn shelf(base: &Utf8Path, folder: &str) -> SkillShelf {
    let catalog = Catalog::load(&CatalogRequest {
        roots: vec![base.join(folder)],
        options: LoadOptions::from(Keep::Descriptions),
        disabled: BTreeSet::new(),
        chosen: Vec::new(),
    });
    SkillShelf::new(catalog, Vec::new(), base.to_owned(), base.join("data"))
}

fn write_skill(folder: &Utf8Path, name: &str, script: &str) {
    fs::create_dir_all(folder.join("scripts")).unwrap();
    fs::create_dir(folder.join("data")).unwrap();
    fs::write(folder.join("SKILL.md"), format!("---\nname: {name}\ndescription: A test.\n---\n")).unwrap();
    let file = folder.join("scripts/run.sh");
    fs::write(&file, format!("#!/bin/bash\n{script}\n")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
}

fn rules(base: &Utf8Path) -> ScriptRules {
    ScriptRules {
        sandbox: SandboxMode::Enforce,
        users: None,
        limits: limits(),
        grants: Grants::default(),
        grace_ms: 1000,
        data_bytes_max: 4 << 20,
        data: base.join("data"),
        work_folder: base.join("work"),
        path: Vec::new(),
        settings_env: EnvAllowList::new(&[] as &[String]),
        environment: Arc::new(NoVariables),
    }
}

fn engine_config() -> EngineConfig {
    EngineConfig {
        node: "node".to_owned(),
        owner: OwnerId("owner".to_owned()),
        processes_max: 2,
        runs_max: 10,
        poll_ms: 1000,
        closing_grace_ms: 1000,
        kill_grace_ms: 1000,
    }
}
