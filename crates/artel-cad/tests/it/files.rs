//! Files that are written, read back, and looked at.

use std::path::Path;

use artel_cad::file::read_stl;
use serde_json::{Value, json};

use crate::serve::{Cad, near};

/// A plate with two holes and a pin beside it.
fn assembly(cad: &mut Cad) {
    cad.call("solid.primitive", json!({"kind": "box", "size": [60, 40, 5], "entity_id": "plate", "name": "Base plate", "color": [0.8, 0.2, 0.1]}));
    for (id, x) in [("h1", 15), ("h2", 45)] {
        let hole =
            json!({"kind": "cylinder", "radius": 4, "height": 20, "position": [x, 20, -5], "entity_id": id});
        cad.call("solid.primitive", hole);
    }
    cad.call(
        "solid.boolean",
        json!({"operation": "subtract", "target_id": "plate", "tool_ids": ["h1", "h2"]}),
    );
    cad.call("solid.primitive", json!({"kind": "cylinder", "radius": 4, "height": 12, "position": [80, 0, 0], "entity_id": "pin", "name": "Pin"}));
}

fn export(cad: &mut Cad, params: Value) -> Vec<u8> {
    let answer = cad.call("file.export", params);
    let bytes = std::fs::read(answer["path"].as_str().unwrap()).unwrap();
    assert_eq!(answer["bytes"], json!(bytes.len()));
    bytes
}

#[test]
fn step_keeps_volumes_and_names() {
    let mut cad = Cad::start();
    assembly(&mut cad);
    let text = String::from_utf8(export(&mut cad, json!({"path": "a.step"}))).unwrap();
    assert!(
        text.contains("'1970-01-01T00:00:00'") && text.contains("Base plate") && text.contains("COLOUR_RGB")
    );
    cad.call("workspace.create", json!({"workspace_id": "copy", "empty": true}));
    let read = cad.call("file.import", json!({"workspace_id": "copy", "path": "a.step"}));
    let names: Vec<&str> =
        read["entities"].as_array().unwrap().iter().filter_map(|e| e["name"].as_str()).collect();
    assert_eq!(names, ["Pin", "Base plate"]);
    for (original, copy) in [("pin", 0), ("plate", 1)] {
        let query = |cad: &mut Cad, workspace: &str, id: &Value| {
            cad.call("entity.query", json!({"workspace_id": workspace, "entity_id": id}))
        };
        let before = query(&mut cad, "main", &json!(original));
        let after = query(&mut cad, "copy", &read["entity_ids"][copy]);
        near(&after["volume"], before["volume"].as_f64().unwrap(), 1e-9);
        near(&after["surface_area"], before["surface_area"].as_f64().unwrap(), 1e-9);
        assert_eq!(after["bounding_box"], before["bounding_box"]);
    }
}

#[test]
fn the_same_workspace_gives_the_same_bytes() {
    let mut cad = Cad::start();
    assembly(&mut cad);
    for format in ["step", "stl", "obj", "glb", "json", "svg", "png"] {
        let first = export(&mut cad, json!({"format": format, "path": "first"}));
        let again = export(&mut cad, json!({"format": format, "path": "again"}));
        assert!(first == again, "{format}");
        assert!(first.len() > 500, "{format}");
    }
}

#[test]
fn each_part_is_closed_as_triangles() {
    let mut cad = Cad::start();
    assembly(&mut cad);
    cad.call("solid.fillet", json!({"solid_id": "plate", "radius": 1, "edges_along": [0, 0, 1]}));
    for id in ["plate", "pin"] {
        let bytes = export(&mut cad, json!({"path": "part.stl", "entity_ids": [id]}));
        let mesh = read_stl(&bytes).unwrap();
        assert!(mesh.is_watertight(), "{id}");
        let known = cad.call("entity.query", json!({"entity_id": id}));
        near(&json!(volume(&mesh.triangles)), known["volume"].as_f64().unwrap(), 2e-3);
    }
    let read = cad.call("file.import", json!({"path": "part.stl"}));
    let mesh = cad.call("entity.query", json!({"entity_id": read["entity_ids"][0]}));
    assert_eq!((&mesh["entity_type"], &mesh["is_watertight"]), (&json!("mesh"), &json!(true)));
}

/// Sums the pyramids from the origin to each triangle.
fn volume(triangles: &[[[f32; 3]; 3]]) -> f64 {
    let product = |[a, b, c]: &[[f32; 3]; 3]| {
        let [a, b, c] = [a, b, c].map(|p| p.map(f64::from));
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    triangles.iter().map(product).sum::<f64>() / 6.0
}

#[test]
fn a_workspace_comes_back_from_json_as_it_was() {
    let mut cad = Cad::start();
    assembly(&mut cad);
    cad.call("entity.create_line", json!({"start": [0, 0], "end": [5, 0], "entity_id": "line"}));
    cad.call("constraint.apply", json!({"kind": "horizontal", "entity_ids": ["line"]}));
    let first = export(&mut cad, json!({"path": "all.json"}));
    cad.refused("file.import", json!({"path": "all.json"}), "INVALID_PARAMS");
    cad.call("workspace.create", json!({"workspace_id": "copy", "empty": true}));
    assert_eq!(
        cad.call("file.import", json!({"path": "all.json", "workspace_id": "copy"}))["imported"],
        json!(4)
    );
    let second = export(&mut cad, json!({"path": "copy.json", "workspace_id": "copy"}));
    assert!(first == second);
}

#[test]
fn pictures_are_pictures() {
    let mut cad = Cad::start();
    assembly(&mut cad);
    let png = export(&mut cad, json!({"path": "x.png", "width": 320, "height": 200}));
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!((&png[16..20], &png[20..24]), (&320_u32.to_be_bytes()[..], &200_u32.to_be_bytes()[..]));
    let svg = String::from_utf8(export(&mut cad, json!({"path": "x.svg", "entity_ids": ["plate"]}))).unwrap();
    // The main dimensions of the plate, and hidden lines for its holes.
    for part in [">60</text>", ">40</text>", ">5</text>", "Base plate", "<path class=\"h\" d="] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let mut cad = Cad::start_in(folder.path(), &[]);
    let write = |name: &str, text: &str| std::fs::write(files.join(name), text).unwrap();
    write("empty.step", "");
    write(
        "broken.step",
        "ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\n#1=NONSENSE(;\nENDSEC;\nEND-ISO-10303-21;\n",
    );
    write("broken.json", "{\"format\": 1}");
    write(
        "solid.json",
        r#"{"format":"artel-cad workspace","version":1,"entities":[{"entity_id":"a","entity":{"shape":{"point":[1e99,0]}}}]}"#,
    );
    write("mesh.stl", "solid x\nvertex 1 2\n");
    let cases = [
        ("gone.step", "FILE_NOT_FOUND"),
        ("empty.step", "IMPORT_FAILED"),
        ("broken.step", "IMPORT_FAILED"),
        ("broken.json", "IMPORT_FAILED"),
        ("solid.json", "IMPORT_FAILED"),
        ("mesh.stl", "IMPORT_FAILED"),
        ("../workspaces.sqlite", "UNSUPPORTED_FORMAT"),
        ("../../x.step", "INVALID_PARAMS"),
        ("x.dwg", "UNSUPPORTED_FORMAT"),
    ];
    for (path, code) in cases {
        cad.refused("file.import", json!({"path": path}), code);
    }
    std::os::unix::fs::symlink("/etc/hostname", files.join("link.json")).unwrap();
    assert!(cad.refused("file.import", json!({"path": "link.json"}), "INVALID_PARAMS").contains("is a link"));
    cad.refused("file.export", json!({"format": "step"}), "OPERATION_INVALID");
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(0));
}

#[test]
fn render_draws_files_and_workspaces() {
    let folder = tempfile::tempdir().unwrap();
    let mut cad = Cad::start_in(folder.path(), &[]);
    assembly(&mut cad);
    let step = cad.call("file.export", json!({"format": "step"}))["path"].as_str().unwrap().to_owned();
    let picture = |source: &str, name: &str| {
        let output = folder.path().join(name);
        assert!(Cad::run(folder.path(), &["render", source, "-o", output.to_str().unwrap()]).0, "{source}");
        std::fs::read(Path::new(&output)).unwrap()
    };
    assert!(picture("main", "a.png").starts_with(b"\x89PNG"));
    assert!(picture(&step, "b.svg").starts_with(b"<svg"));
    assert!(!Cad::run(folder.path(), &["render", "nowhere", "-o", "x.png"]).0);
}

#[test]
fn one_call_prints_its_result_or_fails() {
    let folder = tempfile::tempdir().unwrap();
    let params = r#"{"kind": "box", "size": [1, 2, 3]}"#;
    let (worked, output) = Cad::run(folder.path(), &["call", "solid.primitive", "--params", params]);
    assert!(worked && serde_json::from_str::<Value>(&output).unwrap()["volume"] == json!(6.0));
    assert!(!Cad::run(folder.path(), &["call", "solid.primitive", "--params", "{}"]).0);
    assert!(!Cad::run(folder.path(), &["call", "solid.primitive", "--params", "{"]).0);
}
