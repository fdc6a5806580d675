//! What a server needs goes away while runs go on: it says so, and goes on by itself when it is back, or exits with a code.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

use crate::fault_place::{FaultPlace, Kind, MARKS, Steps, TOKEN, find, status};
use crate::running::eventually;
use crate::serve_session::Served;

#[path = "../../../artel-bus/tests/it/own_server.rs"]
mod own_redis;

use own_redis::OwnServer;

/// Returns the status of `/readyz` and what an administrator is told.
fn readiness(served: &Served) -> (u16, String) {
    served.get("/readyz", TOKEN)
}

#[test]
fn a_data_folder_that_is_gone_is_told_by_readyz() {
    let place = FaultPlace::new(Kind::Postgres);
    let served = place.serve();
    assert_eq!(readiness(&served).0, 200, "{:?}", readiness(&served));
    let data = place.session.path().join(".artel");
    std::fs::rename(&data, place.session.path().join("elsewhere")).unwrap();
    eventually("the folder is missed", || readiness(&served).0 == 503);
    let (_, told) = readiness(&served);
    assert!(told.contains("data folder") && told.contains(data.as_str()), "{told}");
    assert!(!served.get("/readyz", "").1.contains(data.as_str()), "paths are for administrators");
    assert_eq!(served.get("/healthz", "").0, 200);
    std::fs::rename(place.session.path().join("elsewhere"), &data).unwrap();
    eventually("the folder is back", || readiness(&served).0 == 200);
}

#[test]
fn a_run_goes_on_when_postgresql_was_away_for_longer_than_every_retry() {
    let mut place = FaultPlace::new(Kind::OwnPostgres);
    place.chain(&["a", "gate", "c"], Steps::Idempotent);
    let mut served = place.serve();
    let run = place.start(&served);
    place.wait_for_marks(2);
    // What was written is synced within a second or so; then a crash loses nothing, and the server goes on.
    place.postgres("stop");
    place.open_gate();
    eventually("the driver of the run waits for the store", || {
        let (status, told) = readiness(&served);
        status == 503 && told.contains("runs wait for it")
    });
    assert_eq!(served.get("/healthz", "").0, 200);
    let (code, body) = served.post(&format!("/api/runs/{run}/cancel"), TOKEN, "{}");
    assert_eq!(code, 503, "a command that cannot be kept is refused: {body}");
    place.postgres("start");
    eventually("the run succeeded, here or after a restart", || {
        // Writes that were not synced may be lost: then the server says so by its exit code.
        if let Some(code) = served.exit_code() {
            assert_eq!(code, 4, "the code of a store that lost writes");
            served = place.serve();
        }
        let status = served.try_get(&format!("/api/runs/{run}/status"), TOKEN);
        status.is_ok_and(|(_, body)| body.contains("succeeded"))
    });
    assert_eq!(place.marks().last().unwrap(), "c");
    assert_eq!(status(&served, &run)["driven"], false);
    eventually("it is ready again", || readiness(&served).0 == 200);
}

#[test]
fn a_server_whose_store_crashed_before_it_had_synced_exits_with_its_code() {
    let mut place = FaultPlace::new(Kind::OwnPostgres);
    place.chain(&["a", "gate", "gate-2"], Steps::Idempotent);
    let mut served = place.serve();
    let run = place.start(&served);
    place.wait_for_marks(2);
    // From here on nothing that is written reaches the disk for sure.
    place.database.as_ref().unwrap().execute(
        "CREATE OR REPLACE FUNCTION sync_writes() RETURNS void LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_sleep(3600); END $$",
    );
    place.open_gate();
    // A step that began was written before.
    place.wait_for_marks(3);
    place.postgres("restart");
    let mut code = None;
    eventually("the server has ended", || {
        code = served.exit_code();
        code.is_some()
    });
    assert_eq!(code, Some(4));
    // The next one goes on with what is there.
    place.database.as_ref().unwrap().execute(
        "CREATE OR REPLACE FUNCTION sync_writes() RETURNS void LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_logical_emit_message(true, 'artel', ''); END $$",
    );
    let served = place.serve();
    place.wait_for_state(&served, &run, "succeeded");
}

/// A server whose data folder is a small file system of its own, seen by the server alone.
const SMALL_DISK: [&str; 6] = [
    "unshare",
    "--mount",
    "sh",
    "-c",
    "mkdir -p .artel && mount -t tmpfs -o size=16m tmpfs .artel && exec \"$@\"",
    "sh",
];

/// A skill whose step says more than the room that a database keeps for itself.
const LONG: &str = r#"#!/bin/sh
echo x >> "$ARTEL_DATA_DIR/marks.log"
while [ ! -e "$ARTEL_DATA_DIR/open" ]; do sleep 0.02; done
printf '{"version":"0","type":"done","ok":true,"output":{"text":"'
head -c 400000 /dev/zero | tr '\0' x
printf '"}}\n'
"#;

#[test]
fn a_run_goes_on_when_there_is_room_on_the_disk_again() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return eprintln!("only root can mount a small file system: not checked");
    }
    let mut place = FaultPlace::new(Kind::Sqlite);
    place.session.start_by(&SMALL_DISK);
    place.chain(&["long", "after"], Steps::Idempotent);
    let script = place.session.path().join("skills/mark/scripts/run.sh");
    std::fs::write(script, LONG).unwrap();
    let served = place.serve();
    let run = place.start(&served);
    let data = format!("/proc/{}/root{}/.artel", served.process(), place.session.path());
    let mut waiting = None;
    eventually("the step has its data folder", || {
        waiting = find(data.as_str().into(), MARKS);
        waiting.is_some()
    });
    // Every byte of the disk is taken.
    let filler = format!("{data}/filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    let full = loop {
        if let Err(error) = file.write_all(&[0; 4096]) {
            break error;
        }
    };
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    std::fs::write(waiting.unwrap().with_file_name("open"), "").unwrap();
    eventually("the driver of the run waits for room", || {
        let (status, told) = readiness(&served);
        status == 503 && told.contains("runs wait for it")
    });
    let (_, told) = readiness(&served);
    assert!(told.contains("disk is full") && told.contains(".artel/artel.db"), "{told}");
    assert_eq!(served.get("/healthz", "").0, 200);
    assert_ne!(status(&served, &run)["state"], "failed");
    // A file that is open keeps its room.
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    place.wait_for_state(&served, &run, "succeeded");
    eventually("it is ready again", || readiness(&served).0 == 200);
}

#[test]
fn a_server_works_without_redis_and_uses_it_when_it_is_there() {
    let mut redis = OwnServer::start();
    redis.order("stop");
    let mut place = FaultPlace::new(Kind::Sqlite);
    place.session.set("ARTEL_BUS", &redis.url);
    place.chain(&["a", "b"], Steps::Once);
    let served = place.serve();
    let degraded = || {
        let (status, body) = served.get("/readyz", "");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str::<serde_json::Value>(&body).unwrap()["degraded"].clone()
    };
    assert_eq!(degraded(), serde_json::json!(["bus"]));
    let run = place.start(&served);
    place.wait_for_state(&served, &run, "succeeded");
    for (order, expected) in [("start", vec![]), ("stop", vec!["bus"]), ("start", vec![])] {
        redis.order(order);
        eventually("readiness tells it", || degraded() == serde_json::json!(expected));
    }
}
