//! Requests that ask for too much end in an error, and the next request works.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use artel_cad::geometry::{Motion, Vec3};
use artel_cad::kernel::{Job, JobRequest, KernelError, KernelProcess, KernelSettings, Outcome, Primitive};
use serde_json::{Value, json};

use crate::serve::{Cad, kernel_cache};

#[test]
fn a_line_that_is_too_long_is_refused_and_skipped() {
    let mut cad = Cad::start();
    let long = "x".repeat(10 << 20);
    cad.send(&format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "solid.primitive", "params": {{"kind": "{long}"}}}}"#
    ));
    let answer = cad.receive();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null), "{answer}");
    cad.call("solid.primitive", json!({"kind": "sphere", "radius": 1}));
}

#[test]
fn a_boolean_that_takes_too_long_is_ended_and_the_next_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut cad = Cad::start_in(folder.path(), &["--time-ms", "1000"]);
    let mut ids = Vec::new();
    for index in 0..120 {
        let (x, y, z) = (index % 5, (index / 5) % 5, index / 25);
        let params = json!({"kind": "sphere", "radius": 2.3, "position": [x * 2, y * 2, z * 2]});
        ids.push(cad.call("solid.primitive", params)["entity_id"].clone());
    }
    let message = cad.refused("solid.boolean", json!({"operation": "union", "entity_ids": ids}), "TIMEOUT");
    assert!(message.starts_with("the kernel worked for more than 1000 ms and was ended"), "{message}");
    assert_eq!(cad.call("entity.list", json!({}))["total_count"], json!(120));
    cad.call("solid.primitive", json!({"kind": "sphere", "radius": 1}));
}

#[test]
fn memory_is_bounded_and_the_kernel_comes_back() {
    let settings = KernelSettings {
        program: env!("CARGO_BIN_EXE_artel-cad").into(),
        cache: kernel_cache(),
        time_ms: 60_000,
        // The module starts with 128 MiB.
        memory_bytes_max: 130 << 20,
    };
    let mut kernel = KernelProcess::new(settings);
    let ball = Job {
        request: JobRequest::Primitive {
            primitive: Primitive::Sphere { radius: 1.0 },
            motion: Motion::translation(Vec3::ZERO),
        },
        solids: Vec::new(),
    };
    let (_, solids) = kernel.run(&ball).unwrap();
    let motions =
        (0..200_000).map(|index| Motion::translation(Vec3::new(f64::from(index), 0.0, 0.0))).collect();
    let error = kernel.run(&Job { request: JobRequest::Place { motions }, solids }).unwrap_err();
    assert_eq!(error, KernelError::Memory { limit_bytes: 130 << 20 });
    assert!(matches!(kernel.run(&ball), Ok((Outcome::Solids(_), _))));
}

#[test]
fn too_many_requests_in_one_batch_are_refused() {
    let mut cad = Cad::start();
    cad.send(&format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"workspace.list"}"#; 101].join(",")));
    assert_eq!(cad.receive()["error"]["code"], json!(-32600));
}

#[test]
fn a_kernel_that_others_could_have_written_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_artel-cad"))
        .args(["call", "workspace.list", "--data"])
        .arg(folder.path())
        .arg("--cache")
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("can be written by other users"), "{text}");
}
