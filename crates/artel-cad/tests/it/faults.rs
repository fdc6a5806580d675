//! Many processes on one folder, some of them killed: nothing that was acknowledged is lost, nothing is half there.
//! `ARTEL_CAD_LONG=1` does ten thousand operations.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::serve::Cad;

const PROCESSES: usize = 10;

/// What one process did, as it was acknowledged.
#[derive(Default)]
struct Acknowledged {
    kept: BTreeSet<String>,
    writes: usize,
}

fn long() -> bool {
    std::env::var_os("ARTEL_CAD_LONG").is_some()
}

/// Works in a workspace of its own and in `main`; every fifth process is killed now and then.
fn work(folder: &Path, number: usize, operations: usize, killed: &AtomicUsize) -> Acknowledged {
    let mut cad = Cad::start_in(folder, &[]);
    let own = format!("agent{number}");
    let mut done = Acknowledged::default();
    cad.call("workspace.create", json!({"workspace_id": own, "agent_id": own}));
    done.writes += 1;
    for step in 0..operations {
        let workspace = if step % 4 == 0 { "main" } else { own.as_str() };
        let place = [number * 1000 + step, step % 17, 0];
        let common = json!({"workspace_id": workspace, "agent_id": own});
        let with = |more: Value| {
            let mut params = common.clone();
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            params
        };
        let id = format!("e{number}_{step}");
        let result = match step % 10 {
            0..=4 => cad.call("entity.create_point", with(json!({"coordinates": place, "entity_id": id}))),
            5 | 6 => cad.call(
                "entity.create_line",
                with(json!({"start": [0, 0], "end": [1 + step, 1], "entity_id": id})),
            ),
            7 => {
                cad.call("entity.create_circle", with(json!({"center": place, "radius": 1, "entity_id": id})))
            }
            8 => cad.call(
                "solid.primitive",
                with(json!({"kind": "sphere", "radius": 1, "position": place, "entity_id": id})),
            ),
            _ => {
                cad.call("entity.list", with(json!({"limit": 5})));
                continue;
            }
        };
        assert_eq!(result["entity_id"], json!(id));
        done.writes += 1;
        done.kept.insert(format!("{workspace} {id}"));
        if number.is_multiple_of(5) && step % 40 == 38 {
            // A request is under way when the process dies; it may or may not have happened.
            let params = with(json!({"coordinates": [0, 0], "entity_id": format!("{id}_maybe")}));
            cad.send(
                &json!({"jsonrpc": "2.0", "id": 0, "method": "entity.create_point", "params": params})
                    .to_string(),
            );
            cad.kill();
            killed.fetch_add(1, Ordering::Relaxed);
            cad = Cad::start_in(folder, &[]);
        }
    }
    assert!(cad.end());
    done
}

#[test]
fn processes_share_a_folder_and_die_without_losing_anything() {
    let folder = tempfile::tempdir().unwrap();
    let operations = if long() { 1_000 } else { 80 };
    let killed = AtomicUsize::new(0);
    let done: Vec<Acknowledged> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..PROCESSES)
            .map(|number| {
                let (folder, killed) = (folder.path(), &killed);
                scope.spawn(move || work(folder, number, operations, killed))
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    assert!(killed.load(Ordering::Relaxed) >= 4);
    let mut cad = Cad::start_in(folder.path(), &[]);
    let mut found = BTreeSet::new();
    let names = (0..PROCESSES).map(|number| format!("agent{number}")).chain(["main".to_owned()]);
    for workspace in names {
        found.extend(listed(&mut cad, &workspace).into_iter().map(|id| format!("{workspace} {id}")));
    }
    for one in done.iter().flat_map(|done| &done.kept) {
        assert!(found.contains(one), "{one} was acknowledged and is lost");
    }
    // Requests that were under way may have happened; nothing else is there that was not acknowledged. A branch shows what
    // `main` had when it was made.
    let acknowledged: BTreeSet<&String> = done.iter().flat_map(|done| &done.kept).collect();
    let surplus = found.iter().filter(|one| !acknowledged.contains(one) && !one.ends_with("_maybe"));
    let from_main = |one: &&String| {
        let id = one.split(' ').nth(1).unwrap_or_default();
        acknowledged.contains(&format!("main {id}"))
    };
    assert!(surplus.clone().all(|one| from_main(&one)), "{:?}", surplus.take(5).collect::<Vec<_>>());
    for (number, done) in done.iter().enumerate() {
        let metrics = cad.call("agent.metrics", json!({"agent_id": format!("agent{number}")}));
        let writes: i64 = metrics["by_operation"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|method| method["operation"] != json!("entity.list"))
            .map(|method| method["success_count"].as_i64().unwrap())
            .sum();
        let maybe = found
            .iter()
            .filter(|one| one.contains(&format!(" e{number}_")) && one.ends_with("_maybe"))
            .count();
        assert_eq!(usize::try_from(writes).unwrap(), done.writes + maybe, "agent{number}");
    }
    undo_and_redo(&mut cad);
    assert_eq!(sqlite_check(folder.path()), "ok");
}

fn listed(cad: &mut Cad, workspace: &str) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let params = json!({"workspace_id": workspace, "limit": 1000, "offset": ids.len()});
        let page = cad.call("entity.list", params);
        ids.extend(
            page["entities"].as_array().unwrap().iter().map(|e| e["entity_id"].as_str().unwrap().to_owned()),
        );
        if page["has_more"] == json!(false) {
            return ids;
        }
    }
}

fn undo_and_redo(cad: &mut Cad) {
    let before = listed(cad, "agent1");
    for _ in 0..20 {
        cad.call("history.undo", json!({"workspace_id": "agent1"}));
    }
    assert_eq!(listed(cad, "agent1").len(), before.len() - 20);
    for _ in 0..20 {
        cad.call("history.redo", json!({"workspace_id": "agent1"}));
    }
    assert_eq!(listed(cad, "agent1"), before);
}

/// Asks SQLite itself whether the file is whole.
fn sqlite_check(folder: &Path) -> String {
    artel_cad::store::Store::open(folder, 0).unwrap().integrity().unwrap()
}

#[test]
fn a_lost_answer_can_be_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let params = json!({"kind": "box", "size": [1, 2, 3], "idempotency_key": "order-7"});
    let mut cad = Cad::start_in(folder.path(), &[]);
    let first = cad.call("solid.primitive", params.clone());
    cad.kill();
    let mut cad = Cad::start_in(folder.path(), &[]);
    assert_eq!(cad.call("solid.primitive", params), first);
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(1));
}

#[test]
fn processes_that_start_together_make_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                let mut cad = Cad::start_in(folder, &[]);
                cad.call("entity.create_point", json!({"x": number, "y": 0}));
            });
        }
    });
    let mut cad = Cad::start_in(folder.path(), &[]);
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(8));
}
