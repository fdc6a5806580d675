//! STEP files read by another program: build123d, in the Python that `ARTEL_CAD_PYTHON` names. Without it, what this program
//! reads back itself is compared in `files`.

use std::process::Command;

use serde_json::{Value, json};

use crate::serve::{Cad, near};

const SCRIPT: &str = "
import json, sys
from build123d import import_step
whole = import_step(sys.argv[1])
parts = whole.children or [whole]
valid = lambda part: part.is_valid() if callable(part.is_valid) else part.is_valid
print(json.dumps([[part.label, part.volume, part.area, bool(valid(part))] for part in parts]))
";

#[test]
fn another_program_reads_the_same_parts() {
    let Some(python) = std::env::var_os("ARTEL_CAD_PYTHON") else {
        println!("ARTEL_CAD_PYTHON names no Python with build123d; nothing was compared");
        return;
    };
    let mut cad = Cad::start();
    let box_at = |id: &str, x: f64| json!({"kind": "box", "size": [20, 20, 20], "position": [x, 0, 0], "entity_id": id, "name": id});
    for (index, id) in ["hollow", "round", "drilled", "turned"].iter().enumerate() {
        cad.call("solid.primitive", box_at(id, 50.0 * index as f64));
    }
    cad.call("solid.shell", json!({"solid_id": "hollow", "thickness": 2, "open_facing": [0, 0, 1]}));
    cad.call("solid.fillet", json!({"solid_id": "round", "radius": 3}));
    cad.call("solid.primitive", json!({"kind": "cone", "bottom_radius": 6, "top_radius": 3, "height": 30, "position": [110, 10, -5], "entity_id": "tool"}));
    cad.call("solid.boolean", json!({"operation": "subtract", "target_id": "drilled", "tool_ids": ["tool"]}));
    cad.call("entity.transform", json!({"entity_id": "turned", "rotate": {"axis": [1, 1, 1], "angle": 37}}));
    let path = cad.call("file.export", json!({"format": "step"}))["path"].as_str().unwrap().to_owned();
    let output = Command::new(python).args(["-c", SCRIPT, &path]).output().unwrap();
    let parts: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let parts = parts.as_array().unwrap();
    assert_eq!(parts.len(), 4);
    for part in parts {
        let known = cad.call("entity.query", json!({"entity_id": part[0]}));
        near(&part[1], known["volume"].as_f64().unwrap(), 1e-6);
        near(&part[2], known["surface_area"].as_f64().unwrap(), 1e-6);
        assert_eq!(part[3], json!(true), "{part}");
    }
}
