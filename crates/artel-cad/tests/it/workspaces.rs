//! Branching, comparing and merging workspaces, and their history.

use serde_json::{Value, json};

use crate::serve::Cad;

fn block(cad: &mut Cad, workspace: &str, id: &str, at: [f64; 3], size: f64) {
    let params = json!({
        "workspace_id": workspace, "kind": "box", "size": [size, size, size], "position": at, "entity_id": id
    });
    cad.call("solid.primitive", params);
}

fn branch(cad: &mut Cad, names: &[&str]) {
    for name in names {
        cad.call("workspace.create", json!({"workspace_id": name}));
    }
}

fn merge(source: &str) -> Value {
    json!({"source_workspace_id": source, "target_workspace_id": "main"})
}

fn conflicts(error: &Value) -> Vec<(String, Value)> {
    let list = error["data"]["conflicts"].as_array().cloned().unwrap_or_default();
    list.iter().map(|c| (c["kind"].as_str().unwrap_or_default().to_owned(), c["entities"].clone())).collect()
}

#[test]
fn a_branch_shows_its_base_and_keeps_to_itself() {
    let mut cad = Cad::start();
    block(&mut cad, "main", "base", [0.0; 3], 10.0);
    branch(&mut cad, &["a"]);
    block(&mut cad, "a", "own", [50.0, 0.0, 0.0], 10.0);
    block(&mut cad, "main", "later", [0.0, 50.0, 0.0], 10.0);
    let count = |cad: &mut Cad, workspace: &str| {
        cad.call("entity.list", json!({"workspace_id": workspace}))["total_count"].clone()
    };
    assert_eq!((count(&mut cad, "a"), count(&mut cad, "main")), (json!(2), json!(2)));
    let status = cad.call("workspace.status", json!({"workspace_id": "a"}));
    assert_eq!((&status["ahead"], &status["behind"], &status["dirty"]), (&json!(1), &json!(1), &json!(true)));
    let diff = cad.call("workspace.diff", json!({"workspace_id": "a"}));
    assert_eq!(diff["changes"], json!({"added": ["own"], "modified": [], "deleted": []}));
    assert_eq!(diff["other_changes"]["added"], json!(["later"]));
    cad.refused("workspace.create", json!({"workspace_id": "a"}), "WORKSPACE_CONFLICT");
    cad.refused("entity.list", json!({"workspace_id": "nowhere"}), "FILE_NOT_FOUND");
}

#[test]
fn merging_takes_changes_once() {
    let mut cad = Cad::start();
    block(&mut cad, "main", "kept", [0.0; 3], 10.0);
    block(&mut cad, "main", "doomed", [0.0, 0.0, 50.0], 10.0);
    branch(&mut cad, &["a", "b"]);
    block(&mut cad, "a", "from_a", [50.0, 0.0, 0.0], 10.0);
    cad.call("entity.delete", json!({"workspace_id": "a", "entity_id": "doomed"}));
    block(&mut cad, "b", "from_b", [100.0, 0.0, 0.0], 10.0);
    let merged = cad.call("workspace.merge", merge("a"));
    assert_eq!((&merged["added"], &merged["deleted"]), (&json!(1), &json!(1)));
    cad.call("workspace.merge", merge("b"));
    let again = cad.call("workspace.merge", merge("a"));
    assert_eq!((&again["merged"], &again["merged_entities"]), (&json!(true), &json!(0)));
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(3));
    // A merge the other way brings the branch up to date, and the next one takes only what is new.
    cad.call("workspace.merge", json!({"source_workspace_id": "main", "target_workspace_id": "a"}));
    let status = cad.call("workspace.status", json!({"workspace_id": "a"}));
    assert_eq!((&status["ahead"], &status["behind"]), (&json!(0), &json!(0)));
    cad.call(
        "entity.transform",
        json!({"workspace_id": "a", "entity_id": "from_b", "translate": [0, 20, 0]}),
    );
    assert_eq!(cad.call("workspace.merge", merge("a"))["modified"], json!(1));
    cad.refused("workspace.merge", merge("main"), "CIRCULAR_DEPENDENCY");
}

#[test]
fn every_kind_of_conflict_is_found_changes_nothing_and_can_be_resolved() {
    let mut cad = Cad::start();
    block(&mut cad, "main", "moved", [0.0; 3], 10.0);
    block(&mut cad, "main", "gone", [0.0, 0.0, 50.0], 10.0);
    branch(&mut cad, &["a"]);
    for (workspace, step) in [("main", 100), ("a", 200)] {
        let params = json!({"workspace_id": workspace, "entity_id": "moved", "translate": [step, 0, 0]});
        cad.call("entity.transform", params);
    }
    cad.call("entity.delete", json!({"workspace_id": "a", "entity_id": "gone"}));
    cad.call("entity.transform", json!({"entity_id": "gone", "translate": [0, 500, 0]}));
    block(&mut cad, "main", "same_id", [0.0, 300.0, 0.0], 10.0);
    block(&mut cad, "a", "same_id", [0.0, 400.0, 0.0], 20.0);
    block(&mut cad, "main", "left", [-50.0, 0.0, 0.0], 10.0);
    block(&mut cad, "a", "right", [-45.0, 5.0, 5.0], 10.0);
    let before = cad.call("entity.list", json!({}));
    let error = cad.try_call("workspace.merge", merge("a")).unwrap_err();
    assert_eq!(error["code"], json!(-32007));
    assert_eq!(
        conflicts(&error),
        [
            ("deleted_modified".to_owned(), json!(["gone"])),
            ("both_modified".to_owned(), json!(["moved"])),
            ("id_collision".to_owned(), json!(["same_id"])),
            ("overlapping_geometry".to_owned(), json!(["right", "left"])),
        ]
    );
    assert_eq!(cad.call("entity.list", json!({})), before);
    let choices = ["keep_target", "keep_source", "keep_source", "keep_both"];
    for (conflict, choice) in error["data"]["conflicts"].as_array().unwrap().iter().zip(choices) {
        let mut params = merge("a");
        params["conflict_id"] = conflict["conflict_id"].clone();
        params["resolution"] = json!(choice);
        cad.call("workspace.resolve_conflict", params);
    }
    assert_eq!(cad.call("workspace.merge", merge("a"))["merged"], json!(true));
    let at = |cad: &mut Cad, id: &str| {
        cad.call("entity.query", json!({"entity_id": id}))["bounding_box"]["min"].clone()
    };
    assert_eq!(at(&mut cad, "moved"), json!([200.0, 0.0, 0.0]));
    assert_eq!(at(&mut cad, "gone"), json!([0.0, 500.0, 50.0]));
    assert_eq!(at(&mut cad, "same_id"), json!([0.0, 400.0, 0.0]));
    assert_eq!(
        (at(&mut cad, "left"), at(&mut cad, "right")),
        (json!([-50.0, 0.0, 0.0]), json!([-45.0, 5.0, 5.0]))
    );
    let mut wrong = merge("a");
    wrong["conflict_id"] = json!("conflict_x");
    wrong["resolution"] = json!("keep_source");
    assert!(cad.refused("workspace.resolve_conflict", wrong, "INVALID_PARAMS").contains("none is open"));
}

#[test]
fn a_manual_merge_takes_a_third_version() {
    let mut cad = Cad::start();
    block(&mut cad, "main", "part", [0.0; 3], 10.0);
    branch(&mut cad, &["a"]);
    cad.call("entity.transform", json!({"entity_id": "part", "translate": [100, 0, 0]}));
    cad.call("entity.transform", json!({"workspace_id": "a", "entity_id": "part", "translate": [200, 0, 0]}));
    block(&mut cad, "main", "agreed", [150.0, 0.0, 0.0], 10.0);
    let error = cad.try_call("workspace.merge", merge("a")).unwrap_err();
    let mut params = merge("a");
    params["conflict_id"] = error["data"]["conflicts"][0]["conflict_id"].clone();
    params["resolution"] = json!("manual_merge");
    cad.refused("workspace.resolve_conflict", params.clone(), "INVALID_PARAMS");
    params["replacement_entity_id"] = json!("agreed");
    cad.call("workspace.resolve_conflict", params);
    cad.call("workspace.merge", merge("a"));
    let part = cad.call("entity.query", json!({"entity_id": "part"}));
    assert_eq!(part["bounding_box"]["min"], json!([150.0, 0.0, 0.0]));
}

#[test]
fn all_overlapping_pairs_are_found_and_no_touching_one() {
    let mut cad = Cad::start();
    branch(&mut cad, &["a", "b"]);
    // A row of cubes in each branch: those of `b` are moved by 10 (touching), 5 (overlapping) or 10 and turned (apart).
    let mut expected = Vec::new();
    for index in 0..12_u32 {
        let x = f64::from(index) * 40.0;
        block(&mut cad, "a", &format!("a{index:02}"), [x, 0.0, 0.0], 10.0);
        let shift =
            [[10.0, 0.0, 0.0], [5.0, 5.0, 5.0], [10.0, 10.0, 10.0], [0.0, 0.0, 9.999]][(index % 4) as usize];
        block(&mut cad, "b", &format!("b{index:02}"), [x + shift[0], shift[1], shift[2]], 10.0);
        if index % 4 == 1 || index % 4 == 3 {
            expected.push((
                "overlapping_geometry".to_owned(),
                json!([format!("b{index:02}"), format!("a{index:02}")]),
            ));
        }
    }
    cad.call("workspace.merge", merge("a"));
    let error = cad.try_call("workspace.merge", merge("b")).unwrap_err();
    assert_eq!(conflicts(&error), expected);
    let mut anyway = merge("b");
    anyway["allow_overlaps"] = json!(true);
    assert_eq!(cad.call("workspace.merge", anyway)["added"], json!(12));
}

#[test]
fn the_same_curve_in_two_branches_is_an_overlap() {
    let mut cad = Cad::start();
    branch(&mut cad, &["a", "b"]);
    for (workspace, id, ends) in
        [("a", "one", [[0, 0], [10, 0]]), ("b", "two", [[10, 0], [0, 0]]), ("b", "three", [[0, 0], [0, 10]])]
    {
        let params = json!({"workspace_id": workspace, "entity_id": id, "start": ends[0], "end": ends[1]});
        cad.call("entity.create_line", params);
    }
    cad.call("workspace.merge", merge("a"));
    let error = cad.try_call("workspace.merge", merge("b")).unwrap_err();
    assert_eq!(conflicts(&error), [("overlapping_geometry".to_owned(), json!(["two", "one"]))]);
}

#[test]
fn steps_are_undone_and_redone_one_by_one() {
    let mut cad = Cad::start();
    block(&mut cad, "main", "a", [0.0; 3], 10.0);
    block(&mut cad, "main", "b", [5.0; 3], 10.0);
    cad.call("solid.boolean", json!({"operation": "subtract", "target_id": "a", "tool_ids": ["b"]}));
    let volume = |cad: &mut Cad| cad.call("entity.query", json!({"entity_id": "a"}))["volume"].clone();
    assert_eq!(volume(&mut cad), json!(875.0));
    let undone = cad.call("history.undo", json!({}));
    assert_eq!((&undone["method"], &undone["entities"]), (&json!("solid.boolean"), &json!(["a", "b"])));
    assert_eq!(volume(&mut cad), json!(1000.0));
    cad.call("history.redo", json!({}));
    assert_eq!(volume(&mut cad), json!(875.0));
    cad.refused("history.redo", json!({}), "OPERATION_INVALID");
    for _ in 0..3 {
        cad.call("history.undo", json!({}));
    }
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(0));
    cad.refused("history.undo", json!({}), "OPERATION_INVALID");
    cad.call("history.redo", json!({}));
    block(&mut cad, "main", "c", [50.0; 3], 10.0);
    // A new step takes the place of what was undone.
    cad.refused("history.redo", json!({}), "OPERATION_INVALID");
    let steps = cad.call("history.list", json!({"limit": 2}));
    assert_eq!(
        (&steps["steps"][0]["method"], &steps["steps"][0]["state"]),
        (&json!("solid.primitive"), &json!("done"))
    );
}

#[test]
fn a_merge_is_undone_as_a_whole() {
    let mut cad = Cad::start();
    branch(&mut cad, &["a"]);
    for index in 0..5 {
        block(&mut cad, "a", &format!("part{index}"), [f64::from(index) * 20.0, 0.0, 0.0], 10.0);
    }
    cad.call("workspace.merge", merge("a"));
    assert_eq!(cad.call("history.undo", json!({}))["entities"].as_array().unwrap().len(), 5);
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(0));
}

#[test]
fn a_deleted_workspace_leaves_its_branches_whole() {
    let mut cad = Cad::start();
    branch(&mut cad, &["a"]);
    block(&mut cad, "a", "part", [0.0; 3], 10.0);
    cad.call("workspace.create", json!({"workspace_id": "b", "base_workspace_id": "a"}));
    cad.call("workspace.delete", json!({"workspace_id": "a"}));
    assert_eq!(cad.call("entity.list", json!({"workspace_id": "b"}))["total_count"], json!(1));
    assert_eq!(cad.call("workspace.status", json!({"workspace_id": "b"}))["entity_count"], json!(1));
    branch(&mut cad, &["a"]);
    assert_eq!(cad.call("entity.list", json!({"workspace_id": "a"}))["total_count"], json!(0));
    cad.refused("workspace.delete", json!({"workspace_id": "main"}), "WORKSPACE_CONFLICT");
}

#[test]
fn calls_are_counted_for_each_agent() {
    let mut cad = Cad::start();
    for radius in [1, 2, 0] {
        let params = json!({"kind": "sphere", "radius": radius, "agent_id": "modeler"});
        let _ = cad.try_call("solid.primitive", params);
    }
    cad.call("entity.list", json!({"agent_id": "modeler"}));
    let metrics = cad.call("agent.metrics", json!({"agent_id": "modeler"}));
    assert_eq!((&metrics["operation_count"], &metrics["error_count"]), (&json!(4), &json!(1)));
    assert_eq!(metrics["by_operation"][1]["operation"], json!("solid.primitive"));
    assert_eq!(metrics["by_operation"][1]["success_count"], json!(2));
}

#[test]
fn every_write_can_be_repeated_with_its_key() {
    let mut cad = Cad::start();
    let mut keyed = |method: &str, mut params: Value, key: &str| {
        params["idempotency_key"] = json!(key);
        let first = cad.call(method, params.clone());
        assert_eq!(cad.call(method, params), first, "{method}");
        first
    };
    keyed("workspace.create", json!({"workspace_id": "a"}), "create");
    let block = json!({"workspace_id": "a", "kind": "box", "size": [1, 1, 1], "entity_id": "part"});
    keyed("solid.primitive", block, "box");
    keyed("workspace.merge", merge("a"), "merge");
    keyed("history.undo", json!({"workspace_id": "a"}), "undo");
    keyed("history.redo", json!({"workspace_id": "a"}), "redo");
    keyed("entity.delete", json!({"workspace_id": "a", "entity_id": "part"}), "delete");
    keyed("entity.transform", json!({"entity_id": "part", "translate": [5, 0, 0]}), "move");
    let error = cad.try_call("workspace.merge", merge("a")).unwrap_err();
    let mut resolve = merge("a");
    resolve["conflict_id"] = error["data"]["conflicts"][0]["conflict_id"].clone();
    resolve["resolution"] = json!("keep_target");
    resolve["idempotency_key"] = json!("resolve");
    let first = cad.call("workspace.resolve_conflict", resolve.clone());
    assert_eq!(cad.call("workspace.resolve_conflict", resolve), first);
    let gone = json!({"workspace_id": "a", "idempotency_key": "gone"});
    let first = cad.call("workspace.delete", gone.clone());
    assert_eq!(cad.call("workspace.delete", gone), first);
    assert_eq!(cad.call("history.list", json!({}))["steps"].as_array().unwrap().len(), 2);
}
