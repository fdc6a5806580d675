//! Many agents who do nothing: how fast they are spawned, what each holds in memory, and what a spawn, a look and a list take
//! when all of them are there. And how soon a spawn is refused.
//!
//! `cargo bench -p artel-agents --bench agents` prints a table. Agents live in a SQLite file and tell of themselves through a
//! post office, as those of artel do.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures and prints"
)]

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use artel_agents::{
    Agents, AgentsConfig, AgentsParts, AtLimit, DeadLetterBox, Office, OfficeConfig, OfficeParts,
    SpawnCaller, SpawnFailed, Stores,
};
use artel_bus::{BusConfig, InProcessBus};
use artel_catalog::{Catalog, CatalogRequest, Keep, LoadOptions};
use artel_engine::planner::PatternPlanner;
use artel_engine::{
    Assignment, AttemptControl, Clock, Engine, EngineConfig, Hands, OneShelf, Reports, SkillShelf,
};
use artel_model::agent::{AgentState, Cause, Layer, SpawnLimits, SpawnRequest};
use artel_model::id::AgentId;
use artel_store::{AgentFilter, OwnerId, PageRequest};
use artel_store_sqlite::{SqliteOptions, SqliteStore};
use camino::Utf8Path;
use serde_json::{Value, json};
use tokio::task::JoinSet;

const AGENTS_MAX: usize = 200_000;
/// How many agents there are when everything is looked at.
const STAGES: [usize; 2] = [10_000, 100_000];
/// Spawns under way at once.
const AT_ONCE: usize = 1000;
const PAGE: usize = 200;
/// How often what takes no time worth speaking of is done.
const ROUNDS: usize = 1000;
/// How often one more is spawned, each synced to the disk.
const SPAWNS: usize = 100;

/// Hands of agents who do nothing.
struct IdleHands;

impl Hands for IdleHands {
    fn begin(&self, _: Assignment, _: Reports) -> Box<dyn AttemptControl> {
        unreachable!("idle agents run nothing")
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    runtime.block_on(measure(Utf8Path::from_path(folder.path()).unwrap()));
}

async fn measure(folder: &Utf8Path) {
    let agents = agents(folder, shelf(folder));
    refusals(&agents).await;
    println!(
        "{:<12} {:>9} {:>9} {:>11} {:>9} {:>9} {:>10} {:>10} {:>10}",
        "idle agents",
        "spawned/s",
        "bytes",
        "list all ms",
        "page us",
        "last us",
        "counts us",
        "lookup us",
        "spawn us"
    );
    let before = resident_bytes();
    let mut ids = Vec::new();
    for stage in STAGES {
        let missing = stage - ids.len();
        let start = Instant::now();
        ids.extend(spawn_all(&agents, ids.len(), missing).await);
        let per_second = missing as f64 / start.elapsed().as_secs_f64();
        let pages = list_all(&agents, stage).await;
        let held = resident_bytes().saturating_sub(before) / stage as u64;
        let counts = count(&agents, stage).await;
        let lookup = look_up(&agents, &ids).await;
        let spawn = spawn_one_by_one(&agents, &mut ids).await;
        println!(
            "{stage:<12} {per_second:>9.0} {held:>9} {:>11.1} {:>9.1} {:>9.1} {counts:>10.1} {lookup:>10.1} {spawn:>10.1}",
            pages.iter().sum::<Duration>().as_secs_f64() * 1e3,
            median(pages.clone()),
            micros(pages[pages.len() - 1]),
        );
    }
}

/// Prints how soon a spawn with skills that do not go together is refused.
async fn refusals(agents: &Agents) {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let request =
            request(json!({"driver": "external", "skills": ["reader", "writer", "loner", "nobody"]}));
        let start = Instant::now();
        let refused = agents.spawn(&request, SpawnCaller::LOCAL, cause()).await;
        took.push(start.elapsed());
        assert!(matches!(refused, Err(SpawnFailed::Refused(refused)) if refused.errors.len() == 2));
    }
    println!("spawn refused, median us {:.1}", median(took));
}

/// Spawns agents, many at once.
async fn spawn_all(agents: &Agents, first: usize, count: usize) -> Vec<AgentId> {
    let mut spawners = JoinSet::new();
    for spawner in 0..AT_ONCE {
        let agents = agents.clone();
        spawners.spawn(async move {
            let mut ids = Vec::new();
            for number in (spawner..count).step_by(AT_ONCE) {
                ids.push(spawn(&agents, first + number).await);
            }
            ids
        });
    }
    spawners.join_all().await.into_iter().flatten().collect()
}

/// Spawns agents one after the other, and returns how long one takes.
async fn spawn_one_by_one(agents: &Agents, ids: &mut Vec<AgentId>) -> f64 {
    let mut took = Vec::new();
    for _ in 0..SPAWNS {
        let start = Instant::now();
        ids.push(spawn(agents, ids.len()).await);
        took.push(start.elapsed());
    }
    median(took)
}

async fn spawn(agents: &Agents, number: usize) -> AgentId {
    let document =
        json!({"driver": "external", "label": format!("Worker {number}"), "skills": ["reader", "writer"]});
    agents.spawn(&request(document), SpawnCaller::LOCAL, cause()).await.unwrap().record.agent_id
}

/// Lists all agents, and returns how long each page took.
async fn list_all(agents: &Agents, expected: usize) -> Vec<Duration> {
    let mut page = PageRequest { after: None, limit: PAGE };
    let (mut took, mut listed) = (Vec::new(), 0);
    loop {
        let start = Instant::now();
        let found = agents.list(&AgentFilter::default(), &page).await.unwrap();
        took.push(start.elapsed());
        listed += found.items.len();
        match found.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    assert_eq!(listed, expected);
    took
}

async fn count(agents: &Agents, expected: usize) -> f64 {
    let start = Instant::now();
    let counts = agents.counts().await.unwrap();
    let took = start.elapsed();
    assert_eq!(counts, [(AgentState::Idle, expected as u64)]);
    micros(took)
}

/// Looks agents up all over the place, and returns how long one takes.
async fn look_up(agents: &Agents, ids: &[AgentId]) -> f64 {
    let mut took = Vec::new();
    for id in ids.iter().step_by((ids.len() / ROUNDS).max(1)) {
        let start = Instant::now();
        let found = agents.agent(*id).await.unwrap();
        took.push(start.elapsed());
        assert!(found.is_some());
    }
    median(took)
}

fn request(document: Value) -> SpawnRequest {
    SpawnRequest::read(document.as_object().unwrap()).unwrap()
}

fn cause() -> Cause {
    Cause::by("bench")
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    micros(times[times.len() / 2])
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Returns how much memory this process holds, whoever in it asked for it.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Skills to give to agents; the last does not go together with the first.
fn shelf(folder: &Utf8Path) -> Arc<SkillShelf> {
    let skills = [
        json!({"name": "reader", "allowed_tools": ["file.read", "file.list", "web.*"]}),
        json!({"name": "writer", "allowed_tools": ["file.write"], "forbidden_tools": ["web.post"]}),
        json!({
            "name": "loner",
            "allowed_tools": ["*"],
            "compatibility_rules": [{"type": "incompatible", "skill": "reader"}],
        }),
    ];
    for mut manifest in skills {
        let own = folder.join("skills").join(manifest["name"].as_str().unwrap());
        fs::create_dir_all(&own).unwrap();
        manifest["version"] = json!("1.0.0");
        manifest["description"] = json!("Is given to agents.");
        fs::write(own.join("skill.json"), manifest.to_string()).unwrap();
    }
    let catalog = Catalog::load(&CatalogRequest {
        roots: vec![folder.join("skills")],
        options: LoadOptions::from(Keep::Descriptions),
        disabled: BTreeSet::new(),
        chosen: Vec::new(),
    });
    Arc::new(SkillShelf::new(catalog, Vec::new(), folder.to_owned(), folder.join("data")))
}

fn agents(folder: &Utf8Path, shelf: Arc<SkillShelf>) -> Agents {
    let (clock, owner) = (Clock::system(), OwnerId("bench".to_owned()));
    let store = Arc::new(SqliteStore::open(&folder.join("artel.db"), SqliteOptions::default()).unwrap());
    let dead_letters = Arc::new(DeadLetterBox::open(store.clone()));
    let bus = BusConfig { clock: artel_bus::Clock::new(move || clock.now()), dead_letters };
    let office = OfficeParts {
        mail: store.clone(),
        waits: store.clone(),
        agents: store.clone(),
        runs: store.clone(),
        bus: Arc::new(InProcessBus::new(bus)),
        clock,
    };
    let engine = EngineConfig {
        node: "bench".to_owned(),
        owner: owner.clone(),
        processes_max: 1,
        runs_max: 1,
        poll_ms: 200,
        closing_grace_ms: 0,
        kill_grace_ms: 0,
    };
    let parts = AgentsParts {
        stores: Stores { agents: store.clone(), runs: store.clone() },
        engine: Engine::start(engine, store, Arc::new(IdleHands), clock),
        is_alive: Arc::new(|_| true),
        shelves: Arc::new(OneShelf::new(shelf)),
        planner: Arc::new(PatternPlanner),
        roles: Arc::new(()),
        llm: None,
        command: None,
        announce: Arc::new(Office::new(OfficeConfig::default(), office)),
        clock,
    };
    Agents::new(config(owner), parts)
}

fn config(owner: OwnerId) -> AgentsConfig {
    AgentsConfig {
        owner,
        agents_max: AGENTS_MAX,
        at_limit: AtLimit::Reject,
        limits: SpawnLimits::default(),
        default: Layer::configured(&["*".parse().unwrap()], &[]),
        clients: Vec::new(),
        deadline_ms: 60_000,
        slots: 2,
        poll_ms: 200,
        grace_ms: 2000,
    }
}
