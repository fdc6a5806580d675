//! Points, curves, profiles, and the solids made of them.

use std::f64::consts::PI;

use serde_json::{Value, json};

use crate::serve::{Cad, near};

fn rectangle(cad: &mut Cad, width: f64, depth: f64) -> Vec<Value> {
    let corners = [[0.0, 0.0], [width, 0.0], [width, depth], [0.0, depth]];
    (0..4)
        .map(|i| {
            let params = json!({"start": corners[i], "end": corners[(i + 1) % 4]});
            cad.call("entity.create_line", params)["entity_id"].clone()
        })
        .collect()
}

#[test]
fn every_kind_of_curve_says_what_it_is() {
    let mut cad = Cad::start();
    let point = cad.call("entity.create.point", json!({"x": 1, "y": 2}));
    assert_eq!((&point["entity_id"], &point["coordinates"]), (&json!("point_1"), &json!([1.0, 2.0, 0.0])));
    let line = cad.call("entity.create_line", json!({"start": [0, 0], "end": {"x": 3, "y": 4}}));
    assert_eq!(line["length"], json!(5.0));
    let circle = cad.call("entity.create_circle", json!({"center": [0, 0], "radius": 2}));
    near(&circle["area"], 4.0 * PI, 1e-12);
    let quarter = [
        json!({"center": [0, 0], "radius": 10, "start_angle": 0, "end_angle": 90}),
        json!({"center": [0, 0], "radius": 10, "start_angle": 0, "end_angle": PI / 2.0, "angle_unit": "radians"}),
        json!({"start": [10, 0], "through": [10.0 * 0.5_f64.sqrt(), 10.0 * 0.5_f64.sqrt()], "end": [0, 10]}),
        json!({"start": [10, 0], "end": [0, 10], "radius": 10}),
    ];
    for params in quarter {
        near(&cad.call("entity.create_arc", params)["length"], 5.0 * PI, 1e-9);
    }
    let polyline = cad.call("entity.create_polyline", json!({"points": [[0, 0], [1, 0], [1, 1], [0, 0]]}));
    assert_eq!((&polyline["closed"], &polyline["points"].as_array().unwrap().len()), (&json!(true), &3));
    let message = cad.refused("entity.create_arc", json!({"center": [0, 0], "radius": 1}), "INVALID_PARAMS");
    assert!(
        message.contains("no form of an arc; give center, radius, start_angle and end_angle; or"),
        "{message}"
    );
}

#[test]
fn a_profile_with_holes_becomes_a_plate() {
    let mut cad = Cad::start();
    let mut ids = rectangle(&mut cad, 100.0, 80.0);
    for (x, y) in [(10, 10), (90, 10), (90, 70), (10, 70)] {
        ids.push(
            cad.call("entity.create_circle", json!({"center": [x, y], "radius": 2.5}))["entity_id"].clone(),
        );
    }
    let profile = cad.call("entity.create_profile", json!({"entity_ids": ids, "entity_id": "outline"}));
    let area = 8000.0 - 25.0 * PI;
    near(&profile["area"], area, 1e-12);
    assert_eq!(profile["hole_count"], json!(4));
    let solid = cad.call("solid.extrude", json!({"profile_id": "outline", "distance": 5}));
    near(&solid["volume"], area * 5.0, 1e-9);
    near(&solid["surface_area"], 2.0 * area + 5.0 * (360.0 + 20.0 * PI), 1e-9);
    let down = json!({"profile_id": "outline", "distance": -5, "symmetric": true});
    assert_eq!(cad.call("solid.extrude", down)["bounding_box"]["min"][2], json!(-2.5));
    let slanted = json!({"profile_id": "outline", "distance": 10, "direction": [0, 1, 1]});
    near(&cad.call("solid.extrude", slanted)["volume"], area * 10.0 / 2.0_f64.sqrt(), 1e-8);
}

#[test]
fn outlines_that_enclose_nothing_are_refused_with_the_place() {
    let mut cad = Cad::start();
    let ids = rectangle(&mut cad, 10.0, 10.0);
    let open = json!({"entity_ids": ids[..3], "distance": 5});
    let message = cad.refused("solid.extrude", open, "OPERATION_INVALID");
    assert!(message.starts_with("the profile is open: `line_3` ends at (0, 10, 0) where"), "{message}");
    let bow_tie = json!({"points": [[0, 0], [10, 10], [10, 0], [0, 10]], "closed": true, "entity_id": "bow"});
    cad.call("entity.create_polyline", bow_tie);
    let message =
        cad.refused("solid.extrude", json!({"profile_id": "bow", "distance": 5}), "OPERATION_INVALID");
    assert!(message.contains("crosses or touches itself: `bow[0]` and `bow[2]` at (5, 5, 0)"), "{message}");
    let flat = json!({"entity_ids": ids, "distance": 5, "direction": [1, 0, 0]});
    cad.refused("solid.extrude", flat, "INVALID_PARAMS");
    let message = cad.refused("solid.extrude", json!({"entity_ids": ids, "distance": 0}), "INVALID_PARAMS");
    assert!(message.starts_with("`distance` = 0"), "{message}");
}

#[test]
fn a_profile_turns_around_an_axis_that_it_does_not_cross() {
    let mut cad = Cad::start();
    let section =
        json!({"points": [[10, 0], [14, 0], [14, 20], [10, 20]], "closed": true, "entity_id": "section"});
    cad.call("entity.create_polyline", section);
    let turned = |more: Value| {
        let mut params = json!({"profile_id": "section", "axis_direction": [0, 1, 0]});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    near(&cad.call("solid.revolve", turned(json!({})))["volume"], 2.0 * PI * 12.0 * 80.0, 1e-9);
    near(&cad.call("solid.revolve", turned(json!({"angle": 90})))["volume"], PI / 2.0 * 12.0 * 80.0, 1e-9);
    let message =
        cad.refused("solid.revolve", turned(json!({"axis_origin": [12, 0, 0]})), "OPERATION_INVALID");
    assert!(message.starts_with("the profile crosses the axis: it reaches 2.000 mm"), "{message}");
    cad.refused("solid.revolve", turned(json!({"angle": 400})), "INVALID_PARAMS");
}

#[test]
fn features_change_a_solid_as_their_formulas_say() {
    let mut cad = Cad::start();
    let cube = |id: &str| json!({"kind": "box", "size": [20, 20, 20], "entity_id": id});
    for id in ["a", "b", "c", "d"] {
        cad.call("solid.primitive", cube(id));
    }
    let one_edge = 400.0 - 4.0 + PI;
    let rounded = cad.call("solid.fillet", json!({"solid_id": "a", "radius": 2, "edges_near": [[0, 0, 10]]}));
    near(&rounded["volume"], one_edge * 20.0, 1e-9);
    let upright = json!({"solid_id": "b", "radius": 2, "edges_along": [0, 0, 1]});
    near(&cad.call("solid.fillet", upright)["volume"], (400.0 - 16.0 + 4.0 * PI) * 20.0, 1e-9);
    let cut = cad.call("solid.chamfer", json!({"solid_id": "c", "distance": 1, "edges_near": [[10, 0, 20]]}));
    near(&cut["volume"], 8000.0 - 10.0, 1e-9);
    let hollow = cad.call("solid.shell", json!({"solid_id": "d", "thickness": 2, "open_facing": [0, 0, 1]}));
    near(&hollow["volume"], 8000.0 - 16.0 * 16.0 * 18.0, 1e-9);
    let message = cad.refused("solid.fillet", json!({"solid_id": "c", "radius": 30}), "TOPOLOGY_ERROR");
    assert!(message.contains("radius of 30 mm is too large"), "{message}");
    let lost = json!({"solid_id": "c", "radius": 1, "edges_near": [[50, 0, 0]]});
    assert!(cad.refused("solid.fillet", lost, "TOPOLOGY_ERROR").contains("no edge passes (50, 0, 0)"));
}

#[test]
fn patterns_and_mirrors_make_copies_or_one_solid() {
    let mut cad = Cad::start();
    cad.call(
        "solid.primitive",
        json!({"kind": "cylinder", "radius": 2, "height": 5, "position": [10, 0, 0], "entity_id": "pin"}),
    );
    let row = cad
        .call("solid.pattern", json!({"solid_id": "pin", "kind": "linear", "step": [0, 10, 0], "count": 3}));
    assert_eq!(row["copies"][1]["bounding_box"]["min"], json!([8.0, 18.0, 0.0]));
    let ring = cad.call("solid.pattern", json!({"solid_id": "pin", "kind": "circular", "count": 4}));
    assert_eq!(ring["copies"][0]["center_of_mass"], json!([0.0, 10.0, 2.5]));
    let image = cad.call("solid.mirror", json!({"solid_id": "pin", "plane_normal": [1, 0, 0]}));
    assert_eq!(image["center_of_mass"], json!([-10.0, 0.0, 2.5]));
    let one = json!({"solid_id": "pin", "kind": "linear", "step": [3, 0, 0], "count": 3, "unite": true});
    let united = cad.call("solid.pattern", one);
    assert_eq!((&united["entity_id"], &united["topology"]["solid_count"]), (&json!("pin"), &json!(1)));
    cad.refused("solid.pattern", json!({"solid_id": "pin", "kind": "linear", "count": 3}), "INVALID_PARAMS");
}

#[test]
fn everything_with_a_place_can_be_moved_and_copied() {
    let mut cad = Cad::start();
    cad.call("entity.create_line", json!({"start": [0, 0], "end": [10, 0], "entity_id": "line"}));
    cad.call("solid.primitive", json!({"kind": "box", "size": [10, 20, 30], "entity_id": "block"}));
    let turn = json!({"entity_ids": ["line", "block"], "rotate": {"axis": [0, 0, 1], "angle": 90}, "translate": [5, 0, 0]});
    let moved = cad.call("entity.transform", turn);
    assert_eq!(moved["entities"][0]["entity_id"], json!("line"));
    assert_eq!(
        moved["entities"][1]["bounding_box"],
        json!({"min": [-15.0, 0.0, 0.0], "max": [5.0, 10.0, 30.0]})
    );
    let copy =
        cad.call("entity.transform", json!({"entity_id": "block", "translate": [0, 0, 100], "copy": true}));
    assert_eq!(copy["bounding_box"]["min"][2], json!(100.0));
    assert_eq!(cad.call("entity.list", json!({"entity_type": "solid"}))["total_count"], json!(2));
    cad.refused("entity.transform", json!({"entity_id": "block"}), "INVALID_PARAMS");
}

#[test]
fn what_a_profile_needs_is_not_deleted_by_accident() {
    let mut cad = Cad::start();
    let ids = rectangle(&mut cad, 10.0, 10.0);
    cad.call("entity.create_profile", json!({"entity_ids": ids, "entity_id": "outline"}));
    let message = cad.refused("entity.delete", json!({"entity_id": "line_1"}), "OPERATION_INVALID");
    assert!(message.starts_with("`outline` needs `line_1`; delete it too"), "{message}");
    let gone = cad.call("entity.delete", json!({"entity_id": "line_1", "cascade": true}));
    assert_eq!(gone["deleted"], json!(["line_1", "outline"]));
}

#[test]
fn a_million_points_are_refused() {
    let mut cad = Cad::start();
    let points: Vec<[u32; 2]> = (0..200_000).map(|i| [i, i % 7]).collect();
    let message = cad.refused("entity.create_polyline", json!({"points": points}), "INVALID_PARAMS");
    assert!(message.contains("200000 points, 10000 is the limit"), "{message}");
}
