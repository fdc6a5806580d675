//! Primitives and booleans through the protocol.

use std::f64::consts::PI;

use serde_json::json;

use crate::serve::{Cad, near};

#[test]
fn primitives_stand_where_they_are_put() {
    let mut cad = Cad::start();
    let solid =
        cad.call("solid.primitive", json!({"kind": "box", "size": [10, 20, 30], "position": [1, 2, 3]}));
    assert_eq!(solid["bounding_box"], json!({"min": [1.0, 2.0, 3.0], "max": [11.0, 22.0, 33.0]}));
    assert_eq!((&solid["volume"], &solid["surface_area"]), (&json!(6000.0), &json!(2200.0)));
    assert_eq!(solid["center_of_mass"], json!([6.0, 12.0, 18.0]));
    assert_eq!(
        (&solid["topology"]["face_count"], &solid["topology"]["is_manifold"]),
        (&json!(6), &json!(true))
    );
    let middle = json!({"kind": "cylinder", "radius": 2, "height": 10, "axis": [1, 0, 0], "centered": true});
    let solid = cad.call("solid.primitive", middle);
    assert_eq!(solid["bounding_box"], json!({"min": [-5.0, -2.0, -2.0], "max": [5.0, 2.0, 2.0]}));
    near(&solid["volume"], PI * 40.0, 1e-9);
}

#[test]
fn parameters_that_make_no_solid_are_refused_by_name() {
    let mut cad = Cad::start();
    let mut message = |params| cad.refused("solid.primitive", params, "INVALID_PARAMS");
    assert_eq!(
        message(json!({"kind": "box", "size": [1, 0, 1]})),
        "`size` = 0 is not from 0.0001 to 1000000 mm"
    );
    assert_eq!(message(json!({"kind": "cylinder", "height": 1})), "a cylinder needs `radius`");
    assert_eq!(
        message(json!({"kind": "sphere", "radius": 1, "height": 2})),
        "`height` does not belong to this sphere; it takes radius"
    );
    assert!(
        message(json!({"kind": "cube"}))
            .starts_with("solid.primitive: unknown variant `cube`, expected one of")
    );
    assert!(message(json!({"kind": "sphere", "radius": "3"})).contains("found string \"3\", expected f64"));
    assert!(
        message(json!({"kind": "sphere", "radius": 1, "axis": [0, 0, 0]}))
            .contains("`axis` = (0, 0, 0) has no")
    );
    assert!(
        message(json!({"kind": "sphere", "radius": 1, "entity_id": "a b"})).contains("is not an entity id")
    );
}

#[test]
fn a_boolean_replaces_its_target_and_takes_its_tools() {
    let mut cad = Cad::start();
    cad.call(
        "solid.primitive",
        json!({"kind": "box", "size": [10, 10, 10], "entity_id": "block", "name": "Block"}),
    );
    let hole =
        json!({"kind": "cylinder", "radius": 3, "height": 30, "position": [5, 5, -10], "entity_id": "hole"});
    cad.call("solid.primitive", hole.clone());
    let cut = json!({"operation": "subtract", "target_id": "block", "tool_ids": ["hole"]});
    let solid = cad.call("solid.boolean", cut.clone());
    near(&solid["volume"], 1000.0 - 90.0 * PI, 1e-9);
    assert_eq!((&solid["entity_id"], &solid["name"]), (&json!("block"), &json!("Block")));
    let message = cad.refused("solid.boolean", cut, "ENTITY_NOT_FOUND");
    assert_eq!(message, "the workspace has no entity `hole`; it has `block` of 1; entity.list shows all");
    cad.call("solid.primitive", hole);
    let keep = json!({"operation": "union", "entity_ids": ["block", "hole"], "keep_inputs": true, "entity_id": "both"});
    near(&cad.call("solid.boolean", keep)["volume"], 1000.0 - 90.0 * PI + 270.0 * PI, 1e-9);
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(3));
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut cad = Cad::start();
    cad.call("solid.primitive", json!({"kind": "box", "size": [10, 10, 10], "entity_id": "a"}));
    cad.call(
        "solid.primitive",
        json!({"kind": "box", "size": [5, 5, 5], "position": [50, 0, 0], "entity_id": "b"}),
    );
    let boolean = |operation: &str, target: &str, tool: &str| json!({"operation": operation, "target_id": target, "tool_ids": [tool]});
    let message = cad.refused("solid.boolean", boolean("intersect", "a", "b"), "OPERATION_INVALID");
    assert!(message.starts_with("nothing would be left"), "{message}");
    cad.refused("solid.boolean", boolean("union", "a", "a"), "CIRCULAR_DEPENDENCY");
    cad.refused(
        "solid.primitive",
        json!({"kind": "sphere", "radius": 1, "entity_id": "a"}),
        "INVALID_PARAMS",
    );
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(2));
}

#[test]
fn a_repeated_key_changes_nothing_and_another_call_with_it_is_refused() {
    let mut cad = Cad::start();
    let params = json!({"kind": "sphere", "radius": 2, "idempotency_key": "k1"});
    let first = cad.call("solid.primitive", params.clone());
    assert_eq!(cad.call("solid.primitive", params), first);
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(1));
    let other = json!({"kind": "sphere", "radius": 3, "idempotency_key": "k1"});
    let message = cad.refused("solid.primitive", other, "INVALID_PARAMS");
    assert!(message.contains("was used for a different call"), "{message}");
}

#[test]
fn many_tools_are_one_step() {
    let mut cad = Cad::start();
    cad.call("solid.primitive", json!({"kind": "box", "size": [100, 100, 5], "entity_id": "plate"}));
    let mut tools = Vec::new();
    for index in 0..25 {
        let (x, y) = (10 + 20 * (index % 5), 10 + 20 * (index / 5));
        let params = json!({"kind": "cylinder", "radius": 3, "height": 9, "position": [x, y, -2]});
        tools.push(cad.call("solid.primitive", params)["entity_id"].clone());
    }
    let params = json!({"operation": "subtract", "target_id": "plate", "tool_ids": tools});
    near(&cad.call("solid.boolean", params)["volume"], 50_000.0 - 25.0 * PI * 45.0, 1e-9);
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(1));
}

#[test]
fn a_solid_has_mass_and_moments() {
    let mut cad = Cad::start();
    let params = json!({"kind": "box", "size": [10, 20, 30], "position": [100, 0, 0], "entity_id": "block"});
    cad.call("solid.primitive", params);
    let mass = cad.call("solid.mass_properties", json!({"solid_id": "block", "density": 7850}));
    near(&mass["mass_kg"], 0.0471, 1e-9);
    let expected = [400.0 + 900.0, 100.0 + 900.0, 100.0 + 400.0];
    for (axis, sum) in expected.iter().enumerate() {
        near(&mass["inertia_mm5"][axis][axis], 6000.0 * sum / 12.0, 1e-9);
        near(&mass["inertia_kg_mm2"][axis][axis], 0.0471 * sum / 12.0, 1e-9);
    }
    cad.refused("solid.mass_properties", json!({"solid_id": "block", "density": -1}), "INVALID_PARAMS");
}
