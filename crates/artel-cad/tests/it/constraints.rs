//! Constraints that move geometry, and what is said about them.

use serde_json::{Value, json};

use crate::serve::{Cad, near};

/// A rectangle drawn badly, with its lines called bottom, right, top and left.
fn sketch(cad: &mut Cad) {
    let corners = [[0.0, 0.0], [98.0, 3.0], [103.0, 55.0], [-2.0, 48.0]];
    for (i, name) in ["bottom", "right", "top", "left"].iter().enumerate() {
        let params = json!({"start": corners[i], "end": corners[(i + 1) % 4], "entity_id": name});
        cad.call("entity.create_line", params);
    }
}

fn on(kind: &str, entities: &[&str]) -> Value {
    json!({"kind": kind, "entity_ids": entities})
}

fn with(kind: &str, entities: &[&str], value: f64) -> Value {
    json!({"kind": kind, "entity_ids": entities, "value": value})
}

fn line(cad: &mut Cad, id: &str) -> [f64; 4] {
    let line = cad.call("entity.query", json!({"entity_id": id}));
    let number = |end: &str, axis: usize| line[end][axis].as_f64().unwrap();
    [number("start", 0), number("start", 1), number("end", 0), number("end", 1)]
}

#[track_caller]
fn is_near(found: [f64; 4], expected: [f64; 4]) {
    assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6), "{found:?}, not {expected:?}");
}

#[test]
fn a_rough_drawing_becomes_an_exact_rectangle() {
    let mut cad = Cad::start();
    sketch(&mut cad);
    cad.call(
        "constraint.apply",
        json!({"kind": "fixed", "targets": [{"entity_id": "bottom", "part": "start"}]}),
    );
    for name in ["bottom", "top"] {
        cad.call("constraint.apply", on("horizontal", &[name]));
    }
    cad.call("constraint.apply", on("vertical", &["right"]));
    cad.call("constraint.apply", on("perpendicular", &["left", "bottom"]));
    cad.call("constraint.apply", with("distance", &["bottom"], 120.0));
    let last = cad.call("constraint.apply", with("distance", &["right"], 40.0));
    assert_eq!((&last["satisfied"], &last["degrees_of_freedom"]), (&json!(false), &json!(0)));
    let before = cad.call("constraint.status", json!({}));
    assert!(!before["violated"].as_array().unwrap().is_empty());
    let solved = cad.call("constraint.solve", json!({}));
    assert_eq!((&solved["degrees_of_freedom"], &solved["satisfied"]), (&json!(0), &json!(7)));
    is_near(line(&mut cad, "bottom"), [0.0, 0.0, 120.0, 0.0]);
    is_near(line(&mut cad, "top"), [120.0, 40.0, 0.0, 40.0]);
    // The outline stayed closed, so it can be extruded.
    let plate = json!({"entity_ids": ["bottom", "right", "top", "left"], "distance": 5});
    near(&cad.call("solid.extrude", plate)["volume"], 24_000.0, 1e-6);
    let after = cad.call("constraint.status", json!({}));
    assert_eq!((&after["violated"], &after["redundant"]), (&json!([]), &json!([])));
    cad.call("history.undo", json!({}));
    cad.call("history.undo", json!({}));
    is_near(line(&mut cad, "bottom"), [0.0, 0.0, 98.0, 3.0]);
}

#[test]
fn contradictions_and_repetitions_are_named() {
    let mut cad = Cad::start();
    sketch(&mut cad);
    cad.call("constraint.apply", with("distance", &["bottom"], 100.0));
    let mut second = with("distance", &["bottom"], 90.0);
    second["entity_id"] = json!("wrong");
    let error = cad.try_call("constraint.apply", second).unwrap_err();
    assert_eq!(error["data"]["code"], json!("CONSTRAINT_CONFLICT"));
    assert_eq!(error["data"]["conflicting"], json!(["constraint_1"]));
    assert!(error["message"].as_str().unwrap().contains("contradicts `constraint_1`"), "{error}");
    let again = cad.call("constraint.apply", with("distance", &["bottom"], 100.0));
    assert_eq!(again["redundant"], json!(true));
    let status = cad.call("constraint.status", json!({}));
    assert_eq!(
        (&status["constraint_count"], &status["redundant"]),
        (&json!(2), &json!([again["entity_id"]]))
    );
}

#[test]
fn constraints_that_do_not_fit_say_what_they_need() {
    let mut cad = Cad::start();
    sketch(&mut cad);
    cad.call("entity.create_circle", json!({"center": [50, 20], "radius": 5, "entity_id": "hole"}));
    let mut message = |params, code| cad.refused("constraint.apply", params, code);
    assert!(
        message(on("parallel", &["bottom", "hole"]), "INVALID_CONSTRAINT").contains("it needs two lines")
    );
    assert!(
        message(with("radius", &["bottom"], 5.0), "INVALID_CONSTRAINT")
            .contains("it needs a circle or an arc")
    );
    assert!(message(on("distance", &["bottom"]), "INVALID_PARAMS").contains("needs `value`"));
    message(on("horizontal", &["nothing"]), "ENTITY_NOT_FOUND");
    message(with("distance", &["bottom"], -5.0), "INVALID_PARAMS");
    cad.call("entity.create_line", json!({"start": [0, 0, 0], "end": [0, 0, 9], "entity_id": "upright"}));
    cad.refused("constraint.apply", on("parallel", &["bottom", "upright"]), "INVALID_CONSTRAINT");
}

#[test]
fn every_kind_moves_what_it_is_about() {
    let mut cad = Cad::start();
    cad.call("entity.create_line", json!({"start": [0, 0], "end": [40, 0], "entity_id": "base"}));
    cad.call("constraint.apply", on("fixed", &["base"]));
    cad.call("entity.create_line", json!({"start": [3, 20], "end": [44, 23], "entity_id": "upper"}));
    cad.call("constraint.apply", on("parallel", &["base", "upper"]));
    cad.call("constraint.apply", with("distance", &["base", "upper"], 25.0));
    cad.call("entity.create_circle", json!({"center": [20, -12], "radius": 9, "entity_id": "wheel"}));
    cad.call("constraint.apply", with("radius", &["wheel"], 10.0));
    cad.call("constraint.apply", on("tangent", &["base", "wheel"]));
    cad.call("entity.create_line", json!({"start": [40, 0], "end": [60, 19], "entity_id": "slope"}));
    cad.call("constraint.apply", with("angle", &["base", "slope"], 30.0));
    cad.call("entity.create_point", json!({"coordinates": [21, -11], "entity_id": "axle"}));
    let centered = json!({"kind": "coincident", "targets": [{"entity_id": "axle"}, {"entity_id": "wheel", "part": "center"}]});
    cad.call("constraint.apply", centered);
    cad.call(
        "entity.create_arc",
        json!({"start": [60, 40], "through": [50, 50], "end": [40, 40], "entity_id": "cap"}),
    );
    cad.call("constraint.apply", with("radius", &["cap"], 12.0));
    cad.call("constraint.solve", json!({}));
    let upper = line(&mut cad, "upper");
    assert!((upper[1] - 25.0).abs() < 1e-6 && (upper[3] - 25.0).abs() < 1e-6, "{upper:?}");
    let slope = line(&mut cad, "slope");
    let angle = (slope[3] - slope[1]).atan2(slope[2] - slope[0]).to_degrees();
    assert!((angle - 30.0).abs() < 1e-6, "{angle}");
    let wheel = cad.call("entity.query", json!({"entity_id": "wheel"}));
    near(&wheel["radius"], 10.0, 1e-9);
    near(&wheel["center"][1], -10.0, 1e-9);
    let axle = cad.call("entity.query", json!({"entity_id": "axle"}));
    near(&axle["coordinates"][1], -10.0, 1e-9);
    near(&cad.call("entity.query", json!({"entity_id": "cap"}))["radius"], 12.0, 1e-8);
}

#[test]
fn constraints_follow_their_branch() {
    let mut cad = Cad::start();
    sketch(&mut cad);
    cad.call("workspace.create", json!({"workspace_id": "a"}));
    let mut params = with("distance", &["bottom"], 120.0);
    params["workspace_id"] = json!("a");
    cad.call("constraint.apply", params);
    cad.call("constraint.solve", json!({"workspace_id": "a"}));
    assert_eq!(cad.call("constraint.status", json!({}))["constraint_count"], json!(0));
    cad.call("workspace.merge", json!({"source_workspace_id": "a", "target_workspace_id": "main"}));
    assert_eq!(cad.call("constraint.status", json!({}))["violated"], json!([]));
    near(&cad.call("entity.query", json!({"entity_id": "bottom"}))["length"], 120.0, 1e-9);
}
