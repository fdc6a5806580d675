//! Two scanners behind one catalog: the worst counts, whoever fails passes nothing, and scanning again on demand. A script
//! stands in for the second one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use artel_app::Reread;
use artel_engine::process::{Launcher, LauncherConfig, LauncherProgram};
use artel_engine::scanner::{SkillScanner, SkillScannerConfig};
use artel_model::catalog::Gate;
use serde_json::{Value, json};

use crate::client::Client;
use crate::hubs::{Repository, registered};
use crate::skills_place::{EVIL, Shop, instructions, names, skill_path};

/// Answers as the real scanner does: what has the word `abracadabra` in it is critical. It fails while there is a file
/// `fails` beside it.
const STAND_IN: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo "skill-scanner 9.9.9"; exit 0; }
[ -e "$(dirname "$0")/fails" ] && exit 3
count=0
for skill in "$2"/*/*; do
  severity=SAFE found=0 finding=
  if grep -rq abracadabra "$skill"; then
    severity=CRITICAL found=1
    finding='{"rule_id":"MAGIC","severity":"CRITICAL","title":"A magic word","file_path":"SKILL.md","line_number":5}'
  fi
  [ $count -gt 0 ] && list="$list,"
  list="$list{\"skill_path\":\"$skill\",\"max_severity\":\"$severity\",\"findings_count\":$found"
  list="$list,\"findings\":[$finding],\"analyzers_used\":[\"static_analyzer\"]}"
  count=$((count+1))
done
echo "{\"summary\":{\"total_skills_scanned\":$count},\"results\":[$list]}"
"#;

/// Opens a server that asks both scanners and has read its folders once.
async fn shop(gate: Gate, skills: &[(&str, &str)]) -> Shop {
    let shop = Shop::unread(gate, skills).await;
    let program = shop.path("scanner/skill-scanner");
    fs::create_dir(shop.path("scanner")).unwrap();
    fs::write(&program, STAND_IN).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let launcher = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-server-launcher"));
    let launcher = Launcher::start(LauncherConfig { program: launcher, guard: None }).await.unwrap();
    let config = SkillScannerConfig::new(program, shop.path("work/scans"));
    shop.catalogs.add_scanner(SkillScanner::open(launcher, config).await);
    shop.catalogs.refresh(Reread::Folders).await.unwrap();
    shop
}

fn set_failing(shop: &Shop, fails: bool) {
    let file = shop.path("scanner/fails");
    if fails { fs::write(file, "").unwrap() } else { fs::remove_file(file).unwrap() }
}

fn draft(name: &str, content: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "content": content})
}

fn engines(skill: &Value) -> Vec<(&str, bool)> {
    let engines = skill["scan"]["engines"].as_array().unwrap().iter();
    engines.map(|one| (one["engine"].as_str().unwrap(), one["is_complete"].as_bool().unwrap())).collect()
}

async fn rescan(client: &Client, id: &str) -> crate::client::Answered {
    client.tell(&format!("{}/rescan", skill_path(id))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worst_that_either_scanner_finds_counts() {
    let shop = shop(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let good = ann.post("/api/skills", draft("good", "Do it.")).await.expect(201);
    assert_eq!(
        (&good["scan_status"], engines(&good)),
        (&json!("passed"), vec![("artel", true), ("skill-scanner", true)])
    );
    let version = &good["scan"]["engines"][1]["version"];
    assert_eq!(version, "9.9.9 balanced");
    let magic = ann.post("/api/skills", draft("magic", "Say abracadabra.")).await.expect(201);
    assert_eq!(
        (&magic["scan_status"], &magic["scan"]["max_severity"]),
        (&json!("flagged"), &json!("critical"))
    );
    let mut evil = draft("evil", "Run it.");
    evil["files"] = json!([{"path": "scripts/run.sh", "text": EVIL}]);
    let evil = ann.post("/api/skills", evil).await.expect(201);
    assert_eq!(evil["scan_status"], "flagged", "what only our own scanner finds counts as well");
    assert_eq!(names(&ann.get("/api/skills").await.expect(200)), ["good"], "critical is held back");
    let found = ann.get("/api/scan-findings?severity=critical").await.expect(200);
    let found: Vec<(&str, &str)> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["engine"].as_str().unwrap(), one["skill_id"].as_str().unwrap()))
        .collect();
    assert!(found.contains(&("skill-scanner", magic["id"].as_str().unwrap())), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_second_scanner_has_not_seen_has_not_passed() {
    let apple = instructions("apple", "Peels.", "Cut.");
    let shop = shop(Gate::Strict, &[("apple/SKILL.md", &apple)]).await;
    assert!(
        names(&shop.admin.get("/api/skills").await.expect(200)).is_empty(),
        "the start does not wait for it"
    );
    shop.refresh().await;
    assert!(names(&shop.admin.get("/api/skills").await.expect(200)).is_empty(), "nor does anybody else");
    while shop.catalogs.scan_waiting().await.unwrap() {}
    assert_eq!(names(&shop.admin.get("/api/skills").await.expect(200)), ["apple"]);

    set_failing(&shop, true);
    let made = shop.admin.post("/api/skills", draft("bake", "Mix.")).await.expect(201);
    let id = made["id"].as_str().unwrap();
    assert_eq!(
        (&made["scan_status"], engines(&made)),
        (&json!("unscanned"), vec![("artel", true), ("skill-scanner", false)])
    );
    assert_eq!(made["scan"]["engines"][1]["gaps"], json!(["the scanner failed (exit code 3)"]));
    assert_eq!(names(&shop.admin.get("/api/skills").await.expect(200)), ["apple"]);

    set_failing(&shop, false);
    shop.refresh().await;
    assert_eq!(
        names(&shop.admin.get("/api/skills").await.expect(200)),
        ["apple"],
        "a failure is not tried again and again"
    );
    let again = rescan(&shop.admin, id).await.expect(200);
    assert_eq!((&again["scan_status"], &again["id"]), (&json!("passed"), &made["id"]));
    assert_eq!(names(&shop.admin.get("/api/skills").await.expect(200)), ["apple", "bake"]);
    let log = shop.admin.get(&format!("/api/audit?subject={id}")).await.expect(200);
    assert_eq!(
        (&log["items"][0]["action"], &log["items"][0]["summary"]),
        (&json!("skill_rescanned"), &json!("passed"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_have_skills_scanned_again() {
    let shop = shop(Gate::Warn, &[]).await;
    let ann = shop.member("ann", &[]).await;
    let made = ann.post("/api/skills", draft("bake", "Mix.")).await.expect(201);
    rescan(&ann, made["id"].as_str().unwrap()).await.refused(403, "forbidden");
    for unknown in ["default/none", "odd", "agent_skills/01890a5d-ac96-774b-bcce-b302099a8057"] {
        rescan(&shop.admin, unknown).await.refused(404, "not_found");
    }
    let none = "/api/skill-hubs/01890a5d-ac96-774b-bcce-b302099a8057/rescan";
    shop.admin.tell(none).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_is_scanned_again_as_a_whole() {
    let shop = shop(Gate::Warn, &[]).await;
    let repository = Repository::new(&shop, "repository");
    repository.commit(&[
        ("pear/SKILL.md", &instructions("pear", "Pears.", "Pick.")),
        ("plum/SKILL.md", &instructions("plum", "Plums.", "abracadabra")),
    ]);
    set_failing(&shop, true);
    let hub = registered(&shop, &repository).await;
    let path = format!("/api/skill-hubs/{}/rescan", hub["id"].as_str().unwrap());
    let again = shop.admin.tell(&path).await.expect(200);
    assert_eq!(
        (&again["unscanned"], &again["passed"], &again["flagged"]),
        (&json!(2), &json!(0), &json!(0)),
        "{again}"
    );
    set_failing(&shop, false);
    let again = shop.admin.tell(&path).await.expect(200);
    assert_eq!(
        (&again["unscanned"], &again["passed"], &again["flagged"]),
        (&json!(0), &json!(1), &json!(1)),
        "{again}"
    );
    assert_eq!(again["waiting"], 0);
    assert_eq!(names(&shop.admin.get("/api/skills").await.expect(200)), ["pear"]);
    let log =
        shop.admin.get(&format!("/api/audit?subject={}", hub["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(log["items"][0]["action"], "hub_rescanned");
}
