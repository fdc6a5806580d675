//! Nothing that one principal does changes what another sees, except through what they share: random programs of calls
//! run against two servers, one of which gets the calls of one principal only, and must tell that one the same to the byte.
//!
//! The trail of a skill is left out, because it is written down behind the requests; `trail.rs` checks whose it is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use serde_json::json;

use crate::canonical::Canonical;
use crate::mcp_talker::Talker;
use crate::place::{Place, TestSkill, done};
use crate::plans::plan;
use crate::principal_calls::{Actor, Call, Dice, NAMES};
use crate::provider::Provider;
use crate::skills_place::skill_path;

/// Calls of a program that are drawn.
const CALLS: usize = 24;
/// How many shorter programs are tried to find out which call it was.
const SHRINKS_MAX: usize = 40;
/// A word in everything that the other saves, sends and searches for.
const SECRET: &str = "annsecret";
/// A script that counts in its data how often it was run.
const COUNTS: &str = r#"
count=$(( $(cat "$ARTEL_DATA_DIR/count" 2>/dev/null || echo 0) + 1 ))
echo $count > "$ARTEL_DATA_DIR/count"
echo "{\"version\":\"0\",\"type\":\"done\",\"ok\":true,\"output\":{\"count\":$count}}"
"#;
/// What can be asked without knowing an id.
const QUESTIONS: [&str; 29] = [
    "/api/skills?include_content=true",
    "/api/skills?page_size=1&page=2",
    "/api/skills?q=cake",
    "/api/skills?visibility=personal",
    "/api/skills?scan_status=flagged",
    "/skills",
    "/api/skills/default%2Fbake",
    "/api/skills/default%2Fbake/config",
    "/api/skills/health",
    "/api/skills/supervisor-status",
    "/internal/supervisor/skills-status",
    "/api/scan-findings",
    "/api/scan-overrides",
    "/api/runs",
    "/api/runs/stats",
    "/api/executions",
    "/api/executions/stats",
    "/api/agents",
    "/api/agents/left-over",
    "/api/messages/counts",
    "/api/messages/dead-letters",
    "/api/catalog-api-keys",
    "/api/skill-hubs",
    "/api/skill-switches",
    "/api/audit",
    "/api/whoami",
    "/metrics",
    "/readyz",
    "/.well-known/agent-skills/index.json",
];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Who {
    /// Whose calls must make no difference.
    Other,
    /// Who looks.
    Watcher,
}

type Program = Vec<(Who, Call)>;

/// The teams of the two; those that both are in are shared, and nothing is shown to them.
#[derive(Clone, Copy)]
struct Teams {
    other: &'static [&'static str],
    watcher: &'static [&'static str],
}

const APART: Teams = Teams { other: &["red"], watcher: &["blue"] };
const TOGETHER: Teams = Teams { other: &["red", "green"], watcher: &["blue", "green"] };

fn program(seed: u64) -> Program {
    let mut dice = Dice(seed);
    let who = |dice: &mut Dice| if dice.roll(3) == 0 { Who::Watcher } else { Who::Other };
    let drawn = (0..CALLS).map(|_| (who(&mut dice), Call::draw(&mut dice)));
    // First both do what could get in each other's way: the same workspace, the same keys, the same names.
    let first = [
        Call::Spawn { workspace: true },
        Call::Spawn { workspace: false },
        Call::Send { message_id: Some(0) },
        Call::Publish { message_id: Some(1) },
        Call::Run { name: "bake", key: Some(0) },
        Call::Run { name: "counts", key: None },
        Call::Save { name: "brew", is_team: false, is_evil: false },
    ];
    let first = first.into_iter().flat_map(|call| [(Who::Other, call.clone()), (Who::Watcher, call)]);
    first.chain(drawn).collect()
}

/// Runs a program, and returns what the watcher was told after each call. Calls of the other are left out of a quiet world.
async fn told(program: &Program, teams: Teams, is_quiet: bool) -> Vec<Vec<String>> {
    let provider = Provider::open().await;
    let skills = [
        TestSkill("bake", json!({}), &done("{}")),
        TestSkill("fails", json!({}), "exit 3"),
        TestSkill("counts", json!({}), COUNTS),
    ];
    let mut place = Place::open_with_parts(&skills, |mut parts| {
        parts.http.config.requests_per_second = 1_000_000;
        parts.http.config.request_burst = 1_000_000;
        provider.trusted_by(parts)
    })
    .await;
    place.catalogs.rebuild_supervisor();
    let client = |user: &str, teams: &[&str]| place.admin.with(Some(&provider.token(user, teams)));
    let mut other = Actor::new(client("ann", teams.other), "red", SECRET);
    let mut watcher = Actor::new(client("bob", teams.watcher), "blue", "bobsecret");
    let mut canonical = Canonical::default();
    let mut told = Vec::new();
    for (who, call) in program {
        let mut lines = Vec::new();
        match who {
            Who::Other if is_quiet => {}
            Who::Other => drop(other.perform(&place, call).await),
            Who::Watcher => {
                let answer = watcher.perform(&place, call).await;
                lines.push(format!("{call:?}: {}", canonical.answer(&answer)));
            }
        }
        // As the server does by itself a moment later.
        place.catalogs.rebuild_supervisor();
        lines.extend(look(&watcher, &mut canonical).await);
        told.push(lines);
    }
    told.push(ask_over_mcp(&watcher, &place, &mut canonical).await);
    told.push(listen(&mut watcher, &place, &mut canonical).await);
    place.stop().await;
    told
}

/// Everything that the watcher can find out.
async fn look(watcher: &Actor, canonical: &mut Canonical) -> Vec<String> {
    let mut paths: Vec<String> = QUESTIONS.iter().map(|path| (*path).to_owned()).collect();
    for (ids, base, parts) in [
        (&watcher.skills, "", &["", "/files/word.txt", "/history"][..]),
        (&watcher.runs, "/api/runs/", &["", "/status", "/log"]),
        (&watcher.agents, "/api/agents/", &["", "/log", "/metrics", "/mailbox", "/policy"]),
    ] {
        let Some(last) = ids.last() else { continue };
        let base = if base.is_empty() { skill_path(last) } else { format!("{base}{last}") };
        paths.extend(parts.iter().map(|part| format!("{base}{part}")));
    }
    let mut told = Vec::new();
    for path in paths {
        let answer = watcher.client.get(&path).await;
        assert!(answer.status < 500, "{path}: {}", answer.text);
        let line = format!("GET {}: {}", canonical.text(&path), canonical.answer(&answer));
        told.push(line);
    }
    for name in NAMES {
        let checked = watcher.client.post("/api/plans/validate", plan(name, json!({}))).await;
        told.push(format!("validate {name}: {}", canonical.answer(&checked)));
    }
    told
}

/// What the watcher is told over MCP: which tools there are, and what some of them answer.
async fn ask_over_mcp(watcher: &Actor, place: &Place, canonical: &mut Canonical) -> Vec<String> {
    let talker = Talker::begin(place, &watcher.client.credential().unwrap()).await;
    let mut told = vec![format!("tools: {:?}", talker.tools().await)];
    for (tool, arguments) in [
        ("search_skills", json!({"query": "cake"})),
        ("read_skill", json!({"name": "bake"})),
        ("read_skill", json!({"name": "brew"})),
        ("list_agents", json!({})),
        ("list_runs", json!({})),
    ] {
        let answer = talker.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let answer = answer.messages.last().cloned().unwrap_or_default();
        told.push(format!("{tool} {arguments}: {}", canonical.value("", &answer)));
    }
    talker.end().await;
    told
}

/// What the watcher hears of topics, with the ids of the events.
async fn listen(watcher: &mut Actor, place: &Place, canonical: &mut Canonical) -> Vec<String> {
    watcher.perform(place, &Call::Spawn { workspace: false }).await;
    let sender = watcher.agents.last().unwrap().clone();
    let end = json!({"sender_id": sender, "topic": "the.end", "payload": {}});
    watcher.client.post("/api/messages/publish", end).await.expect(201);
    let mut stream = watcher.client.stream("/api/events?topic=%3E&replay=8", None).await;
    let mut heard = Vec::new();
    while let Some(event) = stream.next().await {
        heard.push(format!(
            "{} {} {}",
            canonical.text(&event.id),
            event.kind,
            canonical.value("", &event.data)
        ));
        if event.data["topic"] == "the.end" {
            break;
        }
    }
    heard
}

/// Returns the first line in which two worlds differ.
fn difference(one: &[Vec<String>], other: &[Vec<String>]) -> Option<String> {
    for (step, (one, other)) in one.iter().zip(other).enumerate() {
        for (line, quiet) in one.iter().zip(other) {
            if line != quiet {
                return Some(format!(
                    "after call {step}:\n  with the other: {line}\n  without:        {quiet}"
                ));
            }
        }
        if one.len() != other.len() {
            return Some(format!("after call {step}: {} lines and {}", one.len(), other.len()));
        }
    }
    None
}

/// Leaves out calls of the other as long as the difference stays.
async fn shrunk(mut program: Program, teams: Teams, quiet: &[Vec<String>]) -> (Program, String) {
    let mut message = String::new();
    let mut tried = 0;
    let mut place = 0;
    while place < program.len() && tried < SHRINKS_MAX {
        if program[place].0 == Who::Watcher || matches!(program[place].1, Call::Search { .. }) {
            place += 1;
            continue;
        }
        // A call that makes no difference stands in, so that both worlds have as many calls.
        let mut shorter = program.clone();
        shorter[place].1 = Call::Search { name: "bake" };
        tried += 1;
        if let Some(found) = difference(&told(&shorter, teams, false).await, quiet) {
            (program, message) = (shorter, found);
        }
        place += 1;
    }
    (program, message)
}

async fn the_other_makes_no_difference(seed: u64, teams: Teams) {
    let program = program(seed);
    let (loud, quiet) = tokio::join!(told(&program, teams, false), told(&program, teams, true));
    for line in loud.iter().flatten() {
        assert!(!line.contains(SECRET), "seed {seed}: {line}");
    }
    let Some(found) = difference(&loud, &quiet) else { return };
    let (program, shorter) = shrunk(program, teams, &quiet).await;
    let message = if shorter.is_empty() { found } else { shorter };
    panic!("seed {seed}: {message}\nprogram: {program:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_team_changes_what_another_sees() {
    the_other_makes_no_difference(1_592_590_337, APART).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_principal_changes_what_another_sees() {
    the_other_makes_no_difference(0x9e37_79b9_7f4a_7c15, APART).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_team_shares_what_is_shown_to_it_and_nothing_else() {
    the_other_makes_no_difference(0x2545_f491_4f6c_dd1d, TOGETHER).await;
}

/// The comparison itself: what is shared is seen, so a program that shows something to a shared team must differ.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_shared_is_seen() {
    const SHARED: Teams = Teams { other: &["red"], watcher: &["red", "blue"] };
    let save = Call::Save { name: "brew", is_team: true, is_evil: false };
    let program = vec![(Who::Other, save)];
    let found = difference(&told(&program, SHARED, false).await, &told(&program, SHARED, true).await);
    assert!(found.is_some_and(|found| found.contains("/api/skills")));
}
